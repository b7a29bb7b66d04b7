//! Throws that are the same for the same seed, for ever: no crate's generator promises that, and pictures and the demo's shop
//! must look tomorrow as they look today.

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed)
    }

    pub(crate) fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From zero to before the end.
    pub(crate) fn below(&mut self, end: i64) -> i64 {
        let end = u64::try_from(end).unwrap_or(1).max(1);
        i64::try_from(self.throw() % end).unwrap_or(0)
    }

    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.throw() % (len.max(1) as u64)).unwrap_or(0)
    }

    pub(crate) fn one_in(&mut self, many: i64) -> bool {
        self.below(many) == 0
    }
}
