//! The keys that scripts for devices are signed with, and what devices were told about them.
//!
//! `packages.ed25519` signs. `packages.json` has every list of keys that devices were ever to trust, each signed with a key
//! of the list before it: a device that was away hears them in order. Both are read when they are needed, so that a
//! rotation needs no restart.

use domain::package::{KeyList, SignedKeys, key_id};
use domain::{Fault, Kind};
use ops::Signer;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const KEY: &str = "packages.ed25519";
/// A key that is made and not in use yet.
const NEXT: &str = "packages.next.ed25519";
const LISTS: &str = "packages.json";

#[derive(Debug, Clone)]
pub struct Keyring {
    dir: PathBuf,
}

/// A list as it was made, and as devices hear it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Made {
    list: KeyList,
    signed: SignedKeys,
}

/// A key that devices trust.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Known {
    pub key_id: String,
    pub public_key: String,
    /// Whether new packages are signed with it.
    pub signs: bool,
}

impl Keyring {
    /// Of a directory; the first key is made where there is none.
    pub fn open(dir: &Path) -> Result<Self, Fault> {
        let ring = Self { dir: dir.to_owned() };
        ring.signer().map(|_| ring)
    }

    pub fn signer(&self) -> Result<Signer, Fault> {
        self.seed(KEY).map(|seed| Signer::from_seed(&seed))
    }

    fn seed(&self, name: &str) -> Result<[u8; 32], Fault> {
        ledger::key_seed(&self.dir, name).map_err(Fault::from)
    }

    /// What devices are to trust now.
    pub fn list(&self) -> Result<KeyList, Fault> {
        match self.made()?.pop() {
            Some(made) => Ok(made.list),
            None => Ok(KeyList { serial: 0, keys: vec![self.signer()?.public_key()] }),
        }
    }

    pub fn known(&self) -> Result<Vec<Known>, Fault> {
        let signs = self.signer()?.public_key();
        let known = |public_key: String| Known { key_id: id(&public_key), signs: public_key == signs, public_key };
        Ok(self.list()?.keys.into_iter().map(known).collect())
    }

    /// All lists, oldest first, for devices.
    pub fn signed_lists(&self) -> Result<Vec<SignedKeys>, Fault> {
        Ok(self.made()?.into_iter().map(|made| made.signed).collect())
    }

    /// A new key signs from now on; devices trust the old ones too. One that was interrupted goes on where it was.
    pub fn rotate(&self) -> Result<KeyList, Fault> {
        let (old, next) = (self.signer()?, Signer::from_seed(&self.seed(NEXT)?));
        let mut list = self.list()?;
        if !list.keys.contains(&next.public_key()) {
            if list.keys.len() >= KeyList::MOST {
                return Err(refuse("keys.too_many", "devices trust as many keys as they can", "retire one first"));
            }
            list = KeyList { serial: list.serial + 1, keys: [vec![next.public_key()], list.keys].concat() };
            self.add(Made { signed: old.sign_keys(&list)?, list: list.clone() })?;
        }
        fs::rename(self.dir.join(NEXT), self.dir.join(KEY)).and_then(|()| self.sync()).map_err(failed)?;
        Ok(list)
    }

    /// Devices stop trusting a key. What it signed and no device has fetched yet runs nowhere any more.
    pub fn retire(&self, unwanted: &str) -> Result<KeyList, Fault> {
        let (signer, list) = (self.signer()?, self.list()?);
        if signer.key_id() == unwanted {
            return Err(refuse("keys.in_use", "new packages are signed with this key", "rotate first"));
        }
        let keys: Vec<String> = list.keys.iter().filter(|key| id(key) != unwanted).cloned().collect();
        if keys.len() == list.keys.len() {
            let message = format!("devices trust no key `{unwanted}`");
            return Err(Fault::new(Kind::NotFound, "keys.unknown", message).hint("list the keys"));
        }
        let list = KeyList { serial: list.serial + 1, keys };
        self.add(Made { signed: signer.sign_keys(&list)?, list: list.clone() })?;
        Ok(list)
    }

