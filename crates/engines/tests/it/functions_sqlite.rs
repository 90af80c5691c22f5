//! Every function that policy allows over SQLite, over rows of which a filter hides those that it fails on: hidden rows
//! must not decide whether a statement fails, nor with which words.

use crate::functions_support::{Column, Side, Trial, probe};
use crate::jail::quick_engines;
use engines::{Source, SourceKind};
use std::path::Path;
use tokio::runtime::Runtime;

/// SQLite keeps whatever it is given, so that a column of numbers may hold text.
#[rustfmt::skip]
const COLUMNS: &[Column] = &[
    Column("t", "TEXT", "'ab'", &["'('", "'['", "''", "'*'", "'a\\'", "CAST(x'ff61' AS TEXT)", "hex(zeroblob(30000))", "'zz secret'"]),
    Column("n", "INTEGER", "3", &["0", "-1", "9223372036854775807", "-9223372036854775808", "'abc'", "1e300", "x'ff'"]),
    Column("r", "REAL", "0.5", &["0", "-1", "9e999", "-9e999", "1e308", "-1e308", "'abc'", "x'ff'"]),
    Column("d", "DATE", "'2024-01-02'", &["'not a date'", "'9999-99-99'", "''", "1e300", "x'ff'"]),
    Column("ts", "TIMESTAMP", "'2024-01-02 03:04:05'", &["'not a time'", "'2024-01-02 99:99:99'", "''", "-1e300"]),
    Column("j", "JSON", r#"'{"a":1,"b":[1,2],"c":"x"}'"#, &["'{broken'", "'[1,'", "''", "x'ff00'", "replace(hex(zeroblob(700)), '0', '[')", "'1'"]),
    Column("path", "TEXT", "'$.a'", &["'a['", "'$.'", "'$['", "'$.a[#-'", "''"]),
    Column("b", "BLOB", "x'6162'", &["x''", "x'ff'", "zeroblob(40000)", "'text'"]),
    Column("v", "NUMERIC", "1.5", &["'x'", "x'ff'", "NULL", "9e999", "9223372036854775807"]),
    Column("esc", "TEXT", "'\\0061b'", &["'\\zz'", "'\\'", "'\\+12'", "'\\d800'"]),
];

fn side(dir: &Path, nasty: bool) -> Side {
    let path = dir.join(if nasty { "nasty.sqlite" } else { "harmless.sqlite" });
    rusqlite::Connection::open(&path).unwrap().execute_batch(&probe(COLUMNS, nasty)).unwrap();
    Side { engines: quick_engines(), source: Source { name: "crm".to_owned(), kind: SourceKind::Sqlite(path) } }
}

#[test]
fn no_function_tells_of_hidden_rows_of_sqlite() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let sides = runtime.block_on(async { [side(dir.path(), true), side(dir.path(), false)] });
    let trial = Trial {
        engine: "SQLite",
        columns: COLUMNS,
        functions: include_str!("../../../policy/src/sql/functions/sqlite.txt"),
        expressions: include_str!("../cases/functions/sqlite.txt"),
        excepted: &[],
    };
    trial.run(&runtime, &sides);
}
