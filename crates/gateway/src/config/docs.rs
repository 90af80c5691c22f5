//! `docs/SETTINGS.md`, written from the table.

use super::settings::{SETTINGS, Setting};
use super::sources;

const INTRODUCTION: &str = "\
# Settings

<!-- Written from the table in crates/gateway/src/config/settings.rs; a test compares. -->

A value comes from a flag, else from the environment, else from `gatehouse.toml` in the data
directory (or the file of `--config`), else it is the default. An unknown key and a wrong value
refuse to start, also where another value overrides it; all of them are reported at once.
`gatehouse config show --origin` shows each value and where it comes from.

Keys with a dot stand in a section: `limits.rows` is `rows` below `[limits]`. Relative paths are
relative to the data directory, wherever they are given; only `--data` and `--config` themselves
are relative to the working directory. Empty variables count as not set. In variables a list is
written with commas.
";

const SOURCES: &str = "
## Sources

Data besides the registry of the datasets, one section each in `gatehouse.toml`:

```toml
[sources.shop]
kind = \"sqlite\"
path = \"shop.sqlite\"
description = \"Orders, customers and products\"
prompts = [\"How many orders were there per month?\"]

[sources.traffic]
kind = \"files\"
tables = { visits = \"visits.parquet\", pages = \"pages.csv\" }

[sources.crm]
kind = \"postgres\"
url_env = \"CRM_URL\"
roles = { analyst = \"gatehouse_analyst\" }
```

| key | meaning |
|---|---|
";

const ENVIRONMENT: &str = "\
# Every setting as an environment variable, with its default. Copy this to `.env`, uncomment what you change, and load it
# before the start: set -a; . ./.env; set +a
#
# Where a specification has a name of its own for a variable, it stands here; GATEHOUSE_… names work too (docs/SETTINGS.md).
# Secrets belong in here or in a secret store: never in gatehouse.toml, and never on a command line.
";

/// `.env.example`: each setting by the name that people know it by.
pub fn env_example() -> String {
    let mut page = ENVIRONMENT.to_owned();
    for setting in SETTINGS {
        let names = setting.variables();
        let name = names.get(1).or(names.first()).map_or("", String::as_str);
        page.push_str(&format!("\n# {}\n#{name}={}\n", setting.doc.replace('`', "'"), setting.default));
    }
    page
}

/// The page that documents every setting.
pub fn markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut section = None;
    for setting in SETTINGS {
        let this = setting.key.split_once('.').map_or("general", |(section, _)| section);
        if section != Some(this) {
            page.push_str(&format!(
                "\n## {this}\n\n| key | default | variables and flag | meaning |\n|---|---|---|---|\n"
            ));
            section = Some(this);
        }
        page.push_str(&row(setting));
    }
    page.push_str(SOURCES);
    for sources::Key { name, meaning, .. } in sources::KEYS {
        page.push_str(&format!("| `{name}` | {meaning} |\n"));
    }
    page
}

fn row(setting: &Setting) -> String {
    let default = if setting.default.is_empty() { "not set".to_owned() } else { format!("`{}`", setting.default) };
    let flag = setting.flag.map(str::to_owned);
    let names: Vec<String> = setting.variables().into_iter().chain(flag).map(|name| format!("`{name}`")).collect();
    format!("| `{}` | {default} | {} | {} |\n", setting.key, names.join(", "), setting.doc)
}
