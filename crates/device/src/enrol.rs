//! Once: making this device known to its house.

use crate::api::{EnrolRequest, House};
use crate::arguments::Arguments;
use crate::cells::Cells;
use crate::config::{Config, poll_ms};
use domain::Fault;
use policy::script::{Grants, TrustedKeys};
use std::io::Write;

/// The code is good once. Grants of an earlier enrolment stay, unless new ones are given: they are the owner's.
pub fn enrol(arguments: &Arguments, url: &str, code: &str, cells: &Cells) -> Result<(), Fault> {
    let state = &arguments.state;
    let known = Config::load(state).ok();
    let mut grants =
        known.as_ref().map_or_else(|| Grants { network: true, ..Grants::default() }, |config| config.grants.clone());
    if !arguments.writable.is_empty() {
        grants.writable_roots.clone_from(&arguments.writable);
    }
    let demands = known.as_ref().map(|config| config.cells).unwrap_or_default();
    cells.try_out(demands.low)?;
    let sandbox_tier = cells.tier(demands.low);
    let request = EnrolRequest { code, grants: &grants, sandbox_tier, version: env!("CARGO_PKG_VERSION") };
    let enrolled = House::new(url, None).enrol(&request)?;
    TrustedKeys::parse(enrolled.trusted_keys.iter().map(String::as_str))?;
    let config = Config {
        url: url.to_owned(),
        device_id: enrolled.device_id,
        token: enrolled.token,
        trusted_keys: enrolled.trusted_keys,
        keys_serial: enrolled.keys_serial,
        grants,
        scripts: known.as_ref().map(|config| config.scripts.clone()).unwrap_or_default(),
        keep: known.as_ref().map(|config| config.keep).unwrap_or_default(),
        cells: known.as_ref().map(|config| config.cells).unwrap_or_default(),
        poll_ms: known.map_or_else(poll_ms, |config| config.poll_ms),
    };
    config.save(state)?;
    let _ = writeln!(std::io::stdout(), "enrolled as {}", config.device_id);
    Ok(())
}
