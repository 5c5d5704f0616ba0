//! Records why loops were shared or not, by call site, in a pool that was built with `explain`.

use std::backtrace::Backtrace;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Why a loop was shared or ran serially.
///
/// ```
/// use manycore::{Pool, Reason};
///
/// let pool = Pool::builder().threads(1).explain(true).build()?;
/// pool.parallel_for(0..1000, |_| ());
/// assert_eq!(pool.decisions()[0].reason, Reason::OneThread);
/// # Ok::<(), manycore::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// Shared: a shared run takes less time than a serial run, or is not known to take more time.
    Shared,
    /// The loop was unknown. Its caller ran some iterations to measure them, and shared the rest if there was enough
    /// of it.
    First,
    /// Serial: the loop takes less time than a second thread needs to join, about 1 µs.
    Short,
    /// Serial: shared runs have typically not taken less time than serial runs.
    NoGain,
    /// Serial: shared runs had to wait for helpers that the operating system had put aside, and lost more time
    /// than they saved.
    Delayed,
    /// Serial: the pool measures the serial time again, as it does now and then.
    Trial,
    /// Serial: all workers were asleep, and waking a worker would have taken longer than the serial run.
    Asleep,
    /// Serial: the loop is nested in another, and no thread of the pool was idle.
    Busy,
    /// Serial: too many loops were open at the same time.
    Crowded,
    /// Serial: the pool has one thread, or the loop one iteration.
    OneThread,
}

impl Reason {
    /// Whether other threads could take part in the loop.
    fn is_shared(self) -> bool {
        matches!(self, Self::Shared | Self::First)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shared => "shared",
            Self::First => "first run",
            Self::Short => "too short to share",
            Self::NoGain => "sharing did not gain",
            Self::Delayed => "helpers were put aside by the system",
            Self::Trial => "trial of the serial time",
            Self::Asleep => "all workers slept",
            Self::Busy => "no worker was idle",
            Self::Crowded => "too many loops at once",
            Self::OneThread => "one thread or one iteration",
        })
    }
}

/// The record of a pool's loops at one call site. A call site is one place in the program, for lengths between two
/// neighbouring powers of two.
///
/// ```
/// let pool = manycore::Pool::builder().threads(2).explain(true).build()?;
/// for _ in 0..100 {
///     pool.parallel_for(0..1000, |_| ());
/// }
/// let decisions = pool.decisions();
/// assert_eq!(decisions[0].calls, 100);
/// assert!(decisions[0].place.is_some());
/// println!("{}", decisions[0]);
/// # Ok::<(), manycore::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// The function that called the loop. If the program has debug information, the file and line follow.
    pub place: Option<String>,
    /// The number of iterations in the last call.
    pub iterations: usize,
    /// The number of calls.
    pub calls: u64,
    /// The number of calls that the pool offered to other threads.
    pub shared: u64,
    /// The median time of shared calls, to 5%.
    pub shared_median: Option<Duration>,
    /// The median time of all other calls, to 5%.
    pub serial_median: Option<Duration>,
    /// How many calls had each reason, the most frequent first.
    pub reasons: Vec<(Reason, u64)>,
    /// The reason of the last call.
    pub reason: Reason,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.as_deref().unwrap_or("unknown place");
        writeln!(
            f,
            "{place}: {} iterations, {} calls, {} shared",
            self.iterations, self.calls, self.shared
        )?;
        let median = |time: Option<Duration>| time.map_or("-".into(), |time| format!("{time:.1?}"));
        writeln!(
            f,
            "  median time: shared {}, serial {}",
            median(self.shared_median),
            median(self.serial_median)
        )?;
        for (reason, calls) in &self.reasons {
            writeln!(f, "  {calls} times: {reason}")?;
        }
        Ok(())
    }
}

/// How often times of each class were seen. There are sixteen classes for each doubling of the time.
#[derive(Debug, Default)]
struct Times(Vec<u64>);

const CLASSES: f64 = 16.0;

impl Times {
    fn add(&mut self, ns: f64) {
        let class = usize::from((ns.max(1.0).log2() * CLASSES) as u16);
        if self.0.len() <= class {
            self.0.resize(class + 1, 0);
        }
        self.0[class] += 1;
    }

    fn median(&self) -> Option<Duration> {
        let total: u64 = self.0.iter().sum();
        let mut before = 0;
        for (class, &count) in self.0.iter().enumerate() {
            before += count;
            if count > 0 && 2 * before >= total {
                let ns = ((class as f64 + 0.5) / CLASSES).exp2();
                return Some(Duration::from_nanos(ns as u64));
            }
        }
        None
    }
}

#[derive(Debug)]
struct Entry {
    place: Option<String>,
    iterations: usize,
    reason: Reason,
    /// The calls of each reason, in the order of [`Reason`].
    reasons: Vec<(Reason, u64)>,
    shared: Times,
    serial: Times,
}

