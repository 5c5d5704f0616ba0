//! Checks that any team builds the same tree, in every interleaving.

use super::*;
use manycore_check::{Faulty, Loom, Plain, Shuttle, TornAdd, caught, loom_model, team};
use manycore_check::{shuttle_pct, shuttle_random};
use manycore_platform::Native;

const WHOLE: Region = Region {
    centre: [0.0; 3],
    half: 1.0,
};

fn points(bodies: usize) -> Shared<Point> {
    let mut random = fastrand::Rng::with_seed(8);
    let mut near = || 0.9 * random.f64().powi(3);
    Shared::from(
        (0..bodies)
            .map(|_| [near(), -near(), near(), 1.0])
            .collect::<Vec<_>>(),
    )
}

/// Describes the parts of the tree that depend only on bodies: octants, bodies and moments, from the root down.
fn describe<P: Platform>(tree: &Tree<P>, node: Node, out: &mut Vec<(Vec<u32>, Moments)>) {
    // SAFETY: moments are made, and no other thread uses the tree.
    let moments = unsafe { *tree.moments(node) };
    match node {
        Node::Leaf(leaf) => {
            // SAFETY: as above.
            out.push((unsafe { tree.bodies(leaf) }.to_vec(), moments));
        }
        Node::Cell(cell) => {
            let octants = tree.children(cell).map(|(octant, _)| octant as u32);
            out.push((octants.collect(), moments));
            for (_, child) in tree.children(cell) {
                describe(tree, child, out);
            }
        }
        Node::Nothing => unreachable!(),
    }
}

/// Builds a tree. One thread inserts the first `apart` bodies; then a team inserts the others in
/// interleaved shares.
fn built<P: Platform>(bodies: usize, apart: usize, ranks: usize) -> Vec<(Vec<u32>, Moments)> {
    let points = points(bodies);
    let costs = Shared::from(vec![3; bodies]);
    let tree = Tree::<P>::with_cells(bodies, bodies + 8);
    // SAFETY: phases follow each other, and one rank (thread of the team) handles each body.
    unsafe {
        tree.clear();
        for body in 0..apart {
            tree.insert(&points, WHOLE, body as u32).unwrap();
        }
        let mine = |rank: usize, from: usize| (from..bodies).filter(move |it| it % ranks == rank);
        team::<P>(ranks, |rank| {
            for body in mine(rank, apart) {
                tree.insert(&points, WHOLE, body as u32).unwrap();
            }
        });
        team::<P>(ranks, |rank| {
            for body in mine(rank, 0) {
                tree.raise(&points, &costs, body as u32);
            }
        });
    }
    let mut described = vec![];
    describe(&tree, Node::Cell(ROOT), &mut described);
    described
}

#[test]
fn cubes_with_many_bodies_are_divided() {
    let tree = built::<Native>(1_000, 1_000, 1);
    let all = &tree[0].1;
    assert_eq!((all.bodies, all.cost, all.mass), (1_000, 3_000, 1_000.0));
    let mut bodies: Vec<u32> = vec![];
    for (list, moments) in &tree {
        let divided = moments.bodies as usize > LEAF;
        assert_eq!(
            divided,
            list.len() != moments.bodies as usize || list.is_empty()
        );
        if !divided {
            bodies.extend(list);
        }
    }
    bodies.sort_unstable();
    assert!(bodies.into_iter().eq(0..1_000));
}

#[test]
fn the_tree_is_the_same_for_any_team() {
    let alone = built::<Native>(3_000, 0, 1);
    for ranks in [2, 3, 7] {
        for _ in 0..5 {
            assert!(built::<Native>(3_000, 0, ranks) == alone, "{ranks} ranks");
        }
    }
}

#[test]
fn two_ranks_split_a_leaf_in_most_interleavings() {
    let alone = built::<Native>(11, 11, 1);
    loom_model(Some(2), move || {
        assert!(built::<Loom>(11, 9, 2) == alone, "another tree");
    });
    let alone = built::<Native>(12, 12, 1);
    loom_model(Some(1), move || {
        assert!(built::<Loom>(12, 10, 2) == alone, "another tree");
    });
}

#[test]
fn three_ranks_build_a_tree_in_random_schedules() {
    let alone = built::<Native>(40, 0, 1);
    let expected = alone.clone();
    shuttle_random(200, move || {
        assert!(built::<Shuttle>(40, 0, 3) == expected, "another tree");
    });
    shuttle_pct(200, 4, move || {
        assert!(built::<Shuttle>(40, 0, 3) == alone, "another tree");
    });
}

#[test]
fn torn_counts_are_caught() {
    let alone = built::<Native>(11, 11, 1);
    let torn = move || {
        assert!(
            built::<Faulty<Loom, TornAdd>>(11, 9, 2) == alone,
            "another tree"
        );
    };
    caught(|| loom_model(Some(2), torn));
}

/// Checks only the protocol of `done`. Three ranks write leaves in plain memory that the model checker watches, and the
/// last rank reads all three.
fn the_last_goes_up<P: Platform>() {
    let pending = P::AtomicU32::new(3);
    let leaves = [Plain::new(0), Plain::new(0), Plain::new(0)];
    let cell = Plain::new(0);
    team::<P>(3, |rank| {
        leaves[rank].write(1 << rank);
        if pending.fetch_sub(1, AcqRel) == 1 {
            cell.write(leaves.iter().map(Plain::read).sum());
        }
    });
    assert_eq!(cell.read(), 0b111);
}

#[test]
fn the_last_rank_sees_all_leaves() {
    loom_model(None, the_last_goes_up::<Loom>);
    let relaxed = the_last_goes_up::<Faulty<Loom, manycore_check::Relaxed>>;
    assert!(caught(|| loom_model(None, relaxed)).contains("Causality violation"));
}

#[test]
fn bodies_that_cannot_be_parted_find_no_room() {
    let points = Shared::from(vec![[0.5, 0.5, 0.5, 1.0]; LEAF + 1]);
    let tree = Tree::<Native>::with_cells(LEAF + 1, 100);
    // SAFETY: only this thread uses the tree.
    let room = unsafe {
        tree.clear();
        std::array::from_fn::<_, { LEAF + 1 }, _>(|body| {
            tree.insert(&points, WHOLE, body as u32).is_some()
        })
    };
    assert_eq!(room.iter().filter(|&&it| !it).count(), 1);
    assert!(tree.used.load(Relaxed) > 100);
}
