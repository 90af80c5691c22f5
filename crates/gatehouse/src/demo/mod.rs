//! What `gatehouse serve --demo` shows: five datasets with their registry and contracts.
//!
//! The data is made here from fixed seeds, the same bytes on every machine; registry, contracts
//! and the shop's tables are files of `demo/`. Each dataset has a module that makes its records
//! (`generate`) and writes them in its format (`write`).

mod crm;
pub mod device;
mod energy;
mod files;
mod names;
mod rng;
mod sales;
mod season;
mod shop;
mod support;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;

use crm::Crm;
use energy::Energy;
use files::{directory, link, place_bytes};
use sales::Sales;
use shop::Shop;
use std::fs;
use std::io;
use std::path::Path;
use support::Support;

/// Raised whenever the data or the registry changes, so that older copies are replaced.
const VERSION: &str = "3\n";
const REGISTRY: &str = include_str!("../../../../demo/registry.json");

macro_rules! contracts {
    ($($file:literal),* $(,)?) => {
        [$(($file, include_str!(concat!("../../../../demo/contracts/", $file)))),*]
    };
}
const CONTRACTS: [(&str, &str); 14] = contracts![
    "accounts.yaml",
    "agents.yaml",
    "cases.yaml",
    "catalog.yaml",
    "client_communications.yaml",
    "customers.yaml",
    "document_analysis.yaml",
    "order_items.yaml",
    "orders.yaml",
    "products.yaml",
    "readings.yaml",
    "sales_orders.yaml",
    "sites.yaml",
    "tickets.yaml",
];

/// Puts the demo under `dir`: `datasets/registry.json`, `datasets/<id>/…`, `contracts/*.yaml`, and as `demo.db` the
/// database of `shop`, which is where the Analyst looks for one.
///
/// Does nothing where this version already is. Contracts that are there stay as they are: they may
/// have been edited.
pub fn write(dir: &Path) -> io::Result<()> {
    let datasets = dir.join("datasets");
    let stamp = datasets.join(".demo-version");
    if fs::read_to_string(&stamp).is_ok_and(|version| version == VERSION) {
        return Ok(());
    }
    write_contracts(&dir.join("contracts"))?;
    for id in ["sales", "support", "energy", "shop", "crm"] {
        directory(&datasets.join(id))?;
    }
    directory(&datasets)?;
    Sales::generate().write(&datasets.join("sales"))?;
    Support::generate().write(&datasets.join("support"))?;
    Energy::generate().write(&datasets.join("energy"))?;
    Shop::generate().write(&datasets.join("shop"))?;
    Crm::generate().write(&datasets.join("crm"))?;
    place_bytes(&datasets.join("registry.json"), REGISTRY.as_bytes())?;
    link(Path::new("datasets/shop/shop.sqlite"), &dir.join("demo.db"))?;
    // Last: only a demo that is whole carries the stamp.
    place_bytes(&stamp, VERSION.as_bytes())
}

/// What Records writes to belongs to whoever writes it: the user of the workers, where the server is root.
pub fn hand_over(dir: &Path, user: Option<&str>) -> io::Result<()> {
    let Some((uid, gid)) = sandbox::worker_owner(user) else { return Ok(()) };
    let folder = dir.join("datasets/crm");
    for path in [folder.clone(), folder.join("crm.sqlite")] {
        std::os::unix::fs::chown(path, Some(uid), Some(gid))?;
    }
    Ok(())
}

fn write_contracts(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in CONTRACTS {
        let path = folder.join(name);
        if !path.exists() {
            place_bytes(&path, text.as_bytes())?;
        }
    }
    Ok(())
}
