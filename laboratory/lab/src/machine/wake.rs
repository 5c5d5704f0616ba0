//! The cost of waking a thread that sleeps in the kernel.

use super::summary::Summary;
use super::team;
use manycore_platform::{Atomic, CachePadded, Futex, Native, Platform};
use serde::Serialize;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Wake-ups in one round.
const EVENTS: u32 = 8;

/// How long the sleeper has slept when it is woken. By then its core is idle and, on most machines, in a shallow
/// sleep state.
pub(super) const ASLEEP: Duration = Duration::from_millis(1);

/// The cost of a wake-up.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct WakeCost {
    /// The CPU of the waker and the CPU of the sleeper.
    pub(crate) cpus: [usize; 2],
    /// How long the sleeper had slept.
    pub(crate) asleep_ms: f64,
    /// Nanoseconds from the call to the woken thread's first instruction.
    pub(crate) latency_ns: Summary,
    /// Nanoseconds that the call takes in the thread that wakes the other.
    pub(crate) waker_ns: Summary,
}

/// One wake-up, in nanoseconds, as in [`WakeCost`].
pub(super) struct Event {
    pub(super) latency: f64,
    pub(super) waker: f64,
}

/// The data that the waker and the sleeper share.
#[derive(Default)]
struct Bed {
    /// The number of wake-ups so far. The sleeper waits on this futex.
    calls: CachePadded<<Native as Platform>::Futex>,
    /// The number of calls that the sleeper has seen. The sleeper writes it just before it sleeps again.
    seen: CachePadded<AtomicU32>,
    woken_at: CachePadded<AtomicU64>,
}

/// Measures wake-ups between two CPUs.
pub(super) fn measure(
    cpus: [usize; 2],
    asleep: Duration,
    rounds: usize,
    progress: &mut dyn FnMut(&str),
) -> io::Result<Option<WakeCost>> {
    let (latency, waker) = events(cpus, asleep, rounds, progress)?
        .iter()
        .map(|event| (event.latency, event.waker))
        .unzip();
    let summaries = Summary::of(latency).zip(Summary::of(waker));
    Ok(summaries.map(|(latency_ns, waker_ns)| WakeCost {
        cpus,
        asleep_ms: asleep.as_secs_f64() * 1e3,
        latency_ns,
        waker_ns,
    }))
}

/// Measures single wake-ups between two CPUs.
pub(super) fn events(
    cpus: [usize; 2],
    asleep: Duration,
    rounds: usize,
    progress: &mut dyn FnMut(&str),
) -> io::Result<Vec<Event>> {
    let mut all = Vec::new();
    for round in 0..=rounds {
        progress(&format!("wake-up, round {round} of {rounds}"));
        let bed = Bed::default();
        let events = team::run(&cpus, move |index| match index {
            0 => (0..EVENTS)
                .filter_map(|event| wake(&bed, event, asleep))
                .collect(),
            _ => {
                (0..EVENTS).for_each(|event| sleep(&bed, event));
                Vec::new()
            }
        })?;
        if round > 0 {
            all.extend(events.into_iter().flatten());
        }
    }
    Ok(all)
}

/// Wakes the sleeper. Returns `None` if the sleeper was still awake.
fn wake(bed: &Bed, event: u32, asleep: Duration) -> Option<Event> {
    wait_for(&bed.seen, event);
    std::thread::sleep(asleep);
    let start = Native::now();
    bed.calls.store(event + 1, Ordering::Release);
    let woken = bed.calls.wake(1);
    let end = Native::now();
    wait_for(&bed.seen, event + 1);
    let woken_at = bed.woken_at.load(Ordering::Relaxed);
    // Only Linux returns the number of woken threads.
    let was_asleep = woken > 0 || !cfg!(target_os = "linux");
    was_asleep.then(|| Event {
        latency: Native::ticks_to_ns(woken_at.saturating_sub(start)),
        waker: Native::ticks_to_ns(end.saturating_sub(start)),
    })
}

fn sleep(bed: &Bed, event: u32) {
    while Atomic::load(&*bed.calls, Ordering::Acquire) == event {
        bed.calls.wait(event, None);
    }
    bed.woken_at.store(Native::now(), Ordering::Relaxed);
    bed.seen.store(event + 1, Ordering::Release);
}

fn wait_for(word: &AtomicU32, value: u32) {
    while word.load(Ordering::Acquire) != value {
        std::hint::spin_loop();
    }
}
