//! Once: making this device known to its house.

use crate::api::{EnrolRequest, House};
use crate::cells::Cells;
use crate::config::{Config, poll_ms};
use domain::Fault;
use policy::script::{Grants, TrustedKeys};
use std::io::Write;
use std::path::Path;

/// The code is good once. Grants of an earlier enrolment stay, unless new ones are given: they are the owner's.
pub fn enrol((state, writable): (&Path, &[String]), (url, code): (&str, &str), cells: &Cells) -> Result<(), Fault> {
    private(url)?;
    let known = Config::load(state).ok();
    let mut grants =
        known.as_ref().map_or_else(|| Grants { network: true, ..Grants::default() }, |config| config.grants.clone());
    if !writable.is_empty() {
        grants.writable_roots = writable.to_vec();
    }
    let demands = known.as_ref().map(|config| config.cells).unwrap_or_default();
    cells.try_out(demands.low)?;
    let sandbox_tier = cells.tier(demands.low);
    let version = env!("CARGO_PKG_VERSION");
    let request = EnrolRequest { code, grants: &grants, sandbox_tier, cells: cells.holders(&demands), version };
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

/// The code, the token and the keys that this device will trust cross here: nobody may read or change them on the way.
fn private(url: &str) -> Result<(), Fault> {
    let local = url.strip_prefix("http://").is_some_and(|rest| {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name).trim_matches(['[', ']']);
        name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    });
    match local || url.starts_with("https://") {
        true => Ok(()),
        false => Err(Fault::new(domain::Kind::Invalid, "device.url", format!("`{url}` is not private"))
            .hint("use https://, or http:// on this machine alone")),
    }
}

#[cfg(test)]
mod tests {
    use super::private;

    #[test]
    fn keys_cross_no_open_network() {
        for url in ["https://house.example", "http://127.0.0.1:8080", "http://localhost/x", "http://[::1]:80"] {
            assert!(private(url).is_ok(), "{url}");
        }
        for url in [
            "http://house.example",
            "http://10.0.0.1",
            "http://localhost.example",
            "http://127.0.0.1.example:1",
            "ftp://x",
        ] {
            assert!(private(url).is_err(), "{url}");
        }
    }
}
