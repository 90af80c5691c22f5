//! What is asked of an internal service, request by request. It can only be had with an [`crate::Approved`].
//!
//! A service knows nothing of policy: what it gives is put into a table of this shape, and the approved statements run
//! over that. What they do not show was never read.

use crate::contract::rest::{Pages, UpdateMethod};
use crate::policy::Policy;
use domain::{Column, Dialect, FieldType, SourceSchema, Table};
use serde_json::{Map, Value as Json};

/// The requests of one approved plan.
#[derive(Debug)]
pub struct Service {
    pub(crate) table: String,
    pub(crate) columns: Vec<Member>,
    /// The columns that tell rows apart.
    pub(crate) key: Vec<String>,
    pub(crate) rows: Option<String>,
    pub(crate) fetch: Option<Fetch>,
    pub(crate) send: Option<Send>,
}

/// A column, and what the service calls it.
#[derive(Debug, Clone)]
pub struct Member {
    pub column: String,
    pub member: String,
    pub kind: FieldType,
}

/// Rows to look at before anything else.
#[derive(Debug)]
pub struct Fetch {
    pub(crate) path: String,
    /// One row, which may not be there; otherwise a list.
    pub(crate) item: bool,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) pages: Option<Pages>,
}

/// A row to make or to change.
#[derive(Debug)]
pub struct Send {
    pub(crate) method: Method,
    /// Where a changed row is; a new one says so itself.
    pub(crate) path: String,
    pub(crate) body: Map<String, Json>,
    /// The same for a retry, so that the service makes one row of both.
    pub(crate) idempotency_key: Option<String>,
    /// The column whose value must still be what it was.
    pub(crate) version: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Post,
    Patch,
    Put,
}

impl Method {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Put => "PUT",
        }
    }
}

impl From<UpdateMethod> for Method {
    fn from(method: UpdateMethod) -> Self {
        match method {
            UpdateMethod::Patch => Self::Patch,
            UpdateMethod::Put => Self::Put,
        }
    }
}

impl Service {
    pub fn table(&self) -> &str {
        &self.table
    }
    pub fn columns(&self) -> &[Member] {
        &self.columns
    }
    pub fn key(&self) -> &[String] {
        &self.key
    }
    /// The member of a reply that holds the row or the rows.
    pub fn rows(&self) -> Option<&str> {
        self.rows.as_deref()
    }
    pub fn fetch(&self) -> Option<&Fetch> {
        self.fetch.as_ref()
    }
    pub fn send(&self) -> Option<&Send> {
        self.send.as_ref()
    }

    /// The requests without their values, for the record.
    pub(crate) fn outline(&self, item: &str) -> String {
        let names = |query: &[(String, String)]| query.iter().map(|(name, _)| format!("{name}=…")).collect::<Vec<_>>();
        let fetch = self.fetch.as_ref().map(|fetch| match (fetch.item, names(&fetch.query)) {
            (true, _) => format!("GET {item}"),
            (false, names) if names.is_empty() => format!("GET {}", fetch.path),
            (false, names) => format!("GET {}?{}", fetch.path, names.join("&")),
        });
        let send = self.send.as_ref().map(|send| {
            let members: Vec<&str> = send.body.keys().map(String::as_str).collect();
            let path = if send.method == Method::Post { &send.path } else { item };
            format!("{} {path} {{{}}}", send.method.as_str(), members.join(", "))
        });
        fetch.into_iter().chain(send).collect::<Vec<_>>().join("; ")
    }
}

impl Fetch {
    pub fn path(&self) -> &str {
        &self.path
    }
    pub fn is_item(&self) -> bool {
        self.item
    }
    pub fn query(&self) -> &[(String, String)] {
        &self.query
    }
    pub fn pages(&self) -> Option<&Pages> {
        self.pages.as_ref()
    }
}

impl Send {
    pub fn method(&self) -> Method {
        self.method
    }
    pub fn path(&self) -> &str {
        &self.path
    }
    pub fn body(&self) -> &Map<String, Json> {
        &self.body
    }
    pub fn idempotency_key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }
}

impl Policy {
    /// The tables of a service, which only contracts know: nobody can ask it.
    pub fn service_schema(&self, source: &str) -> SourceSchema {
        let mut tables: Vec<Table> = Vec::new();
        for contract in
            self.contracts().chain(self.older_contracts()).filter(|c| c.source == source && c.rest.is_some())
        {
            let at = tables.iter().position(|table| table.name.eq_ignore_ascii_case(&contract.table));
            let at = at.unwrap_or_else(|| {
                tables.push(Table {
                    name: contract.table.clone(),
                    primary_key: contract.key.clone(),
                    ..Table::default()
                });
                tables.len() - 1
            });
            let Some(table) = tables.get_mut(at) else { continue };
            for field in &contract.fields {
                if table.column(&field.name).is_none() {
                    let column = Column { nullable: field.nullable, ..Column::new(&field.name, field.kind) };
                    table.columns.push(column);
                }
            }
        }
        SourceSchema { source: source.to_owned(), dialect: Dialect::Sqlite, tables, data_version: String::new() }
    }
}
