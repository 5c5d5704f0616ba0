//! The measurements. Each round takes one sample of each measurement, so that a change of the host's speed affects all
//! of them.

use super::memory::{self, Chase};
use super::{Shape, kernel};
use crate::machine::summary::Summary;
use crate::machine::{probe, wake};
use crate::measure::interrupt;
use anyhow::ensure;
use manycore_platform::{CachePadded, Native, Ordering, Platform};
use manycore_programs::{Folding, Load, TaskSize, UnitTask, opaque_additions};
use std::collections::BTreeMap;
use std::time::Duration;

/// Additions in one sample of the clock's frequency.
const ADDITIONS: u64 = 100_000;
/// The sleeps before a wake-up: a short one, and one after which a core may be in a deep sleep state.
const ASLEEP: [Duration; 2] = [Duration::from_micros(100), Duration::from_millis(10)];

/// If a thread does more increments in a row, the other thread was not running.
const ALONE: f64 = 5_000.0;
/// The most tries in a round until both threads run.
const TRIES: usize = 20;

/// The sizes of the three cache levels in bytes, as the system says, or assumed.
pub(super) struct Caches {
    pub(super) bytes: [usize; 3],
    pub(super) ways: [usize; 3],
    /// Whether the system reports all sizes of caches.
    pub(super) are_known: bool,
    /// The bytes of the last level that a program can use.
    pub(super) reached: usize,
}

impl Caches {
    /// Reads the caches of `cpu`.
    fn of(cpu: usize) -> Self {
        let read = |index: usize, what: &str| {
            let path = format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}/{what}");
            std::fs::read_to_string(path)
                .ok()
                .map(|text| text.trim().to_owned())
        };
        let mut found = [None; 3];
        for index in 0..8 {
            let level = read(index, "level").and_then(|level| level.parse::<usize>().ok());
            let size = read(index, "size").and_then(|size| bytes(&size));
            let ways = read(index, "ways_of_associativity").and_then(|ways| ways.parse().ok());
            let is_code = read(index, "type").is_none_or(|kind| kind == "Instruction");
            if let (Some(level @ 1..=3), Some(size), false) = (level, size, is_code) {
                found[level - 1] = Some((size, ways.unwrap_or(8).max(1)));
            }
        }
        let assumed = [(32 << 10, 8), (512 << 10, 8), (16 << 20, 16)];
        let are_known = found.iter().all(Option::is_some);
        let caches = [0, 1, 2].map(|level| found[level].unwrap_or(assumed[level]));
        Self {
            bytes: caches.map(|cache| cache.0),
            ways: caches.map(|cache| cache.1),
            are_known,
            reached: 0,
        }
    }
}

fn bytes(text: &str) -> Option<usize> {
    let unit =
        |unit: char, bytes: usize| Some(text.strip_suffix(unit)?.parse::<usize>().ok()? * bytes);
    unit('K', 1 << 10).or(unit('M', 1 << 20))
}

/// All samples by name, in nanoseconds. Bandwidth is in bytes a nanosecond.
pub(super) struct Measured {
    pub(super) caches: Caches,
    samples: BTreeMap<String, Vec<f64>>,
}

impl Measured {
    pub(super) fn take(
        shape: &Shape,
        rounds: usize,
        progress: &mut dyn FnMut(&str),
    ) -> anyhow::Result<Self> {
        interrupt::watch();
        let caches = Caches::of(shape.places[0][0]);
        let [l1, l2, llc] = caches.bytes;
        let middle = |a: usize, b: usize| (a as f64 * b as f64).sqrt() as usize;
        let sizes = [
            l1 / 2,
            middle(l1, l2),
            (2 * l2).min(llc),
            (4 * llc).min(256 << 20),
        ];
        let mut chases = sizes.map(Chase::new);
        let mut found = Self {
            caches,
            samples: BTreeMap::new(),
        };
        for round in 0..=rounds {
            progress(&format!("round {round} of {rounds}"));
            found.core(&mut chases);
            found.cores(shape, round)?;
            found.system(shape, round)?;
            interrupt::go_on()?;
            // Round 0 warms up.
            if round == 0 {
                found.samples.clear();
            }
        }
        progress("the size of the last cache");
        let ns = found.median("llc");
        found.caches.reached = memory::capacity((2 * l2).min(llc), llc, ns);
        for (asleep, name) in ASLEEP.into_iter().zip(["wake", "deep wake"]) {
            let cpus = [shape.team[0][0], shape.team[1][0]];
            interrupt::go_on()?;
            let events = wake::events(cpus, asleep, rounds.min(20), progress)?;
            ensure!(!events.is_empty(), "no wake-up");
            for event in events {
                found.keep(&format!("{name} latency"), event.latency);
                found.keep(&format!("{name} waker"), event.waker);
            }
        }
        Ok(found)
    }

