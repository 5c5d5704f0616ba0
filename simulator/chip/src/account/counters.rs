//! Counters of the machine's parts: caches, links, memory controllers, queues.

use super::{Breakdown, Histogram};
use serde::Serialize;

/// Hits and misses of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CacheCounters {
    /// Accesses that the cache served.
    pub hits: u64,
    /// Accesses that continued to the next level. A write to a line that the cache may only read is
    /// a miss.
    pub misses: u64,
}

/// The work of one hardware thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CoreCounters {
    /// Cycles by activity.
    pub cycles: Breakdown,
    /// For each of the activities `group`, `remote` and `memory`, the cycles in which a request waited at the home of
    /// its line (the place that serialises the line's requests) while the home served other requests.
    pub serialised: [u64; 3],
    /// Instructions that the program announced, and one for each access. Loads of an unchanged word
    /// in a spin loop are not counted.
    pub instructions: u64,
    /// The first level.
    pub l1: CacheCounters,
    /// The second level. All zero on a machine without one.
    pub l2: CacheCounters,
    /// Misses of the core's own caches that its core group served.
    pub group: u64,
    /// Misses of the core's own caches that another core group served.
    pub remote: u64,
    /// Misses of the core's own caches that main memory served.
    pub memory: u64,
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkCounters {
    /// The start of the link: a router of a mesh, or a core group.
    pub from: u32,
    /// The end of the link.
    pub to: u32,
    /// The number of cycles that the link spent on messages. On a mesh, a flit (a part of a message) takes one cycle.
    pub busy: u64,
}

/// A memory controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ControllerCounters {
    /// Lines read and written.
    pub lines: u64,
    /// Cycles in which the controller transferred lines.
    pub busy: u64,
    /// Cycles that requests waited for earlier requests. Divided by the length of the run, this is
    /// the mean length of the queue.
    pub waited: u64,
}

/// The broadcast network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OpticalCounters {
    /// Words of 8 bytes that were sent: one for each message, plus the words of its long data.
    pub sent: u64,
    /// Words that arrived at ports. A sent word counts once for each port of its channel.
    pub received: u64,
}

/// Cycles from a miss to its answer, by the place that answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Latencies {
    /// The requester's core group.
    pub group: Histogram,
    /// Another core group.
    pub remote: Histogram,
    /// Main memory.
    pub memory: Histogram,
    /// Cycles that a message of the electrical network waited for links.
    pub network_wait: Histogram,
    /// The number of other requests at a line's home, served or waiting, when a request arrives.
    pub home_queue: Histogram,
}

/// The counters of a machine's parts in a run, or in a part of a run.
///
/// A run has counters if [`Simulation::counters`](crate::Simulation::counters) was called. To count
/// a region of interest, subtract the counters at its start from those at its end.
///
/// ```
/// use manycore_chip::{Simulated, Simulation, config::Config};
/// use manycore_platform::{Atomic, Ordering, Platform};
///
/// let machine = Config::preset("atac-64")?;
/// let run = Simulation::new(&machine).counters().run(|| {
///     let words: Vec<_> = (0..64).map(<Simulated as Platform>::AtomicU64::new).collect();
///     let sum = || words.iter().map(|word| word.load(Ordering::Relaxed)).sum::<u64>();
///     sum();
///     // The region of interest: the second walk.
///     let before = Simulated::counters().expect("they were asked for");
///     sum();
///     Simulated::counters().expect("they were asked for").since(&before)
/// })?;
/// let walk = run.value.total();
/// assert_eq!((walk.l1.hits, walk.l1.misses), (64, 0));
/// let all = run.statistics.counters.expect("they were asked for");
/// // 64 words of 8 bytes are in 8 lines of 64 bytes, or in 9.
/// assert!((8..=9).contains(&all.total().l1.misses));
/// assert_eq!(all.total().cycles.sum(), 64 * run.statistics.cycles);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// The length, in cycles.
    pub cycles: u64,
    /// The counters of each hardware thread.
    pub cores: Vec<CoreCounters>,
    /// The counters of each core group's last-level cache. Empty on a machine without such caches.
    /// A request that a neighbour's private cache answers is a miss here.
    pub shared: Vec<CacheCounters>,
    /// The links that carried messages, by start and end.
    pub links: Vec<LinkCounters>,
    /// The memory controllers, by number.
    pub controllers: Vec<ControllerCounters>,
    /// The broadcast network. All zero on a machine without it.
    pub optical: OpticalCounters,
    /// The latencies of accesses and the lengths of queues.
    pub latencies: Latencies,
}

/// The sums of all cores' counters at a time of the run.
///
/// [`Simulation::samples`](crate::Simulation::samples) turns samples on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// The cycle at which the counters were read.
    pub at: u64,
    /// The counts from the start of the run until `at`.
    pub total: CoreCounters,
}

impl CacheCounters {
    fn map(&self, other: &Self, op: fn(u64, u64) -> u64) -> Self {
        Self {
            hits: op(self.hits, other.hits),
            misses: op(self.misses, other.misses),
        }
    }
}

