//! The command line.

use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    Enrol { url: String, code: String },
    Run { once: bool },
    Rollback(String),
    Doctor,
    Help,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    pub wish: Wish,
    pub state: PathBuf,
    pub user: Option<String>,
    /// Directories that scripts may ask to write in.
    pub writable: Vec<String>,
}

impl Arguments {
    /// `None` where it is wrong.
    pub fn parse(words: &[String]) -> Option<Self> {
        let (mut state, mut user) = (PathBuf::from("/var/lib/gatehouse-device"), None);
        let (mut rest, mut writable) = (Vec::new(), Vec::new());
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word {
                "--state" => state = words.next()?.into(),
                "--user" => user = Some(words.next()?.to_owned()),
                "--writable" => writable.push(words.next()?.to_owned()),
                other => rest.push(other),
            }
        }
        let wish = match rest.as_slice() {
            ["enrol", url, code] => Wish::Enrol { url: (*url).to_owned(), code: (*code).to_owned() },
            ["run"] => Wish::Run { once: false },
            ["run", "--once"] => Wish::Run { once: true },
            ["--rollback", id] => Wish::Rollback((*id).to_owned()),
            ["doctor"] => Wish::Doctor,
            ["help" | "--help" | "-h"] => Wish::Help,
            _ => return None,
        };
        Some(Self { wish, state, user, writable })
    }
}
