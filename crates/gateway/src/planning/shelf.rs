//! Values that were read once, kept on disk for the next start.
//!
//! A file is named by what decides which values are seen (policy, visible schema, state of the data), so that none is ever
//! used for anything else. It can be deleted at any time.

use planner::offline::ColumnValues;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Files kept; of more, the oldest go.
const MOST_FILES: usize = 64;

pub struct Shelf {
    dir: PathBuf,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    key: String,
    values: Vec<ColumnValues>,
}

impl Shelf {
    pub fn new(data: &Path) -> Self {
        Self { dir: data.join("cache/values") }
    }

    /// What was put there under this key. A file that cannot be read is as good as none.
    pub fn take(&self, key: &str) -> Option<Vec<ColumnValues>> {
        let kept: Kept = serde_json::from_slice(&fs::read(self.file(key)).ok()?).ok()?;
        (kept.key == key).then_some(kept.values)
    }

    /// Puts values there. That it fails costs time at the next start, and nothing else.
    pub fn put(&self, key: &str, values: &[ColumnValues]) {
        if let Err(error) = self.write(key, values).and_then(|()| self.tidy()) {
            tracing::warn!(%error, "the planner's values cannot be kept");
        }
    }

    fn write(&self, key: &str, values: &[ColumnValues]) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let kept = serde_json::to_vec(&Kept { key: key.to_owned(), values: values.to_vec() })?;
        let draft = self.dir.join(format!("{key}.{}.draft", std::process::id()));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(&kept)?;
        fs::rename(draft, self.file(key))
    }

    fn tidy(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            files.push((entry.metadata()?.modified()?, entry.path()));
        }
        files.sort();
        let surplus = files.len().saturating_sub(MOST_FILES);
        files.iter().take(surplus).try_for_each(|(_, path)| fs::remove_file(path))
    }

    fn file(&self, key: &str) -> PathBuf {
        self.dir.join(format!("{key}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn values(name: &str) -> Vec<ColumnValues> {
        vec![ColumnValues { table: "t".into(), column: name.into(), values: vec!["a".into()], ..Default::default() }]
    }

    #[test]
    fn values_come_back_under_their_own_key_only() {
        let data = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(data.path());
        shelf.put("one", &values("x"));
        assert_eq!(shelf.take("one"), Some(values("x")));
        assert_eq!(shelf.take("two"), None);
        fs::rename(shelf.file("one"), shelf.file("two")).unwrap();
        assert_eq!(shelf.take("two"), None, "a file under another's name");
        fs::write(shelf.file("three"), "{").unwrap();
        assert_eq!(shelf.take("three"), None, "a broken file");
    }

    #[test]
    fn files_are_private_and_few() {
        let data = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(data.path());
        for i in 0..MOST_FILES + 5 {
            shelf.put(&i.to_string(), &values("x"));
        }
        assert_eq!(fs::read_dir(&shelf.dir).unwrap().count(), MOST_FILES);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&shelf.dir), mode(&shelf.file("68"))), (0o700, 0o600));
    }
}
