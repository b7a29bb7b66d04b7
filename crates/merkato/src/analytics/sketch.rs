//! How many different visitors there were, in at most 641 bytes: a HyperLogLog sketch.
//!
//! 1. Up to 128 visitors are counted exactly, more with a standard error of 3.25 %.
//! 2. A sketch depends only on who was added, not on the order, nor on how often, nor on what was merged with what.
//!
//! It is written here and not taken from a crate, because its bytes are stored: they must mean the same for good, with the
//! hash that they rest on, and bytes that were damaged must be refused.

use sha2::{Digest, Sha256};

/// Bits of a hash that choose the register.
const INDEX_BITS: u32 = 10;
const REGISTERS: usize = 1 << INDEX_BITS;
/// Bits of a hash whose leading zeros are counted: the count, plus one, has five bits.
const RANK_BITS: u32 = 30;
const REGISTER_BITS: usize = 5;
const HASH_BYTES: usize = 5;
/// As many hashes as take the room of all registers.
const SPARSE_MAX: usize = REGISTERS * REGISTER_BITS / 8 / HASH_BYTES;
const DENSE_BYTES: usize = REGISTERS * REGISTER_BITS / 8;
/// The first byte tells which form follows.
const SPARSE: u8 = 1;
const DENSE: u8 = 2;

/// Forty bits of a visitor's hash, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VisitorHash(u64);

impl VisitorHash {
    /// Salted with what is visited, so that nobody can be followed from one sketch to another.
    pub(super) fn of(salt: &[u8], visitor: &[u8]) -> Self {
        let digest = Sha256::new().chain_update(salt).chain_update(visitor).finalize();
        VisitorHash(digest[..HASH_BYTES].iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    #[cfg(test)]
    pub(super) fn new(number: u64) -> Self {
        VisitorHash(number & ((1 << (INDEX_BITS + RANK_BITS)) - 1))
    }

    fn register(self) -> usize {
        (self.0 >> RANK_BITS) as usize
    }

    /// One more than the leading zeros of the bits behind the register's.
    fn rank(self) -> u8 {
        let rest = self.0 & ((1 << RANK_BITS) - 1);
        (rest.leading_zeros() - (u64::BITS - RANK_BITS) + 1) as u8
    }
}

/// Who was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sketch {
    /// In ascending order.
    Sparse(Vec<VisitorHash>),
    Dense(Box<[u8; REGISTERS]>),
}

/// Bytes that are no sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are no sketch of visitors")]
pub(super) struct NoSketch;

impl Default for Sketch {
    fn default() -> Self {
        Sketch::Sparse(Vec::new())
    }
}

impl Sketch {
    pub(super) fn add(&mut self, hash: VisitorHash) {
        match self {
            Sketch::Sparse(hashes) => {
                if let Err(place) = hashes.binary_search(&hash) {
                    hashes.insert(place, hash);
                    if hashes.len() > SPARSE_MAX {
                        *self = Sketch::Dense(spread(hashes));
                    }
                }
            }
            Sketch::Dense(registers) => raise(registers, hash),
        }
    }

    pub(super) fn merge(&mut self, other: &Sketch) {
        match other {
            Sketch::Sparse(hashes) => hashes.iter().for_each(|hash| self.add(*hash)),
            Sketch::Dense(others) => {
                let mut registers = match std::mem::take(self) {
                    Sketch::Sparse(hashes) => spread(&hashes),
                    Sketch::Dense(registers) => registers,
                };
                for (register, other) in registers.iter_mut().zip(others.iter()) {
                    *register = (*other).max(*register);
                }
                *self = Sketch::Dense(registers);
            }
        }
    }

    /// How many visitors.
    pub(super) fn count(&self) -> i64 {
        match self {
            Sketch::Sparse(hashes) => hashes.len() as i64,
            Sketch::Dense(registers) => estimate(registers),
        }
    }

    /// Bytes of memory, about.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Sketch::Sparse(hashes) => hashes.len() * size_of::<VisitorHash>(),
            Sketch::Dense(_) => REGISTERS,
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Sketch::Sparse(hashes) => {
                let each = hashes.iter().flat_map(|hash| hash.0.to_be_bytes().into_iter().skip(8 - HASH_BYTES));
                std::iter::once(SPARSE).chain(each).collect()
            }
            Sketch::Dense(registers) => {
                let mut bytes = Vec::with_capacity(1 + DENSE_BYTES);
                bytes.push(DENSE);
                for eight in registers.chunks_exact(8) {
                    let packed = eight.iter().fold(0u64, |packed, rank| packed << REGISTER_BITS | u64::from(*rank));
                    bytes.extend_from_slice(&packed.to_be_bytes()[8 - REGISTER_BITS..]);
                }
                bytes
            }
        }
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, NoSketch> {
        let number = |bytes: &[u8]| bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        match bytes.split_first() {
            Some((&SPARSE, rest)) => {
                let hashes: Vec<_> = rest.chunks(HASH_BYTES).map(|chunk| VisitorHash(number(chunk))).collect();
                let sound = rest.len() % HASH_BYTES == 0
                    && hashes.len() <= SPARSE_MAX
                    && hashes.is_sorted_by(|before, after| before < after);
                if sound { Ok(Sketch::Sparse(hashes)) } else { Err(NoSketch) }
            }
            Some((&DENSE, rest)) if rest.len() == DENSE_BYTES => {
                let mut registers = Box::new([0; REGISTERS]);
                for (eight, packed) in registers.chunks_exact_mut(8).zip(rest.chunks_exact(REGISTER_BITS)) {
                    let mut packed = number(packed);
                    for rank in eight.iter_mut().rev() {
                        *rank = (packed & 0x1F) as u8;
                        packed >>= REGISTER_BITS;
                    }
                }
                Ok(Sketch::Dense(registers))
            }
            _ => Err(NoSketch),
        }
    }
}

fn raise(registers: &mut [u8; REGISTERS], hash: VisitorHash) {
    let register = &mut registers[hash.register()];
    *register = hash.rank().max(*register);
}

/// Turns hashes into registers.
fn spread(hashes: &[VisitorHash]) -> Box<[u8; REGISTERS]> {
    let mut registers = Box::new([0; REGISTERS]);
    hashes.iter().for_each(|hash| raise(&mut registers, *hash));
    registers
}

/// The improved raw estimate of O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017): good for
/// every size, without tables of corrections.
fn estimate(registers: &[u8; REGISTERS]) -> i64 {
    const RANK_MAX: usize = RANK_BITS as usize + 1;
    let mut with_rank = [0u32; RANK_MAX + 1];
    for rank in registers {
        with_rank[usize::from(*rank)] += 1;
    }
    let all = REGISTERS as f64;
    let mut z = all * tau(1.0 - f64::from(with_rank[RANK_MAX]) / all);
    for count in with_rank[1..RANK_MAX].iter().rev() {
        z = 0.5 * (z + f64::from(*count));
    }
    z += all * sigma(f64::from(with_rank[0]) / all);
    (all * all / (2.0 * std::f64::consts::LN_2 * z)).round() as i64
}

fn sigma(mut x: f64) -> f64 {
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        // With every register empty it has no end; what it grows to means none.
        if z == before || !z.is_finite() {
            return z;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x).powi(2) * y;
        if z == before {
            return z / 3.0;
        }
    }
}
