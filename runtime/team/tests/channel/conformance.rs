//! The behaviour of every channel, over memory and over a network. The including file names the channel and
//! its platforms (`World`) in a module `subject`. The chip's tests include this file for channels over the
//! network.

#![allow(
    clippy::manual_is_multiple_of,
    reason = "this file is compiled by crates with different least Rust versions"
)]

use super::subject::{Channel, Port, World};
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform, ThreadSpec};
use manycore_team::channel::{Closed, Filter};
use std::sync::{Arc, Mutex};

/// The threads' cores: a separate core for each thread, as hardware ports need, or any core.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(dead_code, reason = "each crate's tests use a part")]
pub(crate) enum Place {
    Bound,
    Anywhere,
}

pub(crate) struct Meeting<P: Platform> {
    arrived: P::Futex,
}

impl<P: Platform> Meeting<P> {
    pub(crate) fn new() -> Self {
        let arrived = <P::Futex as Atomic<u32>>::new(0);
        Self { arrived }
    }

    pub(crate) fn arrive(&self) {
        self.arrived.fetch_add(1, Ordering::Release);
        self.arrived.wake(u32::MAX);
    }

    /// Waits until `count` threads have arrived in total.
    pub(crate) fn wait_for(&self, count: usize) {
        loop {
            let seen = self.arrived.load(Ordering::Acquire);
            if seen as usize >= count {
                return;
            }
            self.arrived.wait(seen, None);
        }
    }
}

/// Runs `member` on each of `threads` threads.
pub(crate) fn together<P: Platform>(
    threads: usize,
    place: Place,
    member: impl Fn(usize) + Send + Sync + 'static,
) {
    let member = Arc::new(member);
    // A thread's panic has different effects on different platforms.
    let unfinished = Arc::new(<P::AtomicUsize as Atomic<usize>>::new(threads));
    let spawn = |rank| {
        let (member, unfinished) = (Arc::clone(&member), Arc::clone(&unfinished));
        let cpus = match place {
            Place::Bound => vec![rank],
            Place::Anywhere => vec![],
        };
        let spec = ThreadSpec {
            cpus,
            ..ThreadSpec::default()
        };
        let body = move || {
            member(rank);
            unfinished.fetch_sub(1, Ordering::Relaxed);
        };
        P::spawn(spec, Box::new(body)).unwrap()
    };
    let team: Vec<_> = (0..threads).map(spawn).collect();
    team.into_iter().for_each(P::join);
    let unfinished = unfinished.load(Ordering::Relaxed);
    assert_eq!(unfinished, 0, "threads that panicked");
}

/// Runs all tests on `threads` threads, at least 3.
pub(crate) fn all<P: World>(make: fn() -> Channel<P>, threads: usize, place: Place) {
    everybody_to_everybody(make(), threads, place);
    long_data(make(), threads, place);
    late_and_early_ports(make(), place);
    filters(make(), place);
    the_last_message_of_a_dropped_port(make(), place);
    the_end(make(), threads, place, Channel::open, 1);
}

/// Each port receives each other port's messages: in order, whole, once.
pub(crate) fn everybody_to_everybody<P: World>(channel: Channel<P>, threads: usize, place: Place) {
    const EACH: u32 = 20;
    let opened = Meeting::<P>::new();
    together::<P>(threads, place, move |rank| {
        let mut port = channel.open();
        opened.arrive();
        opened.wait_for(threads);
        let number = port.number();
        let mut next = vec![0; threads];
        let mut heard = 0;
        let mut hear = |port: &mut Port<P>, waits: bool| {
            let message = if waits {
                port.receive().unwrap()
            } else {
                match port.try_receive() {
                    None => return 0,
                    Some(message) => message,
                }
            };
            let sender = message.sender;
            assert_ne!(sender, number, "heard itself");
            assert_eq!(message.payload >> 32, sender as u64);
            assert_eq!(message.payload as u32, next[sender], "of {sender}");
            assert_eq!(message.signature, next[sender].wrapping_mul(0x9e37_79b9));
            // Every third tag is large.
            let large = next[sender] % 3 == 0;
            assert_eq!(message.tag, next[sender] | u32::from(large) << 31);
            assert_eq!((message.length, message.missed), (0, 0));
            next[sender] += 1;
            1
        };
        for i in 0..EACH {
            let payload = (number as u64) << 32 | u64::from(i);
            let tag = i | u32::from(i % 3 == 0) << 31;
            port.send_marked(payload, i.wrapping_mul(0x9e37_79b9), tag);
            if (i as usize + rank) % 3 == 0 {
                heard += hear(&mut port, false);
            }
        }
        while heard < EACH as usize * (threads - 1) {
            heard += hear(&mut port, true);
        }
        assert!(port.try_receive().is_none());
        // No port closes before all ports have sent.
        opened.arrive();
        opened.wait_for(2 * threads);
    });
}

