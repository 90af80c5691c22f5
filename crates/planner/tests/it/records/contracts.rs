//! The contracts of a small law firm, as a role sees them.

use planner::records::{Caps, Field, Join, Resource, Surface};
use policy::{Policy, ResourceContract};

const CONTRACTS: [(&str, &str); 3] = [
    ("cases.yaml", include_str!("contracts/cases.yaml")),
    ("client_communications.yaml", include_str!("contracts/client_communications.yaml")),
    ("document_analysis.yaml", include_str!("contracts/document_analysis.yaml")),
];

pub fn policy() -> Policy {
    Policy::load(CONTRACTS.map(|(name, text)| (name.to_owned(), text.to_owned()))).unwrap()
}

/// What a role sees of the contracts.
pub fn surface(policy: &Policy, role: &str) -> Surface {
    let resource = |contract: &policy::Contract| {
        let seen: ResourceContract = policy.role_contract(&contract.resource, role)?;
        let field = |f: &policy::ResourceField| {
            let whole = contract.field(&f.name).unwrap();
            Field {
                name: f.name.clone(),
                kind: whole.kind,
                nullable: f.nullable,
                generated: whole.generated,
                pii: f.pii,
                readable: f.readable,
                writable: f.writable,
                values: whole.values.clone(),
                synonyms: whole.synonyms.clone(),
            }
        };
        let join = |j: &policy::ResourceJoin| Join {
            target: j.target_resource.clone(),
            on: j.on.iter().map(|on| (on.left_field.clone(), on.right_field.clone())).collect(),
        };
        Some(Resource {
            name: seen.resource.clone(),
            version: seen.version.clone(),
            source: contract.source.clone(),
            describe: contract.describe.clone(),
            synonyms: contract.synonyms.clone(),
            ops: seen.ops_allowed.clone(),
            key: contract.key.clone(),
            natural_key: contract.natural_key.clone(),
            fields: seen.fields.iter().map(field).collect(),
            filters: seen.filters_allowed.clone(),
            order: seen.order_allowed.clone(),
            limits: Caps {
                max_rows: seen.limits.max_rows,
                max_predicates: seen.limits.max_predicates,
                max_update_fields: seen.limits.max_update_fields,
                max_joins: seen.limits.max_joins,
            },
            joins: seen.joins_allowed.iter().map(join).collect(),
        })
    };
    Surface { role: role.to_owned(), resources: policy.contracts().filter_map(resource).collect() }
}
