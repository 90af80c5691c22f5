//! The data of the suite, made once and put into every kind of source.

/// A table: its columns with their types in standard SQL, and its rows as CSV. An empty field is NULL.
pub struct Table {
    pub name: &'static str,
    pub columns: Vec<(&'static str, &'static str)>,
    pub csv: String,
}

const REGIONS: [&str; 4] = ["EMEA", "APAC", "AMER", "LATAM"];
const STATUSES: [&str; 3] = ["completed", "cancelled", "open"];
const CHANNELS: [&str; 3] = ["web", "shop", "phone"];

pub fn tables() -> Vec<Table> {
    vec![customers(), orders(), numbers(), doomed()]
}

fn customers() -> Table {
    let row = |i: u32| {
        let tier = if i.is_multiple_of(7) { "" } else { ["gold", "silver", "bronze"][(i % 3) as usize] };
        format!(
            "{i},Customer {i},{},{tier},202{}-{:02}-{:02}",
            REGIONS[(i % 4) as usize],
            3 + i % 3,
            1 + i % 12,
            1 + i % 28
        )
    };
    Table {
        name: "customers",
        columns: vec![
            ("id", "INTEGER"),
            ("name", "VARCHAR"),
            ("region", "VARCHAR"),
            ("tier", "VARCHAR"),
            ("joined", "DATE"),
        ],
        csv: lines((1..=60).map(row)),
    }
}

fn orders() -> Table {
    let row = |i: u32| {
        // Spread over customers, days and amounts without a pattern that questions could fall into.
        let mixed = i.wrapping_mul(2_654_435_761) >> 8;
        let amount = format!("{}.{:02}", 5 + mixed % 900, mixed % 100);
        let at = format!(
            "202{}-{:02}-{:02} {:02}:{:02}:15",
            3 + mixed % 2,
            1 + mixed / 7 % 12,
            1 + mixed / 11 % 28,
            mixed % 24,
            mixed % 60
        );
        let channel = if i.is_multiple_of(13) { "" } else { CHANNELS[(mixed % 3) as usize] };
        let (customer, status) = (1 + mixed % 60, STATUSES[(mixed / 3 % 3) as usize]);
        format!("{i},{customer},{at},{amount},{},{status},{channel}", 1 + mixed % 9)
    };
    Table {
        name: "orders",
        columns: vec![
            ("id", "INTEGER"),
            ("customer_id", "INTEGER"),
            ("ordered_at", "TIMESTAMP"),
            ("amount", "DECIMAL(10,2)"),
            ("quantity", "INTEGER"),
            ("status", "VARCHAR"),
            ("channel", "VARCHAR"),
        ],
        csv: lines((1..=800).map(row)),
    }
}

/// Enough rows that a join of it with itself never ends.
fn numbers() -> Table {
    Table { name: "numbers", columns: vec![("n", "INTEGER")], csv: lines((0..30_000).map(|n: u32| n.to_string())) }
}

/// A table that troubles come over.
fn doomed() -> Table {
    let columns = vec![("id", "INTEGER"), ("word", "VARCHAR")];
    Table { name: "doomed", columns, csv: lines((0..3).map(|n: u32| format!("{n},word {n}"))) }
}

fn lines(rows: impl Iterator<Item = String>) -> String {
    rows.map(|row| row + "\n").collect()
}

/// The table `kinds`: a column of each type, with usual values, with odd ones, and with none.
pub struct Kind {
    pub column: &'static str,
    /// The type, and two values in SQL; SQLite keeps what it has no type for as its text.
    pub duckdb: (&'static str, [&'static str; 2]),
    pub sqlite: Option<(&'static str, [&'static str; 2])>,
    pub postgres: Option<(&'static str, [&'static str; 2])>,
    /// As a scan gives them in JSON.
    pub json: [&'static str; 2],
}

