//! How rates are given.

use super::given::Given;
use super::types::Rate;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

const MOST: u32 = 1_000_000;

/// So many each second, or at once.
pub fn rate(given: &Given) -> Result<NonZeroU32, String> {
    given.number::<u32>(1..=i64::from(MOST)).map(|n| NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN))
}

/// `ROLE=PER_SECOND/BURST`, each role once.
pub fn role_rates(given: &Given) -> Result<BTreeMap<String, Rate>, String> {
    let count = |text: &str| text.trim().parse::<NonZeroU32>().ok().filter(|n| n.get() <= MOST);
    let mut rates = BTreeMap::new();
    for item in given.list()? {
        let parts = item.rsplit_once('=').and_then(|(role, rate)| Some((role.trim(), rate.split_once('/')?)));
        let rate = parts.and_then(|(role, (per_second, burst))| {
            let rate = Rate { per_second: count(per_second)?, burst: count(burst)? };
            Some((role.to_owned(), rate)).filter(|(role, _)| !role.is_empty())
        });
        let (role, rate) = rate.ok_or_else(|| format!("`{item}` is not a rate of a role, such as `agent=200/400`"))?;
        if rates.insert(role, rate).is_some() {
            return Err(format!("`{item}` names a role for the second time"));
        }
    }
    Ok(rates)
}
