//! Where the ledger is.

use super::types::{Config, Secret};
use ledger::{Address, Home, Ledger, LedgerError};
use std::path::PathBuf;

impl Config {
    /// The directory of the audit key.
    pub fn keys(&self) -> PathBuf {
        self.data.join("keys")
    }

    /// The file or the database that holds the ledger.
    pub fn ledger_home(&self) -> Result<Home, LedgerError> {
        let settings = &self.ledger;
        let url = match (&settings.url, &settings.url_file) {
            (Some(url), _) => url.clone(),
            (None, Some(path)) => {
                let text = std::fs::read_to_string(path).map_err(LedgerError::file("read", path))?;
                Secret(text.trim().to_owned())
            }
            (None, None) => return Ok(Home::File(settings.path.clone())),
        };
        let mut address = Address::parse(url.expose(), settings.ca_file.clone())?;
        (address.patience, address.lease) = (settings.wait, settings.lease);
        Ok(Home::Postgres { address, heads: self.data.clone() })
    }

    /// Opens the ledger, or creates it.
    pub fn open_ledger(&self) -> Result<Ledger, LedgerError> {
        let ledger = Ledger::open(&self.ledger_home()?, &self.keys())?.with_names(self.names);
        Ok(ledger.signed_every(self.ledger.head_interval).keeping(self.ledger.result_bytes))
    }
}
