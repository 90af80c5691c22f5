//! `gatehouse tables …`: the registry, which is the contracts.

use super::{flags, load};
use crate::cli::{Data, Tables};
use crate::print::{self, Problem};
use gateway::House;
use std::process::ExitCode;
use std::sync::Arc;

pub async fn run(tables: Tables) -> Result<ExitCode, Problem> {
    match tables {
        Tables::Register { data, source, table } => {
            let registered = open(&data)?.register(&source, &table).await?;
            eprintln!("registered {}: change who may read it in contracts/{}.yaml", registered.id, registered.id);
            print::line(registered.id);
        }
        Tables::Unregister { data, id } => {
            open(&data)?.unregister(&id).await?;
            eprintln!("unregistered {id}: only admins see its table now");
        }
        Tables::Describe { data, id } => {
            let house = open(&data)?;
            let policy = house.policy();
            let contract = policy.contract(&id).ok_or_else(|| {
                let mut problem = Problem::usage(
                    format!("there is no table `{id}`"),
                    "`gatehouse tables register SOURCE TABLE` registers one",
                );
                problem.code = 5;
                problem
            })?;
            print::json(contract);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn open(data: &Data) -> Result<Arc<House>, Problem> {
    super::existing(data)?;
    let (config, _) = load(&flags(data))?;
    Ok(House::open(config)?)
}
