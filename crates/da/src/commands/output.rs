//! `-o FILE`: a result as a file, which is there whole or not at all.

use crate::files;
use crate::problem::{Problem, Result};
use crate::show::{self, Format, Look};
use crate::signals;
use crate::snapshots::Writer;
use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::SchemaRef;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

type Batches<'a> = &'a mut dyn Iterator<Item = Result<RecordBatch>>;

/// By the ending of its name.
#[derive(Clone, Copy)]
enum Kind {
    Text(Format),
    Parquet,
    Arrow,
}

/// A file on its way: written beside the one that it replaces, and gone if it is dropped before that.
pub struct Output<'a> {
    path: &'a Path,
    kind: Kind,
    beside: PathBuf,
    file: File,
}

impl<'a> Output<'a> {
    pub fn begin(path: &'a Path) -> Result<Self> {
        let kind = kind(path)?;
        let beside = files::beside(path, &format!("{}.part", std::process::id()));
        let file = File::create(&beside).map_err(|error| unwritten(path, &error))?;
        signals::remove_if_interrupted(&beside);
        Ok(Self { path, kind, beside, file })
    }

    pub fn path(&self) -> &Path {
        self.path
    }

    /// Writes a result; the number of its rows. Nobody sees it yet.
    pub fn write(&self, schema: &SchemaRef, batches: Batches<'_>) -> Result<u64> {
        match self.kind {
            Kind::Text(format) => text(&self.file, schema, batches, format, self.path),
            Kind::Parquet => parquet(&self.file, schema, batches),
            Kind::Arrow => arrow(&self.file, schema, batches),
        }
    }

    /// Replaces what was there, once the result is known to be whole.
    pub fn install(self) -> Result<()> {
        let installed = self.file.sync_all().and_then(|()| fs::rename(&self.beside, self.path));
        installed.map_err(|error| unwritten(self.path, &error))
    }
}

impl Drop for Output<'_> {
    fn drop(&mut self) {
        // After an install it is not there any more; else the error that matters is told.
        drop(fs::remove_file(&self.beside));
        signals::finished(&self.beside);
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> Problem {
    Problem::file(&format!("`{}` cannot be written", path.display()), error)
}

fn kind(path: &Path) -> Result<Kind> {
    match path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase().as_str() {
        "csv" => Ok(Kind::Text(Format::Csv)),
        "json" => Ok(Kind::Text(Format::Json)),
        "md" => Ok(Kind::Text(Format::Markdown)),
        "parquet" => Ok(Kind::Parquet),
        "arrow" | "feather" | "ipc" => Ok(Kind::Arrow),
        _ => {
            let message = format!("`{}` does not say what it should be", path.display());
            Err(Problem::invalid("bad_output", message, "end it in .csv, .json, .md, .parquet or .arrow"))
        }
    }
}

fn text(file: &File, schema: &SchemaRef, batches: Batches<'_>, format: Format, path: &Path) -> Result<u64> {
    let failed = |error: std::io::Error| unwritten(path, &error);
    let mut out = BufWriter::new(file.try_clone().map_err(failed)?);
    let rows = show::write(&mut out, schema, batches, format, Look { most_rows: 0, types: true })?;
    out.flush().map_err(failed)?;
    Ok(rows)
}

fn parquet(file: &File, schema: &SchemaRef, batches: Batches<'_>) -> Result<u64> {
    let file = file.try_clone().map_err(|error| Problem::file("the file cannot be written", &error))?;
    let mut writer = Writer::new(file, schema.clone())?;
    for batch in batches {
        writer.write(batch?)?;
    }
    Ok(writer.finish()?.rows)
}

fn arrow(file: &File, schema: &SchemaRef, batches: Batches<'_>) -> Result<u64> {
    let failed = |error: arrow_schema::ArrowError| match error {
        arrow_schema::ArrowError::IoError(_, error) => Problem::file("the file cannot be written", &error),
        other => Problem::unexpected("the file cannot be written", other),
    };
    let mut writer = FileWriter::try_new_buffered(file, schema).map_err(failed)?;
    let mut rows = 0;
    for batch in batches {
        let batch = batch?;
        rows += batch.num_rows() as u64;
        writer.write(&batch).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    Ok(rows)
}
