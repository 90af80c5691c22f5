//! Two copies of the same data that differ in nothing that the role `agent` may see, and a server over each.

use crate::support::server;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::LazyLock;
use tempfile::TempDir;
use testkit::{Client, Postgres, Server};

/// What holds a copy. Each is a dataset of its own, with its own resources: `orders_parquet` and so on.
pub const DATASETS: [&str; 6] = ["parquet", "csv", "hot", "sqlite", "till", "books"];
/// Those that are files, which DuckDB reads.
pub const FILES: [&str; 3] = ["parquet", "csv", "hot"];
/// Those that Records may write to.
pub const WRITABLE: [&str; 2] = ["till", "books"];

const TABLES: &str = "
    CREATE TABLE orders (id INTEGER PRIMARY KEY, code TEXT, owner TEXT, region TEXT, item TEXT, amount INTEGER,
        price DOUBLE PRECISION, day DATE, note TEXT, batch TEXT, serial TEXT, secret TEXT, deleted_at TIMESTAMP);
    CREATE TABLE visits (id INTEGER PRIMARY KEY, page TEXT, seconds INTEGER, ip TEXT, deleted_at TIMESTAMP);
    CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, stock INTEGER, cost INTEGER);
    CREATE TABLE absent (id INTEGER PRIMARY KEY, region TEXT, amount INTEGER, note TEXT);";

/// A constraint that only databases have, over all rows, whoever may see them.
const UNIQUE: &str = "CREATE UNIQUE INDEX one_serial ON orders (serial);";

/// Rows hidden in a copy of the data: next to none, which look like those that are seen, or such as a seed makes up.
#[derive(Clone, Copy, PartialEq)]
pub enum Hidden {
    Few,
    MadeUp(u64),
}

/// Numbers that a seed gives one after the other.
struct Lot(u64);

