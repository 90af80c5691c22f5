//! Registering tables: writing and removing contract files. The contracts are the registry, there is no other.

use crate::House;
use domain::{Fault, Kind};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// A table that was registered: its id, and the contract that says who may read it.
#[derive(Debug)]
pub struct Registered {
    pub id: String,
    pub contract: String,
}

impl House {
    /// Writes a safe contract for a table that has none: analysts may READ, without fields that look personal.
    pub async fn register(&self, source: &str, table: &str) -> Result<Registered, Fault> {
        let unknown = |what: &str, name: &str, hint: &str| {
            let shown: String = name.chars().take(64).collect();
            Fault::new(Kind::NotFound, "registry.unknown", format!("there is no {what} `{shown}`")).hint(hint)
        };
        let dataset = self
            .datasets
            .get(source)
            .ok_or_else(|| unknown("source", source, "`gatehouse.toml` and the datasets' registry name them"))?;
        let schema = self.schema(dataset).await?;
        let table = schema.table(table).ok_or_else(|| {
            let names: Vec<&str> = schema.tables.iter().map(|t| t.name.as_str()).collect();
            unknown("table", table, &format!("its tables are: {}", names.join(", ")))
        })?;
        let id = policy::resource_name(&table.name);
        let contract = policy::draft(&schema, table);
        let registered = Registered { id, contract };
        if let Some(taken) = self.policy().contract(&registered.id) {
            return Err(taken_by(&registered.id, &taken.source));
        }
        self.write_contract(&registered)?;
        self.contracts.reload(&self.ledger).await;
        Ok(registered)
    }

    fn write_contract(&self, registered: &Registered) -> Result<(), Fault> {
        let path = self.contract_file(&registered.id);
        std::fs::create_dir_all(&self.config.contracts_dir).map_err(|e| cannot_write(&e))?;
        // Never over a file that is there, also if it is not in force.
        let mut file = match std::fs::OpenOptions::new().write(true).create_new(true).open(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(taken_by(&registered.id, "a file")),
            other => other.map_err(|e| cannot_write(&e))?,
        };
        file.write_all(registered.contract.as_bytes()).and_then(|()| file.sync_all()).map_err(|e| cannot_write(&e))
    }

    /// Removes a table's contract: from then on only admins see the table.
    pub async fn unregister(&self, id: &str) -> Result<(), Fault> {
        let policy = self.policy();
        if policy.contract(id).is_none() {
            let shown: String = id.chars().take(64).collect();
            return Err(Fault::new(Kind::NotFound, "registry.unknown", format!("there is no table `{shown}`")));
        }
        if let Some(other) = policy.contracts().find(|c| c.resource != id && c.joins.iter().any(|j| j.target == id)) {
            let message = format!("the contract of `{}` joins with `{id}`", other.resource);
            return Err(Fault::new(Kind::Conflict, "registry.joined", message).hint("take the join out of it first"));
        }
        std::fs::remove_file(self.contract_file(id)).map_err(|e| cannot_write(&e))?;
        self.contracts.reload(&self.ledger).await;
        Ok(())
    }

    fn contract_file(&self, id: &str) -> PathBuf {
        let dir = &self.config.contracts_dir;
        let yml = dir.join(format!("{id}.yml"));
        if yml.exists() { yml } else { dir.join(format!("{id}.yaml")) }
    }
}

fn taken_by(id: &str, by: &str) -> Fault {
    Fault::new(Kind::Conflict, "registry.taken", format!("`{id}` is registered already, by `{by}`"))
        .hint("unregister it first, or write a contract with another name for this table")
}

fn cannot_write(error: &std::io::Error) -> Fault {
    tracing::error!(%error, "a contract cannot be written");
    Fault::new(Kind::Unavailable, "registry.unwritable", "the directory of contracts cannot be written to")
        .hint("see the server's log; contracts may be kept where only their keepers write")
}
