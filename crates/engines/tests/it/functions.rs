//! Every function, operator and cast that policy allows over DuckDB, over rows of which a filter hides those that they
//! fail on: what is hidden must not decide whether a statement fails, nor with which words.
//!
//! DuckDB's own catalogue says which types a function takes, so that a new version brings its new functions along.

use crate::cases::{check, lines};
use crate::jail::engines;
use domain::{Caller, Proposal, SourceSchema};
use engines::{Engines, FileTable, Settings, Source, SourceKind};
use policy::Policy;
use sandbox::JailLimits;
use std::collections::BTreeSet;
use std::path::Path;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A type: its name in columns, its name in SQL, a value that visible rows have, and values that functions fail on.
struct Kind(&'static str, &'static str, &'static str, &'static [&'static str]);

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    Kind("varchar", "VARCHAR", "ab", &["(", "", "%\\", "\\", "[", "x", "é", "🦆", "{", "1e999", "-", "%Q", "(?", "*", "a!"]),
    Kind("bigint", "BIGINT", "3", &["0", "-1", "9223372036854775807", "-9223372036854775808", "64", "400"]),
    Kind("integer", "INTEGER", "3", &["0", "-1", "2147483647", "-2147483648", "64", "400"]),
    Kind("double", "DOUBLE", "0.5", &["0", "-1", "inf", "-inf", "nan", "1e308", "-1e308", "1e-308"]),
    Kind("date", "DATE", "2024-01-02", &["infinity", "-infinity", "5881580-07-10", "0001-01-01", "5877642-06-25 (BC)"]),
    Kind("timestamp", "TIMESTAMP", "2024-01-02 03:04:05", &["infinity", "-infinity", "294247-01-10 04:00:54"]),
    Kind("timestamptz", "TIMESTAMPTZ", "2024-01-02 03:04:05+00", &["infinity", "-infinity", "294247-01-10 04:00:54+00"]),
    Kind("timestamp_ns", "TIMESTAMP_NS", "2024-01-02 03:04:05", &["infinity", "2262-04-11 23:47:16.854775806"]),
    Kind("time", "TIME", "03:04:05", &["00:00:00", "24:00:00", "23:59:59.999999"]),
    Kind("interval", "INTERVAL", "1 day", &["999999 years", "0 days", "9999999999999 seconds"]),
    Kind("boolean", "BOOLEAN", "true", &["false"]),
    Kind("blob", "BLOB", "ab", &["\\xFF\\xFE", "", "\\x00", "\\x80abc"]),
    Kind("bit", "BIT", "101", &["1", "0", "1111111111111111111111"]),
    Kind("uuid", "UUID", "01890a5d-ac96-774b-bcce-b302099a8057", &["00000000-0000-0000-0000-000000000000"]),
    Kind("json", "JSON", r#"{"a":1}"#, &["null", "[]", "1", r#""x""#, r#"{"a":{"b":[]}}"#, "[1,2]"]),
    Kind("hugeint", "HUGEINT", "3", &["0", "-1", "170141183460469231731687303715884105727"]),
    Kind("ubigint", "UBIGINT", "3", &["0", "18446744073709551615"]),
    Kind("decimal", "DECIMAL(18,3)", "3.5", &["0", "-1", "999999999999999.999", "-999999999999999.999"]),
    Kind("bigints", "BIGINT[]", "[1,2]", &["[]", "[NULL]", "[9223372036854775807,1]", "[-9223372036854775808]", "[0]"]),
    Kind("doubles", "DOUBLE[]", "[1,2]", &["[]", "[NULL]", "[nan]", "[inf]", "[1,2,3]"]),
    Kind("varchars", "VARCHAR[]", "[a,b]", &["[]", "[NULL]", "[(]"]),
    Kind("map", "MAP(VARCHAR, BIGINT)", "{a=1}", &["{}", "{b=2}"]),
    Kind("struct", "STRUCT(a BIGINT)", "{'a': 1}", &["{'a': 9223372036854775807}"]),
];

impl Kind {
    fn native(&self) -> String {
        format!("n_{}", self.0)
    }

    /// The value by way of text, whose dictionary DuckDB may evaluate as a whole.
    fn by_text(&self) -> String {
        if self.1 == "VARCHAR" { "t_varchar".to_owned() } else { format!("try_cast(t_{} AS {})", self.0, self.1) }
    }

    fn constant(&self) -> String {
        format!("CAST({} AS {})", quoted(self.2), self.1)
    }
}

/// The kind that stands for a parameter of this type; none for lambdas.
fn kind_of(parameter: &str) -> Option<&'static Kind> {
    let name = match parameter {
        "LAMBDA" => return None,
        "SMALLINT" | "TINYINT" | "USMALLINT" | "UTINYINT" => "INTEGER",
        "UINTEGER" => "BIGINT",
        "UHUGEINT" | "BIGNUM" => "HUGEINT",
        "FLOAT" => "DOUBLE",
        "DECIMAL" => "DECIMAL(18,3)",
        "TIMESTAMP WITH TIME ZONE" => "TIMESTAMPTZ",
        "TIMESTAMP_S" | "TIMESTAMP_MS" => "TIMESTAMP",
        "TIME WITH TIME ZONE" => "TIME",
        "FLOAT[]" => "DOUBLE[]",
        "T[]" => "VARCHAR[]",
        "MAP" | "MAP(K, V)" => "MAP(VARCHAR, BIGINT)",
        "STRUCT" => "STRUCT(a BIGINT)",
        "V" => "BIGINT",
        list if list.ends_with("[]") && list != "DOUBLE[]" && list != "VARCHAR[]" => "BIGINT[]",
        other => other,
    };
    KINDS.iter().find(|kind| kind.1 == name).or_else(|| KINDS.first())
}

/// Functions that policy refuses where rows are hidden.
const WHOLE: [&str; 5] =
    ["list_cosine_distance", "list_cosine_similarity", "list_distance", "list_dot_product", "list_inner_product"];

/// A way to call something: how it is written, with `{}` for each argument, what the arguments are, and whether it is
/// another word for something.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Call(String, Vec<&'static str>, bool);

fn calls(allowed: &BTreeSet<&str>) -> BTreeSet<Call> {
    let connection = duckdb::Connection::open_in_memory().unwrap();
    let catalogue = "SELECT function_name, array_to_string(parameter_types, ';'), coalesce(varargs, ''), len(parameters), alias_of IS NOT NULL \
                     FROM duckdb_functions() WHERE function_type IN ('scalar', 'macro')";
    let mut statement = connection.prepare(catalogue).unwrap();
    let overloads = statement.query_map([], |row| {
        let types = row.get::<_, Option<String>>(1)?.unwrap_or_default();
        Ok((row.get::<_, String>(0)?, types, row.get::<_, String>(2)?, row.get::<_, u64>(3)?, row.get::<_, bool>(4)?))
    });
    let mut found = BTreeSet::new();
    for (name, types, varargs, count, is_alias) in overloads.unwrap().map(Result::unwrap) {
        if !allowed.contains(name.as_str()) {
            continue;
        }
        let types: Vec<&str> = types.split(';').filter(|t| !t.is_empty()).collect();
        let mut lists: Vec<Vec<&str>> = vec![types.clone()];
        if !varargs.is_empty() {
            lists.push([types.as_slice(), &[varargs.as_str()]].concat());
            lists.push([types.as_slice(), &[varargs.as_str(), varargs.as_str()]].concat());
        }
        if types.len() as u64 != count {
            // Macros have no types.
            lists = ["VARCHAR", "BIGINT", "DATE", "BIGINT[]"].map(|t| vec![t; count as usize]).into();
        }
        for types in lists.iter().filter(|types| !types.is_empty()) {
            let Some(kinds) = types.iter().map(|t| kind_of(t).map(|k| k.1)).collect() else { continue };
            found.insert(Call(format!("{name}({})", vec!["{}"; types.len()].join(", ")), kinds, is_alias));
        }
    }
    let mut add = |text: &str, kinds: &[&'static str]| {
        found.insert(Call(text.to_owned(), kinds.to_vec(), text.starts_with("CAST")))
    };
    for Kind(_, from, ..) in KINDS {
        for Kind(_, to, ..) in KINDS {
            add(&format!("CAST({{}} AS {to})"), &[from]);
        }
    }
    for number in ["BIGINT", "INTEGER", "DOUBLE", "DECIMAL(18,3)", "HUGEINT", "UBIGINT"] {
        for operator in ["+", "-", "*", "/", "%", "//", "^", "**", "<<", ">>", "&", "|", "<", "=", "<>"] {
            add(&format!("{{}} {operator} {{}}"), &[number, number]);
        }
        add("-{}", &[number]);
        add("~{}", &[number]);
    }
    for moment in ["DATE", "TIMESTAMP", "TIMESTAMPTZ"] {
        add("{} + {}", &[moment, "INTERVAL"]);
        add("{} - {}", &[moment, "INTERVAL"]);
        add("{} - {}", &[moment, moment]);
        for part in ["year", "month", "epoch", "day", "week", "quarter", "century", "julian", "isoyear", "microsecond"]
        {
            add(&format!("extract({part} FROM {{}})"), &[moment]);
            add(&format!("date_trunc('{part}', {{}})"), &[moment]);
            for function in ["date_diff", "date_sub"] {
                add(&format!("{function}('{part}', {{}}, {{}})"), &[moment, moment]);
            }
        }
    }
    for operator in
        ["LIKE", "ILIKE", "NOT LIKE", "GLOB", "SIMILAR TO", "~", "!~", "~~", "!~~", "~~*", "!~~*", "^@", "||"]
    {
        add(&format!("{{}} {operator} {{}}"), &["VARCHAR", "VARCHAR"]);
    }
    for operator in ["&&", "@>", "<@"] {
        add(&format!("{{}} {operator} {{}}"), &["BIGINT[]", "BIGINT[]"]);
    }
    add("{} * {}", &["INTERVAL", "BIGINT"]);
    add("{}[{}]", &["BIGINT[]", "BIGINT"]);
    add("{}[{}]", &["VARCHAR", "BIGINT"]);
    add("{} -> {}", &["JSON", "VARCHAR"]);
    add("{} ->> {}", &["JSON", "VARCHAR"]);
    add("{} COLLATE nocase", &["VARCHAR"]);
    found
}

impl Call {
    fn with(&self, arguments: &[String]) -> String {
        arguments.iter().fold(self.0.clone(), |text, argument| text.replacen("{}", argument, 1))
    }

    /// With columns for all arguments, and with one by way of text among constants.
    fn expressions(&self) -> Vec<String> {
        let kinds: Vec<&Kind> = self.1.iter().map(|name| KINDS.iter().find(|k| k.1 == *name).unwrap()).collect();
        let natives: Vec<String> = kinds.iter().map(|kind| kind.native()).collect();
        let by_text = (0..kinds.len()).map(|place| {
            let argument = |(i, kind): (usize, &&Kind)| if i == place { kind.by_text() } else { kind.constant() };
            self.with(&kinds.iter().enumerate().map(argument).collect::<Vec<_>>())
        });
        let by_text = by_text.filter(|_| !self.2);
        std::iter::once(self.with(&natives)).chain(by_text).collect()
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// What a file of `probe` is read as.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Format {
    Parquet,
    HotCopy,
    Csv,
}

/// Three thousand rows that are seen, and as many hidden ones as there are values to fail on; or harmless ones.
fn write(dir: &Path, format: Format, nasty: bool) -> Source {
    let connection = duckdb::Connection::open_in_memory().unwrap();
    let columns: Vec<String> = KINDS.iter().map(|Kind(name, ..)| format!("t_{name} VARCHAR")).collect();
    connection
        .execute_batch(&format!("CREATE TABLE texts (id INTEGER, region VARCHAR, {})", columns.join(", ")))
        .unwrap();
    let usual: Vec<String> = KINDS.iter().map(|kind| quoted(kind.2)).collect();
    connection
        .execute_batch(&format!("INSERT INTO texts SELECT i, 'E', {} FROM range(3000) AS r (i)", usual.join(", ")))
        .unwrap();
    for i in 0..60_usize {
        let hidden: Vec<String> = KINDS
            .iter()
            .map(|kind| match nasty && (format != Format::Csv || kind.0 == "varchar") {
                true => quoted(kind.3[i % kind.3.len()]),
                // What a file of text holds decides the types that are guessed for all of it.
                false => quoted(kind.2),
            })
            .collect();
        connection
            .execute_batch(&format!("INSERT INTO texts VALUES ({}, 'A', {})", 5000 + i, hidden.join(", ")))
            .unwrap();
    }
    let natives: Vec<String> = KINDS
        .iter()
        .map(|Kind(name, kind, ..)| format!("t_{name}, try_cast(t_{name} AS {kind}) AS n_{name}"))
        .collect();
    let (extension, options) = match format {
        Format::Csv => ("csv", "FORMAT csv, HEADER"),
        Format::Parquet | Format::HotCopy => ("parquet", "FORMAT parquet"),
    };
    let path = dir.join(format!("probe.{extension}"));
    let rows = format!("SELECT id, region, {} FROM texts ORDER BY hash(id)", natives.join(", "));
    connection.execute_batch(&format!("COPY ({rows}) TO {} ({options})", quoted(&path.to_string_lossy()))).unwrap();
    let mut table = FileTable::new("probe", path);
    table.hot = format == Format::HotCopy;
    Source { name: "crm".to_owned(), kind: SourceKind::Files(vec![table]) }
}

fn contracts(rows: &str) -> Policy {
    let columns = KINDS.iter().flat_map(|Kind(name, ..)| [format!("t_{name}"), format!("n_{name}")]);
    let fields: Vec<String> = ["id".to_owned(), "region".to_owned()]
        .into_iter()
        .chain(columns)
        .map(|c| format!("  - {{name: {c}, type: other}}\n"))
        .collect();
    let yaml = format!(
        "version: \"1\"\nresource: probe\nsource: crm\ntable: probe\nkey: [id]\nfields:\n{}roles:\n  agent: {{ops: [READ], rows: \"{rows}\"}}\n",
        fields.concat()
    );
    Policy::load([("probe.yaml".to_owned(), yaml)]).unwrap()
}

struct Side {
    engines: Engines,
    source: Source,
    dir: TempDir,
}

impl Side {
    fn new(format: Format, nasty: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let source = write(dir.path(), format, nasty);
        let hot = (format == Format::HotCopy)
            .then(|| engines::HotSettings { dir: dir.path().join("hot"), most_bytes: 1 << 30 });
        let jail = JailLimits { cpus: 2.0, ..JailLimits::default() };
        Self { engines: engines(Settings { jail, hot, ..Settings::default() }), source, dir }
    }
}

impl Side {
    fn has_copy(&self) -> bool {
        let copies = std::fs::read_dir(self.dir.path().join("hot"));
        copies
            .is_ok_and(|mut copies| copies.any(|copy| copy.unwrap().path().extension().is_some_and(|e| e == "duckdb")))
    }
}

/// The names that are called in an expression.
fn called<'a>(expression: &str, allowed: &BTreeSet<&'a str>) -> Vec<&'a str> {
    let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter_map(|word| allowed.get(word.to_lowercase().as_str()).copied()).collect()
}

