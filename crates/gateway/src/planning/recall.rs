//! What a model wrote lately, in a Redis that all servers of the house share: whoever asks the same again, after a reply
//! that was lost or beside somebody else, gets the same script, and nobody pays for it twice.
//!
//! It is a cache and no more. It holds words of the model, in which values are placeholders, never a proposal that people
//! decide about: those are the ledger's. What comes out of it is as little trusted as the model itself, and where Redis is
//! away, the model is asked.

use crate::config::Secret;
use domain::sha256_hex;
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, AsyncConnectionConfig, Client, RedisError};
use std::time::Duration;

/// How long an answer stands.
const KEPT_SECONDS: u64 = 15 * 60;
/// How long a model is kept waiting for this.
const PATIENCE: Duration = Duration::from_millis(500);

pub struct Recall(Client);

impl Recall {
    /// At an address such as `redis://127.0.0.1:6379/0` or `redis+unix:///run/redis.sock`. Nobody is asked yet.
    pub fn at(url: &Secret) -> Result<Self, String> {
        // The error may quote the address, and that may have a password in it.
        Client::open(url.expose()).map(Self).map_err(|_| {
            "`ops.redis_url` is no address of a Redis (hint: redis://host:6379/0 or redis+unix:///path)".to_owned()
        })
    }

    /// The name of a question to one model.
    pub fn key(model: &str, question: &[&str]) -> String {
        format!("gatehouse:thought:{}", sha256_hex([&[model], question].concat().join("\0").as_bytes()))
    }

    pub async fn find(&self, key: &str) -> Option<String> {
        let found = async { self.connect().await?.get(key).await };
        found.await.inspect_err(warn).ok().flatten()
    }

    pub async fn keep(&self, key: &str, answer: &str) {
        let kept = async { self.connect().await?.set_ex::<_, _, ()>(key, answer, KEPT_SECONDS).await };
        let _ = kept.await.inspect_err(warn);
    }

    /// Anew each time: beside a model's seconds it costs nothing, and a Redis that comes back needs nobody to notice.
    async fn connect(&self) -> Result<MultiplexedConnection, RedisError> {
        let patient =
            AsyncConnectionConfig::new().set_connection_timeout(Some(PATIENCE)).set_response_timeout(Some(PATIENCE));
        self.0.get_multiplexed_async_connection_with_config(&patient).await
    }
}

fn warn(error: &RedisError) {
    tracing::warn!(kind = ?error.kind(), "Redis is away: the model is asked instead");
}
