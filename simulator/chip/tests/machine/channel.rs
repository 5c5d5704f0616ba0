//! Virtual channels on the chip: over its broadcast network, and through its memory.

#[path = "../../../../runtime/team/tests/channel/conformance.rs"]
mod conformance;
#[path = "../../../../runtime/team/tests/channel/memory.rs"]
mod memory;
use crate::support::machine;
/// The subject of `conformance`.
mod subject {
    pub(crate) use manycore_chip::Broadcast as World;
    pub(crate) use manycore_programs::channel::{Channel, Port};
}
use conformance::{Meeting, Place, together};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_programs::channel::Filter;
use subject::{Channel, Port};

/// Runs `program` twice. Both runs must agree.
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
            counting(threads);
            let open = |channel: &Channel<_>| counting_port(channel, 3);
            conformance::the_end::<Simulated>(Channel::over(), threads, Place::Bound, open, 3);
        });
    }
}

fn counting_port(channel: &Channel<Simulated>, every: u32) -> Port<Simulated> {
    let port = channel.open_counting(every.try_into().unwrap());
    port.expect("the machine has the network")
}

/// A counting port receives every n-th message that passes its filter.
fn counting(threads: usize) {
    const EPISODES: u64 = 6;
    let (channel, opened) = (Channel::<Simulated>::over(), Meeting::<Simulated>::new());
    together::<Simulated>(threads, Place::Bound, move |_| {
        let others = u32::try_from(threads - 1).unwrap();
        let mut port = counting_port(&channel, others);
        port.set_filter(Filter {
            mask: 1,
            signature: 1,
        });
        opened.arrive();
        opened.wait_for(threads);
        for episode in 0..EPISODES {
            port.send_marked(episode, 1, 0);
            port.send_marked(episode, 2, 0);
            // A sender that is ahead is counted in the place of a sender that is behind. It is ahead by at most one
            // episode, since it also waits for the count. Messages of a late sender may stay queued for long.
            let last = port.receive().unwrap().payload;
            assert!(last <= episode + 1, "{last} in {episode}");
        }
        assert!(port.try_receive().is_none());
        opened.arrive();
        opened.wait_for(2 * threads);
        port.set_filter(Filter::ALL);
    });
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

/// There are more threads than cores, and the scheduler places them.
#[test]
fn through_memory_and_oversubscribed() {
    let machine = machine("skylake-6700hq", &[]);
    let threads = 2 * machine.cores as usize;
    run(&machine, || {
        conformance::all::<Simulated>(Channel::over, threads, Place::Anywhere);
        memory::all::<Simulated>(threads, Place::Anywhere);
    });
}
