//! Proposal → Approved.

use crate::access::{Deleted, Reader};
use crate::approved::{Approved, with_values};
use crate::change::{self, Checked};
use crate::plan;
use crate::policy::Policy;
use crate::scan;
use crate::sql::parse::Tokens;
use crate::sql::personal::Author;
use crate::sql::walk::{Origin, Used, Walker};
use crate::sql::{self, render};
use crate::translate;
use domain::{Caller, Dialect, Fault, Kind, Limits, Proposal, QueryPlan, Scan, SourceSchema, Value};

impl Policy {
    /// Decides whether this caller may run this proposal on this source, and in which form.
    pub fn check(
        &self,
        caller: &Caller,
        source: &SourceSchema,
        proposal: &Proposal,
        limits: &Limits,
    ) -> Result<Approved, Fault> {
        self.check_by(Author::Caller, caller, source, proposal, limits)
    }

    /// The same of a proposal that somebody else wrote for the caller.
    pub fn check_by(
        &self,
        author: Author<'_>,
        caller: &Caller,
        source: &SourceSchema,
        proposal: &Proposal,
        limits: &Limits,
    ) -> Result<Approved, Fault> {
        if proposal.source() != source.source {
            let message = format!("unknown source `{}`", sql::refuse::clip(proposal.source()));
            return Err(Fault::new(Kind::NotFound, "policy.unknown_source", message));
        }
        let reader = Reader { policy: self, caller, source, deleted: Deleted::ByRole };
        let mut limits = *limits;
        let (mut written, mut service) = (None, None);
        let (text, used) = match proposal {
            Proposal::Sql { text, .. } => statement_by(author, reader, text, Origin::Text, Vec::new(), &limits)?,
            Proposal::Query { plan, .. } => query(author, reader, plan, &limits)?,
            Proposal::Scan { scan, .. } => {
                let compiled = scan::compile(reader, scan, &limits)?;
                let checked = statement_by(author, reader, &compiled, Origin::Plan, Vec::new(), &limits);
                checked.map_err(|fault| Fault { span: None, ..fault })?
            }
            Proposal::Script { .. } => {
                return Err(Fault::new(
                    Kind::Invalid,
                    "policy.not_a_statement",
                    "a script is no statement for a source",
                )
                .hint("send it to the device's own check"));
            }
            Proposal::Change { plan, .. } => {
                let checked = change::check(reader, plan, &limits)?;
                service = change::service(reader, plan)?.map(Box::new);
                match checked {
                    Checked::Read { plan, rows, deleted } => {
                        limits.rows = limits.rows.min(rows);
                        query(author, Reader { deleted, ..reader }, &plan, &limits)?
                    }
                    Checked::Write(change, mut used) => {
                        used.params.clone_from(&change.write.params);
                        let text = change.write.sql.clone();
                        written = Some(change);
                        (text, used)
                    }
                }
            }
        };
        Ok(Approved {
            caller: caller.clone(),
            source: source.source.clone(),
            dialect: source.dialect,
            sql: text,
            params: used.params,
            limits,
            contracts: used.contracts.into_iter().collect(),
            filtered_by: used.filtered.into_iter().collect(),
            hides_rows: used.hides_rows,
            sees_all: reader.sees_all(),
            tables: used.tables.into_iter().collect(),
            proposal_hash: proposal.hash(),
            personal: used.personal,
            labels: used.labels,
            change: written,
            service,
        })
    }
}

impl Policy {
    /// A plan in the SQL that this caller could have written instead, over resource names and with its
    /// values in it: to be read, changed and sent as text. It is checked like any other text then.
    pub fn plan_as_text(&self, caller: &Caller, source: &SourceSchema, plan: &QueryPlan) -> Result<String, Fault> {
        let compiled = plan::compile(Reader { policy: self, caller, source, deleted: Deleted::ByRole }, plan)?;
        Ok(with_values(&compiled.sql, &compiled.params))
    }
}

impl Policy {
    /// A scan as it was understood: its texts in the flavour that they came in, written from the tree. Equal scans give
    /// equal texts, whatever they looked like.
    pub fn canonical_scan(&self, caller: &Caller, source: &SourceSchema, scan: &Scan) -> Result<Scan, Fault> {
        scan::canonical(Reader { policy: self, caller, source, deleted: Deleted::ByRole }, scan)
    }
}

fn query(author: Author<'_>, reader: Reader<'_>, plan: &QueryPlan, limits: &Limits) -> Result<(String, Used), Fault> {
    let compiled = plan::compile(reader, plan)?;
    let checked = statement_by(author, reader, &compiled.sql, Origin::Plan, compiled.params, limits);
    // A place in our text says nothing to whoever sent the plan.
    checked.map_err(|fault| Fault { span: None, ..fault })
}

/// The one way of every statement: parse, walk and rewrite, cap, render, and for some engines translate.
pub(crate) fn statement(
    reader: Reader<'_>,
    text: &str,
    origin: Origin,
    params: Vec<Value>,
    limits: &Limits,
) -> Result<(String, Used), Fault> {
    statement_by(Author::Caller, reader, text, origin, params, limits)
}

fn statement_by(
    author: Author<'_>,
    reader: Reader<'_>,
    text: &str,
    origin: Origin,
    params: Vec<Value>,
    limits: &Limits,
) -> Result<(String, Used), Fault> {
    let dialect = reader.source.dialect.written();
    let tokens = match origin {
        Origin::Text => Tokens::of(dialect, text)?,
        Origin::Plan | Origin::Key | Origin::Rows => Tokens::compiled(dialect, text)?,
    };
    sql::with_stack(tokens.depth, || {
        let mut query = tokens.query()?;
        let mut used = Walker::new(dialect, origin, Some(reader), params).written_by(author).statement(&mut query)?;
        sql::cap(&mut query, limits.rows, reader.source.dialect)?;
        if dialect == Dialect::BigQuery {
            sql::bigquery::notation(&mut query, &mut used.params)?;
        }
        let text = render::render(dialect, origin, &query)?;
        translate::statement(reader.source, query, text, used)
    })
}