    fn made(&self) -> Result<Vec<Made>, Fault> {
        match fs::read(self.dir.join(LISTS)) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|e| failed(io::Error::other(e))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(failed(error)),
        }
    }

    fn add(&self, made: Made) -> Result<(), Fault> {
        let mut all = self.made()?;
        all.push(made);
        let write = || -> io::Result<()> {
            let draft = self.dir.join(format!("{LISTS}.draft"));
            let mut file = fs::File::create(&draft)?;
            file.write_all(&serde_json::to_vec_pretty(&all)?)?;
            file.sync_all()?;
            fs::rename(draft, self.dir.join(LISTS))?;
            self.sync()
        };
        write().map_err(failed)
    }

    fn sync(&self) -> io::Result<()> {
        fs::File::open(&self.dir)?.sync_all()
    }
}

/// Of a public key in hex.
fn id(public_key: &str) -> String {
    let mut bytes = [0; 32];
    hex::decode_to_slice(public_key, &mut bytes).map(|()| key_id(&bytes)).unwrap_or_default()
}

fn refuse(code: &str, message: &str, hint: &str) -> Fault {
    Fault::new(Kind::Conflict, code, message).hint(hint)
}

fn failed(error: io::Error) -> Fault {
    Fault::new(Kind::Unavailable, "keys.unavailable", format!("the keys for packages can't be kept: {error}"))
        .hint("see to the directory `keys` below the data directory")
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::script::TrustedKeys;

    /// A device that hears all lists again and again ends with what the house says, and never goes back.
    #[test]
    fn a_device_that_was_away_follows_every_rotation() {
        let dir = tempfile::tempdir().unwrap();
        let ring = Keyring::open(dir.path()).unwrap();
        let first = ring.list().unwrap();
        let old = ring.signer().unwrap();
        let rotated = ring.rotate().unwrap();
        assert_eq!((rotated.serial, rotated.keys.len()), (1, 2));
        assert_eq!(ring.retire(&ring.signer().unwrap().key_id()).unwrap_err().code, "keys.in_use");
        let retired = ring.retire(&old.key_id()).unwrap();
        assert_eq!(ring.retire(&old.key_id()).unwrap_err().code, "keys.unknown");
        ring.rotate().unwrap();

        let (mut keys, mut serial) = (first.keys, first.serial);
        let mut heard = Vec::new();
        for signed in ring.signed_lists().unwrap().iter().cycle().take(9) {
            let trusted = TrustedKeys::parse(keys.iter().map(String::as_str)).unwrap();
            if let Some(list) = trusted.hear(signed, serial).unwrap() {
                (keys, serial) = (list.keys, list.serial);
                heard.push(serial);
            }
        }
        assert_eq!(heard, [1, 2, 3]);
        assert_eq!(keys, ring.list().unwrap().keys);
        assert!(!keys.contains(&old.public_key()) && keys.contains(&retired.keys[0]));
    }

    #[test]
    fn word_of_somebody_else_is_not_heard() {
        let dir = tempfile::tempdir().unwrap();
        let ring = Keyring::open(dir.path()).unwrap();
        ring.rotate().unwrap();
        let signed = ring.signed_lists().unwrap().remove(0);
        let ours = TrustedKeys::parse(ring.list().unwrap().keys.iter().map(String::as_str)).unwrap();
        let stranger = Signer::from_seed(&[9; 32]);
        let theirs = KeyList { serial: 9, keys: vec![stranger.public_key()] };
        assert_eq!(ours.hear(&stranger.sign_keys(&theirs).unwrap(), 0).unwrap(), None, "a key that nobody trusts");
        let forged = SignedKeys { key_id: signed.key_id.clone(), ..stranger.sign_keys(&theirs).unwrap() };
        assert_eq!(ours.hear(&forged, 0).unwrap_err().code, "keys.bad_signature");
        assert!(ours.hear(&signed, 0).unwrap().is_some());
    }

    #[test]
    fn a_rotation_that_was_interrupted_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let ring = Keyring::open(dir.path()).unwrap();
        let old = fs::read(dir.path().join(KEY)).unwrap();
        let list = ring.rotate().unwrap();
        // As it was between the list and the key.
        fs::rename(dir.path().join(KEY), dir.path().join(NEXT)).unwrap();
        fs::write(dir.path().join(KEY), old).unwrap();
        fs::set_permissions(dir.path().join(KEY), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        assert_eq!(ring.rotate().unwrap(), list);
        assert_eq!(ring.signer().unwrap().public_key(), list.keys[0]);
        assert_eq!(ring.signed_lists().unwrap().len(), 1);
    }
}