impl Lot {
    /// A number below `most`.
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % most
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// Texts that functions fail on.
const NASTY: [&str; 12] = ["(", "", "%\\", "[", "x", "é", "{", "1e999", "-", "%Q", "9223372036854775807", "2024-13-77"];
const ITEMS: [&str; 5] = ["tea", "rice", "lamp", "book", "rope"];

impl Hidden {
    /// The statements that fill the tables, in words that all engines know. Texts that types are guessed from are `plain`.
    fn rows(self, plain: bool) -> String {
        let mut rows: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut insert = |table, row: String| rows.entry(table).or_default().push(format!("({row})"));
        let mut lot = Lot(if let Self::MadeUp(seed) = self { seed } else { 0 });
        // Hidden rows are many or few between those that are seen.
        let most = 1 + lot.below(40);
        let mut unseen = 10_000;
        let hidden = |lot: &mut Lot, unseen: usize| match self {
            Self::Few => "note 1".to_owned(),
            Self::MadeUp(_) if plain => "x".to_owned(),
            // Among those that are all different some are as they stand: functions fail on them alone.
            _ if self.is_distinct() && lot.below(4) > 0 => format!("{} {unseen}", lot.of(&NASTY)),
            _ => lot.of(&NASTY).to_owned(),
        };
        // Text that is a number where it is seen. Types of a file of text are guessed from all its rows.
        let batch = |lot: &mut Lot| if self == Self::Few || plain { "7" } else { lot.of(&NASTY) }.to_owned();
        // A value that no two rows have.
        let serial = |unseen: usize| if self == Self::Few { format!("S-{unseen}") } else { hidden_serial(unseen) };
        let secret = |lot: &mut Lot, i: usize| match self {
            Self::Few => format!("s{i}"),
            Self::MadeUp(_) => format!("{} {}", lot.of(&NASTY), lot.below(1000)),
        };
        for i in 1..=150 {
            let item = ITEMS[i % ITEMS.len()];
            let owner = if i % 3 == 0 { "ann" } else { "bob" };
            let day = format!("2024-{:02}-{:02}", i % 12 + 1, i % 28 + 1);
            let price = i as f64 * 0.1;
            let seen = format!("'{owner}', 'E', '{item}', {}, {price:.1}, '{day}', 'note {}'", i * 7 % 40, i % 50);
            let seen = format!("{seen}, '{}', 'S-{i}'", i % 20);
            insert("orders", format!("{i}, 'C-{i}', {seen}, '{}', NULL", secret(&mut lot, i)));
            let between = if self == Self::Few { usize::from(i == 77) } else { lot.below(most) };
            for _ in 0..between {
                unseen += 1;
                // One that looks like the others has nothing in its columns' statistics that they have not.
                let mut unlike = |usual: &'static str, odd: &[&'static str]| match self {
                    Self::Few => usual,
                    Self::MadeUp(_) => lot.of(odd),
                };
                let amount = unlike("7", &["0", "-1", "7", "2147483647", "-2147483648", "NULL"]);
                let (region, price) =
                    (unlike("E ", &["A", "W", "e", "E ", ""]), unlike("1", &["0", "-1", "1e300", "NULL"]));
                let (item, day) = (
                    unlike("tea", &["tea", "rope", "(", "never seen"]),
                    unlike("2024-03-03", &["2031-01-01", "1970-01-01"]),
                );
                let [owner, note] = [(); 2].map(|()| hidden(&mut lot, unseen));
                let (batch, serial) = (batch(&mut lot), serial(unseen));
                let row = format!("'{owner}', '{region}', '{item}', {amount}, {price}, '{day}', '{note}'");
                insert("orders", format!("{unseen}, 'H-{unseen}', {row}, '{batch}', '{serial}', 'h', NULL"));
            }
            if if self == Self::Few { i % 60 == 0 } else { lot.below(10) == 0 } {
                unseen += 1;
                let [owner, note] = [(); 2].map(|()| hidden(&mut lot, unseen));
                let (batch, serial) = (batch(&mut lot), serial(unseen));
                let row = format!("'{owner}', 'E', 'gone', 0, 0, '2032-01-01', '{note}', '{batch}', '{serial}', 'd'");
                insert("orders", format!("{unseen}, 'D-{unseen}', {row}, '2024-05-05 00:00:00'"));
                insert("visits", format!("{unseen}, '{owner}', 0, 'd', '2024-05-05 00:00:00'"));
            }
            if i % 2 == 0 {
                insert("visits", format!("{i}, 'page {}', {}, '{}', NULL", i % 9, i % 13 + 1, secret(&mut lot, i)));
            }
        }
        // The last number that a database gave out is one that the role may see.
        let last = secret(&mut lot, 1);
        let row = "60000, 'C-60000', 'ann', 'E', 'tea', 5, 0.3, '2024-02-29', 'last', '60', 'S-60000'";
        insert("orders", format!("{row}, '{last}', NULL"));
        for (i, item) in ITEMS.iter().enumerate() {
            let cost = if self == Self::Few { 1 } else { lot.below(10_000) };
            insert("items", format!("{}, '{item}', {}, {cost}", i + 1, i * 3 + 1));
        }
        // All its rows are hidden: there are none, but in a file of text one, since it has no types without any.
        let absent = if self == Self::Few { usize::from(plain) } else { 1 + lot.below(200) };
        for i in 0..absent {
            insert("absent", format!("{i}, 'A', 0, '{}'", hidden(&mut lot, i)));
        }
        rows.into_iter().map(|(table, rows)| format!("INSERT INTO {table} VALUES {};", rows.join(", "))).collect()
    }

    /// High cardinality, or low, of hidden texts: in turns, so that two seeds have both.
    fn is_distinct(self) -> bool {
        matches!(self, Self::MadeUp(seed) if seed % 2 == 1)
    }

    /// A table that nobody was granted: of another name and shape in each copy.
    fn vault(self) -> &'static str {
        match self {
            Self::Few => "CREATE TABLE vault (id INTEGER, pin TEXT); INSERT INTO vault VALUES (1, '4711');",
            Self::MadeUp(_) => {
                "CREATE TABLE payroll (id INTEGER, name TEXT, pay INTEGER, since TIMESTAMP);
                 INSERT INTO payroll VALUES (1, 'ann', 90000, NULL), (2, 'bob', 1, NULL), (3, 'eve', 7, NULL);"
            }
        }
    }

    fn all(self) -> String {
        [TABLES, &self.rows(false), self.vault()].concat()
    }
}

