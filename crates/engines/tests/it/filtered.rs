//! Good statements stay good when a filter hides rows of every table that they read: fences refuse and break nothing.

use crate::cases::{accepted, accepted_plans, check, contracts_where, shown};
use crate::firm::Firm;
use crate::jail::quick_engines;
use domain::{Caller, Dialect, Proposal};
use engines::{Dsn, PostgresSource, Source, SourceKind};
use policy::Policy;
use std::collections::BTreeMap;
use testkit::Postgres;

/// Of a hundred good statements so many run under a filter as well.
const SHARE: usize = 98;

/// The contracts, with rows of `cases` and `clients` hidden from analysts.
fn filtered() -> Policy {
    contracts_where(&[
        ("hide: [secret_note]}", "hide: [secret_note], rows: \"lower(owner) <> 'eve@example.com'\"}"),
        ("hide: [email]}", "hide: [email], rows: \"region = 'NORTH'\"}"),
    ])
}

fn postgres() -> Source {
    let cluster = Postgres::shared();
    let database = cluster.database();
    cluster.sql(&database, &Firm::new().create(Dialect::Postgres));
    let settings = PostgresSource {
        url: Dsn::new(cluster.url(&database)),
        tls: None,
        schemas: vec!["public".to_owned()],
        roles: BTreeMap::new(),
        connections: 2,
        writable: false,
    };
    Source { name: "crm".to_owned(), kind: SourceKind::Postgres(Box::new(settings)) }
}

async fn good_statements_run(dialect: Dialect, source: &Source) {
    let engines = quick_engines();
    let schema = engines.describe(source).await.unwrap();
    let analyst = Caller::new("ann@example.com", "analyst");
    let run = async |policy: &Policy, proposal: &Proposal| {
        let approved = check(policy, &analyst, &schema, proposal)?;
        engines.run(source, &approved, ()).await
    };
    let (open, filtered) = (contracts_where(&[]), filtered());
    let (mut ran, mut failed) = (0, Vec::new());
    for proposal in accepted(dialect).into_iter().chain(accepted_plans()) {
        if run(&open, &proposal).await.is_err() {
            continue;
        }
        ran += 1;
        if let Err(fault) = run(&filtered, &proposal).await {
            failed.push(format!("{}\n    {fault}", shown(&proposal)));
        }
    }
    let what = format!("good statements under a row filter: {dialect:?}");
    testkit::figure("engine", &what, ran, &format!("{} that fail", failed.len()));
    assert!(ran > 100, "only {ran} statements run without a filter");
    assert!(failed.len() * 100 <= ran * (100 - SHARE), "{} of {ran} fail:\n{}", failed.len(), failed.join("\n"));
}

#[tokio::test]
async fn good_statements_run_under_a_filter_in_duckdb() {
    let dir = tempfile::tempdir().unwrap();
    good_statements_run(Dialect::DuckDb, &Firm::new().source(Dialect::DuckDb, dir.path())).await;
}

#[tokio::test]
async fn good_statements_run_under_a_filter_in_sqlite() {
    let dir = tempfile::tempdir().unwrap();
    good_statements_run(Dialect::Sqlite, &Firm::new().source(Dialect::Sqlite, dir.path())).await;
}

#[tokio::test]
async fn good_statements_run_under_a_filter_in_postgres() {
    good_statements_run(Dialect::Postgres, &postgres()).await;
}
