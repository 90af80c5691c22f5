//! The sources that a file names.

use super::*;

#[test]
fn sources() {
    let config = good(
        r#"
        [sources.crm]
        kind = "sqlite"
        path = "crm.sqlite"
        name = "Customers"
        prompts = ["How many customers are there?"]
        [sources.traffic-2024]
        kind = "files"
        tables = {visits = "visits.parquet", pages = "/srv/pages.csv"}
        "#,
        &[],
    );
    let [crm, traffic] = config.sources.as_slice() else { panic!("two sources") };
    assert_eq!((crm.source.name.as_str(), crm.name.as_str(), crm.prompts.len()), ("crm", "Customers", 1));
    assert_eq!(crm.source.kind, engines::SourceKind::Sqlite(config.data.join("crm.sqlite")));
    assert_eq!((traffic.name.as_str(), traffic.description.as_str()), ("traffic-2024", ""));
    let paths = [PathBuf::from("/srv/pages.csv"), config.data.join("visits.parquet")];
    assert_eq!(traffic.source.paths(), paths);
}

#[test]
fn sources_that_are_wrong() {
    let file = r#"
        [sources]
        odd = 5
        [sources.Shop]
        kind = "sqlite"
        path = "shop.sqlite"
        [sources.a]
        kind = "oracle"
        prompts = "How many?"
        [sources.b]
        path = "b.sqlite"
        [sources.c]
        kind = "sqlite"
        pth = "c.sqlite"
        tables = {}
        [sources.d]
        kind = "files"
        tables = {x = 5, y = "y.csv"}
        [sources.e]
        kind = "files"
        tables = {}
        "#;
    insta::assert_snapshot!(bad(file, &[]), @r#"
    file gatehouse.toml: `sources.Shop`: a source's name has lowercase letters, digits, `_` and `-`, at most 64
    file gatehouse.toml: `sources.a.prompts`: the text `How many?` is not a list of texts, as in `["a", "b"]`
    file gatehouse.toml: `sources.a.kind`: `oracle` is not a kind of source: use `sqlite`, `files`, `postgres`, `bigquery`, `flight` or `rest`
    file gatehouse.toml: `sources.b.kind`: missing: say `sqlite`, `files`, `postgres`, `bigquery`, `flight` or `rest`
    file gatehouse.toml: `sources.c.pth`: unknown key: did you mean `path`?
    file gatehouse.toml: `sources.c.tables`: belongs to sources of kind `files`
    file gatehouse.toml: `sources.c.path`: missing
    file gatehouse.toml: `sources.d.tables.x`: `5` is not a path
    file gatehouse.toml: `sources.e.tables`: must name a file for each table, as in `{orders = "orders.parquet"}`
    file gatehouse.toml: `sources.odd`: must be a table, as in `[sources.odd]`
    "#);
}

#[test]
fn a_source_on_postgres() {
    let file = r#"
        [sources.crm]
        kind = "postgres"
        url_env = "CRM_URL"
        schemas = ["public", "sales"]
        roles = {analyst = "gatehouse_analyst"}
        [sources.local]
        kind = "postgres"
        url_env = "LOCAL_URL"
        sslmode = "disable"
        "#;
    let urls = [("CRM_URL", "postgres://g:p%20w@db.example.com/crm"), ("LOCAL_URL", "postgres://g@127.0.0.1:5433/x")];
    let config = good(file, &urls);
    let [crm, local] = config.sources.as_slice() else { panic!("two sources") };
    let engines::SourceKind::Postgres(crm) = &crm.source.kind else { panic!("a Postgres") };
    assert_eq!((crm.tls.is_some(), crm.connections, crm.schemas.join(" ").as_str()), (true, 8, "public sales"));
    assert_eq!(crm.roles.get("analyst").map(String::as_str), Some("gatehouse_analyst"));
    let engines::SourceKind::Postgres(local) = &local.source.kind else { panic!("a Postgres") };
    assert_eq!((local.tls.is_some(), local.roles.len()), (false, 0));
    let (loaded, _dir) = load_with(file, &urls, |_| {});
    let (config, shown) = loaded.unwrap();
    let told = format!("{config:?} {}", text(&shown, true));
    assert!(!told.contains("p%20w") && !told.contains("p w"), "a password is shown");
}

#[test]
fn sources_on_postgres_that_are_wrong() {
    let file = r#"
        [sources.a]
        kind = "postgres"
        [sources.b]
        kind = "postgres"
        url_env = "NOT_THERE"
        path = "x.sqlite"
        [sources.c]
        kind = "postgres"
        url_file = "not-there"
        connections = 0
        [sources.d]
        kind = "postgres"
        url_env = "FAR"
        sslmode = "disable"
        schemas = ["a.b"]
        roles = ["analyst"]
        [sources.e]
        kind = "postgres"
        url_env = "ODD"
        sslmode = "prefer"
        "#;
    let urls = [("FAR", "postgres://g:secret@db.example.com/crm"), ("ODD", "mysql://g:secret@db")];
    insta::assert_snapshot!(bad(file, &urls), @r#"
    file gatehouse.toml: `sources.a.url_env`: missing: name the variable, or say `url_file`
    file gatehouse.toml: `sources.b.path`: belongs to sources of kind `sqlite`
    file gatehouse.toml: `sources.b.url_env`: the variable `NOT_THERE` is not set
    file gatehouse.toml: `sources.c.url_file`: `not-there` cannot be read: No such file or directory (os error 2)
    file gatehouse.toml: `sources.c.connections`: `0` is not a whole number from 1 to 100
    file gatehouse.toml: `sources.d.schemas`: `a.b` is not a name that can be shown
    file gatehouse.toml: `sources.d.roles`: must name a role of the database for each role here, as in `{analyst = "gatehouse_analyst"}`
    file gatehouse.toml: `sources.d.sslmode`: `disable` is for this machine only: the password and the rows would cross the network in clear
    file gatehouse.toml: `sources.e.sslmode`: the text `prefer` is not one of `verify-full`, `disable`
    file gatehouse.toml: `sources.e.url_env`: the address is not one: write postgres://user:password@host:5432/database
    "#);
}

#[test]
fn a_source_behind_flight_sql() {
    let file = r#"
        [sources.lake]
        kind = "flight"
        url = "https://sail.example.com:32010"
        token_env = "LAKE_TOKEN"
        databases = ["default", "sales"]
        [sources.here]
        kind = "flight"
        url = "http://127.0.0.1:32010"
        [sources.many]
        kind = "flight"
        url = "http://127.0.0.1:50050"
        dialect = "datafusion"
        "#;
    let secrets = [("LAKE_TOKEN", "very secret")];
    let config = good(file, &secrets);
    let flight = |name: &str| {
        let source = config.sources.iter().find(|source| source.source.name == name).unwrap();
        let engines::SourceKind::Flight(flight) = &source.source.kind else { panic!("an engine") };
        flight
    };
    let (lake, here, many) = (flight("lake"), flight("here"), flight("many"));
    assert_eq!((lake.token.is_some(), lake.connections, lake.databases.join(" ").as_str()), (true, 8, "default sales"));
    assert!(here.token.is_none() && here.databases == ["default"] && here.dialect == domain::Dialect::Spark);
    assert!(many.databases == ["public"] && many.dialect == domain::Dialect::DataFusion);
    let (loaded, _dir) = load_with(file, &secrets, |_| {});
    let (config, shown) = loaded.unwrap();
    assert!(!format!("{config:?} {}", text(&shown, true)).contains("very secret"), "a token is shown");
}

#[test]
fn sources_behind_flight_sql_that_are_wrong() {
    let wrong = |section: &str| bad(&format!("[sources.lake]\nkind = \"flight\"\n{section}"), &[]);
    for (section, told) in [
        ("", "`sources.lake.url`: missing"),
        ("url = \"http://sail.example.com:32010\"", "this machine only"),
        ("url = \"https://sail.example.com\"", "must be an address"),
        ("url = \"https://user@sail.example.com:1\"", "must be an address"),
        ("url = \"file:///etc:1\"", "must be an address"),
        ("url = \"https://h:1\"\ntoken_env = \"NOT_THERE\"", "is not set"),
        ("url = \"https://h:1\"\ndialect = \"hive\"", "one of `spark`, `datafusion`"),
        ("url = \"http://127.0.0.1:1\"\nca = \"ca.pem\"", "of no use without"),
        ("url = \"https://h:1\"\ndatabases = [\"a.b\"]", "not a name that can be shown"),
        ("url = \"https://h:1\"\npath = \"x\"", "belongs to sources of kind"),
    ] {
        assert!(wrong(section).contains(told), "{section}: {}", wrong(section));
    }
}

#[test]
fn a_source_in_bigquery() {
    let file = r#"
        [sources.warehouse]
        kind = "bigquery"
        project = "my-project"
        datasets = ["sales", "web"]
        location = "EU"
        token_env = "WAREHOUSE_TOKEN"
        [sources.emulator]
        kind = "bigquery"
        project = "local"
        datasets = ["firm"]
        url = "http://127.0.0.1:9050"
        storage_url = "http://127.0.0.1:9060"
        max_bytes_billed = 1000
        "#;
    let secrets = [("WAREHOUSE_TOKEN", "very-secret")];
    let config = good(file, &secrets);
    let [emulator, warehouse] = config.sources.as_slice() else { panic!("two sources") };
    let engines::SourceKind::BigQuery(warehouse) = &warehouse.source.kind else { panic!("a warehouse") };
    assert_eq!((warehouse.max_bytes_billed, warehouse.connections), (10_737_418_240, 8));
    assert_eq!(warehouse.url, "https://bigquery.googleapis.com");
    assert_eq!(warehouse.storage_url, "https://bigquerystorage.googleapis.com");
    let engines::SourceKind::BigQuery(emulator) = &emulator.source.kind else { panic!("a warehouse") };
    assert_eq!((emulator.max_bytes_billed, &emulator.identity), (1000, &engines::Identity::Nobody));
    let (loaded, _dir) = load_with(file, &secrets, |_| {});
    let (config, shown) = loaded.unwrap();
    assert!(!format!("{config:?} {}", text(&shown, true)).contains("very-secret"), "a token is shown");
}

#[test]
fn sources_in_bigquery_that_are_wrong() {
    let wrong = |section: &str| bad(&format!("[sources.wh]\nkind = \"bigquery\"\n{section}"), &[]);
    let named = "project = \"p\"\ndatasets = [\"d\"]\n";
    for (section, told) in [
        ("", "`sources.wh.project`: missing"),
        ("project = \"p\"", "`sources.wh.datasets`: missing"),
        ("project = \"p/x\"\ndatasets = [\"d\"]", "not the id of a project"),
        ("project = \"p\"\ndatasets = [\"d`x\"]", "not the name of a dataset"),
        (named, "`sources.wh.credentials_file`: missing"),
        (&format!("{named}url = \"http://warehouse.example.com\""), "can be read and changed on its way"),
        (&format!("{named}metadata_url = \"http://elsewhere.example.com\""), "can be read and changed on its way"),
        (
            &format!("{named}credentials_file = \"k.json\"\nmetadata_url = \"http://metadata.google.internal\""),
            "in one way only",
        ),
        (&format!("{named}credentials_file = \"k.json\"\nmax_bytes_billed = 0"), "max_bytes_billed"),
        (&format!("{named}token_env = \"NOT_THERE\""), "is not set"),
        (&format!("{named}location = \"E U\""), "not a location"),
    ] {
        assert!(wrong(section).contains(told), "{section}: {}", wrong(section));
    }
}

#[test]
fn a_source_that_is_a_service() {
    let file = r#"
        [sources.crm]
        kind = "rest"
        url = "https://crm.example.com/api/"
        token_env = "CRM_TOKEN"
        timeout_seconds = 3
        writable = true
        [sources.local]
        kind = "rest"
        url = "http://127.0.0.1:9000"
        "#;
    let config = good(file, &[("CRM_TOKEN", "secret")]);
    let [crm, local] = config.sources.as_slice() else { panic!("two sources") };
    let (engines::SourceKind::Rest(crm), engines::SourceKind::Rest(local)) = (&crm.source.kind, &local.source.kind)
    else {
        panic!("two services")
    };
    assert_eq!((crm.url.as_str(), crm.timeout.as_secs(), crm.writable), ("https://crm.example.com/api", 3, true));
    assert_eq!((local.token.is_none(), local.timeout.as_secs(), local.writable), (true, 10, false));
    assert!(!format!("{config:?}").contains("secret\""), "no credential in a log");
}

#[test]
fn services_that_are_wrong() {
    let file = r#"
        [sources.a]
        kind = "rest"
        path = "x"
        [sources.b]
        kind = "rest"
        url = "http://crm.example.com"
        token_env = "NOT_SET"
        [sources.c]
        kind = "rest"
        url = "https://me:password@crm.example.com"
        [sources.d]
        kind = "rest"
        url = "ftp://crm.example.com"
        timeout_seconds = 0
        "#;
    let said = bad(file, &[]);
    for (key, words) in [
        ("a.path", "belongs to sources of kind `sqlite`"),
        ("a.url", "missing"),
        ("b.url", "use `https`"),
        ("b.token_env", "the variable `NOT_SET` is not set"),
        ("c.url", "no user"),
        ("d.url", "is not the address of a service"),
        ("d.timeout_seconds", "from 1 to 300"),
    ] {
        let line = said.lines().find(|line| line.contains(&format!("`sources.{key}`"))).unwrap_or_default();
        assert!(line.contains(words), "{key}: {said}");
    }
}
