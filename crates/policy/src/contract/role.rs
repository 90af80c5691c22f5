//! What a role sees of a contract: spec 002 §5.3, to the letter.

use super::{Contract, Field, FilterOperator, JoinType, Op, RecordLimits, Role};
use domain::{Caller, FieldType};
use serde::Serialize;
use std::collections::BTreeMap;

/// ResourceContract of spec 002 §5.3.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResourceContract {
    pub version: String,
    pub resource: String,
    pub ops_allowed: Vec<Op>,
    pub fields: Vec<ResourceField>,
    pub filters_allowed: BTreeMap<String, Vec<FilterOperator>>,
    pub order_allowed: Vec<String>,
    pub limits: ResourceLimits,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joins_allowed: Vec<ResourceJoin>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResourceField {
    pub name: String,
    /// One of the nine words of the spec.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub nullable: bool,
    pub pii: bool,
    pub readable: bool,
    pub writable: bool,
}

pub type ResourceLimits = RecordLimits;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResourceJoin {
    pub target_resource: String,
    pub on: Vec<ResourceOn>,
    #[serde(rename = "type")]
    pub kind: JoinType,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceOn {
    pub left_field: String,
    pub right_field: String,
}

impl ResourceJoin {
    /// Whether its target, as somebody sees it, can be read and shows the fields that it is joined by.
    pub fn leads_to(&self, target: &ResourceContract) -> bool {
        target.ops_allowed.contains(&Op::Read) && self.on.iter().all(|on| target.shows(&on.right_field))
    }
}

impl ResourceContract {
    /// Whether a field is among those that may be known.
    pub fn shows(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name.eq_ignore_ascii_case(name))
    }

    /// `None` where the role has no access; hidden fields are left out everywhere.
    pub fn of(contract: &Contract, role: &str) -> Option<Self> {
        let rules = effective(contract, role)?;
        let readable = rules.ops.contains(&Op::Read);
        let visible: Vec<&Field> = contract.fields.iter().filter(|f| !contains(&rules.hide, &f.name)).collect();
        let shows = |name: &str| visible.iter().any(|f| f.name.eq_ignore_ascii_case(name));
        let mut ops_allowed = rules.ops.clone();
        ops_allowed.sort();
        ops_allowed.dedup();
        Some(Self {
            version: contract.version.clone(),
            resource: contract.resource.clone(),
            ops_allowed,
            fields: visible.iter().map(|f| resource_field(f, readable, contains(&rules.write, &f.name))).collect(),
            filters_allowed: filters(contract, &visible),
            order_allowed: match &contract.order {
                Some(order) => order.iter().filter(|name| shows(name)).cloned().collect(),
                None => visible.iter().filter(|f| !operators(f.kind).is_empty()).map(|f| f.name.clone()).collect(),
            },
            limits: contract.limits,
            joins_allowed: contract
                .joins
                .iter()
                .filter(|join| join.on.keys().all(|name| shows(name)))
                .map(|join| ResourceJoin {
                    target_resource: join.target.clone(),
                    on: join
                        .on
                        .iter()
                        .map(|(l, r)| ResourceOn { left_field: l.clone(), right_field: r.clone() })
                        .collect(),
                    kind: join.kind,
                })
                .collect(),
        })
    }
}

/// The role's own entry, or what `admin` and `public` stand for.
fn effective(contract: &Contract, role: &str) -> Option<Role> {
    if let Some(rules) = contract.roles.get(role) {
        return Some(rules.clone());
    }
    let read = Role { ops: vec![Op::Read], ..Role::default() };
    if role == Caller::ADMIN {
        return Some(read);
    }
    let pii = contract.fields.iter().filter(|f| f.pii).map(|f| f.name.clone()).collect();
    contract.public.then_some(Role { hide: pii, ..read })
}

fn resource_field(field: &Field, readable: bool, writable: bool) -> ResourceField {
    ResourceField {
        name: field.name.clone(),
        kind: word(field.kind),
        nullable: field.nullable,
        pii: field.pii,
        readable,
        writable: writable && !field.generated,
    }
}

fn filters(contract: &Contract, visible: &[&Field]) -> BTreeMap<String, Vec<FilterOperator>> {
    let listed = contract.filters.as_ref();
    visible
        .iter()
        .filter_map(|field| {
            if let Some(rest) = &contract.rest {
                let is_key = contract.key.iter().any(|name| name.eq_ignore_ascii_case(&field.name));
                let known = is_key || rest.parameter(&field.name).is_some();
                return known.then(|| (field.name.clone(), vec![FilterOperator::Equal]));
            }
            let operators = match listed {
                Some(filters) => filters.iter().find(|(name, _)| name.eq_ignore_ascii_case(&field.name))?.1.clone(),
                None => operators(field.kind).to_vec(),
            };
            (!operators.is_empty()).then(|| (field.name.clone(), operators))
        })
        .collect()
}

/// Operators by type: the baseline of spec 002 §10.
fn operators(kind: FieldType) -> &'static [FilterOperator] {
    use FilterOperator as O;
    match kind {
        FieldType::String | FieldType::Text => &[O::Equal, O::NotEqual, O::Like, O::ILike, O::In],
        FieldType::Number | FieldType::Decimal | FieldType::Integer => {
            &[O::Equal, O::NotEqual, O::Greater, O::GreaterOrEqual, O::Less, O::LessOrEqual, O::In, O::Between]
        }
        FieldType::Date | FieldType::Timestamp | FieldType::Time => {
            &[O::Equal, O::Greater, O::GreaterOrEqual, O::Less, O::LessOrEqual, O::Between]
        }
        FieldType::Uuid | FieldType::Boolean | FieldType::Json => &[O::Equal],
        FieldType::Bytes | FieldType::List | FieldType::Struct | FieldType::Other => &[],
    }
}

/// The spec knows nine types; the others are told as the nearest of them.
fn word(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Uuid => "uuid",
        FieldType::String | FieldType::Time | FieldType::Bytes | FieldType::Other => "string",
        FieldType::Text => "text",
        FieldType::Number | FieldType::Decimal => "number",
        FieldType::Integer => "integer",
        FieldType::Boolean => "boolean",
        FieldType::Date => "date",
        FieldType::Timestamp => "timestamp",
        FieldType::Json | FieldType::List | FieldType::Struct => "json",
    }
}

fn contains(names: &[String], name: &str) -> bool {
    names.iter().any(|n| n.eq_ignore_ascii_case(name))
}
