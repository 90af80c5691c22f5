//! The throw-away cluster itself.

use std::path::Path;
use testkit::Postgres;

#[test]
fn a_cluster_outlives_a_crash_and_leaves_nothing_behind() {
    let mut postgres = Postgres::start();
    let database = postgres.database();
    postgres.sql(&database, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1), (2)");
    postgres.crash();
    postgres.restart();
    assert_eq!(postgres.sql(&database, "SELECT n, n * 2 FROM kept ORDER BY n"), "1|2\n2|4");
    let place = postgres.authority().parent().map(Path::to_owned).expect("a directory");
    assert!(place.exists());
    drop(postgres);
    assert!(!place.exists(), "{}", place.display());
}
