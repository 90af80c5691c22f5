//! The contracts as a planner of instructions sees them: what one caller's roles show, with the words for it.

use domain::Caller;
use planner::records::{Caps, Field, Join, Resource, Surface};
use policy::{Contract, Policy, ResourceContract, ResourceField, ResourceJoin};

/// Every resource that the caller may touch, under the role that each contract gives it.
pub fn surface(policy: &Policy, caller: &Caller) -> Surface {
    let seen =
        |contract: &Contract| policy.caller_contract(caller, &contract.resource).map(|seen| resource(contract, &seen));
    Surface { role: caller.role.clone(), resources: policy.contracts().filter_map(seen).collect() }
}

fn resource(contract: &Contract, seen: &ResourceContract) -> Resource {
    Resource {
        name: seen.resource.clone(),
        version: seen.version.clone(),
        source: contract.source.clone(),
        describe: contract.describe.clone(),
        synonyms: contract.synonyms.clone(),
        ops: seen.ops_allowed.clone(),
        key: known(seen, &contract.key),
        natural_key: known(seen, &contract.natural_key),
        fields: seen.fields.iter().filter_map(|f| field(contract, f)).collect(),
        filters: seen.filters_allowed.clone(),
        order: seen.order_allowed.clone(),
        limits: Caps {
            max_rows: seen.limits.max_rows,
            max_predicates: seen.limits.max_predicates,
            max_update_fields: seen.limits.max_update_fields,
            max_joins: seen.limits.max_joins,
        },
        joins: seen.joins_allowed.iter().map(join).collect(),
    }
}

/// Fields that belong together: where one of them is hidden, none is told.
fn known(seen: &ResourceContract, names: &[String]) -> Vec<String> {
    let all = names.iter().all(|name| seen.shows(name));
    if all { names.to_vec() } else { Vec::new() }
}

fn field(contract: &Contract, seen: &ResourceField) -> Option<Field> {
    let whole = contract.field(&seen.name)?;
    Some(Field {
        name: seen.name.clone(),
        kind: whole.kind,
        nullable: seen.nullable,
        generated: whole.generated,
        pii: seen.pii,
        readable: seen.readable,
        writable: seen.writable,
        values: whole.values.clone(),
        synonyms: whole.synonyms.clone(),
    })
}

fn join(seen: &ResourceJoin) -> Join {
    let on = seen.on.iter().map(|on| (on.left_field.clone(), on.right_field.clone()));
    Join { target: seen.target_resource.clone(), on: on.collect() }
}
