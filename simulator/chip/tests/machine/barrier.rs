//! The runtime's barriers on the chip: no member leaves early, and their costs. `examples/barriers.rs` compares all
//! barriers.

use manycore_team::barrier::Placement;

use crate::support::barrier::{BROADCAST, Meet, QUIET, isolated, nobody_leaves_early, placement};
use crate::support::{machine, times};
use manycore_programs::barrier::{barriers, with_barrier};

#[test]
fn no_thread_leaves_early_in_any_order_of_arrivals() {
    // Each machine with each number of members once.
    let seeds = 28 * times();
    let machines = ["atac-64", "kunpeng-920", "atac-64", "westmere-ex"];
    for name in barriers() {
        for seed in 0..seeds {
            let machine = machine(machines[seed as usize % machines.len()], &[]);
            let members = [2, 3, 5, 8, 13, 32, 64][seed as usize % 7];
            let meet = Meet {
                machine: &machine,
                placement: placement(&machine, members),
                episodes: 4,
                arrival: |seed, rank, episode| {
                    let mut rng = fastrand::Rng::with_seed(seed);
                    // The arrivals of some seeds are almost simultaneous, and those of others are far apart.
                    let spread = 10 << rng.u64(0..10);
                    let seed = rng.u64(..) ^ ((rank as u64) << 32) ^ episode;
                    3_000 * episode + fastrand::Rng::with_seed(seed).u64(..spread)
                },
                seed,
            };
            nobody_leaves_early(&with_barrier(name, meet).unwrap(), name);
        }
    }
}

/// With two or three threads a core, a spinner keeps the thread that it waits for from running.
#[test]
fn with_more_members_than_cores() {
    let machine = machine("gold5225r", &[]);
    let cores = machine.cores as usize;
    for name in barriers() {
        // With three, a wait is only longer than with two.
        let most = if times() > 1 { 3 } else { 2 };
        for members in (2..=most).map(|times| times * cores) {
            let meet = Meet {
                machine: &machine,
                placement: Placement::flat(members).on_cores(cores),
                episodes: 3,
                arrival: |_, rank, _| 1_000 * rank as u64,
                seed: 0,
            };
            nobody_leaves_early(&with_barrier(name, meet).unwrap(), name);
        }
    }
}

/// The thesis's barrier costs what its published parameters say: transport 5, 10 for each message through the
/// controller, and a look of 3.
#[test]
fn the_channel_barrier_by_its_closed_form() {
    for members in [2, 8, 64] {
        let cost = isolated("channel", &machine("atac-64", &[QUIET]), members) as f64;
        let form = (5 + 10 * (members - 1) + 3) as f64;
        let off = (cost / form - 1.0).abs();
        assert!(off <= 0.05, "{members}: {cost} cycles, by the form {form}");
    }
}

/// manycore's barriers do not have the linear cost. At 1,024 cores they take at most a tenth of the 10,238 cycles of
/// the channel barrier, and less than any barrier through memory takes at 64 cores.
#[test]
fn ours_at_a_thousand_cores() {
    let through_memory = |name: &&str| !BROADCAST.contains(name);
    let small = machine("atac-64", &[QUIET]);
    let software = barriers().into_iter().filter(through_memory);
    let best = software.map(|name| isolated(name, &small, 64)).min();
    let large = machine("atac-64", &["cores=1024", QUIET]);
    let cost = |name| isolated(name, &large, 1_024);
    // Transport, a tree of ten adders, one message, a look.
    assert_eq!(cost("counted"), 5 + 10 + 10 + 3);
    // 31 others in the group and 31 other leaders, or 32.
    let grouped = cost("grouped");
    assert!((640..=10_238 / 10).contains(&grouped), "{grouped}");
    assert!(Some(grouped) < best, "{grouped}, {best:?}");
}
