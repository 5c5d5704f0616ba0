//! The cost of sending a word from one sender to one receiver, and of a round trip. Designs differ in how the
//! receiver notices a word; their runs alternate. `cargo bench -p manycore-team --bench channel`.
//!
//! All rings hold 1,024 words of 16 bytes. All readers publish their position each quarter of a ring. Only
//! the complete channel can put a reader to sleep.

use manycore_team::channel::{Channel, Port};
use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::Barrier;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread;
use std::time::{Duration, Instant};

const SLOTS: u64 = 1024;
const WINDOWS: u64 = 64;
const MESSAGES: u64 = 2048;
const TRIPS: u64 = 32;
const SECONDS: u64 = 20;

/// A way to send a word. No port receives its own words.
trait Design {
    const NAME: &'static str;
    type Sender: Send;
    type Receiver: Send;
    fn open() -> (Self::Sender, Self::Receiver);
    fn send(sender: &mut Self::Sender, word: u64);
    fn receive(receiver: &mut Self::Receiver) -> Option<u64>;
}

/// The complete channel, with bells, filter and sender.
struct Whole;

impl Design for Whole {
    const NAME: &'static str = "channel";
    type Sender = Port;
    type Receiver = Port;

    fn open() -> (Port, Port) {
        let channel = Channel::new();
        (channel.open(), channel.open())
    }

    #[inline(always)]
    fn send(sender: &mut Port, word: u64) {
        sender.send(word);
    }

    #[inline(always)]
    fn receive(receiver: &mut Port) -> Option<u64> {
        receiver.try_receive().map(|message| message.payload)
    }
}

/// A slot of two words.
#[derive(Default)]
#[repr(align(16))]
struct Slot(AtomicU64, AtomicU64);

#[derive(Default)]
#[repr(align(128))]
struct Alone(AtomicU64);

#[derive(Default)]
struct Ring {
    slots: Box<[Slot]>,
    published: Alone,
    cursor: Alone,
}

/// One end of a ring. Sender and receiver share no line.
#[repr(align(128))]
struct End {
    ring: Arc<Ring>,
    at: u64,
    /// Sender: the position where the room ends. Receiver: the last published position that it has read.
    limit: u64,
}

impl Ring {
    fn ends() -> (End, End) {
        let slots = (0..SLOTS).map(|_| Slot::default()).collect();
        let ring = Arc::new(Ring {
            slots,
            ..Ring::default()
        });
        let end = |ring| End {
            ring,
            at: 0,
            limit: 0,
        };
        (end(Arc::clone(&ring)), end(ring))
    }
}

impl End {
    #[inline(always)]
    fn slot(&self, at: u64) -> &Slot {
        &self.ring.slots[at as usize & (self.ring.slots.len() - 1)]
    }

    /// Waits until there is room for one more slot.
    #[inline(always)]
    fn wait_for_room(&mut self) {
        while self.at + 1 >= self.limit {
            self.limit = self.ring.cursor.0.load(Acquire) + SLOTS;
        }
    }

    #[inline(always)]
    fn advance_reader(&mut self) {
        self.at += 1;
        if self.at % (SLOTS / 4) == 0 {
            self.ring.cursor.0.store(self.at, Release);
        }
    }
}

/// The sender publishes its index on a separate line.
struct Index;

impl Design for Index {
    const NAME: &'static str = "published index";
    type Sender = End;
    type Receiver = End;

    fn open() -> (End, End) {
        Ring::ends()
    }

    #[inline(always)]
    fn send(sender: &mut End, word: u64) {
        sender.wait_for_room();
        let slot = sender.slot(sender.at);
        slot.0.store(1, Relaxed);
        slot.1.store(word, Relaxed);
        sender.at += 1;
        sender.ring.published.0.store(sender.at, Release);
    }

    #[inline(always)]
    fn receive(receiver: &mut End) -> Option<u64> {
        if receiver.at == receiver.limit {
            receiver.limit = receiver.ring.published.0.load(Acquire);
            if receiver.at == receiver.limit {
                return None;
            }
        }
        let slot = receiver.slot(receiver.at);
        black_box(slot.0.load(Relaxed));
        let word = slot.1.load(Relaxed);
        receiver.advance_reader();
        Some(word)
    }
}

/// Each slot holds its word's position plus 1. This saves one store, but all records must have one length.
struct Stamp;

impl Design for Stamp {
    const NAME: &'static str = "stamped slots";
    type Sender = End;
    type Receiver = End;

    fn open() -> (End, End) {
        Ring::ends()
    }