fn is_unsteady(expression: &str) -> bool {
    let words =
        ["random", "uuid", "now()", "current_", "today", "localtime", "transaction", "ago(", "reservoir", "approx"];
    words.iter().any(|word| expression.to_lowercase().contains(word))
}

fn statements(expression: &str) -> Vec<String> {
    if let Some(all) = expression.strip_prefix("all: ") {
        return vec![match all.contains(" FROM probe") {
            true => format!("SELECT {all}"),
            false => format!("SELECT {all} FROM probe"),
        }];
    }
    let rows = format!("SELECT {expression} AS x FROM probe");
    let told = match is_unsteady(expression) {
        true => format!("SELECT count(x) FROM ({rows}) AS t"),
        false => format!("SELECT count(x), min(CAST(x AS VARCHAR)), max(CAST(x AS VARCHAR)) FROM ({rows}) AS t"),
    };
    vec![told, format!("SELECT count(*) FROM probe WHERE ({expression}) IS NULL")]
}

/// The reply to a statement: its rows as Arrow, or the error.
async fn told(side: &Side, policy: &Policy, schema: &SourceSchema, text: &str) -> Result<String, String> {
    let proposal = Proposal::Sql { source: "crm".to_owned(), text: text.to_owned() };
    let approved = check(policy, &Caller::new("bob", "agent"), schema, &proposal).map_err(|f| format!("{f:?}"))?;
    let executed = side.engines.run(&side.source, &approved, ()).await.map_err(|f| format!("{f:?}"))?;
    Ok(domain::sha256_hex(&executed.0.rows.ipc))
}

