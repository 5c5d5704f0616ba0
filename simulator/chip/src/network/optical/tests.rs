use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::broadcast::MatchOperation;

fn network(cores: u32, transport: Cycles, controller: Cycles) -> Optical {
    let config = config::Optical {
        transport,
        controller,
        check: 3,
        filter: 1,
        adder: 1,
        bytes_per_cycle: 8,
    };
    Optical::new(cores, &config).unwrap()
}

fn message(payload: u64, signature: u32, bytes: usize) -> Message {
    let data = (bytes > 0).then(|| Arc::from(vec![0; bytes]));
    Message {
        payload,
        signature,
        tag: 0,
        data,
    }
}

#[test]
fn an_isolated_barrier_costs_ten_cycles_a_message() {
    for cores in [2, 64, 100] {
        let mut net = network(cores, 5, 10);
        let channel = net.create_channel();
        for core in 0..cores {
            net.open_port(0, core, channel, None);
        }
        for core in 0..cores {
            assert_eq!(
                net.send(0, core, channel, message(u64::from(core), 0, 0)),
                5
            );
        }
        let others = u64::from(cores) - 1;
        for core in 0..cores {
            let mut now = 0;
            let mut senders = Vec::new();
            while let Some(ready) = net.next_ready(now, core, channel) {
                assert_eq!(net.receive(ready - 1, core, channel), None);
                senders.push(net.receive(ready, core, channel).unwrap().sender);
                now = ready;
            }
            assert_eq!(now, 5 + 10 * others);
            assert!(
                senders
                    .into_iter()
                    .eq((0..cores).filter(|&other| other != core))
            );
            let delay = 10 * others * (others + 1) / 2;
            let counters = Counters {
                arrived: others,
                moved: others,
                delay,
            };
            assert_eq!(net.counters(now, core), counters);
        }
    }
}

#[test]
fn round_robin_goes_on_after_the_last_served() {
    let mut net = network(8, 5, 10);
    let channel = net.create_channel();
    net.open_port(0, 7, channel, None);
    net.send(0, 3, channel, message(0, 0, 0)); // picked at 5
    net.send(1, 1, channel, message(1, 0, 0));
    net.send(1, 3, channel, message(2, 0, 0));
    net.send(10, 5, channel, message(3, 0, 0)); // arrives at 15, as the pick is made
    assert_eq!(net.pending(44, 7, channel), 3);
    assert_eq!(net.pending(45, 7, channel), 4);
    let order = std::iter::from_fn(|| net.receive(45, 7, channel)).map(|got| got.message.payload);
    assert!(order.eq([0, 3, 1, 2]));
}

#[test]
fn long_data_keeps_the_wavelength() {
    let mut net = network(4, 5, 10);
    let channel = net.create_channel();
    net.open_port(0, 0, channel, None);
    assert_eq!(net.send(0, 1, channel, message(0, 0, 100)), 5 + 13);
    assert_eq!(
        net.send(1, 1, channel, message(1, 0, 0)),
        5 + 13,
        "behind its data"
    );
    assert_eq!(
        net.send(1, 2, channel, message(2, 0, 0)),
        6,
        "on another wavelength"
    );
    let order = std::iter::from_fn(|| net.receive(100, 0, channel)).map(|got| got.message.payload);
    assert!(order.eq([2, 0, 1]));
}

#[test]
fn filters_and_ports_are_those_at_arrival() {
    let mut net = network(2, 5, 10);
    let channel = net.create_channel();
    net.send(0, 1, channel, message(0, 0, 0)); // arrives at 5
    net.send(2, 1, channel, message(1, 0, 0)); // at 7
    net.send(4, 1, channel, message(2, 0, 0)); // at 9
    net.open_port(6, 0, channel, None);
    net.set_filter(8, 0, Filter::NONE);
    net.set_filter(10, 0, Filter::ALL);
    assert_eq!(net.next_ready(10, 0, channel), Some(17));
    assert_eq!(net.receive(17, 0, channel).unwrap().message.payload, 1);
    assert_eq!(net.next_ready(17, 0, channel), None);
    assert_eq!(
        net.counters(17, 0),
        Counters {
            arrived: 2,
            moved: 1,
            delay: 10
        }
    );
}

#[test]
fn a_controller_without_delay() {
    let mut net = network(3, 5, 0);
    let channel = net.create_channel();
    net.open_port(0, 0, channel, None);
    net.send(0, 2, channel, message(0, 0, 0));
    net.send(0, 1, channel, message(1, 0, 0));
    assert_eq!(net.next_ready(0, 0, channel), Some(5));
    assert_eq!(net.receive(4, 0, channel), None);
    assert_eq!(net.receive(5, 0, channel).unwrap().sender, 1);
    assert_eq!(net.receive(5, 0, channel).unwrap().sender, 2);
}

