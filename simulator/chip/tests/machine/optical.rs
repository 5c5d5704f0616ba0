//! The broadcast network from simulated code: the thesis' own figures.

use crate::support::{compute_until, machine, spawn};
use manycore_chip::config::Config;
use manycore_chip::network::Channel;
use manycore_chip::{
    Activity, Broadcast, Delivery, Filter, MatchOperation, Message, Run, Simulated, Simulation,
};
use manycore_platform::Platform;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

fn word(payload: u64) -> Message {
    Message {
        payload,
        ..Message::default()
    }
}

/// Runs `body` on each of the first `threads` cores, all from the same cycle, which it receives;
/// returns their results.
fn together<T: Send + 'static>(
    machine: &Config,
    threads: usize,
    body: impl Fn(usize, Channel, u64) -> T + Send + Sync + Clone + 'static,
) -> Run<Vec<T>> {
    let program = move || {
        let channel = Simulated::create_channel().unwrap();
        let results = Arc::new(Mutex::new(Vec::new()));
        let start = 1_000_000;
        let member = |core| {
            let (body, results) = (body.clone(), Arc::clone(&results));
            spawn(core, move || {
                Simulated::open_port(channel);
                compute_until(start, 1.0);
                let result = body(core, channel, start);
                results.lock().unwrap().push((core, result));
            })
        };
        let team: Vec<_> = (0..threads).map(member).collect();
        team.into_iter().for_each(Simulated::join);
        let mut results = std::mem::take(&mut *results.lock().unwrap());
        results.sort_by_key(|&(core, _)| core);
        results.into_iter().map(|(_, result)| result).collect()
    };
    Simulation::new(machine)
        .limit(1 << 32)
        .run(program)
        .unwrap()
}

/// The all-to-all exchange of a barrier: transport 5, then the controller
/// moves a message every 10 cycles, then the core's look of 3 (the thesis,
/// table 4.1 and section 4.3).
#[test]
fn all_broadcast_and_wait_for_all_others() {
    let machine = machine("atac-64", &[]);
    for threads in [2, 3, 8, 32, 64] {
        let run = together(&machine, threads, move |core, channel, start| {
            Simulated::send(channel, word(core as u64));
            let mut senders: Vec<_> = (1..threads)
                .map(|_| {
                    let Delivery { sender, message } = Simulated::wait_and_receive(channel);
                    assert_eq!(u64::from(sender), message.payload);
                    sender as usize
                })
                .collect();
            senders.sort_unstable();
            let others: Vec<_> = (0..threads).filter(|&other| other != core).collect();
            assert_eq!(senders, others);
            Simulated::now() - start
        });
        let expected = 5 + 10 * (threads as u64 - 1) + 3;
        assert_eq!(run.value, vec![expected; threads], "{threads} threads");
    }
}

#[test]
fn who_waits_for_a_message_is_charged_for_it() {
    let machine = machine("atac-64", &[]);
    let run = together(&machine, 2, |core, channel, _| {
        if core == 0 {
            Simulated::compute(500_000);
            Simulated::send(channel, word(1));
        } else {
            Simulated::wait_and_receive(channel);
        }
    });
    let spent = run.statistics.report.cores[1];
    let expected = 500_000 + 5 + 10 + 3;
    assert_eq!(spent[Activity::Message], expected);
    assert!(run.statistics.events < 1_000, "{}", run.statistics.events);
}

/// Counted in the network interface: transport 5, the adder tree, one message
/// through the controller in 10, the look of 3, whatever the number of cores.
#[test]
fn interfaces_count() {
    for threads in [2, 3, 64, 128, 1024] {
        let machine = machine("atac-64", &["cores=1024"]);
        let run = together(&machine, threads, move |core, channel, start| {
            let others = NonZeroU32::new(threads as u32 - 1).unwrap();
            Simulated::open_counting_port(channel, others);
            let times = [0, 1, 2].map(|episode| {
                compute_until(start + 100_000 * episode, 1.0);
                Simulated::send(channel, word(core as u64));
                Simulated::wait_and_receive(channel);
                Simulated::now() - (start + 100_000 * episode)
            });
            (times, Simulated::receive(channel))
        });
        let levels = 10;
        let expected = [5 + levels + 10 + 3; 3];
        assert_eq!(
            run.value,
            vec![(expected, None); threads],
            "{threads} threads"
        );
    }
}

/// A waiting thread does not miss a count that others complete late, and the count includes
/// arrivals before the wait.
#[test]
fn a_count_waits_for_the_last() {
    let machine = machine("atac-64", &[]);
    let run = together(&machine, 8, |core, channel, start| {
        Simulated::open_counting_port(channel, NonZeroU32::new(7).unwrap());
        let late = 1_000 * core as u64;
        compute_until(start + late, 1.0);
        Simulated::send(channel, word(core as u64));
        let last = Simulated::wait_and_receive(channel).sender;
        (last, Simulated::now() - start)
    });
    // Each core's last message is the last that another core has sent. No message is delivered before that one has
    // arrived.
    let cost = 5 + 6 + 10 + 3;
    for (core, &(last, time)) in run.value.iter().enumerate() {
        assert_eq!(last, if core == 7 { 6 } else { 7 });
        assert_eq!(time, if core == 7 { 7_000 + 4 } else { 7_000 + cost });
    }
}

/// Messages that the filter keeps out cost the receiver nothing.
#[test]
fn a_filter_passes_its_own() {
    let machine = machine("atac-64", &[]);
    let run = together(&machine, 16, |core, channel, _| {
        if core > 0 {
            let signature = 1 << (core % 4);
            let message = Message {
                signature,
                ..word(core as u64)
            };
            Simulated::send(channel, message);
            return Vec::new();
        }
        Simulated::set_filter(Filter {
            mask: u32::MAX,
            operation: MatchOperation::And,
            signature: 0b0100,
        });
        Simulated::compute(1_000);
        std::iter::from_fn(|| Simulated::receive(channel))
            .map(|delivery| delivery.message.payload)
            .collect()
    });
    assert_eq!(run.value[0], [2, 6, 10, 14]);
}

#[test]
fn each_sender_is_heard_in_order() {
    let machine = machine("atac-64", &["cores=16"]);
    let run = together(&machine, 16, |core, channel, _| {
        let mut rng = fastrand::Rng::with_seed(core as u64);
        let mut last = [None; 16];
        let mut heard = 0;
        let mut hear = |Delivery { sender, message }: Delivery| {
            assert_eq!(message.tag, sender);
            let last = &mut last[sender as usize];
            assert!(*last < Some(message.payload), "{sender}");
            *last = Some(message.payload);
            heard += 1;
        };
        for payload in 0..20 {
            let message = Message {
                tag: core as u32,
                ..word(payload)
            };
            Simulated::send(channel, message);
            Simulated::compute(rng.u64(..300));
            if rng.bool() {
                Simulated::receive(channel).into_iter().for_each(&mut hear);
            }
        }
        while last_of(&mut hear, channel) {}
        heard
    });
    assert_eq!(run.value, [15 * 20; 16]);
}

/// Hears what comes within a long time; whether something did.
fn last_of(hear: &mut impl FnMut(Delivery), channel: Channel) -> bool {
    let until = Simulated::now() + 20_000;
    while Simulated::now() < until {
        if let Some(delivery) = Simulated::receive(channel) {
            hear(delivery);
            return true;
        }
        Simulated::compute(50);
    }
    false
}

#[test]
fn other_machines_have_no_such_network() {
    let run = Simulation::new(&machine("gold5225r", &[])).run(Simulated::create_channel);
    assert_eq!(run.unwrap().value, None);
}
