//! Which tables and fields a place in a plan can name.

use super::invalid;
use crate::access::{Readable, ReadableField, Reader};
use crate::names::is_quotable;
use crate::sql::refuse::clip;
use crate::suggest::did_you_mean;
use domain::{Fault, FieldType, Shape};

/// The tables of one plan, in order of appearance.
pub struct Frame<'a> {
    pub tables: Vec<(String, Readable<'a>)>,
}

/// A field found.
pub struct Found {
    /// `"table"."field"`.
    pub sql: String,
    pub kind: FieldType,
    /// The engine's own name of the type.
    pub native: String,
}

/// The resource of that name, as far as the caller may know.
pub fn resource<'a>(reader: &Reader<'a>, name: &str) -> Result<Readable<'a>, Fault> {
    reader.resource(name).filter(|r| !r.fields.is_empty()).ok_or_else(|| {
        let names = reader.resource_names();
        let hint = did_you_mean(name, names.iter().map(String::as_str), "tables");
        invalid("plan.unknown_table", format!("unknown table `{}`", clip(name)), hint)
    })
}

impl<'a> Frame<'a> {
    pub fn add(&mut self, name: &str, readable: Readable<'a>) -> Result<(), Fault> {
        output_name(name)?;
        if self.tables.iter().any(|(n, _)| n.eq_ignore_ascii_case(name)) {
            let message = format!("two tables are called `{}`", clip(name));
            return Err(invalid("plan.duplicate_name", message, "give one of them another name with `as`"));
        }
        self.tables.push((name.to_owned(), readable));
        Ok(())
    }

    pub fn table(&self, name: &str) -> Option<&(String, Readable<'a>)> {
        self.tables.iter().find(|(n, _)| n.eq_ignore_ascii_case(name))
    }

    /// `Ok(None)` if this frame does not have it.
    fn find(&self, table: Option<&str>, field: &str) -> Result<Option<Found>, Fault> {
        self.only(table, field, |table, readable| readable.field(field).map(|f| found(table, f)))
    }

    /// A field inside a struct, as `column.member`.
    fn find_member(&self, table: Option<&str>, path: &str) -> Result<Option<Found>, Fault> {
        let Some((column, name)) = path.split_once('.') else { return Ok(None) };
        self.only(table, path, |table, readable| member(table, readable.field(column)?, name))
    }

    /// The one table that has what is looked for.
    fn only(
        &self,
        table: Option<&str>,
        field: &str,
        look: impl Fn(&str, &Readable<'a>) -> Option<Found>,
    ) -> Result<Option<Found>, Fault> {
        let named = self.tables.iter().filter(|(n, _)| table.is_none_or(|t| t.eq_ignore_ascii_case(n)));
        let mut hits = named.filter_map(|(n, readable)| look(n, readable));
        let first = hits.next();
        if hits.next().is_some() {
            let message = format!("the field `{}` is in several tables", clip(field));
            return Err(invalid("plan.ambiguous_field", message, "write it as `table.field`"));
        }
        Ok(first)
    }
}

fn found(table: &str, field: &ReadableField<'_>) -> Found {
    let kind = field.field.map_or(field.column.kind, |f| f.kind);
    Found { sql: format!("{}.{}", quote(table), quote(field.name)), kind, native: field.column.native.to_uppercase() }
}

fn member(table: &str, field: &ReadableField<'_>, name: &str) -> Option<Found> {
    let shape = Shape::of(field.column);
    let (name, inner) = shape.field(name).filter(|(name, _)| is_quotable(name))?;
    let sql = format!("{}.{}.{}", quote(table), quote(field.name), quote(name));
    Some(Found { sql, kind: inner.kind(), native: String::new() })
}

/// A field by `field` or `table.field`, or one inside a struct by `column.member` or
/// `table.column.member`; in this plan or one around it.
pub fn field(frames: &[Frame<'_>], written: &str) -> Result<Found, Fault> {
    for frame in frames.iter().rev() {
        // A field's own name may hold a dot, so the whole is tried first.
        if let Some(found) = frame.find(None, written)? {
            return Ok(found);
        }
        if let Some((table, field)) = written.split_once('.')
            && let Some(found) = frame.find(Some(table), field)?
        {
            return Ok(found);
        }
        if let Some(found) = frame.find_member(None, written)? {
            return Ok(found);
        }
        if let Some((table, path)) = written.split_once('.')
            && let Some(found) = frame.find_member(Some(table), path)?
        {
            return Ok(found);
        }
    }
    let known = frames.iter().rev().flat_map(|f| &f.tables).flat_map(|(_, r)| r.fields.iter().map(|f| f.name));
    let bare = written.rsplit('.').next().unwrap_or(written);
    Err(invalid(
        "plan.unknown_column",
        format!("unknown column `{}`", clip(written)),
        did_you_mean(bare, known, "columns"),
    ))
}

pub fn quote(name: &str) -> String {
    format!("\"{name}\"")
}

/// Names that a plan may give to tables and columns.
pub fn output_name(name: &str) -> Result<(), Fault> {
    if name.len() <= 128 && is_quotable(name) {
        return Ok(());
    }
    let message = format!("`{}` cannot be a name", clip(name));
    Err(invalid("plan.bad_name", message, "use at most 128 characters, without double quotes and backslashes"))
}