#[test]
fn messages_that_a_filter_stops_are_dropped() {
    let mut net = network(2, 5, 10);
    let channel = net.create_channel();
    net.open_port(0, 0, channel, None);
    net.set_filter(0, 0, Filter::NONE);
    let data: Arc<[u8]> = Arc::from([0; 8]);
    for at in 0..1_000 {
        let message = Message {
            data: Some(Arc::clone(&data)),
            ..Message::default()
        };
        net.send(10 * at, 1, channel, message);
    }
    assert!(
        Arc::strong_count(&data) < 10,
        "{} kept",
        Arc::strong_count(&data)
    );
}

/// A simple model of the documented network. It advances cycle by cycle.
#[derive(Clone)]
struct Naive {
    now: Cycles,
    transport: Cycles,
    controller: Cycles,
    wavelengths: Vec<Cycles>,
    flying: Vec<Naively>,
    receivers: Vec<NaiveReceiver>,
}

#[derive(Clone)]
struct Naively {
    arrival: Cycles,
    sender: usize,
    channel: u32,
    payload: u64,
    signature: u32,
}

#[derive(Clone)]
struct NaiveReceiver {
    filter: Filter,
    ports: BTreeMap<u32, VecDeque<(Cycles, Naively)>>,
    lambda: Vec<VecDeque<Naively>>,
    free_at: Cycles,
    position: usize,
    counters: Counters,
}

impl Naive {
    fn new(cores: usize, transport: Cycles, controller: Cycles) -> Self {
        let receiver = NaiveReceiver {
            filter: Filter::default(),
            ports: BTreeMap::new(),
            lambda: vec![VecDeque::new(); cores],
            free_at: 0,
            position: 0,
            counters: Counters::default(),
        };
        Self {
            now: 0,
            transport,
            controller,
            wavelengths: vec![0; cores],
            flying: Vec::new(),
            receivers: vec![receiver; cores],
        }
    }

    fn run_to(&mut self, now: Cycles) {
        while self.now < now {
            let flying = std::mem::take(&mut self.flying);
            let (arrived, flying) = flying.into_iter().partition(|m| m.arrival == self.now);
            self.flying = flying;
            for (core, receiver) in self.receivers.iter_mut().enumerate() {
                receiver.cycle(core, self.now, self.controller, &arrived);
            }
            self.now += 1;
        }
    }

    fn send(&mut self, sender: usize, channel: u32, signature: u32, bytes: u64, payload: u64) {
        let free = &mut self.wavelengths[sender];
        *free = self.now.max(*free) + bytes.div_ceil(8);
        let arrival = *free + self.transport;
        self.flying.push(Naively {
            arrival,
            sender,
            channel,
            payload,
            signature,
        });
    }

    fn receive(&mut self, core: usize, channel: u32) -> Option<(usize, u64)> {
        let buffer = self.receivers[core].ports.get_mut(&channel)?;
        let (_, message) = buffer.pop_front_if(|(ready, _)| *ready <= self.now)?;
        Some((message.sender, message.payload))
    }

    fn next_ready(&self, core: usize, channel: u32) -> Option<Cycles> {
        let mut future = self.clone();
        loop {
            let receiver = &future.receivers[core];
            if let Some((ready, _)) = receiver.ports.get(&channel)?.front() {
                return Some(*ready);
            }
            if future.flying.is_empty() && receiver.lambda.iter().all(VecDeque::is_empty) {
                return None;
            }
            future.run_to(future.now + 1);
        }
    }
}

