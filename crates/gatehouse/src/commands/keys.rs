//! `gatehouse keys …`: the keys that scripts for devices are signed with; also while a server is running.

use super::{existing, load_without_sources};
use crate::cli::{Data, Keys};
use crate::print::{self, Problem};
use domain::package::KeyList;
use gateway::config::Config;
use gateway::keyring::Keyring;
use ledger::AuditEvent;
use std::process::ExitCode;

pub async fn run(keys: Keys) -> Result<ExitCode, Problem> {
    match keys {
        Keys::List { data, json } => {
            let known = open(&data)?.1.known()?;
            if json {
                print::json(&known);
            } else {
                let state = |signs| if signs { "signs" } else { "trusted" };
                let rows: Vec<Vec<String>> = known
                    .into_iter()
                    .map(|key| vec![key.key_id, state(key.signs).to_owned(), key.public_key])
                    .collect();
                print::table(&["ID", "STATE", "PUBLIC KEY"], &rows);
            }
        }
        Keys::Rotate { data } => {
            let (config, keyring) = open(&data)?;
            let list = keyring.rotate()?;
            note(&config, "keys.rotated", &keyring, &list).await?;
            let id = keyring.signer()?.key_id();
            print::line(&id);
            eprintln!("scripts are signed with {id} from now on; devices learn it with their next script");
        }
        Keys::Retire { data, id } => {
            let (config, keyring) = open(&data)?;
            let list = keyring.retire(&id)?;
            note(&config, "keys.retired", &keyring, &list).await?;
            eprintln!(
                "devices stop trusting {id} with their next script; what it signed before is refused from then on"
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn open(data: &Data) -> Result<(Config, Keyring), Problem> {
    existing(data)?;
    let config = load_without_sources(data)?;
    let keyring = Keyring::open(&config.keys())?;
    Ok((config, keyring))
}

/// What devices are to trust is part of what can be proved afterwards.
async fn note(config: &Config, kind: &str, keyring: &Keyring, list: &KeyList) -> Result<(), Problem> {
    let trusted: Vec<String> = keyring.known()?.into_iter().map(|key| key.key_id).collect();
    let detail = serde_json::json!({ "serial": list.serial, "signs": keyring.signer()?.key_id(), "trusted": trusted });
    config.open_ledger()?.append(AuditEvent::new(kind).detail(detail)).await?;
    Ok(())
}
