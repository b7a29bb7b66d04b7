use std::num::NonZeroUsize;

use proptest::prelude::*;

use crate::{
    error::Kind,
    sales::figures::{Error, cosine, limits, nearest},
};

fn threads(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).expect("some")
}

fn rows(vectors: &[&[f32]]) -> Vec<(usize, Vec<f32>)> {
    vectors.iter().map(|vector| vector.to_vec()).enumerate().collect()
}

#[test]
fn the_nearest_come_first_and_ties_by_id() {
    let vectors = [("b", [2.0, 0.0]), ("a", [1.0, 0.0]), ("d", [-3.0, 0.0]), ("c", [0.0, 5.0]), ("e", [1.0, 1.0])];
    let found = nearest(&[3.0, 0.0], &vectors[..], 10, threads(1)).expect("found");
    assert_eq!(found, [("a", 1.0), ("b", 1.0), ("e", 0.5_f32.sqrt()), ("c", 0.0), ("d", -1.0)]);
    assert_eq!(nearest(&[3.0, 0.0], &vectors[..], 1, threads(4)).expect("found"), [("a", 1.0)]);
    assert_eq!(nearest(&[3.0, 0.0], &vectors[..], 0, threads(4)).expect("found"), []);
}

#[test]
fn a_vector_without_a_direction_is_left_out_and_a_query_without_one_refused() {
    let vectors = rows(&[&[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[-0.0, 1.0]]);
    assert_eq!(nearest(&[1.0, 0.0], vectors.as_slice(), 9, threads(2)).expect("found"), [(3, 0.0)]);
    for query in [&[0.0, -0.0][..], &[f32::NAN, 1.0], &[f32::NEG_INFINITY, 0.0], &[]] {
        let error = nearest(query, vectors.as_slice(), 9, threads(2)).expect_err("no direction");
        assert_eq!((error.code(), error.kind()), ("invalid", Kind::Invalid), "{query:?}");
    }
    assert_eq!(cosine(&[1.0, 0.0], &[0.0, 0.0]), Ok(None));
    assert_eq!(cosine(&[1.0, 1.0], &[2.0, 2.0]), Ok(Some(1.0)));
}

#[test]
fn the_first_vector_of_another_dimension_is_named_whatever_the_threads() {
    let mut vectors: Vec<(usize, Vec<f32>)> = (0..5_000).map(|id| (id, vec![1.0, 2.0, 3.0])).collect();
    for row in [4_999, 4_000, 1_234, 3_000, 1_235] {
        vectors[row].1.pop();
    }
    for n in [1, 2, 3, 8, 1_000] {
        let error = nearest(&[1.0, 1.0, 1.0], vectors.as_slice(), 3, threads(n)).expect_err("shorter");
        assert_eq!(error, Error::OtherDimension { row: 1_234, found: 2, expected: 3 });
        assert_eq!(error.to_string(), "vectors/1234: it has 2 numbers, the query has 3");
    }
    assert_eq!(cosine(&[1.0], &[1.0, 2.0]).expect_err("longer").code(), "other_dimension");
}

#[test]
fn the_largest_and_the_smallest_numbers_have_a_cosine() {
    let (large, small) = (f32::MAX, f32::from_bits(1));
    let vectors = rows(&[&[large, large], &[small, small], &[large, -large], &[small, 0.0]]);
    let found = nearest(&[large, large], vectors.as_slice(), 4, threads(1)).expect("found");
    assert_eq!(found, [(0, 1.0), (1, 1.0), (3, 0.5_f32.sqrt()), (2, 0.0)]);
}

#[test]
fn too_many_neighbours_or_numbers_are_refused() {
    let none: &[(u32, Vec<f32>)] = &[];
    assert_eq!(nearest(&[1.0], none, 5, threads(4)), Ok(vec![]));
    let error = nearest(&[1.0], none, limits::NEAREST_MAX + 1, threads(4)).expect_err("too many");
    assert_eq!(error.to_string(), "k: 1001 is over the limit, 1000");
    let long = vec![1.0; limits::DIMENSIONS_MAX + 1];
    assert_eq!(nearest(&long, none, 1, threads(4)).expect_err("too long").code(), "invalid");
}

/// Every sum in it is exact, as components are small whole numbers: it must agree to the bit.
fn naive(query: &[f32], vectors: &[(u8, Vec<f32>)], k: usize) -> Vec<(u8, f32)> {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let mut all: Vec<(u8, f32)> = Vec::new();
    for (id, vector) in vectors.iter().filter(|(_, vector)| dot(vector, vector) > 0.0) {
        let cosine = dot(query, vector) / (dot(query, query) * dot(vector, vector)).sqrt();
        all.push((*id, cosine as f32 + 0.0));
    }
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(k);
    all
}

fn vector(dimension: usize) -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec((-3_i8..=3).prop_map(f32::from), dimension)
}

proptest! {
    #[test]
    fn they_are_those_of_a_naive_search(
        (query, few) in (1_usize..20).prop_flat_map(|d| (vector(d), prop::collection::vec((any::<u8>(), vector(d)), 0..80))),
        repeated in 1_usize..30,
        k in 0_usize..40,
        n in 1_usize..6,
    ) {
        prop_assume!(query.iter().any(|number| *number != 0.0));
        // Several blocks, so that there is work for several threads.
        let vectors: Vec<_> = std::iter::repeat_n(few, repeated).flatten().collect();
        let found = nearest(&query, vectors.as_slice(), k, threads(n)).expect("found");
        prop_assert_eq!(found, naive(&query, &vectors, k));
    }
}

proptest! {
    // Each case has thousands of numbers.
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn threads_make_no_difference(
        vectors in prop::collection::vec(prop::collection::vec(any::<f32>(), 5), 1..1_500),
        k in 1_usize..20,
    ) {
        let query = [0.1, -0.7, 3.3, 1e-3, 12.0];
        let vectors: Vec<(usize, Vec<f32>)> = vectors.into_iter().enumerate().collect();
        let alone = nearest(&query, vectors.as_slice(), k, threads(1)).expect("found");
        prop_assert!(alone.iter().all(|(_, cosine)| (-1.0..=1.0).contains(cosine)));
        prop_assert_eq!(nearest(&query, vectors.as_slice(), k, threads(3)).expect("found"), alone);
    }
}
