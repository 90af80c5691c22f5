//! A safe first contract for a table that has none.

use domain::{Column, FieldType, SourceSchema, Table};
use std::fmt::Write;

/// YAML of a contract that lets analysts READ, without fields that look personal or secret.
pub fn draft(source: &SourceSchema, table: &Table) -> String {
    let mut yaml = String::new();
    let mut line = |text: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(yaml, "{text}");
    };
    line("version: \"1\"".to_owned());
    line(format!("resource: {}", resource_name(&table.name)));
    line(format!("source: {}", text(&source.source)));
    line(format!("table: {}", text(&table.name)));
    line(format!("describe: {}", text(&table.description)));
    if !table.primary_key.is_empty() {
        line(format!("key: [{}]", list(table.primary_key.iter().map(String::as_str))));
    }
    line("fields:".to_owned());
    for column in &table.columns {
        line(format!("  - {}", field(column)));
    }
    let hidden: Vec<&str> = table.columns.iter().filter(|c| is_personal(c)).map(|c| c.name.as_str()).collect();
    line("roles:".to_owned());
    if hidden.is_empty() {
        line("  analyst: {ops: [READ]}".to_owned());
    } else {
        line("  # These look personal or secret: show them only to roles that need them.".to_owned());
        line(format!("  analyst: {{ops: [READ], hide: [{}]}}", list(hidden.into_iter())));
    }
    line("public: false".to_owned());
    yaml
}

fn field(column: &Column) -> String {
    let mut keys = format!("name: {}, type: {}", text(&column.name), word(column.kind));
    if column.nullable {
        keys.push_str(", nullable: true");
    }
    if is_personal(column) {
        keys.push_str(", pii: true");
    }
    if !column.description.is_empty() {
        let _ = write!(keys, ", describe: {}", text(&column.description));
    }
    format!("{{{keys}}}")
}

/// The canonical name nearest to a table's.
pub fn resource_name(table: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let name: String = table.chars().map(plain).collect();
    let name = if name.starts_with(|c: char| c.is_ascii_lowercase()) { name } else { format!("t_{name}") };
    name.chars().take(64).collect()
}

fn is_personal(column: &Column) -> bool {
    const WORDS: [&str; 36] = [
        "address",
        "bic",
        "birth",
        "birthday",
        "birthdate",
        "card",
        "credential",
        "dob",
        "email",
        "fax",
        "firstname",
        "fullname",
        "gender",
        "iban",
        "ip",
        "lastname",
        "latitude",
        "longitude",
        "mail",
        "mobile",
        "msisdn",
        "passport",
        "passwd",
        "password",
        "phone",
        "postcode",
        "religion",
        "salary",
        "secret",
        "ssn",
        "street",
        "surname",
        "tax",
        "telephone",
        "token",
        "zip",
    ];
    const PHRASES: [&str; 7] =
        ["first_name", "last_name", "full_name", "middle_name", "account_number", "national_id", "api_key"];
    let name = snake(&column.name);
    let parts = || name.split('_');
    column.pii
        || parts().any(|part| WORDS.contains(&part) || WORDS.contains(&part.trim_end_matches('s')))
        || PHRASES.iter().any(|phrase| name.contains(phrase))
}

/// `clientEmail` and `Client Email` read as `client_email`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut previous_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && previous_lower {
            out.push('_');
        }
        previous_lower = c.is_ascii_lowercase();
        out.push(if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    }
    out
}

fn word(kind: FieldType) -> String {
    serde_json::to_value(kind).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// A YAML scalar; JSON's quotes are YAML's too.
fn text(value: &str) -> String {
    let plain = !value.is_empty() && value.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&value);
    if plain && !reserved { value.to_owned() } else { serde_json::Value::from(value).to_string() }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(text).collect::<Vec<_>>().join(", ")
}