impl NaiveReceiver {
    fn cycle(&mut self, core: usize, now: Cycles, controller: Cycles, arrived: &[Naively]) {
        for message in arrived {
            if message.sender != core && self.ports.contains_key(&message.channel) {
                self.counters.arrived += 1;
                if self.filter.passes(message.signature) {
                    self.lambda[message.sender].push_back(message.clone());
                }
            }
        }
        let cores = self.lambda.len();
        let mut round = (0..cores).map(|step| (self.position + step) % cores);
        let Some(next) = round.find(|&sender| !self.lambda[sender].is_empty()) else {
            return;
        };
        if self.free_at <= now {
            let message = self.lambda[next].pop_front().unwrap();
            self.free_at = now + controller;
            self.position = (next + 1) % cores;
            self.counters.moved += 1;
            self.counters.delay += self.free_at - message.arrival;
            self.ports
                .get_mut(&message.channel)
                .unwrap()
                .push_back((self.free_at, message));
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Send {
        sender: usize,
        channel: u32,
        signature: u32,
        bytes: u64,
    },
    Receive {
        core: usize,
        channel: u32,
    },
    Look {
        core: usize,
        channel: u32,
    },
    Filter {
        core: usize,
        filter: Filter,
    },
    Open {
        core: usize,
        channel: u32,
    },
    Close {
        core: usize,
        channel: u32,
    },
}

const CORES: usize = 5;
const CHANNELS: u32 = 3;

fn filters() -> impl Strategy<Value = Filter> {
    use MatchOperation::{And, Or, Xnor, Xor};
    (
        0u32..4,
        prop::sample::select(vec![And, Or, Xor, Xnor]),
        0u32..4,
    )
        .prop_map(|(mask, operation, signature)| Filter {
            mask,
            operation,
            signature,
        })
}

fn steps() -> impl Strategy<Value = Vec<(Cycles, Step)>> {
    let core = || 0..CORES;
    let channel = || 0..CHANNELS;
    let bytes = prop_oneof![3 => Just(0u64), 1 => 1u64..100];
    let step = prop_oneof![
        10 => (core(), channel(), 0u32..4, bytes).prop_map(|(sender, channel, signature, bytes)| {
            Step::Send { sender, channel, signature, bytes }
        }),
        6 => (core(), channel()).prop_map(|(core, channel)| Step::Receive { core, channel }),
        4 => (core(), channel()).prop_map(|(core, channel)| Step::Look { core, channel }),
        1 => (core(), filters()).prop_map(|(core, filter)| Step::Filter { core, filter }),
        1 => (core(), channel()).prop_map(|(core, channel)| Step::Open { core, channel }),
        1 => (core(), channel()).prop_map(|(core, channel)| Step::Close { core, channel }),
    ];
    let gap = prop_oneof![3 => Just(0u64), 3 => 1u64..6, 1 => 6u64..60];
    prop::collection::vec((gap, step), 1..150)
}

proptest! {
    #[test]
    fn as_simulated_cycle_by_cycle(
        transport in 0u64..12, controller in 1u64..15, steps in steps(),
    ) {
        let mut net = network(CORES as u32, transport, controller);
        let mut naive = Naive::new(CORES, transport, controller);
        let channels: Vec<_> = (0..CHANNELS).map(|_| net.create_channel()).collect();
        // Most ports are open from the start.
        for core in 0..CORES {
            for channel in 0..CHANNELS - 1 {
                net.open_port(0, core as u32, channels[channel as usize], None);
                naive.receivers[core].ports.insert(channel, VecDeque::new());
            }
        }
        let mut drain = vec![];
        for core in 0..CORES {
            for channel in 0..CHANNELS {
                drain.extend([(0, Step::Look { core, channel }); 1]);
                drain.extend(vec![(1, Step::Receive { core, channel }); 150]);
            }
        }
        drain[0].0 = 5_000;
        let mut at = 0;
        for (payload, (gap, step)) in steps.into_iter().chain(drain).enumerate() {
            let payload = payload as u64;
            at += gap;
            naive.run_to(at);
            match step {
                Step::Send { sender, channel, signature, bytes } => {
                    let message = message(payload, signature, bytes as usize);
                    net.send(at, sender as u32, channels[channel as usize], message);
                    naive.send(sender, channel, signature, bytes, payload);
                }
                Step::Receive { core, channel } => {
                    let got = net.receive(at, core as u32, channels[channel as usize]);
                    let got = got.map(|got| (got.sender as usize, got.message.payload));
                    prop_assert_eq!(got, naive.receive(core, channel));
                }
                Step::Look { core, channel } => {
                    let id = channels[channel as usize];
                    let ready = net.next_ready(at, core as u32, id);
                    prop_assert_eq!(ready, naive.next_ready(core, channel));
                    let buffer = naive.receivers[core].ports.get(&channel);
                    let count = |buffer: &VecDeque<(Cycles, Naively)>| {
                        buffer.iter().filter(|(ready, _)| *ready <= at).count()
                    };
                    let pending = buffer.map_or(0, count);
                    prop_assert_eq!(net.pending(at, core as u32, id), pending);
                }
                Step::Filter { core, filter } => {
                    net.set_filter(at, core as u32, filter);
                    naive.receivers[core].filter = filter;
                }
                Step::Open { core, channel } => {
                    net.open_port(at, core as u32, channels[channel as usize], None);
                    naive.receivers[core].ports.entry(channel).or_default();
                }
                Step::Close { core, channel } => {
                    net.close_port(at, core as u32, channels[channel as usize]);
                    let receiver = &mut naive.receivers[core];
                    receiver.ports.remove(&channel);
                    for queue in &mut receiver.lambda {
                        queue.retain(|message| message.channel != channel);
                    }
                }
            }
        }
        for core in 0..CORES {
            prop_assert_eq!(net.counters(at, core as u32), naive.receivers[core].counters);
        }
    }
}
