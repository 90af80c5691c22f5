//! How often and how long something is tried again that may only be passing.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const TRIES: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Later nothing is tried again, however slow the tries were: whoever waits is told that the source is away, and not that a
/// statement took too long.
const LAST_PAUSE_ENDS: Duration = Duration::from_secs(3);

/// What is left of it. Each pause is twice as long as the one before.
pub struct Patience {
    tries: u32,
    pause: Duration,
    began: Instant,
}

impl Patience {
    pub fn new() -> Self {
        Self { tries: 1, pause: FIRST_PAUSE, began: Instant::now() }
    }

    /// Whether nothing was tried again yet.
    pub fn is_first(&self) -> bool {
        self.tries == 1
    }

    /// Counts a try that came to nothing. Gives whether another is left.
    pub fn counts(&mut self) -> bool {
        self.tries += 1;
        self.is_left(self.began.elapsed())
    }

    fn is_left(&self, elapsed: Duration) -> bool {
        self.tries <= TRIES && elapsed + self.pause <= LAST_PAUSE_ENDS
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of tries of something that takes so long each time.
    fn tries(each: Duration) -> u32 {
        let (mut patience, mut elapsed) = (Patience::new(), each);
        while {
            patience.tries += 1;
            patience.is_left(elapsed)
        } {
            elapsed += patience.pause + each;
            patience.pause *= 2;
        }
        patience.tries - 1
    }

    #[test]
    fn what_takes_long_is_tried_less_often() {
        assert_eq!([10, 1_000, 4_000].map(|ms| tries(Duration::from_millis(ms))), [TRIES, 3, 1]);
    }
}
