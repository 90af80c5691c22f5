//! Every function that policy allows over Postgres, over rows of which a filter hides those that it fails on: hidden rows
//! must not decide whether a statement fails, nor with which words.

use crate::functions_support::{Column, Side, Trial, probe};
use crate::jail::quick_engines;
use engines::{Dsn, PostgresSource, Source, SourceKind};
use std::collections::BTreeMap;
use testkit::Postgres;
use tokio::runtime::Runtime;

#[rustfmt::skip]
const COLUMNS: &[Column] = &[
    Column("t", "TEXT", "'ab'", &["'('", "'['", "''", "'*'", "'a\\'", "'zz secret'", "'é'", "repeat('z', 2000)", "chr(1)"]),
    Column("c", "CHARACTER(12)", "'ab'", &["'zz secret'", "''", "'('"]),
    Column("n", "BIGINT", "3", &["0", "-1", "9223372036854775807", "-9223372036854775808", "400"]),
    Column("i", "INTEGER", "3", &["0", "-1", "2147483647", "-2147483648"]),
    Column("r", "DOUBLE PRECISION", "0.5", &["0", "-1", "'Infinity'", "'-Infinity'", "'NaN'", "1e308", "-1e308", "1e-308"]),
    Column("m", "NUMERIC", "3.5", &["0", "-1", "'NaN'", "'Infinity'", "1e1000", "-1e100"]),
    Column("d", "DATE", "'2024-01-02'", &["'infinity'", "'-infinity'", "'5874897-12-31'", "'4713-01-01 BC'"]),
    Column("ts", "TIMESTAMP", "'2024-01-02 03:04:05'", &["'infinity'", "'-infinity'", "'294276-12-31 23:59:59'", "'4713-01-01 BC'"]),
    Column("tz", "TIMESTAMPTZ", "'2024-01-02 03:04:05+00'", &["'infinity'", "'-infinity'", "'294276-12-31 00:00:00+00'"]),
    Column("ti", "TIME", "'03:04:05'", &["'24:00:00'", "'00:00:00'"]),
    Column("iv", "INTERVAL", "'1 day'", &["'178000000 years'", "'-178000000 years'", "'2147483647 days'", "'0'"]),
    Column("f", "BOOLEAN", "true", &["false", "NULL"]),
    Column("b", "BYTEA", "'\\x6162'", &["'\\xff'", "'\\x00'", "''", "'zz secret'"]),
    Column("u", "UUID", "'01890a5d-ac96-774b-bcce-b302099a8057'", &["'00000000-0000-0000-0000-000000000000'"]),
    Column("j", "JSON", r#"'{"a":1,"b":[1,2]}'"#, &["'1'", "'[]'", "'null'", r#"'"x"'"#, r#"'{"a":"x"}'"#, r#"'{"a":"\u0000"}'"#]),
    Column("jb", "JSONB", r#"'{"a":1,"b":[1,2]}'"#, &["'1'", "'[]'", "'null'", r#"'"x"'"#, r#"'{"a":"x"}'"#, r#"'{"a":0}'"#]),
    Column("ns", "BIGINT[]", "'{1,2}'", &["'{}'", "'{NULL}'", "'{9223372036854775807,1}'", "'{{1,2},{3,4}}'", "'[5:6]={1,2}'"]),
    Column("tx", "TEXT[]", "'{a,b}'", &["'{}'", "'{a}'", "'{{a,b},{c,d}}'", "'{NULL,x}'", "'{{a,b,c}}'"]),
    Column("num", "TEXT", "'12'", &["'abc'", "''", "'1e400'", "'99999999999999999999'"]),
    Column("dt", "TEXT", "'2024-01-02'", &["'bad'", "'2024-13-45'", "''", "'zz secret'"]),
    Column("js", "TEXT", r#"'{"a":1}'"#, &["'{broken'", "''", "'['"]),
    Column("hx", "TEXT", "'6162'", &["'zz'", "'6'", "'%'"]),
    Column("es", "VARCHAR(20)", "'\\0061b'", &["'\\zz'", "'\\'", "'\\+12'", "'\\d800'", "'zz secret'"]),
    Column("zone", "TEXT", "'UTC'", &["'Nowhere/Bad'", "''", "'+99'"]),
    Column("part", "TEXT", "'year'", &["'bad'", "''", "'timezone'"]),
    Column("enc", "TEXT", "'hex'", &["'bad'", "'escape'", "''"]),
];

/// Postgres has it from version 16 on.
const NEW: &[&str] = &["any_value"];

fn side(nasty: bool) -> Side {
    let database = Postgres::shared().database();
    Postgres::shared().sql(&database, &probe(COLUMNS, nasty));
    let settings = PostgresSource {
        url: Dsn::new(Postgres::shared().url(&database)),
        tls: None,
        schemas: vec!["public".to_owned()],
        roles: BTreeMap::new(),
        connections: 2,
        writable: false,
    };
    let source = Source { name: "crm".to_owned(), kind: SourceKind::Postgres(Box::new(settings)) };
    Side { engines: quick_engines(), source }
}

#[test]
fn no_function_tells_of_hidden_rows_of_postgres() {
    let runtime = Runtime::new().unwrap();
    let sides = runtime.block_on(async { [side(true), side(false)] });
    let trial = Trial {
        engine: "Postgres",
        columns: COLUMNS,
        functions: include_str!("../../../policy/src/sql/functions/postgres.txt"),
        expressions: include_str!("../cases/functions/postgres.txt"),
        excepted: NEW,
    };
    trial.run(&runtime, &sides);
}
