//! Space on the disk of the ledger's file. New work is refused before the disk is full, so that work under way can still be
//! recorded. A ledger in Postgres has a disk of its own, which its operators watch.

use crate::config::Config;
use domain::{Fault, Kind};
use ledger::Home;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One part of the disk in so many is kept free at most: a small disk is not all reserve.
const PART: u64 = 20;
/// Warned is at so many times the reserve.
const LOW: u64 = 4;
/// How long a look is good for. Within it work begins that may take what the reserve is for.
const FRESH: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    pub free: u64,
    /// Left to records of work under way.
    pub reserve: u64,
}

impl Space {
    /// New work is refused.
    pub fn is_short(self) -> bool {
        self.free < self.reserve
    }

    /// It is time to make room.
    pub fn is_low(self) -> bool {
        self.free < self.reserve.saturating_mul(LOW)
    }
}

pub struct Disk {
    /// None where the ledger is no file.
    dir: Option<PathBuf>,
    reserve: u64,
    looked: Mutex<Option<(Instant, Option<Space>)>>,
}

impl Disk {
    pub fn of(config: &Config) -> Self {
        let dir = match config.ledger_home() {
            Ok(Home::File(path)) => path.parent().map(PathBuf::from),
            _ => None,
        };
        Self { dir, reserve: config.ledger.reserve_bytes, looked: Mutex::default() }
    }

    /// None where it cannot be known.
    pub fn space(&self) -> Option<Space> {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        match *looked {
            Some((at, space)) if at.elapsed() < FRESH => space,
            _ => {
                let space = self.look();
                *looked = Some((Instant::now(), space));
                space
            }
        }
    }

    fn look(&self) -> Option<Space> {
        let disk = rustix::fs::statvfs(self.dir.as_ref()?).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
        Some(Space { free: bytes(disk.f_bavail), reserve: self.reserve.min(bytes(disk.f_blocks) / PART) })
    }

    /// Whether work may begin that leaves a record.
    pub fn admit(&self) -> Result<(), Fault> {
        match self.space() {
            Some(space) if space.is_short() => {
                let message = "the disk that holds the ledger is nearly full: nothing new is begun";
                Err(Fault::new(Kind::Unavailable, "ledger.disk_nearly_full", message)
                    .hint("whoever runs this server must free some space; it then goes on by itself"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_low_before_it_is_short() {
        let with = |free| Space { free, reserve: 100 };
        let told: Vec<(bool, bool)> =
            [99, 100, 399, 400].map(|free| (with(free).is_short(), with(free).is_low())).into();
        assert_eq!(told, [(true, true), (false, true), (false, true), (false, false)]);
    }

    #[test]
    fn a_disk_without_its_reserve_refuses_work_and_a_ledger_elsewhere_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let disk = |dir: Option<PathBuf>, reserve| Disk { dir, reserve, looked: Mutex::default() };
        let here = || Some(dir.path().to_owned());
        assert!(disk(here(), 0).admit().is_ok());
        let reserve = disk(here(), u64::MAX).space().unwrap().reserve;
        assert!(reserve < u64::MAX / PART, "no more than a part of the disk: {reserve}");
        assert_eq!(disk(None, u64::MAX).space(), None);
        assert!(disk(None, u64::MAX).admit().is_ok());
        let full = disk(here(), 0);
        *full.looked.lock().unwrap() = Some((Instant::now(), Some(Space { free: 1, reserve: 2 })));
        assert_eq!(full.admit().unwrap_err().code, "ledger.disk_nearly_full");
    }
}
