//! The cost of one isolated episode of each barrier, if all members arrive in the same cycle: `cargo run
//! --release -p manycore-chip --example barriers`. In a debug build this takes an hour, since the chip checks
//! all caches after each access.
//!
//! Fails unless each broadcast barrier is cheaper than all barriers through memory. The thesis's barrier, whose cost is
//! linear in the number of cores, may be dearer.

#[path = "../tests/machine/support/mod.rs"]
mod support;

use manycore_chip::config::Config;
use manycore_programs::barrier::barriers;
use support::barrier::{BROADCAST, QUIET, isolated};
use support::machine;

fn main() {
    for cores in [64, 256, 1_024] {
        let machine = machine("atac-64", &[&format!("cores={cores}"), QUIET]);
        let costs = costs(&machine, cores);
        print("atac-64", cores, &costs);
        let best = costs.iter().find(|(_, name)| !BROADCAST.contains(name));
        let ours = (costs.iter()).filter(|(_, name)| BROADCAST[1..].contains(name));
        for cost in ours {
            assert!(Some(cost) < best, "{cost:?}, {best:?}");
        }
    }
    // Barriers through memory, in the core groups of real machines.
    for name in ["kunpeng-920", "westmere-ex", "graviton2-64", "opteron-6172"] {
        let machine = machine(name, &[QUIET]);
        for members in [4, 16, machine.cores as usize] {
            print(name, members, &costs(&machine, members));
        }
    }
}

/// Returns the costs of all barriers in increasing order.
fn costs(machine: &Config, members: usize) -> Vec<(u64, &'static str)> {
    let of = |name| (isolated(name, machine, members), name);
    let mut costs: Vec<_> = barriers().into_iter().map(of).collect();
    costs.sort_unstable();
    costs
}

fn print(machine: &str, members: usize, costs: &[(u64, &str)]) {
    println!("{machine}, {members} members, cycles:");
    for (cost, name) in costs {
        println!("  {name:14} {cost:9}");
    }
}
