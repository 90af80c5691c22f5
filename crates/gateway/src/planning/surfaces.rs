//! The contracts as a planner of instructions sees them: what one caller's roles show, with the words for it.

use domain::{Caller, Op};
use planner::records::{Caps, Field, Join, Resource, Surface};
use policy::{Contract, Policy, ResourceContract, ResourceField, ResourceJoin};

/// Every resource that the caller may touch, under the role that each contract gives it.
pub fn surface(policy: &Policy, caller: &Caller) -> Surface {
    let seen =
        |contract: &Contract| policy.caller_contract(caller, &contract.resource).map(|seen| resource(contract, &seen));
    Surface { role: caller.role.clone(), resources: policy.contracts().filter_map(seen).collect() }
}

fn resource(contract: &Contract, seen: &ResourceContract) -> Resource {
    let (key, natural_key) = (known(seen, &contract.key), known(seen, &contract.natural_key));
    // Policy refuses to write what its writer cannot name.
    let named = |op: &&Op| match op {
        Op::Read => true,
        Op::Insert => key.len() == contract.key.len() && natural_key.len() == contract.natural_key.len(),
        Op::Update => key.len() == contract.key.len(),
    };
    let ops = seen.ops_allowed.iter().filter(named).copied().collect();
    Resource {
        name: seen.resource.clone(),
        version: seen.version.clone(),
        source: contract.source.clone(),
        describe: contract.describe.clone(),
        synonyms: contract.synonyms.clone(),
        ops,
        key,
        natural_key,
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

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: &str = "version: \"1\"\nresource: cases\nsource: crm\ntable: cases\nkey: [secret_id]\n\
        natural_key: [secret_no, title]\nfields:\n  - {name: secret_id, type: integer}\n  - {name: secret_no, type: string}\n  \
        - {name: title, type: string}\n  - {name: client_id, type: integer}\nroles:\n  \
        agent: {ops: [READ], hide: [secret_id, secret_no]}\n  lead: {ops: [READ]}\n\
        joins: [{target: clients, on: {client_id: secret_key}, type: inner}]\n";
    const CLIENTS: &str = "version: \"1\"\nresource: clients\nsource: crm\ntable: clients\nkey: [secret_key]\nfields:\n  \
        - {name: secret_key, type: integer}\n  - {name: name, type: string}\nroles:\n  \
        agent: {ops: [READ], hide: [secret_key]}\n  lead: {ops: [READ]}\n";

    /// What planners, models and hints are made from does not name what a role may not read.
    #[test]
    fn what_is_hidden_is_on_no_surface() {
        let files = [("cases.yaml", CASES), ("clients.yaml", CLIENTS)];
        let policy = Policy::load(files.map(|(file, text)| (file.to_owned(), text.to_owned()))).unwrap();
        let of = |role: &str| format!("{:?}", surface(&policy, &Caller::new("ann", role)));
        assert!(!of("agent").contains("secret"), "{}", of("agent"));
        for shown in ["secret_id", "secret_no", "secret_key"] {
            assert!(of("lead").contains(shown), "{shown}");
        }
    }
}
