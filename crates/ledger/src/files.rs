//! Files beside the ledger.

use crate::LedgerError;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Creates a directory that only its owner may enter; one that exists is left as it is.
pub(crate) fn private_dir(dir: &Path) -> Result<(), LedgerError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(LedgerError::file("create", dir))
}
