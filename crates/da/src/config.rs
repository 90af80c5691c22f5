//! Settings: flag before environment before project file before user file before default (spec 004 §10.5).

mod file;

use crate::credentials::Credentials;
use crate::problem::{Problem, Result};
use file::File;
use serde::Serialize;
use std::env;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where the user's own files of configuration are.
const DIRECTORY: &str = ".agnes";

/// A value, and who said so.
#[derive(Debug, Clone)]
pub struct Setting<T> {
    pub value: T,
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    /// The server of the last `da login`.
    Login,
    User(PathBuf),
    Project(PathBuf),
    Environment(&'static str),
    Flag,
}

impl Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Login => f.write_str("da login"),
            Self::User(path) => write!(f, "user file {}", path.display()),
            Self::Project(path) => write!(f, "project file {}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag => f.write_str("flag"),
        }
    }
}

#[derive(Debug)]
pub struct Config {
    /// Of credentials and the user's file.
    pub directory: PathBuf,
    pub server: Setting<Option<String>>,
    pub data_dir: Setting<PathBuf>,
    pub snapshot_quota_gb: Setting<u64>,
    pub snapshot_stale_warn_days: Setting<u32>,
    pub fetch_default_estimate: Setting<bool>,
}

/// One line of `da config show`.
#[derive(Debug, Serialize)]
pub struct Shown {
    pub key: &'static str,
    pub value: String,
    pub origin: String,
}

impl Config {
    /// `server` is what the flag says.
    pub fn load(server: Option<&str>) -> Result<Self> {
        let home = home()?;
        let directory = env::var_os("DA_CONFIG_DIR").map_or_else(|| home.join(DIRECTORY), PathBuf::from);
        let user_path = directory.join("config");
        let user = File::read(&user_path)?;
        let project = project_file(&user_path).map(|path| Ok((File::read(&path)?, path))).transpose()?;
        let (project, project_path) = project.unwrap_or_default();
        let layers = Layers { user: (&user, &user_path), project: (&project, &project_path) };

        let login = || Credentials::read(&directory).ok()?.server;
        let mut server = match server {
            Some(url) => Setting { value: Some(url.to_owned()), origin: Origin::Flag },
            None => layers.optional("DA_SERVER", |file| file.server.clone())?,
        };
        if server.value.is_none()
            && let Some(url) = login()
        {
            server = Setting { value: Some(url), origin: Origin::Login };
        }
        let data_dir = layers.optional("DA_DATA_DIR", |file| file.data_dir.clone())?;
        Ok(Self {
            server: Setting { value: server.value.map(|url| url.trim_end_matches('/').to_owned()), ..server },
            data_dir: Setting {
                value: data_dir.value.map_or_else(|| home.join("agnes-data").join("user"), |dir| expanded(&dir, &home)),
                origin: data_dir.origin,
            },
            snapshot_quota_gb: layers.or("DA_SNAPSHOT_QUOTA_GB", |file| file.snapshot_quota_gb, 10)?,
            snapshot_stale_warn_days: layers.or(
                "DA_SNAPSHOT_STALE_WARN_DAYS",
                |file| file.snapshot_stale_warn_days,
                7,
            )?,
            fetch_default_estimate: layers.or("DA_FETCH_DEFAULT_ESTIMATE", |file| file.fetch_default_estimate, true)?,
            directory,
        })
    }

    /// The server to talk to.
    pub fn server(&self) -> Result<&str> {
        self.server.value.as_deref().ok_or_else(|| {
            Problem::new(
                crate::problem::Exit::Auth,
                "no_server",
                "no server is known",
                "`da login --server URL --token-stdin`, or set DA_SERVER and DA_TOKEN",
            )
        })
    }

    pub fn quota_bytes(&self) -> u64 {
        self.snapshot_quota_gb.value.saturating_mul(1_000_000_000)
    }

    pub fn shown(&self) -> Vec<Shown> {
        fn shown<T>(key: &'static str, setting: &Setting<T>, text: impl Fn(&T) -> String) -> Shown {
            Shown { key, value: text(&setting.value), origin: setting.origin.to_string() }
        }
        vec![
            shown("server", &self.server, |url| url.clone().unwrap_or_default()),
            shown("data_dir", &self.data_dir, |path| path.display().to_string()),
            shown("snapshot_quota_gb", &self.snapshot_quota_gb, u64::to_string),
            shown("snapshot_stale_warn_days", &self.snapshot_stale_warn_days, u32::to_string),
            shown("fetch_default_estimate", &self.fetch_default_estimate, bool::to_string),
        ]
    }
}

/// The files, in the order in which they are asked after the environment.
struct Layers<'a> {
    project: (&'a File, &'a Path),
    user: (&'a File, &'a Path),
}

impl Layers<'_> {
    fn optional<T: FromStr>(
        &self,
        variable: &'static str,
        of: impl Fn(&File) -> Option<T>,
    ) -> Result<Setting<Option<T>>> {
        if let Ok(text) = env::var(variable) {
            let value = text.trim().parse().map_err(|_| {
                let message = format!("{variable} cannot be `{text}`");
                Problem::invalid("bad_setting", message, "`da config show --origin` lists all settings")
            })?;
            return Ok(Setting { value: Some(value), origin: Origin::Environment(variable) });
        }
        let (project, user) = (self.project, self.user);
        Ok(match (of(project.0), of(user.0)) {
            (Some(value), _) => Setting { value: Some(value), origin: Origin::Project(project.1.to_owned()) },
            (None, Some(value)) => Setting { value: Some(value), origin: Origin::User(user.1.to_owned()) },
            (None, None) => Setting { value: None, origin: Origin::Default },
        })
    }

    fn or<T: FromStr>(
        &self,
        variable: &'static str,
        of: impl Fn(&File) -> Option<T>,
        default: T,
    ) -> Result<Setting<T>> {
        let Setting { value, origin } = self.optional(variable, of)?;
        Ok(Setting { value: value.unwrap_or(default), origin })
    }
}

fn home() -> Result<PathBuf> {
    env::home_dir().filter(|home| home.is_absolute()).ok_or_else(|| {
        Problem::invalid("no_home", "there is no home directory", "set HOME, or DA_CONFIG_DIR and DA_DATA_DIR")
    })
}

/// `~/x` is below the home directory.
fn expanded(dir: &str, home: &Path) -> PathBuf {
    dir.strip_prefix("~/").map_or_else(|| PathBuf::from(dir), |rest| home.join(rest))
}

/// The nearest `.agnes/config` above, unless that is the user's own.
fn project_file(user: &Path) -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    here.ancestors().map(|dir| dir.join(DIRECTORY).join("config")).find(|path| path.is_file() && path != user)
}