#[rustfmt::skip]
pub const KINDS: &[Kind] = &[
    same("small", "SMALLINT", ["7", "-32768"], ["7", "-32768"]),
    same("whole", "INTEGER", ["42", "2147483647"], ["42", "2147483647"]),
    same("big", "BIGINT", ["9007199254740993", "-9223372036854775807"], ["9007199254740993", "-9223372036854775807"]),
    Kind { column: "number", duckdb: ("DOUBLE", ["0.1", "-1.5e300"]), sqlite: Some(("REAL", ["0.1", "-1.5e300"])), postgres: Some(("DOUBLE PRECISION", ["0.1", "-1.5e300"])), json: ["0.1", "-1.5e+300"] },
    Kind { column: "exact", sqlite: None, ..same("exact", "DECIMAL(20,4)", ["12345.6789", "-0.0001"], ["12345.6789", "-0.0001"]) },
    Kind { column: "long_exact", sqlite: None, ..same("long_exact", "DECIMAL(38,10)", ["1234567890123456789012345678.0123456789", "0"], ["1234567890123456789012345678.0123456789", "0.0000000000"]) },
    same("flag", "BOOLEAN", ["TRUE", "FALSE"], ["true", "false"]),
    same("word", "VARCHAR", ["'naïve ☂ 日本'", "''"], ["\"naïve ☂ 日本\"", "\"\""]),
    same("note", "TEXT", ["'it''s \"quoted\"'", "'line\nbreak'"], ["\"it's \\\"quoted\\\"\"", "\"line\\nbreak\""]),
    same("day", "DATE", ["'2024-02-29'", "'1969-12-31'"], ["\"2024-02-29\"", "\"1969-12-31\""]),
    Kind { column: "at", sqlite: None, ..same("at", "TIMESTAMP", ["'2024-02-29 12:30:00.25'", "'1969-12-31 23:59:59.999999'"], ["\"2024-02-29T12:30:00.25\"", "\"1969-12-31T23:59:59.999999\""]) },
    Kind { column: "at_zone", sqlite: None, ..same("at_zone", "TIMESTAMPTZ", ["'2024-06-30 12:30:00+02'", "'2024-01-01 00:00:00+00'"], ["\"2024-06-30T10:30:00Z\"", "\"2024-01-01T00:00:00Z\""]) },
    Kind { column: "clock", sqlite: None, ..same("clock", "TIME", ["'12:30:00.5'", "'00:00:00'"], ["\"12:30:00.5\"", "\"00:00:00\""]) },
    Kind { column: "ident", sqlite: None, ..same("ident", "UUID", ["'6f9619ff-8b86-d011-b42d-00c04fc964ff'", "'00000000-0000-0000-0000-000000000000'"], ["\"6f9619ff-8b86-d011-b42d-00c04fc964ff\"", "\"00000000-0000-0000-0000-000000000000\""]) },
    Kind { column: "bytes", duckdb: ("BLOB", ["'\\x00\\xFF'::BLOB", "''::BLOB"]), sqlite: Some(("BLOB", ["x'00ff'", "x''"])), postgres: Some(("BYTEA", ["'\\x00ff'", "''"])), json: ["\"AP8=\"", "\"\""] },
    Kind { column: "span", duckdb: ("INTERVAL", ["INTERVAL '1 month 2 days'", "INTERVAL '3 hours'"]), sqlite: None, postgres: Some(("INTERVAL", ["'1 month 2 days'", "'3 hours'"])), json: ["\"P1M2D\"", "\"PT3H\""] },
    Kind { column: "list", duckdb: ("INTEGER[]", ["[1, NULL, 3]", "[]"]), sqlite: None, postgres: Some(("INTEGER[]", ["'{1,NULL,3}'", "'{}'"])), json: ["[1,null,3]", "[]"] },
    Kind { column: "words", duckdb: ("VARCHAR[]", ["['a', 'b,\"c']", "[NULL]"]), sqlite: None, postgres: Some(("TEXT[]", ["ARRAY['a', 'b,\"c']", "'{NULL}'"])), json: ["[\"a\",\"b,\\\"c\"]", "[null]"] },
    Kind { column: "pair", duckdb: ("STRUCT(a INTEGER, b VARCHAR)", ["{'a': 1, 'b': 'x'}", "{'a': NULL, 'b': ''}"]), sqlite: None, postgres: None, json: ["{\"a\":1,\"b\":\"x\"}", "{\"a\":null,\"b\":\"\"}"] },
    Kind { column: "pairs", duckdb: ("STRUCT(a INTEGER, b VARCHAR)[]", ["[{'a': 1, 'b': 'x'}, NULL, {'a': NULL, 'b': 'y'}]", "[]"]), sqlite: None, postgres: None, json: ["[{\"a\":1,\"b\":\"x\"},null,{\"a\":null,\"b\":\"y\"}]", "[]"] },
    Kind { column: "nest", duckdb: ("STRUCT(day DATE, deep STRUCT(few INTEGER[]))", ["{'day': '2024-02-29', 'deep': {'few': [1, NULL]}}", "{'day': NULL, 'deep': NULL}"]), sqlite: None, postgres: None, json: ["{\"day\":\"2024-02-29\",\"deep\":{\"few\":[1,null]}}", "{\"day\":null,\"deep\":null}"] },
];

/// One that all kinds of sources write in the same way.
const fn same(column: &'static str, kind: &'static str, values: [&'static str; 2], json: [&'static str; 2]) -> Kind {
    Kind { column, duckdb: (kind, values), sqlite: Some((kind, values)), postgres: Some((kind, values)), json }
}

/// The statements that make `kinds`, and `nobody`, which has the same columns and no rows.
pub fn kinds(of: impl Fn(&Kind) -> Option<(&'static str, [&'static str; 2])>) -> String {
    let kept: Vec<_> = KINDS.iter().filter_map(|kind| Some((kind.column, of(kind)?))).collect();
    let columns: Vec<String> = kept.iter().map(|(name, (native, _))| format!("\"{name}\" {native}")).collect();
    let row = |place: usize| kept.iter().map(|(_, (_, values))| values[place]).collect::<Vec<_>>().join(", ");
    let nulls = vec!["NULL"; kept.len()].join(", ");
    let columns = columns.join(", ");
    format!(
        "CREATE TABLE kinds (id INTEGER, {columns}); CREATE TABLE nobody (id INTEGER, {columns});
         INSERT INTO kinds VALUES (1, {}), (2, {}), (3, {nulls});",
        row(0),
        row(1),
    )
}
