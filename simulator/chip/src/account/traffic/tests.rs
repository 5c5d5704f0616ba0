//! Compares the counts of links with the counts for messages that walk step by step.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The counts of links for messages that walk step by step.
fn walked(width: u32, messages: &[(u32, u32)]) -> BTreeMap<(u32, u32), u64> {
    let mut links = BTreeMap::new();
    for &(from, to) in messages {
        let mut at = from;
        while at != to {
            let next = match (at % width).cmp(&(to % width)) {
                std::cmp::Ordering::Less => at + 1,
                std::cmp::Ordering::Greater => at - 1,
                std::cmp::Ordering::Equal if at < to => at + width,
                std::cmp::Ordering::Equal => at - width,
            };
            *links.entry((at, next)).or_insert(0) += 1;
            at = next;
        }
    }
    links
}

fn found(mesh: &MeshTraffic) -> BTreeMap<(u32, u32), u64> {
    let links = mesh.links(7);
    links
        .iter()
        .map(|one| ((one.from, one.to), one.busy))
        .collect()
}

proptest! {
    #[test]
    fn intervals_equal_walks(
        cores in 1_u32..80, ends in prop::collection::vec((any::<u32>(), any::<u32>()), 0..30),
    ) {
        let ends: Vec<_> = ends.iter().map(|(a, b)| (a % cores, b % cores)).collect();
        let mut mesh = MeshTraffic::new(cores, 1);
        ends.iter().for_each(|&(from, to)| mesh.message(from, to, 1, 0));
        prop_assert_eq!(found(&mesh), walked(mesh.width, &ends));
    }

    /// Each socket's links have the counts of a separate machine. Crossings are counted separately.
    #[test]
    fn sockets_have_links_of_their_own(
        cores in 2_u32..40, ends in prop::collection::vec((any::<u32>(), any::<u32>()), 0..30),
    ) {
        let all = 3 * cores;
        let ends: Vec<_> = ends.iter().map(|(a, b)| (a % all, b % all)).collect();
        let mut mesh = MeshTraffic::new(cores, 3);
        for &(from, to) in &ends {
            mesh.message(from, to, 1, 0);
            mesh.cross(from, to);
        }
        let mut expected = BTreeMap::new();
        for socket in 0..3 {
            let from_here = ends.iter().filter(|(from, _)| from / cores == socket);
            let local: Vec<_> = from_here.map(|(a, b)| (a % cores, b % cores)).collect();
            for ((from, to), busy) in walked(mesh.width, &local) {
                let ends = (mesh.number(socket, from), mesh.number(socket, to));
                *expected.entry(ends).or_insert(0) += busy;
            }
        }
        for (from, to) in ends.iter().map(|(a, b)| (a / cores * cores, b / cores * cores)) {
            if from != to {
                *expected.entry((from, to)).or_insert(0) += 7;
            }
        }
        let mut total = BTreeMap::new();
        for link in mesh.links(7) {
            *total.entry((link.from, link.to)).or_insert(0) += link.busy;
        }
        prop_assert_eq!(total, expected);
    }

    /// A broadcast reaches each core over exactly one link. Routers of an incomplete row, which
    /// have no core, may only forward it.
    #[test]
    fn a_flood_reaches_each_core_over_one_link(cores in 1_u32..80, from: u32) {
        let from = from % cores;
        let mut mesh = MeshTraffic::new(cores, 1);
        mesh.flood(from, 1);
        let links = found(&mesh);
        prop_assert!(links.values().all(|&flits| flits == 1), "{links:?}");
        for core in (0..cores).filter(|&core| core != from) {
            let into = links.keys().filter(|(_, to)| *to == core).count();
            prop_assert_eq!(into, 1, "core {} of {}, from {}", core, cores, from);
        }
    }
}
