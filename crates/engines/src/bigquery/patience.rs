//! How often and how long something is tried again that may only be passing.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const TRIES: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// What is left of it. Each pause is twice as long as the one before.
pub struct Patience {
    tries: u32,
    pause: Duration,
}

impl Patience {
    pub fn new() -> Self {
        Self { tries: 1, pause: FIRST_PAUSE }
    }

    /// Whether nothing was tried again yet.
    pub fn is_first(&self) -> bool {
        self.tries == 1
    }

    /// Counts a try that came to nothing. Gives whether another is left.
    pub fn counts(&mut self) -> bool {
        self.tries += 1;
        self.tries <= TRIES
    }

    /// Waits before the next.
    pub async fn pause(&mut self) {
        tokio::time::sleep(uneven(self.pause)).await;
        self.pause *= 2;
    }
}

/// Up to half as long again, so that those who were turned away together do not come back together.
fn uneven(pause: Duration) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    pause + pause.mul_f64(f64::from(now.subsec_micros() % 1_000) / 2_000.0)
}
