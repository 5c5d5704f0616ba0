use proptest::prelude::*;

use super::*;

/// Graphite's own unit test of its history queues: arrival, service, delay.
const ORACLE: [(Cycles, Cycles, Cycles); 10] = [
    (10, 10, 0),
    (21, 10, 0),
    (32, 10, 0),
    (43, 10, 0),
    (0, 1, 0),
    (0, 10, 53),
    (45, 10, 18),
    (60, 4, 13),
    (70, 8, 7),
    (75, 10, 10),
];

#[test]
fn oracle_of_ten_packets() {
    let mut list = HistoryList::new(1);
    let mut tree = HistoryTree::new(1);
    for (arrival, service, delay) in ORACLE {
        assert_eq!(
            list.delay(arrival, service),
            delay,
            "list, packet at {arrival}"
        );
        assert_eq!(
            tree.delay(arrival, service),
            delay,
            "tree, packet at {arrival}"
        );
    }
}

#[test]
fn short_pieces_are_dropped() {
    let mut queue = HistoryList::new(4);
    assert_eq!(queue.delay(3, 10), 0); // 0..3 is too short to be kept
    assert_eq!(queue.delay(17, 10), 0); // 13..17 is kept
    assert_eq!(queue.delay(0, 3), 13);
    assert_eq!(queue.delay(0, 1), 27); // 16..17 was left, too short
}

#[test]
fn before_its_history_a_queue_answers_with_the_mean_wait_of_m_g_1() {
    let mut queue = HistoryTree::new(1);
    for message in 0..192 {
        assert_eq!(queue.delay(20 * message, 10), 0);
    }
    // The last 128 messages have a span of 127 * 20, a sum of services of 1280, and a sum of squares of 12800.
    assert_eq!(queue.delay(5, 5), 12_800 / (2 * (2_540 - 1_280)));
    // The 92 earliest of the gaps 10..20, 30..40, ... are dropped.
    assert_eq!(queue.0.known_from, 20 * 92);
    assert_eq!(queue.delay(20 * 92, 10), 10);
}

#[test]
fn a_full_queue_waits_as_at_a_load_of_999_thousandths() {
    let mut queue = HistoryList::new(1);
    for message in 0..100 {
        queue.delay(12 * message, 10);
    }
    for message in 0..128 {
        queue.delay(1_200 + message, 10); // ten times what it can serve
    }
    assert_eq!(queue.delay(0, 1), 999 * 10 / 2);
}

proptest! {
    #[test]
    fn first_free_cycles_as_on_a_calendar(
        packets in prop::collection::vec((0u64..600, 1u64..12), 1..90),
    ) {
        let mut queue = HistoryTree::new(1);
        let mut calendar = vec![false; 4_000];
        for (arrival, service) in packets {
            let free = |start: &u64| (*start..start + service).all(|t| !calendar[t as usize]);
            let start = (arrival..).find(free).unwrap();
            calendar[start as usize..(start + service) as usize].fill(true);
            prop_assert_eq!(queue.delay(arrival, service), start - arrival);
        }
    }

    #[test]
    fn list_and_tree_agree_and_grants_do_not_overlap(
        shortest in 1u64..4,
        packets in prop::collection::vec((0u64..300, 0u64..12), 1..600),
    ) {
        let mut list = HistoryList::new(shortest);
        let mut tree = HistoryTree::new(shortest);
        let mut granted = Vec::new();
        for (step, (jitter, service)) in packets.into_iter().enumerate() {
            let arrival = 20 * step as u64 + jitter;
            let service = shortest + service;
            let known_from = list.0.known_from;
            let delay = list.delay(arrival, service);
            prop_assert_eq!(tree.delay(arrival, service), delay);
            if arrival + service > known_from {
                granted.push((arrival + delay, arrival + delay + service));
            }
        }
        granted.sort_unstable();
        prop_assert!(granted.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }
}
