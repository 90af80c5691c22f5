//! Plans of Records: what they compile to, and how wrong ones are refused.

use crate::fixture::{agent, analyst, path, policy, source, text};
use domain::{Caller, Dialect, Fault, Kind, Limits, Proposal, QueryPlan};
use policy::{Approved, Change, Policy, Trace, Unmade};

/// A file of plans: a line `# name` (in reject files `# name: code`), then JSON up to the next such line.
fn plans(relative: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in text(relative).lines() {
        match (line.strip_prefix("# "), found.last_mut()) {
            (Some(name), _) => found.push((name.to_owned(), String::new())),
            (None, Some((_, json))) => json.push_str(line),
            (None, None) => {}
        }
    }
    found
}

fn change_as(caller: &Caller, dialect: Dialect, json: &str) -> Result<Approved, Fault> {
    let plan = Box::new(policy::parse_change(json)?);
    let proposal = Proposal::Change { source: "crm".to_owned(), plan };
    policy().check(caller, &source(dialect), &proposal, &Limits::default())
}

#[test]
fn good_plans_compile() {
    let tried = compile(Dialect::Sqlite, "changes") + compile(Dialect::Postgres, "changes_postgres");
    testkit::tally("policy", "good plans of Records accepted", tried, "false refusals", 0);
}

/// Compiles all good plans, and compares what they became with a snapshot. How many there were.
fn compile(dialect: Dialect, snapshot: &str) -> usize {
    let (mut shown, mut tried) = (String::new(), 0);
    for (name, json) in plans("cases/change/accept/all.txt") {
        tried += 1;
        let approved =
            change_as(&agent(), dialect, &json).unwrap_or_else(|fault| panic!("{name}: {fault} ({})", fault.hint));
        shown.push_str(&format!("# {name}\n"));
        match approved.change() {
            None => shown.push_str(&format!("{}\n  {:?}\n\n", approved.sql(), approved.params())),
            Some(change) => shown.push_str(&statements(change)),
        }
    }
    insta::with_settings!({ snapshot_path => path("snapshots"), prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(snapshot, shown);
    });
    tried
}

fn statements(change: &Change) -> String {
    let parts = [
        ("lock", change.lock()),
        ("reference", change.references().first()),
        ("twin", change.twin()),
        ("before", change.before()),
        ("write", Some(change.write())),
        ("image", Some(change.image())),
    ];
    let written = parts
        .into_iter()
        .filter_map(|(label, statement)| statement.map(|s| format!("{label}: {}\n  {:?}\n", s.sql(), s.params())));
    written.collect::<String>() + "\n"
}