    fn keep(&mut self, name: &str, value: f64) {
        self.samples.entry(name.to_owned()).or_default().push(value);
    }

    pub(super) fn get(&self, name: &str) -> Option<Summary> {
        Summary::of(self.samples.get(name)?.clone())
    }

    pub(super) fn median(&self, name: &str) -> f64 {
        self.get(name).map_or(0.0, |summary| summary.median)
    }

    fn core(&mut self, chases: &mut [Chase; 4]) {
        let each = |count: u64, work: &dyn Fn()| {
            let start = Native::now();
            work();
            Native::ticks_to_ns(Native::now().saturating_sub(start)) / count as f64
        };
        self.keep(
            "addition",
            each(ADDITIONS, &|| {
                std::hint::black_box(opaque_additions(1, ADDITIONS));
            }),
        );
        for (chase, name) in chases.iter_mut().zip(["l1", "l2", "llc", "memory"]) {
            let ns = chase.sample();
            self.keep(name, ns);
        }
        let word = CachePadded::new(<Native as Platform>::AtomicU64::new(0));
        const TIMES: u64 = 2_000;
        let repeat = |operation: &dyn Fn(u64)| each(TIMES, &|| (0..TIMES).for_each(operation));
        let relaxed = Ordering::Relaxed;
        let samples = [
            ("faa", repeat(&|_| _ = word.fetch_add(1, relaxed))),
            ("swap", repeat(&|value| _ = word.swap(value, relaxed))),
            ("tas", repeat(&|_| _ = word.fetch_or(1, relaxed))),
            (
                "cas",
                repeat(&|_| _ = word.compare_exchange(0, 0, relaxed, relaxed)),
            ),
            // Without this store the compiler would merge the fences into one.
            (
                "fence",
                repeat(&|value| {
                    word.store(value, relaxed);
                    Native::fence(Ordering::SeqCst);
                }),
            ),
            ("pause", repeat(&|_| Native::relax())),
        ];
        samples
            .into_iter()
            .for_each(|(name, ns)| self.keep(name, ns));
        let size = TaskSize {
            read: 1024,
            write: 1024,
            comp: 1024,
        };
        if let Ok(task) = UnitTask::new(16, size, Folding::Folded, 1) {
            let ns = each(16 * 1024, &|| {
                (0..16).for_each(|index| task.run::<Native>(index))
            });
            self.keep("byte", ns);
        }
    }

    fn cores(&mut self, shape: &Shape, round: usize) -> anyhow::Result<()> {
        let cores = shape.places.len();
        let pairs = (0..cores).flat_map(|b| (0..b).map(move |a| (a, b)));
        // On a large host each round takes its share of the pairs.
        for (at, (a, b)) in pairs.enumerate() {
            if cores <= 8 || at % 64 == round % 64 || round == 1 {
                let places = [shape.places[a].clone(), shape.places[b].clone()];
                self.keep(
                    &format!("handover {a} {b}"),
                    probe::handover::<Native>(&places)?,
                );
            }
        }
        let two = [0, shape.threads_per_core].map(|place| shape.places[place].clone());
        for _ in 0..TRIES {
            let contended = probe::increments::<Native>(&two)?;
            if contended.run < ALONE {
                self.keep("increments", contended.ns);
                self.keep("run", contended.run);
                break;
            }
        }
        if round % 10 == 1 {
            for threads in counts(cores) {
                let rate = memory::bandwidth(&shape.team[..threads], self.caches.bytes[2])?;
                self.keep(&format!("bandwidth {threads}"), rate);
            }
        }
        Ok(())
    }

    fn system(&mut self, shape: &Shape, round: usize) -> anyhow::Result<()> {
        self.keep("syscall", kernel::short_call());
        self.keep("refused wait", kernel::refused_wait());
        self.keep("spawn", kernel::spawn()?);
        self.keep("heavy fence", kernel::heavy_fence(&shape.team[..2])?);
        if round % 10 == 1 {
            self.keep("yield", kernel::yield_shared(&shape.places[0])?);
            for ns in kernel::slices(&shape.places[0])? {
                self.keep("slice", ns);
            }
            for ns in kernel::interruptions() {
                self.keep("tick cost", ns);
            }
        }
        Ok(())
    }
}

/// The numbers of threads: 1, 2, 4, ... and all cores.
pub(super) fn counts(cores: usize) -> impl Iterator<Item = usize> {
    let powers = std::iter::successors(Some(1), |count| Some(2 * count));
    powers
        .take_while(move |&count| count < cores)
        .chain([cores])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_the_system_writes_them() {
        assert_eq!(bytes("32K"), Some(32 << 10));
        assert_eq!(bytes("4M"), Some(4 << 20));
        assert_eq!(bytes("4"), None);
        assert_eq!(counts(6).collect::<Vec<_>>(), [1, 2, 4, 6]);
    }
}
