//! The packs at the end of a partition: which of them the next one takes up.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::pack::LARGE_BYTES;

/// Packs of one size that become one of the next, with what is new.
const TAKEN_UP_TOGETHER: usize = 3;
/// Partitions that are remembered.
const REMEMBERED_MAX: usize = 64 * 1024;

/// The number of the next pack, and how large those at the end are, from old to new, behind the last one that stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tail {
    pub next: u32,
    pub small: Vec<usize>,
}

impl Tail {
    /// How many of the last ones rows of so many bytes take up: those of about the same size, once there are enough of them, and then
    /// perhaps those of the next size. So a row is packed anew only a few times, and there are few packs.
    pub fn taken_up(&self, mut bytes: usize) -> usize {
        let mut taken = 0;
        let mut run = 0;
        for (before, pack) in self.small.iter().rev().enumerate() {
            if size_class(*pack) > size_class(bytes + run) {
                break;
            }
            run += pack;
            if before + 1 - taken >= TAKEN_UP_TOGETHER {
                (taken, bytes, run) = (before + 1, bytes + run, 0);
            }
        }
        taken
    }

    /// Adds a pack, and says its number.
    pub fn push(&mut self, bytes: usize) -> u32 {
        match bytes > LARGE_BYTES {
            true => self.small.clear(),
            false => self.small.push(bytes),
        }
        self.next += 1;
        self.next - 1
    }
}

/// Each is four times the one before.
fn size_class(bytes: usize) -> u32 {
    bytes.max(1).ilog2() / 2
}

/// What the packer remembers of partitions, so that it need not look which packs they have. What it has made must have been
/// written, and by nobody else; else it is forgotten. Packs that are reclaimed are no harm: numbers only have to rise.
#[derive(Default)]
pub(super) struct Tails(HashMap<Box<[u8]>, Tail, RandomState>);

impl Tails {
    pub fn take(&mut self, partition: &[u8]) -> Option<Tail> {
        self.0.get_mut(partition).map(std::mem::take)
    }

    pub fn keep(&mut self, partition: &[u8], tail: Tail) {
        if let Some(known) = self.0.get_mut(partition) {
            *known = tail;
            return;
        }
        if self.0.len() >= REMEMBERED_MAX {
            self.0.clear();
        }
        self.0.insert(partition.into(), tail);
    }

    pub fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_packed_anew_once_for_every_fourfold_and_packs_stay_few() {
        let mut tail = Tail::default();
        let (mut written, mut most) = (0, 0);
        for _ in 0..10_000 {
            let taken = tail.taken_up(100);
            let kept = tail.small.len() - taken;
            let bytes = 100 + tail.small.split_off(kept).iter().sum::<usize>();
            tail.next -= taken as u32;
            tail.push(bytes);
            written += bytes;
            most = most.max(tail.small.len());
        }
        assert!(written <= 6 * 10_000 * 100, "{written}");
        assert!(most <= 16, "{most}");
    }

    #[test]
    fn what_is_larger_or_too_few_stays() {
        let tail = |small: &[usize]| Tail { next: 9, small: small.to_vec() };
        assert_eq!(tail(&[]).taken_up(100), 0);
        assert_eq!(tail(&[100, 100]).taken_up(100), 0);
        assert_eq!(tail(&[100, 100, 100]).taken_up(100), 3);
        assert_eq!(tail(&[3_000, 100, 100, 100]).taken_up(100), 3);
        assert_eq!(tail(&[400, 400, 400, 100, 100, 100]).taken_up(100), 6);
        assert_eq!(tail(&[100, 100, 3_000]).taken_up(100), 0);
    }
}