/// Returns the bytes of a message of this length.
pub(crate) fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + length) as u8).collect()
}

/// Data of any length between words, received with and without a buffer.
pub(crate) fn long_data<P: World>(channel: Channel<P>, threads: usize, place: Place) {
    const LENGTHS: [usize; 10] = [1, 7, 8, 9, 15, 16, 17, 100, 640, 0];
    let opened = Meeting::<P>::new();
    together::<P>(threads, place, move |rank| {
        let mut port = channel.open();
        opened.arrive();
        opened.wait_for(threads);
        if rank == 0 {
            for (tag, length) in (0..).zip(LENGTHS) {
                port.send_long_marked(&bytes(length), 3, tag);
                port.send_marked(length as u64, 4, tag);
            }
        } else {
            let mut data = vec![0xee; 3];
            for (tag, length) in (0..).zip(LENGTHS) {
                let message = match (tag as usize + rank) % 3 {
                    0 => port.receive().unwrap(),
                    1 => port.receive_long(&mut data).unwrap(),
                    _ => loop {
                        if let Some(message) = port.try_receive_long(&mut data) {
                            break message;
                        }
                        P::relax();
                    },
                };
                assert_eq!((message.length, message.payload), (length, 0));
                assert_eq!((message.signature, message.tag), (3, tag));
                if (tag as usize + rank) % 3 != 0 {
                    assert_eq!(data, bytes(length));
                }
                let message = port.receive_long(&mut data).unwrap();
                assert_eq!((message.payload, message.signature), (length as u64, 4));
                assert!(data.is_empty() && message.length == 0);
            }
        }
        opened.arrive();
        opened.wait_for(2 * threads);
    });
}

/// A port receives what is sent while it is open.
pub(crate) fn late_and_early_ports<P: World>(channel: Channel<P>, place: Place) {
    let step = Meeting::<P>::new();
    together::<P>(3, place, move |rank| {
        if rank == 0 {
            let mut port = channel.open();
            step.arrive();
            step.wait_for(3); // 1 is open too; 2 has only arrived here
            port.send(1);
            port.send_long(&bytes(50));
            step.arrive();
            step.wait_for(5); // 1 has received the message
            step.arrive();
            step.wait_for(7); // 2 is open
            port.send(2);
            step.arrive();
            step.wait_for(10);
        } else if rank == 1 {
            let mut port = channel.open();
            step.arrive();
            step.wait_for(4);
            assert_eq!(port.receive().unwrap().payload, 1);
            assert_eq!(port.receive().unwrap().length, 50);
            step.arrive();
            assert_eq!(port.receive().unwrap().payload, 2);
            drop(port);
            step.arrive();
            step.wait_for(10);
        } else {
            step.arrive();
            step.wait_for(6);
            let mut port = channel.open();
            assert!(
                port.try_receive().is_none(),
                "the message is older than the port"
            );
            step.arrive();
            assert_eq!(port.receive().unwrap().payload, 2);
            step.arrive();
            step.wait_for(10);
        }
    });
}

