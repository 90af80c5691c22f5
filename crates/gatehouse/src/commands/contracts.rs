//! `gatehouse contracts …`.

use super::{flags, load};
use crate::cli::{Contracts, Data};
use crate::print::{self, Problem};
use gateway::House;
use std::process::ExitCode;
use std::sync::Arc;

pub async fn run(contracts: Contracts) -> Result<ExitCode, Problem> {
    match contracts {
        Contracts::Init { data, source, dry_run } => init(&data, &source, dry_run).await,
        Contracts::Check { data, json } => check(&data, json).await,
        Contracts::Show { data, resource, role } => show(&data, &resource, &role),
    }
}

fn open(data: &Data) -> Result<Arc<House>, Problem> {
    let (config, _) = load(&flags(data))?;
    Ok(House::open(config)?)
}

/// Writes a contract for each table that has none. Existing files are never touched.
async fn init(data: &Data, source: &str, dry_run: bool) -> Result<ExitCode, Problem> {
    let house = open(data)?;
    let dataset = house.datasets.get(source).ok_or_else(|| {
        let known: Vec<&str> = house.datasets.iter().map(|d| d.id.as_str()).collect();
        Problem::usage(format!("there is no source `{source}`"), format!("there are: {}", known.join(", ")))
    })?;
    let schema = house.schema(dataset).await?;
    let dir = &house.config.contracts_dir;
    std::fs::create_dir_all(dir)?;
    for table in &schema.tables {
        let yaml = policy::draft(&schema, table);
        let path = dir.join(format!("{}.yaml", policy::resource_name(&table.name)));
        if dry_run {
            print::line(yaml);
        } else if path.exists() {
            eprintln!("kept    {}", path.display());
        } else {
            std::fs::write(&path, yaml)?;
            eprintln!("written {}", path.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Opening the house has checked the files themselves; this compares them with their sources.
async fn check(data: &Data, json: bool) -> Result<ExitCode, Problem> {
    let house = open(data)?;
    let policy = house.policy();
    let mut drift = Vec::new();
    for dataset in house.datasets.iter() {
        let schema = house.schema(dataset).await?;
        drift.extend(policy.drift(&schema).iter().map(|d| match &d.field {
            Some(field) => format!("contract `{}`: its table has no field `{field}`", d.resource),
            None => format!("contract `{}`: its table is not there", d.resource),
        }));
    }
    for contract in policy.contracts() {
        if house.datasets.get(&contract.source).is_none() {
            drift.push(format!("contract `{}`: there is no source `{}`", contract.resource, contract.source));
        }
    }
    if json {
        print::json(&serde_json::json!({
            "contracts": policy.contracts().count(), "policy_fingerprint": policy.fingerprint(), "drift": drift,
        }));
    } else {
        for line in &drift {
            print::line(format!("drift: {line}"));
        }
        print::line(format!("{} contracts, policy {}", policy.contracts().count(), policy.fingerprint()));
    }
    Ok(if drift.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn show(data: &Data, resource: &str, role: &str) -> Result<ExitCode, Problem> {
    let house = open(data)?;
    let contract = house.policy().role_contract(resource, role).ok_or_else(|| {
        let mut problem = Problem::usage(
            format!("role `{role}` sees no resource `{resource}`"),
            "`gatehouse contracts check` lists problems; see the contract's `roles`",
        );
        problem.code = 5;
        problem
    })?;
    print::json(&contract);
    Ok(ExitCode::SUCCESS)
}
