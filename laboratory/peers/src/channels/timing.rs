use super::contestant::{Blocking, Contestant, Waiting};
use super::contestants as peers;
use std::fmt;
use std::hint::spin_loop;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

/// Words in a sample: as many as tokio's buffer holds. With more, it would drop the oldest.
const MESSAGES: u64 = 1 << 16;
const TRIPS: u64 = 4_000;

/// The measured pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// One sender sends as fast as it can to this many receivers.
    Stream(usize),
    /// Two threads answer each other.
    RoundTrip,
}

impl Case {
    pub fn threads(self) -> usize {
        match self {
            Self::Stream(receivers) => 1 + receivers,
            Self::RoundTrip => 2,
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream(receivers) => write!(f, "one sender to {receivers}"),
            Self::RoundTrip => f.write_str("round trip"),
        }
    }
}

/// One row of a table.
pub struct Entry {
    pub name: &'static str,
    pub waiting: Waiting,
    /// Nanoseconds a message, or a round trip.
    pub measure: fn(Case) -> f64,
}

pub fn entries() -> Vec<Entry> {
    fn spins<C: Contestant>(name: &'static str) -> Entry {
        Entry {
            name,
            waiting: Waiting::Spins,
            measure: measure::<C, Spinning>,
        }
    }
    fn sleeps<C: Blocking>(name: &'static str) -> Entry {
        Entry {
            name,
            waiting: Waiting::Sleeps,
            measure: measure::<C, Sleeping>,
        }
    }
    vec![
        spins::<peers::Manycore<{ 64 << 10 }>>("manycore"),
        spins::<peers::Manycore<{ 1 << 20 }>>("manycore-large"),
        spins::<peers::Crossbeam>("crossbeam"),
        spins::<peers::Mpsc>("mpsc"),
        spins::<peers::Bus>("bus"),
        spins::<peers::Tokio>("tokio"),
        spins::<peers::Disruptor<1>>("disruptor"),
        spins::<peers::Disruptor<16>>("disruptor-by-16"),
        sleeps::<peers::Manycore<{ 64 << 10 }>>("manycore"),
        sleeps::<peers::Manycore<{ 1 << 20 }>>("manycore-large"),
        sleeps::<peers::Crossbeam>("crossbeam"),
        sleeps::<peers::Mpsc>("mpsc"),
        sleeps::<peers::Bus>("bus"),
        sleeps::<peers::Tokio>("tokio"),
    ]
}

/// How a receiver of `C` receives words.
trait Receive<C: Contestant> {
    fn receive(receiver: &mut C::Receiver, take: &mut impl FnMut(u64));
}

struct Spinning;

impl<C: Contestant> Receive<C> for Spinning {
    fn receive(receiver: &mut C::Receiver, take: &mut impl FnMut(u64)) {
        if !C::poll(receiver, take) {
            spin_loop();
        }
    }
}

struct Sleeping;

impl<C: Blocking> Receive<C> for Sleeping {
    fn receive(receiver: &mut C::Receiver, take: &mut impl FnMut(u64)) {
        take(C::receive(receiver));
    }
}

fn measure<C: Contestant, R: Receive<C>>(case: Case) -> f64 {
    match case {
        Case::Stream(receivers) => stream::<C, R>(receivers),
        Case::RoundTrip => round_trip::<C, R>(),
    }
}

/// Receives `count` words and checks that they are the numbers from `first` on.
fn receive<C: Contestant, R: Receive<C>>(receiver: &mut C::Receiver, first: u64, count: u64) {
    let mut next = first;
    while next < first + count {
        R::receive(receiver, &mut |word| {
            assert_eq!(word, next, "lost or out of order");
            next += 1;
        });
    }
}

fn send<C: Contestant>(sender: &mut C::Sender, count: u64) {
    let mut next = 0;
    while next < count {
        let batch = C::BATCH.min(count - next);
        C::send(sender, next, batch);
        next += batch;
    }
}

/// Nanoseconds a message, from the first send until the last receiver receives the last word.
fn stream<C: Contestant, R: Receive<C>>(receivers: usize) -> f64 {
    let (mut sender, ends) = C::open(receivers);
    let start = Barrier::new(1 + receivers);
    let (began, ended) = thread::scope(|scope| {
        let receive = |mut end: C::Receiver| {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                receive::<C, R>(&mut end, 0, MESSAGES);
                Instant::now()
            })
        };
        let team: Vec<_> = ends.into_iter().map(receive).collect();
        start.wait();
        let began = Instant::now();
        send::<C>(&mut sender, MESSAGES);
        let ends = team
            .into_iter()
            .map(|member| member.join().expect("all arrive"));
        (began, ends.max().expect("there is a receiver"))
    });
    (ended - began).as_nanos() as f64 / MESSAGES as f64
}

fn round_trip<C: Contestant, R: Receive<C>>() -> f64 {
    let (mut there, mut ends) = C::open(1);
    let mut far = ends.pop().expect("one was asked for");
    let (mut back, mut ends) = C::open(1);
    let mut near = ends.pop().expect("one was asked for");
    let start = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            start.wait();
            for trip in 0..TRIPS {
                receive::<C, R>(&mut far, trip, 1);
                C::send(&mut back, trip, 1);
            }
        });
        start.wait();
        let began = Instant::now();
        for trip in 0..TRIPS {
            C::send(&mut there, trip, 1);
            receive::<C, R>(&mut near, trip, 1);
        }
        began.elapsed().as_nanos() as f64 / TRIPS as f64
    })
}
