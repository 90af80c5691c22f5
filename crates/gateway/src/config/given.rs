//! One value as somebody gave it, and the ways to read it.
//!
//! Variables, flags and defaults are text; the file has types of its own, and there a number in
//! quotes is a mistake.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Value;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    File(PathBuf),
    Environment(String),
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

pub struct Given {
    origin: Origin,
    value: Value,
}

impl Given {
    pub fn text(origin: Origin, text: &str) -> Self {
        Self { origin, value: Value::String(text.trim().to_owned()) }
    }

    pub fn toml(origin: Origin, value: Value) -> Self {
        Self { origin, value }
    }

    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// As it was given, for people to read.
    pub fn shown(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
            other => other.to_string(),
        }
    }

    /// The text to read a number or a switch from, where there are no types.
    fn untyped(&self) -> Option<&str> {
        self.value.as_str().filter(|_| !matches!(self.origin, Origin::File(_)))
    }

    pub fn number<N: TryFrom<i64>>(&self, range: RangeInclusive<i64>) -> Result<N, String> {
        let number = self.value.as_integer().or_else(|| self.untyped()?.parse().ok());
        number
            .filter(|n| range.contains(n))
            .and_then(|n| N::try_from(n).ok())
            .ok_or_else(|| self.is_not(&format!("a whole number from {} to {}", range.start(), range.end())))
    }

    pub fn fraction(&self, range: RangeInclusive<f64>) -> Result<f64, String> {
        let whole = self.value.as_integer().and_then(|n| u32::try_from(n).ok()).map(f64::from);
        let number = whole.or_else(|| self.value.as_float()).or_else(|| self.untyped()?.parse().ok());
        number
            .filter(|n| range.contains(n))
            .ok_or_else(|| self.is_not(&format!("a number from {} to {}", range.start(), range.end())))
    }

    pub fn seconds(&self, range: RangeInclusive<i64>) -> Result<Duration, String> {
        self.number(range).map(Duration::from_secs)
    }

    pub fn switch(&self) -> Result<bool, String> {
        let text = self.untyped().map(str::to_ascii_lowercase);
        match (&self.value, text.as_deref()) {
            (Value::Boolean(on), _) => Ok(*on),
            (_, Some("true" | "1" | "yes" | "on")) => Ok(true),
            (_, Some("false" | "0" | "no" | "off")) => Ok(false),
            _ => Err(self.is_not("`true` or `false`")),
        }
    }

    pub fn words(&self) -> Result<&str, String> {
        self.value.as_str().map(str::trim).filter(|text| !text.is_empty()).ok_or_else(|| self.is_not("text"))
    }

    /// One of a few words, in any case.
    pub fn one_of<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, String> {
        let word = self.value.as_str().unwrap_or_default();
        choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<String> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
            self.is_not(&format!("one of {}", names.join(", ")))
        })
    }

    /// A list of the file, or words between commas.
    pub fn list(&self) -> Result<Vec<String>, String> {
        match &self.value {
            Value::Array(items) if items.iter().all(Value::is_str) => Ok(items.iter().map(plain).collect()),
            _ => match self.untyped() {
                Some(text) => Ok(text.split(',').map(|item| item.trim().to_owned()).collect()),
                None => Err(self.is_not("a list of texts, as in `[\"a\", \"b\"]`")),
            },
        }
    }

    /// A path, from `data` on if it is relative.
    pub fn path(&self, data: &Path) -> Result<PathBuf, String> {
        self.words().map(|path| data.join(path)).map_err(|_| self.is_not("a path"))
    }

    pub fn address(&self) -> Result<SocketAddr, String> {
        let text = self.value.as_str().unwrap_or_default();
        let local = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
        match local {
            Some(port) => Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)),
            None => text.parse().map_err(|_| self.is_not("an address with a port, such as `127.0.0.1:8080`")),
        }
    }

    fn is_not(&self, wanted: &str) -> String {
        match &self.value {
            Value::String(_) if matches!(self.origin, Origin::File(_)) => {
                format!("the text `{}` is not {wanted}", self.shown())
            }
            Value::Array(_) => format!("a list is not {wanted}"),
            Value::Table(_) => format!("a table is not {wanted}"),
            _ => format!("`{}` is not {wanted}", self.shown()),
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
