//! The state of one walk over a statement.

use super::fence;
use super::functions::over_hidden_rows;
use super::personal::{Author, Personal};
use super::refuse::{Walk, refuse};
use super::scope::{Column, Scopes};
use crate::access::Reader;
use domain::{ContractUse, Dialect, Fault, Kind, Value};
use sqlparser::ast::{Expr, Query};
use std::collections::{BTreeMap, BTreeSet};

/// Where the statement comes from decides what its placeholders are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Somebody's text: values are literals, placeholders are refused.
    Text,
    /// Compiled from a plan: placeholders are ours.
    Plan,
    /// Compiled to find one row by its key, with placeholders of ours: nothing in it can fail on a row that is hidden, so
    /// the engine may look for the row in any way that it likes.
    Key,
    /// A contract's `rows`: `$name` is a claim, and there are no subqueries.
    Rows,
}

/// Visits every node of a statement, refuses what it does not know, replaces tables.
pub struct Walker<'a> {
    pub dialect: Dialect,
    pub(super) origin: Origin,
    /// Who reads what; none for a contract's predicate, which names no tables.
    pub(super) reader: Option<Reader<'a>>,
    pub(super) scopes: Scopes,
    /// How often what is being walked may be repeated by the functions around it.
    pub(super) expansion: u64,
    pub(super) personal: Personal<'a>,
    /// Whether the columns of tables with a row filter need a fence.
    pub(super) fence_columns: bool,
    /// A function that may not be called where rows are hidden.
    pub(super) whole: Option<String>,
    used: Used,
    /// Claim → its parameter, so that each is bound once.
    claims: BTreeMap<String, usize>,
    /// How many times a table was named so far.
    reads: usize,
}

/// Each mention of a table is written out with all its columns, so that a short text could grow long.
const MAX_READS: usize = 200;

/// What a statement turned out to read.
#[derive(Debug, Default)]
pub struct Used {
    /// Physical tables.
    pub tables: BTreeSet<String>,
    pub contracts: BTreeSet<ContractUse>,
    /// Resources of which only some rows are shown.
    pub filtered: BTreeSet<String>,
    /// Whether some table may have rows that the caller may not see.
    pub hides_rows: bool,
    pub params: Vec<Value>,
    /// Whether personal fields may be among what it reads.
    pub personal: bool,
    /// The fields that its columns are, where a model wrote it.
    pub labels: Vec<Option<String>>,
}

impl<'a> Walker<'a> {
    pub fn new(dialect: Dialect, origin: Origin, reader: Option<Reader<'a>>, params: Vec<Value>) -> Self {
        let used = Used { params, ..Used::default() };
        Self {
            dialect,
            origin,
            reader,
            scopes: Scopes::default(),
            expansion: 1,
            personal: Personal::default(),
            fence_columns: true,
            whole: None,
            used,
            claims: BTreeMap::new(),
            reads: 0,
        }
    }

    /// Binds the statement by the rules for who wrote it.
    pub fn written_by(mut self, author: Author<'a>) -> Self {
        self.personal = Personal::new(author);
        self
    }

    /// Walks a whole statement and gives what it uses.
    pub fn statement(mut self, query: &mut Query) -> Walk<Used> {
        self.fence_columns = fence::is_needed(query);
        let columns = self.query(query, None)?;
        if let Some(name) = self.whole.filter(|_| self.used.hides_rows) {
            return Err(over_hidden_rows(&name));
        }
        let personal = self.personal.is_read();
        self.personal.allow(personal)?;
        let labels = columns.unwrap_or_default().into_iter().map(|column| column.field.map(|field| field.name.clone()));
        Ok(Used { personal, labels: labels.collect(), ..self.used })
    }

    /// Walks one predicate over the given columns.
    pub fn predicate(mut self, expr: &mut Expr, relation: &str, columns: Vec<String>) -> Walk {
        self.scopes.enter();
        let columns = columns.into_iter().map(|name| Column::new(name, None)).collect();
        self.scopes.add_relation(relation, Some(columns))?;
        self.expr(expr)
    }

    /// Notes that a resource is read, and gives its row filters with claims bound.
    pub(super) fn read(&mut self, readable: &crate::access::Readable<'a>) -> Walk<Vec<Expr>> {
        self.reads += 1;
        if self.reads > MAX_READS {
            let message = format!("tables are named more than {MAX_READS} times");
            return Err(refuse("sql.too_many_tables", message, "read a table once in a CTE and use that"));
        }
        self.used.tables.insert(readable.table.name.clone());
        for contract in &readable.contracts {
            let (resource, version) = (contract.resource.clone(), contract.version.clone());
            self.used.contracts.insert(ContractUse { resource, version });
        }
        if readable.is_filtered() {
            self.used.filtered.insert(readable.name.to_owned());
        }
        self.used.hides_rows |= readable.hides_rows();
        readable
            .rows
            .iter()
            .chain(&readable.living)
            .map(|filter| filter.bind(self.dialect, |claim| self.bind_claim(readable.name, claim)))
            .collect()
    }

    /// The placeholder that stands for a claim of the caller.
    fn bind_claim(&mut self, resource: &str, claim: &str) -> Walk<String> {
        let value = self.reader.as_ref().and_then(|reader| reader.caller.claim(claim));
        let value = value.ok_or_else(|| claim_missing(resource, claim))?;
        let params = &mut self.used.params;
        let number = *self.claims.entry(claim.to_owned()).or_insert_with(|| {
            params.push(Value::Text(value.to_owned()));
            params.len()
        });
        Ok(placeholder(self.dialect, number))
    }

    pub(super) fn param(&self, number: usize) -> Option<&Value> {
        number.checked_sub(1).and_then(|at| self.used.params.get(at))
    }

    pub(super) fn param_count(&self) -> usize {
        self.used.params.len()
    }
}

pub fn claim_missing(resource: &str, claim: &str) -> Fault {
    let message = format!("the rows of `{resource}` depend on the claim `{claim}`, which your token does not carry");
    Fault::new(Kind::Forbidden, "policy.claim_missing", message).hint("ask for a token with that claim")
}

/// How the dialect writes its n-th parameter, from 1.
pub fn placeholder(dialect: Dialect, number: usize) -> String {
    match dialect {
        Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion | Dialect::Postgres => format!("${number}"),
        Dialect::Sqlite => format!("?{number}"),
        Dialect::BigQuery => format!("@p{number}"),
    }
}