impl CoreCounters {
    /// Misses of a cache for each thousand instructions.
    ///
    /// ```
    /// use manycore_chip::{CacheCounters, CoreCounters};
    ///
    /// let l1 = CacheCounters { hits: 90, misses: 10 };
    /// let core = CoreCounters { instructions: 1_000, l1, ..CoreCounters::default() };
    /// assert_eq!(core.mpki(core.l1), 10.0);
    /// ```
    pub fn mpki(&self, cache: CacheCounters) -> f64 {
        match self.instructions {
            0 => 0.0,
            instructions => 1e3 * cache.misses as f64 / instructions as f64,
        }
    }

    /// The difference to `earlier`, earlier counters of the same core.
    ///
    /// ```
    /// use manycore_chip::CoreCounters;
    ///
    /// let [before, now] = [10, 25].map(|instructions| CoreCounters { instructions, ..CoreCounters::default() });
    /// assert_eq!(now.since(&before).instructions, 15);
    /// ```
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.map(earlier, u64::saturating_sub)
    }

    /// The sum of several cores' counters.
    pub fn sum(cores: impl Iterator<Item = Self>) -> Self {
        cores.fold(Self::default(), |sum, core| sum.map(&core, |a, b| a + b))
    }

    /// The cycle stack: the names of the core's activities and their cycles, which add up to the core's time.
    /// `serialised` is a part of its own. Its cycles are subtracted from the parts `group`, `remote` and `memory`.
    pub fn stack(&self) -> Vec<(&'static str, u64)> {
        use super::Activity::{Group, Memory, Remote};
        let mut serialised = 0;
        let mut stack: Vec<(&'static str, u64)> = Vec::new();
        for (activity, cycles) in self.cycles.iter() {
            let source = [Group, Remote, Memory]
                .iter()
                .position(|one| *one == activity);
            let waited = source.map_or(0, |source| self.serialised[source].min(cycles));
            serialised += waited;
            stack.push((activity.label(), cycles - waited));
        }
        stack.push(("serialised", serialised));
        stack
    }

    fn map(&self, other: &Self, op: fn(u64, u64) -> u64) -> Self {
        Self {
            cycles: self.cycles.map(&other.cycles, op),
            serialised: [0, 1, 2].map(|at| op(self.serialised[at], other.serialised[at])),
            instructions: op(self.instructions, other.instructions),
            l1: self.l1.map(&other.l1, op),
            l2: self.l2.map(&other.l2, op),
            group: op(self.group, other.group),
            remote: op(self.remote, other.remote),
            memory: op(self.memory, other.memory),
        }
    }
}

impl Counters {
    /// The sum of all cores.
    pub fn total(&self) -> CoreCounters {
        CoreCounters::sum(self.cores.iter().copied())
    }

    /// The difference to `earlier`, earlier counters of the same run.
    ///
    /// A difference that would be negative is 0. All cycles of a computation are counted at its beginning. If it is
    /// interrupted, the cycles of its rest are subtracted again.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let less = u64::saturating_sub;
        let cores = self.cores.iter().zip(&earlier.cores);
        let shared = self.shared.iter().zip(&earlier.shared);
        let controllers = self.controllers.iter().zip(&earlier.controllers);
        // Both lists are sorted, and the later list has all links of the earlier one.
        let ends = |link: &LinkCounters| (link.from, link.to);
        let mut before = earlier.links.iter().peekable();
        let links = self.links.iter().map(|link| {
            while before.next_if(|one| ends(one) < ends(link)).is_some() {}
            let same = before.next_if(|one| ends(one) == ends(link));
            LinkCounters {
                busy: less(link.busy, same.map_or(0, |one| one.busy)),
                ..*link
            }
        });
        Self {
            cycles: less(self.cycles, earlier.cycles),
            cores: cores.map(|(now, then)| now.map(then, less)).collect(),
            shared: shared.map(|(now, then)| now.map(then, less)).collect(),
            links: links.filter(|link| link.busy > 0).collect(),
            controllers: controllers
                .map(|(now, then)| ControllerCounters {
                    lines: less(now.lines, then.lines),
                    busy: less(now.busy, then.busy),
                    waited: less(now.waited, then.waited),
                })
                .collect(),
            optical: OpticalCounters {
                sent: less(self.optical.sent, earlier.optical.sent),
                received: less(self.optical.received, earlier.optical.received),
            },
            latencies: self.latencies.since(&earlier.latencies),
        }
    }
}

impl Latencies {
    fn since(&self, earlier: &Self) -> Self {
        Self {
            group: self.group.since(&earlier.group),
            remote: self.remote.since(&earlier.remote),
            memory: self.memory.since(&earlier.memory),
            network_wait: self.network_wait.since(&earlier.network_wait),
            home_queue: self.home_queue.since(&earlier.home_queue),
        }
    }

    /// The histograms with their names and units.
    pub(super) fn named(&self) -> [(&'static str, &'static str, &Histogram); 5] {
        [
            ("latency-group", "cycles", &self.group),
            ("latency-remote", "cycles", &self.remote),
            ("latency-memory", "cycles", &self.memory),
            ("network-wait", "cycles", &self.network_wait),
            ("home-queue", "requests", &self.home_queue),
        ]
    }
}
