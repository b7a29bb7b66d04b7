//! Figures of networks whose figures are known, beside naive ones, and beside networkx.

mod known;
mod naive;
mod networkx;
mod refused;

use super::{Builder, Network, Shape};

fn network(shape: Shape, edges: &[(u32, u32)]) -> Network<u32> {
    let mut builder = Builder::new(shape);
    edges.iter().for_each(|(from, to)| builder.edge(*from, *to).expect("a good edge"));
    builder.build().expect("a network")
}

fn undirected(edges: &[(u32, u32)]) -> Network<u32> {
    network(Shape::Undirected, edges)
}

#[track_caller]
fn assert_near(found: &[f64], wanted: &[f64], apart: f64) {
    assert_eq!(found.len(), wanted.len());
    for (node, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert!((found - wanted).abs() <= apart, "node {node}: {found}, not {wanted}");
    }
}