impl Entry {
    fn decision(&self) -> Decision {
        // The most frequent reason comes first. Equally frequent reasons keep the order of [`Reason`].
        let mut reasons: Vec<(Reason, u64)> = Vec::new();
        let (mut all, mut shared) = (0, 0);
        for &(reason, calls) in &self.reasons {
            let at = reasons.partition_point(|&(_, others)| others >= calls);
            reasons.insert(at, (reason, calls));
            all += calls;
            shared += if reason.is_shared() { calls } else { 0 };
        }
        Decision {
            place: self.place.clone(),
            iterations: self.iterations,
            calls: all,
            shared,
            shared_median: self.shared.median(),
            serial_median: self.serial.median(),
            reason: self.reason,
            reasons,
        }
    }
}

impl Decision {
    fn is_before(&self, other: &Self) -> bool {
        let order = (other.calls, &self.place, self.iterations);
        order < (self.calls, &other.place, other.iterations)
    }
}

/// The records of one pool's call sites.
#[derive(Debug, Default)]
pub(crate) struct Explained(Mutex<Vec<((usize, u32), Entry)>>);

impl Explained {
    fn entries(&self) -> MutexGuard<'_, Vec<((usize, u32), Entry)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a loop of `iterations` with its code at `body` took `ns`. `has_stack` says whether this thread
    /// has a normal stack, so that its callers can be found.
    pub(crate) fn note(
        &self,
        body: usize,
        iterations: usize,
        ns: f64,
        reason: Reason,
        has_stack: bool,
    ) {
        let mut entries = self.entries();
        // This is a sorted list because a map would take as long to compile as the rest of this file.
        let key = (body, iterations.leading_zeros());
        let at = entries.partition_point(|(other, _)| *other < key);
        if entries.get(at).is_none_or(|(other, _)| *other != key) {
            let entry = Entry {
                place: if has_stack { caller() } else { None },
                iterations,
                reason,
                reasons: Vec::new(),
                shared: Times::default(),
                serial: Times::default(),
            };
            entries.insert(at, (key, entry));
        }
        let entry = &mut entries[at].1;
        entry.iterations = iterations;
        entry.reason = reason;
        let at = (entry.reasons).partition_point(|(other, _)| (*other as u8) < reason as u8);
        match entry.reasons.get_mut(at) {
            Some((known, calls)) if *known == reason => *calls += 1,
            _ => entry.reasons.insert(at, (reason, 1)),
        }
        if reason.is_shared() {
            entry.shared.add(ns);
        } else {
            entry.serial.add(ns);
        }
    }

    /// All call sites, the most frequent first.
    pub(crate) fn decisions(&self) -> Vec<Decision> {
        // Each decision is inserted at its place. There are few decisions, and with a sort every user of this crate
        // would have to compile that sort.
        let mut decisions: Vec<Decision> = Vec::new();
        for (_, entry) in self.entries().iter() {
            let decision = entry.decision();
            let at = decisions.partition_point(|other| other.is_before(&decision));
            decisions.insert(at, decision);
        }
        decisions
    }
}

/// Returns the function outside of this crate that has called the loop.
fn caller() -> Option<String> {
    let trace = Backtrace::force_capture().to_string();
    let mut lines = trace.lines().map(str::trim).peekable();
    // The folder of this crate's sources. If there is debug information, this function's entry names the folder.
    let mut sources = None;
    while let Some(line) = lines.next() {
        let frame = line
            .split_once(": ")
            .filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
        let Some((_, symbol)) = frame else {
            continue;
        };
        let at = lines.peek().and_then(|line| line.strip_prefix("at "));
        if let Some(at) = at.filter(|_| sources.is_none()) {
            sources = at.split_once("decide/explain.rs").map(|(root, _)| root);
        }
        let is_here = |at: &str| {
            at.starts_with("/rustc/") || sources.is_some_and(|sources| at.starts_with(sources))
        };
        if !is_ours(symbol) && !at.is_some_and(is_here) {
            return Some(match at {
                Some(at) => format!("{symbol} at {at}"),
                None => symbol.to_string(),
            });
        }
    }
    None
}

/// Whether a function's name says that it belongs to this crate, the standard library or a `rayon` replacement.
fn is_ours(symbol: &str) -> bool {
    let symbol = symbol.trim_start_matches(['<', '&']);
    [
        "manycore::",
        "std::",
        "core::",
        "alloc::",
        "rayon",
        "__rust",
    ]
    .iter()
    .any(|prefix| symbol.starts_with(prefix))
}

/// The records to print when the program ends.
static AT_EXIT: Mutex<Vec<Weak<Explained>>> = Mutex::new(Vec::new());

/// Prints `explained` when the program ends, unless its pool has ended before that.
pub(crate) fn print_at_exit(explained: &Arc<Explained>) {
    let mut all = AT_EXIT.lock().unwrap_or_else(PoisonError::into_inner);
    if all.is_empty() {
        manycore_platform::process::at_exit(print_all);
    }
    // Remove the records of pools that have ended.
    all.retain(|explained| explained.strong_count() > 0);
    all.push(Arc::downgrade(explained));
}

extern "C" fn print_all() {
    // This does not wait for the lock, since a thread may hold the lock for ever.
    let all = AT_EXIT.try_lock().map(|mut all| std::mem::take(&mut *all));
    for explained in all.unwrap_or_default().iter().filter_map(Weak::upgrade) {
        explained.print();
    }
}

impl Explained {
    pub(crate) fn print(&self) {
        for decision in self.decisions() {
            eprint!("manycore: {decision}");
        }
    }
}