/// Every check of spec 002 §3.5, with the code that it has for good.
#[test]
fn wrong_plans_are_refused_with_their_code() {
    let (mut tried, mut wrong) = (0, Vec::new());
    for (name, json) in plans("cases/change/reject/all.txt") {
        let (name, code) = name.rsplit_once(": ").unwrap();
        tried += 1;
        match change_as(&agent(), Dialect::Sqlite, &json) {
            Err(fault) if fault.code == code => {
                assert!(matches!(fault.kind, Kind::Invalid | Kind::Forbidden | Kind::NotFound), "{name}: {fault}");
            }
            Err(fault) => wrong.push(format!("{name}: {code} expected, {} given", fault.code)),
            Ok(approved) => wrong.push(format!("{name}: accepted as {}", approved.sql())),
        }
    }
    testkit::tally("policy", "wrong plans of Records refused", tried, "accepted or misnamed", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a field or a resource is hidden from a caller or nobody's, it hears the same.
#[test]
fn what_is_hidden_and_what_is_not_there_are_told_alike() {
    let field = |name: &str| {
        let json = format!(r#"{{"steps":[{{"op":"READ","resource":"cases","select":["{name}"],"limit":1}}]}}"#);
        change_as(&analyst(), Dialect::Sqlite, &json).unwrap_err()
    };
    let (hidden, nobodys) = (field("secret_note"), field("secret_nope"));
    assert_eq!((hidden.kind, hidden.code), (nobodys.kind, nobodys.code));
    assert!(!hidden.hint.contains("secret") && !nobodys.hint.contains("secret"), "{}", hidden.hint);
    assert_eq!(hidden.message.replace("secret_note", "X"), nobodys.message.replace("secret_nope", "X"));
}

/// Files are only read.
#[test]
fn an_engine_that_does_not_write_is_not_written_to() {
    let json = r#"{"steps":[{"op":"INSERT","resource":"cases","values":{"case_no":"C-1"}}]}"#;
    assert_eq!(change_as(&agent(), Dialect::DuckDb, json).unwrap_err().code, "change.read_only");
    let analysts = change_as(&analyst(), Dialect::Sqlite, json).unwrap_err();
    assert_eq!((analysts.kind, analysts.code.as_str()), (Kind::Forbidden, "change.op_not_allowed"));
}

/// A token that is pinned to an older contract meets that one, and none if it is gone.
#[test]
fn a_pinned_token_meets_its_own_version() {
    let json = r#"{"steps":[{"op":"READ","resource":"cases","select":["case_no"],"limit":1}]}"#;
    let pinned = |version: &str| {
        let mut caller = analyst();
        caller.claims.insert("contract.cases".to_owned(), version.to_owned());
        change_as(&caller, Dialect::Sqlite, json)
    };
    assert_eq!(pinned("2").unwrap().contracts()[0].version, "2");
    assert_eq!(pinned("1").unwrap_err().code, "change.unknown_field");
    assert_eq!(pinned("0").unwrap_err().code, "change.unknown_resource");
}

/// What a role may not know of is not named to it: neither a key, nor a natural key, nor what joins are made of.
#[test]
fn keys_that_are_hidden_are_not_named() {
    let hiding = |file: &str, hide: &str| {
        let text = text(&format!("fixture/{file}")).replace("agent: {", &format!("agent: {{hide: [{hide}], "));
        (file.to_owned(), text.replace("write: [case_no, status, owner]", "write: [status, owner]"))
    };
    let told = |hide: &str, json: &str| {
        let policy = Policy::load([hiding("cases.yaml", hide), ("clients.yaml".into(), text("fixture/clients.yaml"))]);
        let plan = Box::new(policy::parse_change(json).unwrap());
        let proposal = Proposal::Change { source: "crm".to_owned(), plan };
        policy.unwrap().check(&agent(), &source(Dialect::Sqlite), &proposal, &Limits::default()).unwrap_err()
    };
    let insert = r#"{"steps":[{"op":"INSERT","resource":"cases","values":{"status":"ACTIVE"}}]}"#;
    let update = r#"{"steps":[{"op":"UPDATE","resource":"cases","where":[],"update":{"status":"ACTIVE"},"limit":1}]}"#;
    for (hidden, json, code) in [
        ("case_no", insert, "change.natural_key"),
        ("id", insert, "change.natural_key"),
        ("id", update, "change.hidden_key"),
    ] {
        let fault = told(hidden, json);
        assert_eq!((fault.kind, fault.code.as_str()), (expected(hidden, code), code), "{hidden}: {fault}");
        let words = format!("{} {}", fault.message, fault.hint);
        assert!(!words.contains(&format!("`{hidden}`")), "{words}");
    }
    let policy =
        Policy::load([("cases.yaml".into(), text("fixture/cases.yaml")), hiding("clients.yaml", "id")]).unwrap();
    assert!(policy.role_contract("cases", "agent").unwrap().joins_allowed.is_empty());
    assert!(policy.caller_contract(&agent(), "cases").unwrap().joins_allowed.is_empty());
    assert_eq!(policy.role_contract("cases", "analyst").unwrap().joins_allowed.len(), 1);
}

/// A natural key that is known and missing is the caller's mistake; one that is hidden, its role's.
fn expected(hidden: &str, code: &str) -> Kind {
    if hidden == "id" && code == "change.natural_key" { Kind::Invalid } else { Kind::Forbidden }
}

fn trace(json: &str) -> Trace {
    let plan = policy::parse_change(json).unwrap();
    policy().trace(&agent(), &source(Dialect::Sqlite), plan.step().unwrap())
}

fn tests(plan: &QueryPlan) -> String {
    serde_json::to_string(&plan.filter).unwrap()
}

/// What a change would have left behind is looked for in the form in which it would be kept.
#[test]
fn a_trace_compares_what_would_be_kept() {
    let insert = trace(
        r#"{"steps":[{"op":"INSERT","resource":"cases","values":
            {"case_no":"C-1","created_at":"2024-05-01T12:00:00+02:00","priority":null}}]}"#,
    );
    let made = tests(&insert.made.unwrap());
    assert!(made.contains("2024-05-01T10:00:00.000Z"), "{made}");
    let Some(Unmade::NoRow(unmade)) = insert.unmade else { panic!("its natural key tells") };
    insta::assert_snapshot!(tests(&unmade), @r#"{"and":[{"test":{"left":{"field":"case_no"},"op":"=","right":{"value":"C-1"}}}]}"#);
    let update = trace(
        r#"{"steps":[{"op":"UPDATE","resource":"cases","limit":1,"update":{"status":"CLOSED"},"where":[
            {"field":"id","op":"=","value":"6F9619FF-8B86-D011-B42D-00C04FC964FF"},
            {"field":"created_at","op":"=","value":"2024-05-01"}]}]}"#,
    );
    insta::assert_snapshot!(tests(&update.made.unwrap()), @r#"{"and":[{"test":{"left":{"field":"id"},"op":"=","right":{"value":"6f9619ff-8b86-d011-b42d-00c04fc964ff"}}},{"not":{"test":{"left":{"field":"created_at"},"op":"=","right":{"value":"2024-05-01T00:00:00.000Z"}}}},{"test":{"left":{"field":"status"},"op":"=","right":{"value":"CLOSED"}}}]}"#);
    let Some(Unmade::Row(unmade)) = update.unmade else { panic!("its version tells") };
    insta::assert_snapshot!(tests(&unmade), @r#"{"and":[{"test":{"left":{"field":"id"},"op":"=","right":{"value":"6f9619ff-8b86-d011-b42d-00c04fc964ff"}}},{"test":{"left":{"field":"created_at"},"op":"=","right":{"value":"2024-05-01T00:00:00.000Z"}}}]}"#);
    let read = trace(r#"{"steps":[{"op":"READ","resource":"cases","select":["id"],"limit":1}]}"#);
    assert!(read.made.is_none() && read.unmade.is_none());
}

/// What cannot be compared tells nothing: neither that a change was made, nor that it was not.
#[test]
fn a_trace_says_only_what_is_certain() {
    let unversioned = trace(
        r#"{"steps":[{"op":"UPDATE","resource":"cases","limit":1,"update":{"status":"CLOSED"},"where":[
            {"field":"id","op":"=","value":"6F9619FF-8B86-D011-B42D-00C04FC964FF"}]}]}"#,
    );
    assert!(unversioned.made.is_some() && unversioned.unmade.is_none());
    let json = trace(
        r#"{"steps":[{"op":"UPDATE","resource":"cases","limit":1,"update":{"status":"CLOSED","payload":{"b":1}},"where":[
            {"field":"id","op":"=","value":"6F9619FF-8B86-D011-B42D-00C04FC964FF"}]}]}"#,
    );
    assert!(json.made.is_none(), "JSON is written in many ways");
    let rounded = text("fixture/cases.yaml").replace("natural_key: [case_no]", "natural_key: [amount]");
    let rounding =
        Policy::load([("cases.yaml".into(), rounded), ("clients.yaml".into(), text("fixture/clients.yaml"))]);
    let plan = policy::parse_change(
        r#"{"steps":[{"op":"INSERT","resource":"cases","values":{"case_no":"C-1","amount":12.345}}]}"#,
    );
    let insert = rounding.unwrap().trace(&agent(), &source(Dialect::Postgres), plan.unwrap().step().unwrap());
    assert!(insert.made.is_some() && insert.unmade.is_none(), "the source may have rounded it");
}

