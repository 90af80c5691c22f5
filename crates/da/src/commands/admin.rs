//! `da admin`: the server's registry of tables.

use super::Context;
use super::catalog::parsed;
use crate::cli::Admin;
use crate::place::check_name;
use crate::problem::Result;
use crate::{cache, print};
use serde_json::{Value, json};

pub fn run(context: &Context, command: &Admin) -> Result<()> {
    let client = context.client()?;
    let (reply, words) = match command {
        Admin::CatalogRefresh => {
            let reply = client.post("/api/admin/catalog/invalidate", &json!({}))?.text();
            let forgotten = parsed(&reply)?.get("invalidated").and_then(Value::as_u64).unwrap_or_default();
            (reply, format!("The server forgot {forgotten} kept replies"))
        }
        Admin::Register { source, table } => {
            let reply = client.post("/api/admin/tables", &json!({ "source": source, "table": table }))?.text();
            let id = parsed(&reply)?.get("table_id").and_then(Value::as_str).unwrap_or_default().to_owned();
            (reply, format!("Registered {id}; `da admin show {id}` shows its contract"))
        }
        Admin::Show { table } => {
            check_name(table, "table")?;
            // A contract is JSON for everybody.
            return print::json(&parsed(&client.get(&format!("/api/admin/tables/{table}"))?.text())?);
        }
        Admin::Unregister { table } => {
            check_name(table, "table")?;
            client.delete(&format!("/api/admin/tables/{table}"))?;
            (json!({ "unregistered": table }).to_string(), format!("Unregistered {table}"))
        }
    };
    cache::clear(&context.place);
    print::line(if context.all.json { reply } else { words })
}
