//! The random number generator: SplitMix64, here because its values must never change.

/// SplitMix64 (Steele, Lea and Flood, 2014): a counter with a mixing function. Small, quick, good enough for
/// test data, and its values are fixed by these few lines.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 up to, without, `bound`; 0 where `bound` is 0. The bias is below `bound` / 2^64.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 up to, without, `bound`, small ones far likelier than large ones.
    pub(crate) fn skewed_below(&mut self, bound: u64) -> u64 {
        let limit = self.below(bound) + 1;
        self.below(limit)
    }

    /// True `permille` times in a thousand.
    pub(crate) fn chance(&mut self, permille: u64) -> bool {
        self.below(1000) < permille
    }

    /// One element of a list that must not be empty.
    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    /// One element of a list that must not be empty, the first ones far likelier.
    pub(crate) fn pick_skewed<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.skewed_below(list.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_values_are_those_of_the_published_generator() {
        let mut random = Random::new(1_234_567);
        let values: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(values, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn bounds_hold() {
        let mut random = Random::new(1);
        assert_eq!(random.below(0), 0);
        for bound in [1, 2, 10, 1000] {
            for _ in 0..1000 {
                assert!(random.below(bound) < bound);
                assert!(random.skewed_below(bound) < bound);
            }
        }
    }
}
