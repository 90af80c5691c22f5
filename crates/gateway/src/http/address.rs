//! Where a request comes from, as far as guessing is counted.

use crate::House;
use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The peer's address; behind a proxy, the one that the proxy saw.
pub fn address(house: &House, headers: &HeaderMap, extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    let seen = house.config.server.behind_proxy.then(|| seen_by_proxy(headers)).flatten();
    network(seen.or(peer).unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
}

/// The last entry is the proxy's own; those before it are whatever the client claims.
fn seen_by_proxy(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?;
    last.to_str().ok()?.rsplit(',').next()?.trim().parse().ok()
}

/// One customer of a network has a whole IPv6 /64 to send from.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_one_guesser() {
        for (address, same_as) in
            [("10.0.0.1", "10.0.0.1"), ("::ffff:10.0.0.1", "10.0.0.1"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::")]
        {
            assert_eq!(network(address.parse().unwrap()), same_as.parse::<IpAddr>().unwrap());
        }
    }

    #[test]
    fn only_the_proxys_own_entry_counts() {
        let mut headers = HeaderMap::new();
        headers.append("x-forwarded-for", "6.6.6.6".parse().unwrap());
        headers.append("x-forwarded-for", "7.7.7.7, 192.0.2.9".parse().unwrap());
        assert_eq!(seen_by_proxy(&headers), Some("192.0.2.9".parse().unwrap()));
        headers.append("x-forwarded-for", "unknown".parse().unwrap());
        assert_eq!(seen_by_proxy(&headers), None);
    }
}
