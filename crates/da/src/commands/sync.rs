//! `da sync`: local copies of whole tables, of which only those are fetched that changed.
//!
//! A sync that is interrupted goes on where it stopped: each table is installed for itself, as soon as it is whole.

use super::Context;
use super::progress::Progress;
use crate::cli::Sync;
use crate::client::{Client, Stream, cut};
use crate::place::{Shelf, check_name};
use crate::problem::{Problem, Result};
use crate::snapshots::{Part, TableMeta};
use crate::{cache, print, units};
use jiff::Timestamp;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{Read, Write};

#[derive(Deserialize)]
struct Manifest {
    tables: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    id: String,
    version: String,
    path: String,
}

/// What became of a table.
#[derive(Serialize)]
struct Synced {
    id: String,
    status: Status,
    rows: Option<u64>,
    bytes: Option<u64>,
}

#[derive(Clone, Copy, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Status {
    Current,
    Updated,
    WouldUpdate,
    Removed,
    WouldRemove,
    /// A snapshot has that name.
    Skipped,
}

impl Status {
    fn words(self) -> &'static str {
        match self {
            Self::Current => "is up to date",
            Self::Updated => "updated",
            Self::WouldUpdate => "would be updated",
            Self::Removed => "removed: it is not yours to copy any more",
            Self::WouldRemove => "would be removed: it is not yours to copy any more",
            Self::Skipped => "skipped: a snapshot has this name",
        }
    }
}

pub fn run(context: &Context, args: &Sync) -> Result<()> {
    let client = context.client()?;
    // What was kept of the catalog may be older than what comes now.
    cache::clear(&context.place);
    let manifest: Manifest = client.get("/api/sync/manifest")?.json()?;
    for id in &args.tables {
        must_be_listed(&manifest, id)?;
    }
    let wanted = |id: &String| args.tables.is_empty() || args.tables.contains(id);
    let mut all = Vec::new();
    for listed in manifest.tables.iter().filter(|listed| wanted(&listed.id)) {
        check_name(&listed.id, "table")?;
        all.push(tell(context, bring(context, &client, listed, args.dry_run)?)?);
    }
    if args.tables.is_empty() {
        for synced in remove_others(context, &client, &manifest, args.dry_run)? {
            all.push(tell(context, synced)?);
        }
    }
    if context.all.json {
        return print::json(&all);
    }
    let updated = all.iter().filter(|synced| matches!(synced.status, Status::Updated | Status::WouldUpdate)).count();
    print::line(format!("{updated} of {} changed", units::plural(all.len() as u64, "table")))
}

fn must_be_listed(manifest: &Manifest, id: &str) -> Result<()> {
    if manifest.tables.iter().any(|listed| listed.id == id) {
        return Ok(());
    }
    let shown: String = id.chars().take(64).collect();
    let hint = format!("`da catalog` shows the mode of each table; `da fetch {shown}` fetches a slice");
    Err(Problem::invalid("not_synced", format!("`{shown}` is not copied as a whole"), hint))
}

fn tell(context: &Context, synced: Synced) -> Result<Synced> {
    if !context.all.json {
        let rows = synced.rows.map_or_else(String::new, |rows| format!(" ({})", units::plural(rows, "row")));
        print::line(format!("{} {}{rows}", synced.id, synced.status.words()))?;
    }
    Ok(synced)
}

fn bring(context: &Context, client: &Client, listed: &Listed, dry_run: bool) -> Result<Synced> {
    let (place, id) = (&context.place, listed.id.clone());
    let as_is = |status| Synced { id: listed.id.clone(), status, rows: None, bytes: None };
    if place.sidecar(Shelf::Snapshots, &id).exists() {
        return Ok(as_is(Status::Skipped));
    }
    // Another caller's copy is another table, and a file that is gone is none.
    let known = place.table(&id)?.filter(|known| known.identity == client.identity());
    let known = known.filter(|_| place.parquet(Shelf::Tables, &id).exists());
    let version = known.as_ref().map(|known| known.version.as_str());
    if version == Some(listed.version.as_str()) {
        return Ok(as_is(Status::Current));
    }
    if dry_run {
        return Ok(as_is(Status::WouldUpdate));
    }
    let part = Part::begin(place, &place.lock()?, Shelf::Tables, &id)?;
    let Some(stream) = client.table(&listed.path, version)? else { return Ok(as_is(Status::Current)) };
    let meta = receive(context, client, stream, listed, &part)?;
    place.install(&place.lock()?, part, &meta)?;
    Ok(Synced { id, status: Status::Updated, rows: Some(meta.rows), bytes: Some(meta.bytes_local) })
}

/// The file as the server sends it, checked by the hash that the server has on record.
fn receive(context: &Context, client: &Client, mut stream: Stream, listed: &Listed, part: &Part) -> Result<TableMeta> {
    let version = stream.header("etag").map_or(listed.version.as_str(), |tag| tag.trim_matches('"')).to_owned();
    let ending = stream.ending();
    let _progress = Progress::begin(&listed.id, stream.counter(), None, context.all.quiet);
    let (mut file, mut hash) = (part.writer()?, Sha256::new());
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let read = stream.bytes().read(&mut buffer).map_err(|error| cut(&error))?;
        let new = buffer.get(..read).unwrap_or_default();
        if new.is_empty() {
            break;
        }
        hash.update(new);
        file.write_all(new).map_err(|error| Problem::file("the table cannot be written", &error))?;
    }
    let bytes_local = part.sync()?;
    let rows = rows_of(part)?;
    let arrived = ending.check(client, rows)?;
    let sha256 = hex::encode(hash.finalize());
    if arrived.sha256.as_ref().is_some_and(|sent| *sent != sha256) {
        return Err(cut(&"its hash is not that of what was sent"));
    }
    if arrived.truncated {
        print::warn(format!("the server cut `{}` at {} rows", listed.id, units::count(rows)));
    }
    let (server, identity) = (client.server().to_owned(), client.identity());
    Ok(TableMeta {
        table_id: listed.id.clone(),
        version,
        synced_at: Timestamp::now(),
        rows,
        bytes_local,
        sha256,
        server,
        identity,
    })
}

/// By the footer, which comes last: a file without one is not whole.
fn rows_of(part: &Part) -> Result<u64> {
    let reader = SerializedFileReader::new(part.writer()?).map_err(|error| cut(&error))?;
    Ok(u64::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or_default())
}

/// Copies of this server's tables that the caller may not have any more.
fn remove_others(context: &Context, client: &Client, manifest: &Manifest, dry_run: bool) -> Result<Vec<Synced>> {
    let mut gone = Vec::new();
    for id in context.place.names(Shelf::Tables)? {
        let listed = manifest.tables.iter().any(|listed| listed.id == id);
        let ours = context.place.table(&id)?.is_some_and(|meta| meta.server == client.server());
        if ours && !listed {
            gone.push(id);
        }
    }
    let status = if dry_run { Status::WouldRemove } else { Status::Removed };
    if !dry_run && !gone.is_empty() {
        let names: Vec<&str> = gone.iter().map(String::as_str).collect();
        context.place.remove(&context.place.lock()?, Shelf::Tables, &names)?;
    }
    Ok(gone.into_iter().map(|id| Synced { id, status, rows: None, bytes: None }).collect())
}