/// However its caller writes them: who inserts the same natural key takes the same lock.
#[test]
fn a_natural_key_has_one_lock() {
    let two = text("fixture/cases.yaml").replace("natural_key: [case_no]", "natural_key: [case_no, owner]");
    let policy =
        Policy::load([("cases.yaml".into(), two), ("clients.yaml".into(), text("fixture/clients.yaml"))]).unwrap();
    let lock = |values: &str| {
        let json = format!(r#"{{"steps":[{{"op":"INSERT","resource":"cases","values":{values}}}]}}"#);
        let plan = Box::new(policy::parse_change(&json).unwrap());
        let proposal = Proposal::Change { source: "crm".to_owned(), plan };
        let approved = policy.check(&agent(), &source(Dialect::Postgres), &proposal, &Limits::default()).unwrap();
        approved.change().unwrap().lock().unwrap().params().to_vec()
    };
    let one = lock(r#"{"case_no":"C-1","owner":"bob@example.com"}"#);
    assert_eq!(lock(r#"{"OWNER":"bob@example.com","case_no":"C-1"}"#), one);
    assert_ne!(lock(r#"{"case_no":"bob@example.com","owner":"C-1"}"#), one);
}

/// A foreign key of several columns names a row also where only some of them are set.
#[test]
fn a_key_that_is_set_in_part_names_a_row() {
    let mut source = source(Dialect::Postgres);
    let cases = source.tables.iter_mut().find(|table| table.name.ends_with("cases")).unwrap();
    let key = cases.foreign_keys.first_mut().unwrap();
    key.columns = vec!["owner".to_owned(), "case_no".to_owned()];
    key.target_columns = vec!["name".to_owned(), "id".to_owned()];
    let references = |values: &str| {
        let json = format!(r#"{{"steps":[{{"op":"INSERT","resource":"cases","values":{values}}}]}}"#);
        let plan = Box::new(policy::parse_change(&json).unwrap());
        let proposal = Proposal::Change { source: "crm".to_owned(), plan };
        let approved = policy().check(&agent(), &source, &proposal, &Limits::default()).unwrap();
        approved.change().unwrap().references().iter().map(|s| s.params().len()).collect::<Vec<_>>()
    };
    assert_eq!(references(r#"{"case_no":"C-1"}"#), [1]);
    assert_eq!(references(r#"{"case_no":"C-1","owner":"bob@example.com"}"#), [2]);
}
