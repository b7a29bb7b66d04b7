//! The document's two shard functions, exactly as its code has them.
//!
//! They are parts of stored keys: other tools compute the same. Characters are UTF-16 code units, as JavaScript counts them.
//! Neither spreads evenly whatever the ids: the last character of hexadecimal ids reaches six of ten shards twice as often as
//! the other four. [`skew`](super::figures::skew) says how evenly they were spread.

/// The shard of a sale in the trends of its category: the last code unit of its id.
pub fn category_shard(sale_id: &str, shards: u32) -> i32 {
    let last = sale_id.encode_utf16().last().unwrap_or(0);
    (u32::from(last) % shards.max(1)) as i32
}

/// The shard of a product's embeddings: the hash of Java's strings.
pub fn embedding_shard(product_id: &str, shards: u32) -> i32 {
    let step = |hash: i32, unit: u16| (hash << 5).wrapping_sub(hash).wrapping_add(unit.into());
    let hash = product_id.encode_utf16().fold(0, step);
    // Widened first: the least number has no positive counterpart of its own width.
    (i64::from(hash).abs() % i64::from(shards.max(1))) as i32
}

#[cfg(test)]
mod tests {
    use rust_decimal::Decimal;

    use super::*;
    use crate::sales::figures::{Skew, skew};

    #[test]
    fn the_document_s_examples_as_its_code_computes_them() {
        assert_eq!(category_shard("sale_abc0", 10), 8);
        assert_eq!(category_shard("sale_abc1", 10), 9);
        assert_eq!(category_shard("sale_abca", 10), 7);
        // Printed as 2, 1 and 4; its code says otherwise of the first and the last.
        assert_eq!(embedding_shard("prod_123", 5), 0);
        assert_eq!(embedding_shard("prod_abc", 5), 1);
        assert_eq!(embedding_shard("f47ac10b", 5), 0);
    }

    #[test]
    fn characters_are_utf_16_code_units() {
        // U+1F600 is D83D DE00.
        assert_eq!(category_shard("😀", 10), 0xDE00 % 10);
        let hash = 0xD83D * 31 + 0xDE00;
        assert_eq!(embedding_shard("😀", 5), hash % 5);
        assert_eq!(category_shard("é", 10), 0xE9 % 10);
    }

    #[test]
    fn the_least_hash_has_a_shard() {
        // Java's String.hashCode() of this text is -2147483648.
        assert_eq!(embedding_shard("polygenelubricants", 5), (2_147_483_648_i64 % 5) as i32);
        assert_eq!((category_shard("", 10), embedding_shard("", 5), embedding_shard("x", 0)), (0, 0, 0));
    }

    fn spread(shards: u32, ids: impl Iterator<Item = String>, of: fn(&str, u32) -> i32) -> Skew {
        let mut counts = vec![0; shards as usize];
        ids.for_each(|id| counts[of(&id, shards) as usize] += 1);
        skew(&counts).expect("counts")
    }

    /// The smallest shard against an even share.
    fn smallest(skew: &Skew) -> Option<Decimal> {
        Some(Decimal::from(*skew.counts.iter().min()?) / skew.mean)
    }

    #[test]
    fn decimal_ids_are_even_and_hexadecimal_ones_are_not() {
        let decimal = spread(10, (0..10_000).map(|n| format!("sale_{n}")), category_shard);
        assert!(decimal.counts.iter().all(|count| *count == 1_000), "{decimal:?}");
        let hexadecimal = spread(10, (0..16_000).map(|n| format!("{n:032x}")), category_shard);
        let (large, small) = (hexadecimal.largest_to_mean.unwrap(), smallest(&hexadecimal).unwrap());
        assert_eq!(
            (large, small),
            (Decimal::new(125, 2), Decimal::new(625, 3)),
            "six shards have an eighth each, four a sixteenth"
        );
        let products = spread(5, (0..10_000).map(|n| format!("prod_{n}")), embedding_shard);
        let (large, small) = (products.largest_to_mean.unwrap(), smallest(&products).unwrap());
        assert!(large < Decimal::new(11, 1) && small > Decimal::new(9, 1), "{products:?}");
        assert_eq!(skew(&[0; 10]).unwrap().largest_to_mean, None);
    }
}
