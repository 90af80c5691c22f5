//! This server among those that share its ledger.

use crate::House;
use ledger::LedgerError;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// How often a server says that it lives. Its lease is many of these.
const BEAT: Duration = Duration::from_secs(1);

/// Joins them. What dead ones left under way is settled before anything is served.
pub async fn join(house: &House, address: SocketAddr) -> Result<(), LedgerError> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    house.ledger.join(&format!("{} {address}", host.trim())).await?;
    house.ledger.beat(&[]).await.map(drop)
}

/// Says again and again that this server lives and what it is working on, in a task that waits for nothing else: a long
/// prune must not look like death. Settles what dead ones left behind, and what could not be recorded when it was due.
pub async fn keep_beating(house: Arc<House>) {
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    while house.shutdown.run_until_cancelled(beat.tick()).await.is_some() {
        match house.ledger.beat(&house.active.running()).await {
            Ok(0) => {}
            Ok(dead) => tracing::warn!(dead, "settled what dead servers had left under way"),
            Err(error) => tracing::error!(%error, "other servers cannot be told that this one lives"),
        }
        house.ledger.pay_owed().await;
    }
}

/// At a stop, after everything has ended.
pub async fn leave(house: &House) {
    house.ledger.pay_owed().await;
    house.pay_owed().await;
    if let Err(error) = house.ledger.leave().await {
        tracing::error!(%error, "other servers cannot be told of the stop");
    }
}
