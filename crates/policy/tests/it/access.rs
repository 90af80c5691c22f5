//! Views: what each caller sees of one source.

use crate::fixture::{admin, agent, analyst, policy, source};
use domain::{Caller, Dialect, SourceSchema};
use policy::{Drift, Policy};

fn names(view: &SourceSchema) -> Vec<&str> {
    view.tables.iter().map(|t| t.name.as_str()).collect()
}

fn columns(view: &SourceSchema, table: &str) -> Vec<String> {
    view.table(table).unwrap().columns.iter().map(|c| c.name.clone()).collect()
}

fn view(caller: &Caller) -> SourceSchema {
    policy().view(caller, &source(Dialect::DuckDb))
}

#[test]
fn each_role_sees_its_own_source() {
    assert_eq!(names(&view(&analyst())), ["cases", "clients", "offices"]);
    assert_eq!(names(&view(&Caller::new("x", "finance"))), ["offices", "payments"]);
    assert_eq!(names(&view(&Caller::new("x", "stranger"))), ["offices"]);
    assert_eq!(names(&view(&admin())), ["cases", "clients", "offices", "payments", "audit_log"]);
}

#[test]
fn a_grant_decides_before_the_token() {
    assert_eq!(names(&view(&Caller::new("carol@example.com", "stranger"))), ["cases", "offices"]);
    let lowered = policy().view(&Caller::new("carol@example.com", "admin"), &source(Dialect::DuckDb));
    assert!(!columns(&lowered, "cases").contains(&"secret_note".to_owned()));
}

#[test]
fn only_readable_fields_of_the_contract_show() {
    let analyst = view(&analyst());
    assert_eq!(columns(&analyst, "clients"), ["id", "name", "region", "since"]);
    assert!(!columns(&analyst, "cases").iter().any(|c| c == "secret_note" || c == "not_in_contract"));
    assert_eq!(columns(&analyst, "offices"), ["id", "city"], "public readers see no personal fields");
    assert!(columns(&view(&admin()), "cases").contains(&"secret_note".to_owned()));
    let region = analyst.table("clients").unwrap().column("region").unwrap().clone();
    assert_eq!(
        (region.values, region.synonyms),
        (vec!["NORTH".to_owned(), "SOUTH".to_owned()], vec!["area".to_owned()])
    );
}

#[test]
fn filtered_tables_say_so_and_tell_no_count() {
    let (agent, analyst) = (view(&agent()), view(&analyst()));
    let flags = |view: &SourceSchema| view.table("cases").map(|t| (t.filtered, t.row_count)).unwrap();
    assert_eq!(flags(&agent), (true, None));
    assert_eq!(flags(&analyst), (false, Some(100)));
}

#[test]
fn joins_show_between_visible_resources_only() {
    let targets = |caller: &Caller, table: &str| -> Vec<String> {
        let view = view(caller);
        view.table(table).unwrap().foreign_keys.iter().map(|k| k.target.clone()).collect()
    };
    assert_eq!(targets(&analyst(), "cases"), ["clients"], "contract join and foreign key are one");
    assert!(targets(&Caller::new("x", "finance"), "payments").is_empty());
    assert_eq!(targets(&admin(), "payments"), ["cases"]);
}

#[test]
fn contracts_that_no_longer_fit_are_listed() {
    let mut source = source(Dialect::DuckDb);
    source.tables.retain(|t| t.name != "offices");
    let drift =
        |resource: &str, field: Option<&str>| Drift { resource: resource.to_owned(), field: field.map(str::to_owned) };
    assert_eq!(policy().drift(&source), [drift("clients", Some("gone_column")), drift("offices", None)]);
}

/// Two entries over one table: a second, laxer one must not be a way around the first.
#[test]
fn the_stricter_of_two_contracts_holds() {
    let contract = |name: &str, analyst: &str| {
        let yaml = format!(
            "{{version: '1', resource: {name}, source: crm, table: clients, fields: [{{name: id, type: integer}}, \
             {{name: email, type: string}}, {{name: region, type: string}}], roles: {{analyst: {analyst}}}}}"
        );
        (format!("{name}.yaml"), yaml)
    };
    let files = [
        contract("clients", "{ops: [READ], hide: [email], rows: \"region = 'NORTH'\"}"),
        contract("clients_lax", "{ops: [READ]}"),
        contract("clients_own", "{ops: [READ], rows: \"id = 1\"}"),
    ];
    let policy = Policy::load(files).unwrap();
    let view = policy.view(&analyst(), &source(Dialect::DuckDb));
    for name in ["clients", "clients_lax", "clients_own"] {
        assert_eq!(columns(&view, name), ["id", "region"]);
        assert!(view.table(name).unwrap().filtered);
    }
    let proposal =
        domain::Proposal::Sql { source: "crm".to_owned(), text: "SELECT count(*) FROM clients_lax".to_owned() };
    let approved = policy.check(&analyst(), &source(Dialect::DuckDb), &proposal, &domain::Limits::default()).unwrap();
    assert!(approved.sql().contains("region = 'NORTH'") && approved.sql().contains("id = 1"), "{}", approved.sql());
    assert_eq!(approved.contracts().len(), 3);
}

/// A filter on a column that has gone must not be answered by a column of the query around it.
#[test]
fn a_filter_that_no_longer_fits_shows_nothing() {
    let mut source = source(Dialect::DuckDb);
    for table in &mut source.tables {
        table.columns.retain(|c| c.name != "owner");
    }
    assert!(policy().view(&agent(), &source).table("cases").is_none());
    assert!(policy().view(&analyst(), &source).table("cases").is_some());
}

/// Inside a filter there is only the physical table, whatever its resource is called.
#[test]
fn a_filter_may_name_its_resource() {
    let yaml = "{version: '1', resource: bills, source: crm, table: tbl_payments, \
                fields: [{name: id, type: integer}], roles: {analyst: {ops: [READ], rows: 'bills.id > 5'}}}";
    let policy = Policy::load([("bills.yaml".to_owned(), yaml.to_owned())]).unwrap();
    let proposal = domain::Proposal::Sql { source: "crm".to_owned(), text: "SELECT id FROM bills".to_owned() };
    let approved = policy.check(&analyst(), &source(Dialect::Sqlite), &proposal, &domain::Limits::default()).unwrap();
    assert!(approved.sql().contains(r#"FROM "main"."tbl_payments" WHERE (id > 5)"#), "{}", approved.sql());
}