    #[inline(always)]
    fn send(sender: &mut End, word: u64) {
        sender.wait_for_room();
        let slot = sender.slot(sender.at);
        slot.1.store(word, Relaxed);
        slot.0.store(sender.at + 1, Release);
        sender.at += 1;
    }

    #[inline(always)]
    fn receive(receiver: &mut End) -> Option<u64> {
        let slot = receiver.slot(receiver.at);
        if slot.0.load(Acquire) != receiver.at + 1 {
            return None;
        }
        let word = slot.1.load(Relaxed);
        receiver.advance_reader();
        Some(word)
    }
}

/// A zero follows the last record, as in the channel.
struct Zero;

impl Design for Zero {
    const NAME: &'static str = "zero behind";
    type Sender = End;
    type Receiver = End;

    fn open() -> (End, End) {
        Ring::ends()
    }

    #[inline(always)]
    fn send(sender: &mut End, word: u64) {
        sender.wait_for_room();
        let slot = sender.slot(sender.at);
        slot.1.store(word, Relaxed);
        sender.slot(sender.at + 1).0.store(0, Relaxed);
        slot.0.store(1, Release);
        sender.at += 1;
    }

    #[inline(always)]
    fn receive(receiver: &mut End) -> Option<u64> {
        let slot = receiver.slot(receiver.at);
        if slot.0.load(Acquire) == 0 {
            return None;
        }
        let word = slot.1.load(Relaxed);
        receiver.advance_reader();
        Some(word)
    }
}

#[inline(always)]
fn wait<D: Design>(receiver: &mut D::Receiver, expected: u64) {
    loop {
        match D::receive(receiver) {
            Some(word) => return assert_eq!(word, expected),
            None => spin_loop(),
        }
    }
}

/// Returns nanoseconds a message, for each window. If a thread loses its core, only few windows become longer.
fn stream<D: Design>() -> Vec<f64> {
    let (mut sender, mut receiver) = D::open();
    let start = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            start.wait();
            (0..WINDOWS * MESSAGES).for_each(|word| D::send(&mut sender, word));
        });
        start.wait();
        windows(MESSAGES, |word| wait::<D>(&mut receiver, word))
    })
}

/// Returns nanoseconds a round trip, for each window.
fn round_trip<D: Design>() -> Vec<f64> {
    let (mut there, mut far) = D::open();
    let (mut back, mut near) = D::open();
    let start = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            start.wait();
            for trip in 0..WINDOWS * TRIPS {
                wait::<D>(&mut far, trip);
                D::send(&mut back, trip);
            }
        });
        start.wait();
        windows(TRIPS, |trip| {
            D::send(&mut there, trip);
            wait::<D>(&mut near, trip);
        })
    })
}

/// Returns nanoseconds for a send and a receive by the same thread: no line moves.
fn alone<D: Design>() -> Vec<f64> {
    let (mut sender, mut receiver) = D::open();
    windows(MESSAGES, |word| {
        D::send(&mut sender, word);
        wait::<D>(&mut receiver, word);
    })
}

fn windows(length: u64, mut step: impl FnMut(u64)) -> Vec<f64> {
    let mut one = |window| {
        let began = Instant::now();
        (window * length..(window + 1) * length).for_each(&mut step);
        began.elapsed().as_nanos() as f64 / length as f64
    };
    (0..WINDOWS).map(&mut one).collect()
}

type Measure = fn() -> Vec<f64>;

fn design<D: Design>() -> (&'static str, [Measure; 3]) {
    (D::NAME, [alone::<D>, stream::<D>, round_trip::<D>])
}

fn main() {
    let designs = [
        design::<Whole>(),
        design::<Zero>(),
        design::<Stamp>(),
        design::<Index>(),
    ];
    let mut samples = [const { [const { Vec::new() }; 3] }; 4];
    let end = Instant::now() + Duration::from_secs(SECONDS);
    while Instant::now() < end {
        for ((_, measures), samples) in designs.iter().zip(&mut samples) {
            for (measure, samples) in measures.iter().zip(samples) {
                samples.extend(measure());
            }
        }
    }
    println!(
        "median (10th percentile) of {} windows, ns",
        samples[0][0].len()
    );
    println!(
        "{:16} {:>18} {:>18} {:>18}",
        "design", "alone", "a message", "round trip"
    );
    for ((name, _), samples) in designs.iter().zip(&mut samples) {
        print!("{name:16}");
        for samples in samples {
            samples.sort_unstable_by(f64::total_cmp);
            let (median, low) = (samples[samples.len() / 2], samples[samples.len() / 10]);
            print!(" {:>18}", format!("{median:.1} ({low:.1})"));
        }
        println!();
    }
}
