//! What the tables have become, step by step: the same steps, by the same names, for both stores.

/// One step, in the SQL of each store.
pub(crate) struct Migration {
    pub sqlite: &'static str,
    pub postgres: &'static str,
}

macro_rules! migrations {
    ($($name:literal),* $(,)?) => {
        &[$(Migration {
            sqlite: include_str!(concat!("../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $name, ".sql")),
        }),*]
    };
}

/// A ledger's version counts how many of these it has had. Only ever appended to.
pub(crate) const MIGRATIONS: &[Migration] = migrations![
    "001_begin",
    "002_owner",
    "003_end_user",
    "004_model",
    "005_scans",
    "006_servers",
    "007_changes",
    "008_ops",
    "009_heard",
    "010_cells",
    "011_origins",
    "012_logins"
];
