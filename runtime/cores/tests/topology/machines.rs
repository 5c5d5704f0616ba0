//! Machines without limits or damage.

use crate::fixture::*;
use manycore_cores::topology::{Distance, Topology};

#[test]
fn four_cores_with_two_threads_each() {
    let machine = Fixture::new(LAPTOP).topology();
    assert!(machine.is_described());
    assert_eq!(machine.cpus().len(), 8);
    assert_eq!(machine.core_groups().len(), 1);
    assert_eq!(machine.core_groups()[0].cpus, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(machine.core_groups()[0].cache.unwrap().level, 3);
    assert_eq!(machine.core_groups()[0].cache.unwrap().bytes, Some(8 << 20));
    let (second, fifth) = (machine.cpu(1).unwrap(), machine.cpu(5).unwrap());
    assert_eq!((second.core, second.smt), (1, 0));
    assert_eq!((fifth.core, fifth.smt), (1, 1));
    assert_eq!(machine.distance(1, 5), Some(Distance::SmtSibling));
    assert_eq!(machine.distance(1, 4), Some(Distance::SameGroup));
    assert_eq!(machine.distance(1, 8), None);
    assert_eq!(machine.default_threads(), 8);
}

#[test]
fn two_sockets() {
    let machine = Fixture::new(TWO_SOCKETS).topology();
    assert_eq!(machine.cpus().len(), 48);
    let groups: Vec<_> = machine
        .core_groups()
        .iter()
        .map(|group| (group.package, group.node, group.cpus.clone()))
        .collect();
    let (first, second) = ((0..24).collect(), (24..48).collect());
    assert_eq!(groups, [(0, 0, first), (1, 1, second)]);
    assert_eq!(machine.distance(0, 23), Some(Distance::SameGroup));
    assert_eq!(machine.distance(23, 24), Some(Distance::OtherPackage));
}

#[test]
fn eight_groups_of_four() {
    let machine = Fixture::new(THREADRIPPER).topology();
    assert_eq!(machine.core_groups().len(), 8);
    assert!(machine.core_groups().iter().all(|group| group.package == 0));
    assert_eq!(machine.cpu(13).unwrap().group, 3);
    assert_eq!(machine.distance(12, 15), Some(Distance::SameGroup));
    assert_eq!(machine.distance(12, 16), Some(Distance::SamePackage));
}

#[test]
fn offline_cpus_are_not_there() {
    let fixture = Fixture::new(LAPTOP);
    fixture.write("sys/devices/system/cpu/online", "0,2-4,6-7\n");
    // The kernel first removes an offline CPU's directories, and then its number from its siblings' lists.
    // Here the lists still contain it.
    for cpu in [1, 5] {
        fixture.remove(&format!("sys/devices/system/cpu/cpu{cpu}"));
    }
    let machine = fixture.topology();
    let ids: Vec<usize> = machine.cpus().iter().map(|cpu| cpu.id).collect();
    assert_eq!(ids, [0, 2, 3, 4, 6, 7]);
    assert_eq!(machine.cpu(1), None);
    assert_eq!(machine.core_groups()[0].cpus, ids);
    assert_eq!(
        machine.cpu(7).unwrap().core,
        2,
        "core numbers are consecutive"
    );
}

#[test]
fn older_kernels_call_the_core_list_siblings() {
    let fixture = Fixture::empty();
    fixture.write("sys/devices/system/cpu/online", "0-1");
    for cpu in 0..2 {
        fixture.write(
            &format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"),
            "0-1",
        );
    }
    assert_eq!(
        fixture.topology().distance(0, 1),
        Some(Distance::SmtSibling)
    );
}

#[test]
fn without_cache_information_a_node_is_a_group() {
    let fixture = Fixture::new(TWO_SOCKETS);
    for cpu in 0..48 {
        fixture.remove(&format!("sys/devices/system/cpu/cpu{cpu}/cache"));
    }
    let machine = fixture.topology();
    assert_eq!(machine.core_groups().len(), 2);
    assert_eq!(machine.core_groups()[1].cache, None);
}

#[test]
fn a_second_level_of_each_cores_own_does_not_make_it_a_group() {
    let fixture = Fixture::new(LAPTOP);
    for cpu in 0..8 {
        fixture.remove(&format!("sys/devices/system/cpu/cpu{cpu}/cache/index3"));
    }
    assert_eq!(fixture.topology().core_groups().len(), 1);
}

#[test]
fn a_third_level_of_each_cores_own_does() {
    let machine = Fixture::new(Shape {
        groups_per_package: 8,
        cores_per_group: 1,
        ..LAPTOP
    })
    .topology();
    assert_eq!(machine.core_groups().len(), 8);
    assert_eq!(machine.core_groups()[2].cpus, [2, 10]);
}

#[test]
fn a_group_ends_where_its_node_ends() {
    let fixture = Fixture::new(LAPTOP);
    fixture
        .write("sys/devices/system/node/online", "0,2")
        .write("sys/devices/system/node/node0/cpulist", "0-1,4-5")
        .write("sys/devices/system/node/node2/cpulist", "2-3,6-7");
    let machine = fixture.topology();
    let nodes: Vec<usize> = machine.core_groups().iter().map(|g| g.node).collect();
    assert_eq!(nodes, [0, 2]);
    assert_eq!(machine.distance(0, 3), Some(Distance::SamePackage));
}

#[test]
fn memory_only_nodes_are_passed_over() {
    let fixture = Fixture::new(LAPTOP);
    fixture
        .write("sys/devices/system/node/online", "0-1")
        .write("sys/devices/system/node/node1/cpulist", "\n");
    assert!(fixture.topology().cpus().iter().all(|cpu| cpu.node == 0));
}

#[test]
fn this_machine() {
    let machine = Topology::detect();
    let parallelism = std::thread::available_parallelism().unwrap().get();
    assert!(machine.usable().len() >= parallelism);
    assert!(machine.cpus().len() >= machine.usable().len());
}