/// The unique value of a row that a seed made up, by its number.
pub fn hidden_serial(unseen: usize) -> String {
    format!("S-({unseen}")
}

/// The number of a row that every copy hides.
pub const FIRST_HIDDEN: usize = 10_001;

/// The contracts over one dataset. The role sees less than there is of each table.
fn contracts(dataset: &str) -> Vec<(String, String)> {
    let may = if WRITABLE.contains(&dataset) {
        "ops: [READ, INSERT, UPDATE], write: [code, owner, region, item, amount, note, serial]"
    } else {
        "ops: [READ]"
    };
    // A file of text has no texts that are numbers.
    let batch = if dataset == "csv" { "integer" } else { "string" };
    let orders = format!(
        "natural_key: [code]\nsoft_delete: deleted_at\njoins: [{{target: items_{dataset}, on: {{item: name}}, type: inner}}]\nfields:
  - {{name: id, type: integer, generated: true}}
  - {{name: code, type: string}}
  - {{name: owner, type: string}}
  - {{name: region, type: string}}
  - {{name: item, type: string}}
  - {{name: amount, type: integer}}
  - {{name: price, type: number, nullable: true}}
  - {{name: day, type: date, nullable: true}}
  - {{name: note, type: string}}
  - {{name: batch, type: {batch}, nullable: true}}
  - {{name: serial, type: string, nullable: true}}
  - {{name: secret, type: string, nullable: true}}
  - {{name: deleted_at, type: timestamp, nullable: true}}
roles:
  agent: {{{may}, hide: [secret, deleted_at], rows: \"region = 'E'\"}}\n"
    );
    let visits = "soft_delete: deleted_at\nfields:
  - {name: id, type: integer}
  - {name: page, type: string}
  - {name: seconds, type: integer}
  - {name: ip, type: string}
  - {name: deleted_at, type: timestamp, nullable: true}
roles:
  agent: {ops: [READ], hide: [ip, deleted_at]}\n";
    let items = "fields:
  - {name: id, type: integer}
  - {name: name, type: string}
  - {name: stock, type: integer}
  - {name: cost, type: integer}
roles:
  agent: {ops: [READ], hide: [cost]}\n";
    let absent = "fields:
  - {name: id, type: integer}
  - {name: region, type: string}
  - {name: amount, type: integer}
  - {name: note, type: string}
roles:
  agent: {ops: [READ], rows: \"region = 'E'\"}\n";
    let tables = [("orders", orders.as_str()), ("visits", visits), ("items", items), ("absent", absent)];
    let head = |table: &str| {
        format!(
            "version: \"1\"\nresource: {table}_{dataset}\nsource: {dataset}\ntable: {table}\nkey: [id]\nsynonyms: [{table}]\n"
        )
    };
    let of = |(table, rest): &(&str, &str)| (format!("contracts/{table}_{dataset}.yaml"), head(table) + rest);
    tables.iter().map(of).collect()
}

/// Roles belong to a cluster: they are made once.
static ROLES: LazyLock<()> = LazyLock::new(|| {
    let sql = "CREATE ROLE unseen_gatehouse LOGIN NOINHERIT PASSWORD 'g'; CREATE ROLE unseen_agent; \
               GRANT unseen_agent TO unseen_gatehouse";
    Postgres::shared().sql("postgres", sql);
});

/// One copy, and what is asked of it.
pub struct Side {
    pub agent: Client,
    _server: Server,
    dir: TempDir,
}

/// Two copies, of which one holds what a seed makes up.
pub fn sides(seed: u64) -> [Side; 2] {
    [Hidden::Few, Hidden::MadeUp(seed)].map(Side::new)
}

impl Side {
    pub fn new(hidden: Hidden) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let datasets = dir.path().join("datasets");
        std::fs::create_dir(&datasets).unwrap();
        FILES.iter().for_each(|dataset| files(dataset, hidden, "", &datasets));
        std::fs::create_dir(dir.path().join("till")).unwrap();
        // Its writer may be another user.
        std::fs::set_permissions(dir.path().join("till"), PermissionsExt::from_mode(0o777)).unwrap();
        for path in ["datasets/sqlite.sqlite", "till/till.sqlite"] {
            let database = rusqlite::Connection::open(dir.path().join(path)).unwrap();
            database.execute_batch(&format!("BEGIN; {} {UNIQUE} COMMIT;", hidden.all())).unwrap();
            std::fs::set_permissions(dir.path().join(path), PermissionsExt::from_mode(0o666)).unwrap();
        }
        std::fs::write(datasets.join("registry.json"), include_str!("../cases/unseen/registry.json")).unwrap();
        let url = postgres(hidden);
        let toml = "[sources.till]\nkind = 'sqlite'\npath = 'till/till.sqlite'\nwritable = true\n\
                    [sources.books]\nkind = 'postgres'\nurl_env = 'BOOKS_URL'\nsslmode = 'disable'\nwritable = true\n\
                    roles = {agent = 'unseen_agent'}\n";
        let builder = server().data(dir.path()).file("gatehouse.toml", toml).env("BOOKS_URL", &url);
        let contracts = DATASETS.iter().flat_map(|dataset| contracts(dataset));
        let builder = contracts.fold(builder, |builder, (path, text)| builder.file(&path, &text));
        let builder = builder.env("GATEHOUSE_API_SCAN_MAX_DAILY_BYTES_PER_USER", "1000000000000");
        // A statement that fails costs its worker, and its caller waits for another one: on a slow machine long enough to
        // be refused.
        let builder = builder.env("GATEHOUSE_ENGINES_QUEUE_SECONDS", "300");
        let server = builder.start();
        let agent = server.client("ann", "agent");
        Self { agent, _server: server, dir }
    }

    /// Changes the rows of a dataset; files are written anew, with other hidden rows.
    pub fn change(&self, dataset: &str, sql: &str) {
        let sqlite = |path: &str| rusqlite::Connection::open(self.dir.path().join(path)).unwrap();
        match dataset {
            "till" => sqlite("till/till.sqlite").execute_batch(sql).unwrap(),
            "sqlite" => sqlite("datasets/sqlite.sqlite").execute_batch(sql).unwrap(),
            _ => files(dataset, Hidden::MadeUp(7), sql, &self.dir.path().join("datasets")),
        }
    }
}

/// The files of a dataset, after some changes.
fn files(dataset: &str, hidden: Hidden, changes: &str, dir: &Path) {
    let extension = if dataset == "hot" { "hot.parquet" } else { dataset };
    let duck = duckdb::Connection::open_in_memory().unwrap();
    let sql = [TABLES, &hidden.rows(dataset == "csv"), changes].concat();
    duck.execute_batch(&format!("BEGIN; {sql} COMMIT;")).unwrap();
    for table in ["orders", "visits", "items", "absent"] {
        let file = dir.join(format!("{table}.{extension}"));
        duck.execute_batch(&format!("COPY {table} TO '{}'", file.display())).unwrap();
        if table == "orders" && extension.ends_with("parquet") {
            let pages = format!("SELECT count(dictionary_page_offset) FROM parquet_metadata('{}')", file.display());
            let dictionaries: i64 = duck.query_row(&pages, [], |row| row.get(0)).unwrap();
            assert!(dictionaries > 0, "engines may look into dictionaries, and here are none");
        }
    }
}

fn postgres(hidden: Hidden) -> String {
    LazyLock::force(&ROLES);
    let database = Postgres::shared().database();
    let id = "ALTER TABLE orders ALTER id ADD GENERATED BY DEFAULT AS IDENTITY (START WITH 70000);";
    let grant = "GRANT SELECT, INSERT, UPDATE ON orders, visits, items, absent TO unseen_agent; ANALYZE;";
    Postgres::shared().sql(&database, &[&hidden.all(), UNIQUE, id, grant].concat());
    Postgres::shared().url_as("unseen_gatehouse", "g", &database)
}
