use crate::contestant::{Contestant, Waiting};
use crate::contestants as peers;
use std::fmt;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

/// Words a sample: as many as fit in tokio's buffer, which loses what does not.
const MESSAGES: u64 = 1 << 16;
const TRIPS: u64 = 4_000;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// One sends as fast as it can to so many.
    Stream(usize),
    /// Two answer each other.
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
    fn entry<C: Contestant>(name: &'static str, waiting: Waiting) -> Entry {
        let measure = measure::<C>;
        Entry {
            name,
            waiting,
            measure,
        }
    }
    use Waiting::{Sleeps, Spins};
    vec![
        entry::<peers::Manycore<true, { 64 << 10 }>>("manycore", Spins),
        entry::<peers::Manycore<true, { 1 << 20 }>>("manycore-large", Spins),
        entry::<peers::Crossbeam<true>>("crossbeam", Spins),
        entry::<peers::Mpsc<true>>("mpsc", Spins),
        entry::<peers::Bus<true>>("bus", Spins),
        entry::<peers::Tokio<true>>("tokio", Spins),
        entry::<peers::Disruptor<1>>("disruptor", Spins),
        entry::<peers::Disruptor<16>>("disruptor-by-16", Spins),
        entry::<peers::Manycore<false, { 64 << 10 }>>("manycore", Sleeps),
        entry::<peers::Manycore<false, { 1 << 20 }>>("manycore-large", Sleeps),
        entry::<peers::Crossbeam<false>>("crossbeam", Sleeps),
        entry::<peers::Mpsc<false>>("mpsc", Sleeps),
        entry::<peers::Bus<false>>("bus", Sleeps),
        entry::<peers::Tokio<false>>("tokio", Sleeps),
    ]
}

fn measure<C: Contestant>(case: Case) -> f64 {
    match case {
        Case::Stream(receivers) => stream::<C>(receivers),
        Case::RoundTrip => round_trip::<C>(),
    }
}

/// Receives so many words, which must be the numbers from `first` on.
fn receive<C: Contestant>(receiver: &mut C::Receiver, first: u64, count: u64) {
    let mut next = first;
    while next < first + count {
        C::receive(receiver, &mut |word| {
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

/// From the first send until the last receiver has the last word.
fn stream<C: Contestant>(receivers: usize) -> f64 {
    let (mut sender, ends) = C::open(receivers);
    let start = Barrier::new(1 + receivers);
    let (began, ended) = thread::scope(|scope| {
        let receive = |mut end: C::Receiver| {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                receive::<C>(&mut end, 0, MESSAGES);
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

fn round_trip<C: Contestant>() -> f64 {
    let (mut there, mut ends) = C::open(1);
    let mut far = ends.pop().expect("one was asked for");
    let (mut back, mut ends) = C::open(1);
    let mut near = ends.pop().expect("one was asked for");
    let start = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            start.wait();
            for trip in 0..TRIPS {
                receive::<C>(&mut far, trip, 1);
                C::send(&mut back, trip, 1);
            }
        });
        start.wait();
        let began = Instant::now();
        for trip in 0..TRIPS {
            C::send(&mut there, trip, 1);
            receive::<C>(&mut near, trip, 1);
        }
        began.elapsed().as_nanos() as f64 / TRIPS as f64
    })
}