/// The visible rows alone, in DuckDB itself: a statement that fails on them tells nothing here.
struct Visible(duckdb::Connection);

impl Visible {
    fn new() -> Self {
        let connection = duckdb::Connection::open_in_memory().unwrap();
        let kinds =
            KINDS.iter().map(|kind| format!("{} AS t_{}, {} AS n_{}", quoted(kind.2), kind.0, kind.constant(), kind.0));
        let columns = kinds.collect::<Vec<_>>().join(", ");
        let rows = format!(
            "CREATE TABLE probe AS SELECT CAST(i AS INTEGER) AS id, 'E' AS region, {columns} FROM range(2) AS r (i)"
        );
        connection.execute_batch(&rows).unwrap();
        Self(connection)
    }

    fn runs(&self, text: &str) -> bool {
        self.0.execute_batch(text).is_ok()
    }
}

fn compare(format: Format, filters: &[&str], expressions: &[String]) {
    let visible = Visible::new();
    let lists = [include_str!("../../../policy/src/sql/functions/duckdb.txt")];
    let allowed: BTreeSet<&str> = lists
        .iter()
        .flat_map(|list| list.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace))
        .map(|word| word.split(':').next().unwrap())
        .collect();
    let runtime = Runtime::new().unwrap();
    let sides = runtime.block_on(async { [Side::new(format, true), Side::new(format, false)] });
    let schema = runtime.block_on(sides[0].engines.describe(&sides[0].source)).unwrap();
    let all_rows = contracts("id > 0");
    while format == Format::HotCopy && !sides.iter().all(Side::has_copy) {
        // The first statement begins the copy; the file is read until it is there.
        for side in &sides {
            runtime.block_on(told(side, &all_rows, &schema, "SELECT count(*) FROM probe")).unwrap();
        }
    }
    let (mut compared, mut with_rows, mut leaks, mut worked) = (0, 0, Vec::new(), BTreeSet::new());
    for filter in filters {
        let policy = contracts(filter);
        for expression in expressions {
            for text in statements(expression).into_iter().filter(|text| visible.runs(text)) {
                let [left, right] = sides.each_ref().map(|side| told(side, &policy, &schema, &text));
                let (one, other) = runtime.block_on(async { tokio::join!(left, right) });
                compared += 1;
                with_rows += usize::from(one.is_ok());
                if one.is_ok() {
                    worked.extend(called(expression, &allowed));
                }
                if one != other {
                    leaks.push(format!("{text}\n  {one:?}\n  {other:?}"));
                }
            }
        }
    }
    let what = format!("functions over rows that a filter hides: DuckDB, {format:?}");
    testkit::compared("engine", &what, compared, with_rows, leaks.len());
    let functions = format!("functions that gave rows under a filter: DuckDB, {format:?}");
    testkit::figure("engine", &functions, worked.len(), &format!("of {} that are allowed", allowed.len()));
    assert!(leaks.is_empty(), "{} of {compared} differ:\n{}", leaks.len(), leaks.join("\n"));
    // Files of text have no lists, structs and maps.
    let share = if format == Format::Csv { 6 } else { 9 };
    assert!(compared > 400 && with_rows * 10 >= compared * share, "only {with_rows} of {compared} gave rows");
    if format == Format::Parquet {
        let never: Vec<_> = allowed.difference(&worked).filter(|name| !WHOLE.contains(name)).collect();
        assert!(never.is_empty(), "{} functions never gave rows: {never:?}", never.len());
    }
}

fn by_hand() -> Vec<String> {
    lines(include_str!("../cases/functions/duckdb.txt")).map(str::to_owned).collect()
}

#[test]
fn no_function_tells_of_hidden_rows_of_parquet() {
    let list = include_str!("../../../policy/src/sql/functions/duckdb.txt");
    let allowed = lines(list).flat_map(str::split_whitespace).map(|word| word.split(':').next().unwrap()).collect();
    let mut expressions = by_hand();
    expressions.extend(calls(&allowed).iter().flat_map(Call::expressions));
    compare(Format::Parquet, &["lower(region) = 'e' AND length(replace(region, 'x', '')) = 1"], &expressions);
}

#[test]
fn no_function_tells_of_hidden_rows_of_other_files() {
    compare(Format::HotCopy, &["region = 'E'", "lower(region) = 'e'"], &by_hand());
    compare(Format::Csv, &["region = 'E'"], &by_hand());
}
