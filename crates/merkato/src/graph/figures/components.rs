//! What hangs together.

use super::Network;

/// For each node the number of its component, from the largest (0) to the smallest; of equal ones the first is that which has the
/// first node. It does not matter which way edges lead.
pub fn components<K: Copy + Ord>(network: &Network<K>) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..network.len() as u32).collect();
    for node in 0..network.len() {
        let mut top = top_of(&mut parents, node as u32);
        for neighbour in network.neighbours(node) {
            let other = top_of(&mut parents, *neighbour);
            // The smaller number is the parent, so that tops do not depend on the order of edges.
            parents[top.max(other) as usize] = top.min(other);
            top = top.min(other);
        }
    }
    let tops: Vec<u32> = (0..network.len() as u32).map(|node| top_of(&mut parents, node)).collect();
    by_size(&tops).0
}

/// Halves the way to the top on each visit.
fn top_of(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        let above = parents[parents[node as usize] as usize];
        parents[node as usize] = above;
        node = above;
    }
    node
}

/// Groups with new numbers, from the largest to the smallest, equal ones by their first node; and their sizes. The old numbers are
/// below the number of nodes.
pub(super) fn by_size(groups: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut sizes = vec![0_u32; groups.len()];
    let mut firsts = Vec::new();
    for group in groups {
        if sizes[*group as usize] == 0 {
            firsts.push(*group);
        }
        sizes[*group as usize] += 1;
    }
    // Stable: those of one size stay as they were found.
    firsts.sort_by_key(|group| std::cmp::Reverse(sizes[*group as usize]));
    let mut numbers = vec![0_u32; groups.len()];
    for (number, group) in firsts.iter().enumerate() {
        numbers[*group as usize] = number as u32;
    }
    let sizes = firsts.iter().map(|group| sizes[*group as usize]).collect();
    (groups.iter().map(|group| numbers[*group as usize]).collect(), sizes)
}
