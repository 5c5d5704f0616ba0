//! Virtual channels on the chip: over its broadcast network, and through its memory.

#[path = "../../../../runtime/team/tests/channel/conformance.rs"]
mod conformance;
#[path = "../../../../runtime/team/tests/channel/memory.rs"]
mod memory;
use crate::support::machine;
use conformance::Place;
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_team::channel::Channel;

/// Runs `program` twice, which must agree.
fn run(machine: &Config, program: impl Fn()) {
    let simulation = Simulation::new(machine).limit(1 << 36);
    let hash = || match simulation.run(&program) {
        Ok(run) => (run.statistics.hash, run.statistics.cycles),
        Err(error) => panic!("{}: {error}", machine.name),
    };
    assert_eq!(hash(), hash(), "{}", machine.name);
}

#[test]
fn over_the_network() {
    let machine = machine("atac-64", &[]);
    for threads in [3, 8, 64] {
        run(&machine, || {
            assert!(Channel::<Simulated>::over().is_hardware());
            conformance::all::<Simulated>(Channel::over, threads, Place::Bound);
        });
    }
}

#[test]
fn through_memory() {
    for preset in ["kunpeng-920", "westmere-ex", "gold5225r"] {
        let machine = machine(preset, &[]);
        for threads in [3, 16] {
            run(&machine, || {
                assert!(!Channel::<Simulated>::over().is_hardware());
                conformance::all::<Simulated>(Channel::over, threads, Place::Bound);
                memory::all::<Simulated>(threads, Place::Bound);
            });
        }
    }
}

/// More threads than cores, where the scheduler puts them.
#[test]
fn through_memory_and_oversubscribed() {
    let machine = machine("skylake-6700hq", &[]);
    let threads = 2 * machine.cores as usize;
    run(&machine, || {
        conformance::all::<Simulated>(Channel::over, threads, Place::Anywhere);
        memory::all::<Simulated>(threads, Place::Anywhere);
    });
}
