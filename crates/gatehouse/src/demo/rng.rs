//! A random stream that never changes: the demo must be the same bytes on every machine.
//!
//! SplitMix64 (Steele, Lea, Flood 2014). Only `+ - * /` on floats: `sin`, `exp` and their kind
//! differ between C libraries.

pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A whole number in low..=high.
    pub fn int(&mut self, low: i64, high: i64) -> i64 {
        low + (self.unit() * (high - low + 1) as f64) as i64
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Bell-shaped around 0 with deviation 1: the sum of twelve uniforms, so never beyond ±6.
    pub fn bell(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// A long-tailed factor: half of the draws lie under 1, one in thirty above 6, none above 15.
    pub fn skewed(&mut self) -> f64 {
        let u = self.unit();
        0.3 + 0.7 * u / (1.0 - 0.95 * u)
    }

    /// A whole number whose mean is `mean`: how many things happen today.
    pub fn count(&mut self, mean: f64) -> usize {
        let noisy = mean * (1.0 + 0.13 * self.bell());
        (noisy.max(0.0) + self.unit()) as usize
    }

    /// One of `items`, each as likely as the others.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        self.pick_by(items, |_| 1.0)
    }

    /// One of `items`, as likely as its weight says; weights need no common sum.
    #[allow(clippy::indexing_slicing, reason = "the lists are this module's own and never empty")]
    pub fn pick_by<'a, T>(&mut self, items: &'a [T], weight: impl Fn(&T) -> f64) -> &'a T {
        let mut left = self.unit() * items.iter().map(&weight).sum::<f64>();
        for item in items {
            left -= weight(item);
            if left < 0.0 {
                return item;
            }
        }
        &items[items.len() - 1]
    }

    /// One of `(item, weight)`.
    pub fn weighted<T: Copy>(&mut self, items: &[(T, f64)]) -> T {
        self.pick_by(items, |(_, weight)| *weight).0
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.int(0, last as i64) as usize);
        }
    }
}
