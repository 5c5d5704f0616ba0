use proptest::prelude::*;

use super::super::Electrical;
use super::*;
use crate::config::Network;

const COUNT: Contention = Contention::HopCounter;
const PORTS: Contention = Contention::HopByHop;

fn mesh(cores: u32, contention: Contention, broadcast_tree: bool) -> Electrical {
    let config = Network::Mesh {
        router: 1,
        link: 1,
        flit_bits: 64,
        contention,
        broadcast_tree,
        sockets: None,
    };
    Electrical::new(&config, cores, 1).unwrap()
}

#[test]
fn sockets_are_meshes_with_a_link_between_them() {
    let config = Network::Mesh {
        router: 1,
        link: 1,
        flit_bits: 64,
        contention: COUNT,
        broadcast_tree: false,
        sockets: Some(Sockets {
            count: 2,
            cycles: 50,
            occupancy: 4,
        }),
    };
    let mut net = Electrical::new(&config, 32, 16).unwrap();
    // Each mesh has 4 x 4 tiles. Cores 15 and 31 are at the same place of their meshes.
    assert_eq!((hops(&net, 0, 15), hops(&net, 0, 31)), (6, 6));
    assert_eq!(net.latency(0, 15, 64), 13);
    assert_eq!(net.latency(0, 31, 64), 63);
    assert_eq!(net.latency(15, 31, 64), 51);
    assert_eq!(net.send(0, 31, 64, 100), 163);
    assert_eq!(
        net.send(1, 16, 64, 100),
        100 + 4 + 2 + 1 + 50,
        "the link is taken"
    );
    assert_eq!(net.send(31, 0, 64, 100), 163, "the other way is not");
    assert_eq!(net.send(0, 15, 64, 100), 113);
}

fn hops(net: &Electrical, from: u32, to: u32) -> u32 {
    match net {
        Electrical::Mesh(mesh) => mesh.hops(from, to),
        Electrical::Groups(_) => unreachable!("a mesh was made"),
    }
}

#[test]
fn hops_and_flits() {
    let mut net = mesh(64, COUNT, false);
    assert_eq!(hops(&net, 0, 63), 14);
    assert_eq!(hops(&net, 7, 8), 8);
    // Graphite's messages with 64 tiles have 1 flit without data, or 9 with a line.
    assert_eq!(net.latency(0, 63, 64), 29);
    assert_eq!(net.latency(63, 0, 576), 37);
    assert_eq!(net.send(63, 0, 576, 100), 137);
    assert_eq!(net.send(63, 0, 576, 100), 137);
    assert_eq!(net.send(5, 5, 576, 100), 100);
    let total: u32 = (0..64)
        .flat_map(|a| (0..64).map(move |b| (a, b)))
        .fold(0, |sum, (a, b)| sum + hops(&net, a, b));
    assert_eq!(total, 64 * 64 * 21 / 4); // 2 * (8 - 1/8) / 3 = 5.25 a pair
}

#[test]
fn a_ragged_mesh() {
    // 1000 tiles make a mesh of width 31 and height 33. The last row has 8 tiles.
    let mut net = mesh(1000, PORTS, true);
    assert_eq!(hops(&net, 999, 30), 23 + 32);
    assert_eq!(net.send(999, 30, 64, 0), 2 * (23 + 32) + 1);
    let told = net.broadcast(999, 64, 1_000);
    assert_eq!(told.arrival(30), 1_000 + 2 * (23 + 32) + 1);
    assert_eq!(told.arrival(992), 1_000 + 2 * 7 + 1);
}

#[test]
fn messages_wait_for_ports() {
    let mut net = mesh(16, PORTS, false);
    // Both messages need the link from 1 to 2, and then the link from 2 to 3.
    assert_eq!(net.send(0, 3, 576, 0), 6 + 9); // on 1 -> 2 from 2 to 11
    assert_eq!(net.send(1, 3, 576, 2), 11 + 4 + 9);
    // A message from the other side shares only the port of the receiving core.
    assert_eq!(net.send(7, 3, 64, 6), 24 + 1); // it is taken from 6 to 24
    // The two messages from core 1 leave the core one after the other.
    assert_eq!(net.send(1, 0, 64, 2), 11 + 2 + 1);
    // A late call gets the time that was free at its arrival.
    assert_eq!(net.send(1, 3, 64, 0), 4 + 1);
}

#[test]
fn a_broadcast_without_a_tree_is_injected_one_by_one() {
    for contention in [COUNT, PORTS] {
        let mut net = mesh(16, contention, false);
        let told = net.broadcast(5, 576, 100);
        for to in 0..16 {
            let before = u64::from(to) - u64::from(to > 5);
            let expected = if to == 5 {
                0
            } else {
                9 * before + net.latency(5, to, 576)
            };
            assert_eq!(told.arrival(to), 100 + expected, "{contention:?} {to}");
        }
    }
}

#[test]
fn a_tree_uses_each_link_once() {
    let mut net = mesh(16, PORTS, true);
    net.broadcast(5, 64, 0);
    let again = net.broadcast(5, 64, 0);
    let latest = (0..16).map(|to| net.latency(5, to, 64)).max().unwrap();
    assert_eq!(
        (0..16).map(|to| again.arrival(to)).max().unwrap(),
        latest + 1,
        "all the second waits for is one flit"
    );
}

proptest! {
    #[test]
    fn an_empty_mesh_is_a_hop_counter(
        cores in 1u32..200, from: u32, bits in 1u32..700, at in 0u64..1_000,
    ) {
        let from = from % cores;
        let count = mesh(cores, COUNT, true);
        let alone: Vec<_> = (0..cores).map(|to| at + count.latency(from, to, bits)).collect();
        for contention in [COUNT, PORTS] {
            let empty = mesh(cores, contention, true);
            let told = empty.clone().broadcast(from, bits, at);
            for to in 0..cores {
                prop_assert_eq!(empty.clone().send(from, to, bits, at), alone[to as usize]);
                prop_assert_eq!(told.arrival(to), alone[to as usize]);
            }
        }
    }
}
