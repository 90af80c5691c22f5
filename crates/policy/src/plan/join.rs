//! Joins: only along joins of the contracts or foreign keys of the source.

use super::compile::Compiler;
use super::invalid;
use super::scope::{self, Frame, quote};
use crate::access::Readable;
use crate::sql::refuse::clip;
use crate::view;
use domain::plan::{Join, JoinKind, JoinOn};
use domain::{Fault, ForeignKey};

impl<'a> Compiler<'a> {
    /// Adds the joined table to the frame and writes ` JOIN … ON …`.
    pub(super) fn join(&self, frame: &mut Frame<'a>, join: &Join) -> Result<String, Fault> {
        let joined = scope::resource(&self.reader, &join.resource)?;
        let name = join.name();
        let mut pairs = Vec::new();
        let mut partner: Option<String> = None;
        for JoinOn { left, right } in &join.on {
            let (left_table, left_field) = qualified(left)?;
            let (right_table, right_field) = qualified(right)?;
            let side = frame.table(left_table).filter(|_| right_table.eq_ignore_ascii_case(name));
            let Some((left_name, left_side)) = side else { return Err(sides(name, left, right)) };
            if partner.as_ref().is_some_and(|known| known != left_name) {
                return Err(sides(name, left, right));
            }
            partner = Some(left_name.clone());
            pairs.push((field_name(left_side, left_field, left)?, field_name(&joined, right_field, right)?));
        }
        let Some((partner, left_side)) = partner.and_then(|p| frame.table(&p)) else {
            return Err(invalid(
                "plan.join_on",
                format!("the join of `{}` has no `on`", clip(name)),
                "give at least one pair of fields",
            ));
        };
        allowed(left_side, &joined, &pairs)?;
        let word = if join.kind == JoinKind::Left { "LEFT JOIN" } else { "JOIN" };
        let on: Vec<String> = pairs
            .iter()
            .map(|(l, r)| format!("{}.{} = {}.{}", quote(partner), quote(l), quote(name), quote(r)))
            .collect();
        let sql = format!(" {word} {} AS {} ON {}", quote(joined.name), quote(name), on.join(" AND "));
        frame.add(name, joined)?;
        Ok(sql)
    }
}

fn qualified(written: &str) -> Result<(&str, &str), Fault> {
    written.split_once('.').ok_or_else(|| {
        invalid(
            "plan.join_on",
            format!("`{}` is not a qualified field", clip(written)),
            "write join fields as `table.field`",
        )
    })
}

fn sides(name: &str, left: &str, right: &str) -> Fault {
    let message = format!("`{}` = `{}` does not join `{}` to one table before it", clip(left), clip(right), clip(name));
    invalid("plan.join_on", message, "`left` is a field of an earlier table, `right` a field of the joined one")
}

fn field_name(readable: &Readable<'_>, name: &str, written: &str) -> Result<String, Fault> {
    readable.field(name).map(|f| f.name.to_owned()).ok_or_else(|| {
        let known = readable.fields.iter().map(|f| f.name);
        let hint = crate::suggest::did_you_mean(name, known, "columns");
        invalid("plan.unknown_column", format!("unknown column `{}`", clip(written)), hint)
    })
}

/// The pairs must be exactly those of one known link, in either direction.
fn allowed(left: &Readable<'_>, right: &Readable<'_>, pairs: &[(String, String)]) -> Result<(), Fault> {
    let forward = view::joins(left, std::slice::from_ref(right));
    let backward = view::joins(right, std::slice::from_ref(left));
    let turned: Vec<(String, String)> = pairs.iter().map(|(l, r)| (r.clone(), l.clone())).collect();
    if forward.iter().any(|link| same(link, pairs)) || backward.iter().any(|link| same(link, &turned)) {
        return Ok(());
    }
    let known: Vec<String> = forward
        .iter()
        .map(|link| shown(left.name, link))
        .chain(backward.iter().map(|link| shown(right.name, link)))
        .collect();
    let message = format!("`{}` and `{}` are not joined that way", left.name, right.name);
    let hint = if known.is_empty() {
        "there is no known join between them".to_owned()
    } else {
        format!("known: {}", known.join("; "))
    };
    Err(invalid("plan.join_not_allowed", message, hint))
}

fn same(link: &ForeignKey, pairs: &[(String, String)]) -> bool {
    let linked: Vec<(&String, &String)> = link.columns.iter().zip(&link.target_columns).collect();
    linked.len() == pairs.len() && pairs.iter().all(|(l, r)| linked.contains(&(l, r)))
}

fn shown(from: &str, link: &ForeignKey) -> String {
    let pairs = link.columns.iter().zip(&link.target_columns);
    let pairs: Vec<String> = pairs.map(|(l, r)| format!("`{from}.{l}` = `{}.{r}`", link.target)).collect();
    pairs.join(" and ")
}
