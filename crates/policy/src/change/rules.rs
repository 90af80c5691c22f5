//! What one caller may do with one resource, by its contract.

use super::{forbidden, invalid};
use crate::access::{Readable, ReadableField, Reader};
use crate::contract::role::ResourceContract;
use crate::contract::{Contract, Field};
use crate::policy::Policy;
use crate::sql::refuse::clip;
use crate::suggest::did_you_mean;
use domain::{Caller, Fault, FilterOperator, Kind, Op};

pub struct Rules<'a> {
    pub reader: Reader<'a>,
    pub contract: &'a Contract,
    /// The contract as this role sees it.
    pub view: ResourceContract,
    pub readable: Readable<'a>,
}

/// A field that this caller may know of.
pub struct Known<'r> {
    pub field: &'r Field,
    /// As the source calls it.
    pub column: &'r str,
    /// The source's own word for its type.
    pub native: &'r str,
}

impl<'a> Rules<'a> {
    /// A resource that does not exist for this caller and one that nobody has are told alike.
    pub fn of(reader: Reader<'a>, resource: &str) -> Result<Self, Fault> {
        let entry = reader.policy.entry_for(reader.caller, &reader.source.source, resource);
        let found = entry.and_then(|entry| {
            let contract = &entry.contract;
            let role = contract.role_of(&reader.caller.actor, &reader.caller.role);
            let view = ResourceContract::of(contract, role)?;
            Some((contract, view, reader.resource(resource)))
        });
        match found {
            Some((contract, view, Some(readable))) => Ok(Self { reader, contract, view, readable }),
            // Its role may write, and would not be shown what it wrote.
            Some((contract, view, None)) if view.ops_allowed.iter().any(|op| op.writes()) => Err(forbidden(
                "change.op_not_allowed",
                format!("`{}` cannot be written without reading it: replies show the row", contract.resource),
                "ask whoever keeps the contracts for READ",
            )),
            _ => Err(reader.policy.no_resource(reader.caller, resource)),
        }
    }

    pub fn require(&self, op: Op) -> Result<(), Fault> {
        if self.view.ops_allowed.contains(&op) {
            return Ok(());
        }
        let allowed: Vec<&str> = self.view.ops_allowed.iter().map(|op| op.as_str()).collect();
        let message = format!("{} of `{}` is not allowed to your role", op.as_str(), self.contract.resource);
        Err(forbidden("change.op_not_allowed", message, format!("it may {}", allowed.join(", "))))
    }

    /// A field by its name. One that is hidden from the caller and one that nobody has are told alike.
    pub fn field(&self, name: &str) -> Result<Known<'_>, Fault> {
        let found = self.readable.field(name).and_then(known);
        found.ok_or_else(|| {
            let hint = did_you_mean(name, self.readable.fields.iter().map(|f| f.name), "fields");
            let message = format!("`{}` has no field `{}` that you may use", self.contract.resource, clip(name));
            forbidden("change.unknown_field", message, hint).detail("field", clip(name))
        })
    }

    /// Fields by their names, for a hint: of those that the caller may not know of, none is named.
    pub fn named(&self, names: &[String]) -> Option<String> {
        let known = names.iter().all(|name| self.readable.field(name).is_some());
        known.then(|| names.join("`, `"))
    }

    /// A field that the caller may set.
    pub fn writable(&self, name: &str) -> Result<Known<'_>, Fault> {
        let known = self.field(name)?;
        if known.field.generated {
            let message = format!("the field `{}` is made by the source", known.field.name);
            return Err(forbidden("change.generated_field", message, "leave it out").detail("field", clip(name)));
        }
        let view = self.view.fields.iter().find(|f| f.name == known.field.name);
        if view.is_some_and(|f| f.writable) {
            return Ok(known);
        }
        let writable = self.view.fields.iter().filter(|f| f.writable).map(|f| f.name.as_str());
        let hint = format!("it may set: {}", writable.collect::<Vec<_>>().join(", "));
        let message = format!("the field `{}` cannot be set by your role", known.field.name);
        Err(forbidden("change.field_not_writable", message, hint).detail("field", clip(name)))
    }

    /// Whether the contract lets this field be filtered so.
    pub fn filterable(&self, field: &Field, op: FilterOperator) -> Result<(), Fault> {
        let allowed = self.view.filters_allowed.get(&field.name).map(Vec::as_slice).unwrap_or_default();
        if allowed.contains(&op) {
            return Ok(());
        }
        let words: Vec<&str> = allowed.iter().map(|op| op.as_str()).collect();
        let hint = match words.is_empty() {
            true => "it cannot be filtered by".to_owned(),
            false => format!("allowed there: {}", words.join(", ")),
        };
        let message = format!("`{}` is not allowed on the field `{}`", op.as_str(), field.name);
        Err(invalid("change.operator", message, hint))
    }

    pub fn orderable(&self, field: &Field) -> Result<(), Fault> {
        if self.view.order_allowed.iter().any(|name| name.eq_ignore_ascii_case(&field.name)) {
            return Ok(());
        }
        let message = format!("`{}` cannot be ordered by `{}`", self.contract.resource, field.name);
        Err(invalid("change.order", message, format!("allowed: {}", self.view.order_allowed.join(", "))))
    }
}

fn known<'r>(found: &'r ReadableField<'_>) -> Option<Known<'r>> {
    Some(Known { field: found.field?, column: &found.column.name, native: &found.column.native })
}

impl Policy {
    /// What a caller is told of a resource that is not there for it, in whichever source.
    pub fn no_resource(&self, caller: &Caller, name: &str) -> Fault {
        let seen = |contract: &&Contract| {
            ResourceContract::of(contract, contract.role_of(&caller.actor, &caller.role)).is_some()
        };
        let known = self.contracts().filter(seen).map(|contract| contract.resource.as_str());
        let hint = did_you_mean(name, known, "resources");
        let message = format!("there is no resource `{}`", clip(name));
        Fault::new(Kind::NotFound, "change.unknown_resource", message).hint(hint)
    }
}
