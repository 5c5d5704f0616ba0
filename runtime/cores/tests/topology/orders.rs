//! The order of CPUs for the threads of a pool.

use crate::fixture::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[test]
fn compact_fills_cores_before_siblings_and_groups_before_the_next() {
    let machine = Fixture::new(LAPTOP).topology();
    assert_eq!(machine.compact_order(), [0, 1, 2, 3, 4, 5, 6, 7]);
    let two_groups = Shape {
        packages: 2,
        cores_per_group: 2,
        ..LAPTOP
    };
    let machine = Fixture::new(two_groups).topology();
    assert_eq!(machine.compact_order(), [0, 1, 4, 5, 2, 3, 6, 7]);
}

#[test]
fn spread_takes_packages_in_turn_then_groups_then_siblings() {
    let machine = Fixture::new(Shape {
        packages: 2,
        groups_per_package: 2,
        cores_per_group: 2,
        threads_per_core: 2,
    })
    .topology();
    let order = machine.spread_order();
    assert_eq!(order[..8], [0, 4, 2, 6, 1, 5, 3, 7]);
    assert_eq!(order[8..], [8, 12, 10, 14, 9, 13, 11, 15]);
}

#[test]
fn spread_over_the_paper_machines() {
    let machine = Fixture::new(THREADRIPPER).topology();
    assert_eq!(
        machine.spread_order()[..9],
        [0, 4, 8, 12, 16, 20, 24, 28, 1]
    );
    let machine = Fixture::new(TWO_SOCKETS).topology();
    assert_eq!(machine.spread_order()[..4], [0, 24, 1, 25]);
}

#[test]
fn a_second_thread_alone_on_its_core_counts_as_a_first() {
    let fixture = Fixture::new(LAPTOP);
    fixture.mask("0-2,4,7");
    assert_eq!(fixture.topology().compact_order(), [0, 1, 2, 7, 4]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For any machine and mask, both orders contain every usable CPU once. The spread order gives no core
    /// its second thread before every core has one. The compact order fills one group after the other.
    #[test]
    fn orders_are_permutations(
        packages in 1usize..3,
        groups_per_package in 1usize..4,
        cores_per_group in 1usize..4,
        threads_per_core in 1usize..3,
        masked in prop::collection::btree_set(0usize..48, 0..20),
    ) {
        let shape = Shape { packages, groups_per_package, cores_per_group, threads_per_core };
        let fixture = Fixture::new(shape);
        let left: Vec<String> = (0..shape.cores() * threads_per_core)
            .filter(|cpu| !masked.contains(cpu))
            .map(|cpu| cpu.to_string())
            .collect();
        fixture.mask(&left.join(","));
        let machine = fixture.topology();
        for order in [machine.compact_order(), machine.spread_order()] {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, usable(&machine));
        }
        let core = |cpu: usize| machine.cpu(cpu).unwrap().core;
        let cores: BTreeSet<usize> = machine.usable().iter().map(|cpu| cpu.core).collect();
        let first: BTreeSet<usize> =
            machine.spread_order()[..cores.len()].iter().map(|&cpu| core(cpu)).collect();
        prop_assert_eq!(first, cores);
        let groups: Vec<usize> =
            machine.compact_order().iter().map(|&cpu| machine.cpu(cpu).unwrap().group).collect();
        prop_assert!(groups.is_sorted());
    }
}