/// A filter holds from when it is set: messages already there pass by the previous filter.
pub(crate) fn filters<P: World>(channel: Channel<P>, place: Place) {
    let only = |signature| Filter {
        mask: 0xff,
        signature,
    };
    let step = Meeting::<P>::new();
    together::<P>(3, place, move |rank| {
        let mut port = channel.open();
        step.arrive();
        step.wait_for(3);
        match rank {
            0 => {
                (1..=3).for_each(|payload| port.send_marked(payload, 5, 0));
                step.arrive();
                step.wait_for(5); // 1 has set its filter
                port.send_marked(4, 5, 0);
                port.send_long_marked(&bytes(100), 5, 0);
                port.send_marked(5, 7, 0);
                port.send_long_marked(&bytes(70), 0x107, 0);
                step.arrive();
                step.wait_for(7); // and a second one
                port.send_marked(6, 7, 0);
                port.send_marked(7, 5, 0);
            }
            1 => {
                step.wait_for(4);
                assert_eq!(port.receive().unwrap().payload, 1);
                // Messages 2 and 3 arrived long ago: a step lasts longer than a transport.
                P::compute(10_000);
                port.set_filter(only(7));
                step.arrive();
                assert_eq!(port.receive().unwrap().payload, 2);
                step.wait_for(6);
                P::compute(10_000);
                port.set_filter(only(5));
                step.arrive();
                assert_eq!(port.receive().unwrap().payload, 3);
                assert_eq!(port.receive().unwrap().payload, 5);
                let mut data = Vec::new();
                port.receive_long(&mut data).unwrap();
                assert_eq!(data, bytes(70));
                assert_eq!(port.receive().unwrap().payload, 7);
                assert!(port.try_receive().is_none());
                port.set_filter(Filter::ALL);
            }
            // Each port has its own filter.
            _ => {
                for payload in [1, 2, 3, 4, 0, 5, 0, 6, 7] {
                    assert_eq!(port.receive().unwrap().payload, payload);
                }
            }
        }
        step.arrive();
        step.wait_for(10);
    });
}

/// Messages remain after their sender has ended.
pub(crate) fn the_last_message_of_a_dropped_port<P: World>(channel: Channel<P>, place: Place) {
    let step = Meeting::<P>::new();
    together::<P>(2, place, move |rank| {
        let mut port = channel.open();
        step.arrive();
        step.wait_for(2);
        if rank == 0 {
            port.send(1);
            port.send_long(&bytes(30));
            port.send(2);
            drop(port);
            step.arrive();
            step.wait_for(4);
        } else {
            step.wait_for(3);
            P::compute(10_000);
            let mut data = Vec::new();
            assert_eq!(port.receive().unwrap().payload, 1);
            port.receive_long(&mut data).unwrap();
            assert_eq!(data, bytes(30));
            assert_eq!(port.receive().unwrap().payload, 2);
            assert!(port.try_receive().is_none());
            step.arrive();
        }
    });
}

/// All other ports have closed. A port that still receives learns this, awake or asleep, after their last
/// messages. This holds even if its filter passes only one message in `every`.
pub(crate) fn the_end<P: World>(
    channel: Channel<P>,
    threads: usize,
    place: Place,
    open: fn(&Channel<P>) -> Port<P>,
    every: usize,
) {
    let handles: Vec<_> = (0..threads)
        .map(|_| Mutex::new(Some(channel.clone())))
        .collect();
    drop(channel);
    let opened = Meeting::<P>::new();
    together::<P>(threads, place, move |rank| {
        let handle = handles[rank].lock().unwrap().take().unwrap();
        let mut port = open(&handle);
        opened.arrive();
        opened.wait_for(threads);
        if rank > 0 {
            (0..3).for_each(|payload| port.send(payload));
            // Sometimes the port is dropped last, sometimes the handle.
            if rank % 2 == 0 {
                drop(handle);
                drop(port);
            } else {
                drop(port);
                drop(handle);
            }
            return;
        }
        drop(handle);
        let mut heard = 0;
        while port.receive().is_ok() {
            heard += 1;
        }
        assert_eq!(heard, 3 * (threads - 1) / every);
        assert!(port.is_closed());
        // The channel stays closed.
        assert_eq!(port.receive(), Err(Closed));
        assert_eq!(port.receive_long(&mut vec![]), Err(Closed));
        assert!(port.try_receive().is_none());
    });
}
