//! The key that signs heads of the audit chain.

use crate::{LedgerError, files};
use ed25519_dalek::{Signature, Signer, SigningKey};
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

const FILE: &str = "audit.ed25519";

/// Whoever has it can sign a rewritten chain, so it lives apart from the ledger, in a directory of its own.
#[derive(Clone)]
pub(crate) struct AuditKey(SigningKey);

impl AuditKey {
    /// Reads the key of `dir`, or makes one.
    pub(crate) fn open(dir: &Path) -> Result<Self, LedgerError> {
        files::private_dir(dir)?;
        let path = dir.join(FILE);
        if !path.exists() {
            create(dir, &path)?;
        }
        read(&path).map(Self)
    }

    /// Reads the key of `dir`.
    pub(crate) fn existing(dir: &Path) -> Result<Self, LedgerError> {
        read(&dir.join(FILE)).map(Self)
    }

    pub(crate) fn public(&self) -> String {
        hex::encode(self.0.verifying_key().as_bytes())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> String {
        hex::encode(self.0.sign(message).to_bytes())
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &str) -> bool {
        let mut bytes = [0; Signature::BYTE_SIZE];
        hex::decode_to_slice(signature, &mut bytes).is_ok()
            && self.0.verifying_key().verify_strict(message, &Signature::from_bytes(&bytes)).is_ok()
    }
}

/// Appears whole or not at all; when two processes start at once, both go on with the first one's key.
fn create(dir: &Path, path: &Path) -> Result<(), LedgerError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)?;
    let draft = dir.join(format!("{FILE}.{}.{:?}", std::process::id(), std::thread::current().id()));
    let write = || -> std::io::Result<()> {
        let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(hex::encode(seed).as_bytes())?;
        file.sync_all()?;
        match fs::hard_link(&draft, path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => fs::remove_file(&draft),
        }
    };
    write().map_err(LedgerError::file("create", path))
}

fn read(path: &Path) -> Result<SigningKey, LedgerError> {
    let mode = fs::metadata(path).map_err(LedgerError::file("look at", path))?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(LedgerError::KeyExposed(path.to_owned()));
    }
    let text = fs::read_to_string(path).map_err(LedgerError::file("read", path))?;
    let mut seed = [0; 32];
    hex::decode_to_slice(text.trim(), &mut seed).map_err(|_| LedgerError::KeyUnreadable(path.to_owned()))?;
    Ok(SigningKey::from_bytes(&seed))
}
