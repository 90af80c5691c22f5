//! Secrets that are shown once and kept only as a hash.

use crate::LedgerError;
use crate::store::{Conn, args};
use std::fmt;
use subtle::ConstantTimeEq;

/// A token, sign-in code or session cookie in the clear. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text itself, for the one place where it is shown or set as a cookie.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What a secret opens; each kind has a prefix of its own, so that scanners and people can tell them apart.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    Token,
    Login,
    Session,
}

impl Use {
    fn prefix(self) -> &'static str {
        match self {
            Self::Token => "gh",
            Self::Login => "ghl",
            Self::Session => "ghs",
        }
    }

    /// Always gives one row, so that an unknown id costs what a known one does.
    fn hash_sql(self) -> &'static str {
        match self {
            Self::Token => "SELECT coalesce((SELECT hash FROM tokens WHERE id = $1), $2) AS hash",
            Self::Login => "SELECT coalesce((SELECT hash FROM sign_ins WHERE id = $1 AND kind = 'login'), $2) AS hash",
            Self::Session => {
                "SELECT coalesce((SELECT hash FROM sign_ins WHERE id = $1 AND kind = 'session'), $2) AS hash"
            }
        }
    }
}

/// A fresh secret with what is kept of it.
pub(crate) struct Minted {
    pub id: String,
    pub hash: String,
    pub secret: Secret,
}

const ID_BYTES: usize = 8;
const RANDOM_BYTES: usize = 32;
/// As long as a hash, and the hash of nothing.
const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// `<prefix>_<id>_<256 random bits>`, in hex: one double click selects it.
pub(crate) fn mint(purpose: Use) -> Result<Minted, LedgerError> {
    let (mut id, mut random) = ([0; ID_BYTES], [0; RANDOM_BYTES]);
    getrandom::fill(&mut id)?;
    getrandom::fill(&mut random)?;
    let id = hex::encode(id);
    let text = format!("{}_{id}_{}", purpose.prefix(), hex::encode(random));
    Ok(Minted { id, hash: hash(&text), secret: Secret(text) })
}

/// A well-formed secret as somebody sent it; whether it is a good one is for [`Presented::matches`].
pub(crate) struct Presented {
    purpose: Use,
    pub id: String,
    hash: String,
}

impl Presented {
    pub(crate) fn parse(purpose: Use, text: &str) -> Option<Self> {
        let (id, random) = text.strip_prefix(purpose.prefix())?.strip_prefix('_')?.split_once('_')?;
        let well_formed = id.len() == 2 * ID_BYTES && random.len() == 2 * RANDOM_BYTES;
        well_formed.then(|| Self { purpose, id: id.to_owned(), hash: hash(text) })
    }

    /// Compares in constant time, with a hash of zeros where the id is unknown.
    pub(crate) fn matches(&self, conn: &dyn Conn) -> Result<bool, LedgerError> {
        let kept: String = conn.only(self.purpose.hash_sql(), args![&self.id, NO_HASH])?.get("hash")?;
        Ok(kept.as_bytes().ct_eq(self.hash.as_bytes()).into())
    }
}

/// A fast hash is right here: 256 random bits cannot be guessed, however fast guesses are.
fn hash(text: &str) -> String {
    domain::sha256_hex(text.as_bytes())
}
