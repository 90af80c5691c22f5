//! How long to wait before asking again: longer after each failure, and never in step with other devices.

use std::time::Duration;

const SHORTEST: Duration = Duration::from_millis(100);
const MOST: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub struct Pause {
    least: Duration,
    failures: u32,
}

impl Pause {
    pub fn of(milliseconds: u64) -> Self {
        Self { least: Duration::from_millis(milliseconds).clamp(SHORTEST, MOST), failures: 0 }
    }

    pub fn succeeded(&mut self) {
        self.failures = 0;
    }

    pub fn failed(&mut self) {
        self.failures = self.failures.saturating_add(1);
    }

    /// Between half and all of what is due, by chance.
    pub fn next(&self, random: u32) -> Duration {
        let due = self.least.saturating_mul(1_u32.checked_shl(self.failures.min(16)).unwrap_or(u32::MAX)).min(MOST);
        due.mul_f64(0.5 + f64::from(random) / f64::from(u32::MAX) / 2.0)
    }
}

pub fn random() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_are_never_in_step() {
        let least = Duration::from_secs(5);
        let mut pause = Pause::of(5_000);
        assert_eq!((pause.next(0), pause.next(u32::MAX)), (least / 2, least));
        for _ in 0..40 {
            let before = pause.next(u32::MAX);
            pause.failed();
            assert!(pause.next(u32::MAX) >= before && pause.next(u32::MAX) <= MOST);
        }
        assert_eq!(pause.next(u32::MAX), MOST);
        pause.succeeded();
        assert_eq!(pause.next(u32::MAX), least);
        assert_eq!(Pause::of(0).next(u32::MAX), SHORTEST);
    }
}
