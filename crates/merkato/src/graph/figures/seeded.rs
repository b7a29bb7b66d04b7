//! Choices that replay: SplitMix64 from a seed.

pub(super) struct Seeded(u64);

impl Seeded {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Evenly among `0..below`; the high half of a product is even enough for any number of nodes.
    fn below(&mut self, below: usize) -> usize {
        ((u128::from(self.next()) * below as u128) >> 64) as usize
    }

    /// Puts `count` of the items at the front, each choice as likely as any other.
    pub(super) fn choose<T>(&mut self, items: &mut [T], count: usize) {
        for i in 0..count.min(items.len()) {
            let chosen = i + self.below(items.len() - i);
            items.swap(i, chosen);
        }
    }
}
