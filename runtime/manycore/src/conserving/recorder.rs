//! Records events and their times in cycles. A *leaf* is user code without calls into the pool. The record is in the
//! host's memory and takes no simulated time.
//!
//! The recorder uses the standard library's mutex. One host thread runs all threads of a simulated machine, and no
//! thread is suspended while it holds the mutex. So no thread ever waits for the mutex.

use manycore_chip::{Simulated, SimulatedThread};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The kinds of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A call from outside the pool.
    Call,
    /// Iterations of a loop.
    Loop,
    /// The second half of a join.
    Half,
    /// A job of a scope.
    Scoped,
    /// A detached job.
    Detached,
    /// One thread's call of a broadcast.
    Broadcast,
}

/// A piece of a pool's work, and when it was available.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    /// The only permit (right to run jobs) with which the item may run, or `None` if any permit will do.
    pub(super) only: Option<usize>,
    pub(super) from: u64,
    /// When the item was begun. `None` if the run ended before that.
    pub(super) until: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: u64,
    pub(super) to: u64,
}

/// The record of one permit of the pool.
#[derive(Debug, Default)]
pub(super) struct PermitLog {
    /// The times, in order, when user code computed, or waited without the pool's help.
    pub(super) leaves: Vec<Span>,
    /// The times inside jobs, including waits. For each thread they are in order.
    pub(super) jobs: Vec<Span>,
    /// The times when a caller from outside had done its own part of a loop, and waited for the other parts.
    pub(super) waits: Vec<Span>,
}

/// A loop that has been called.
#[derive(Debug)]
struct Called {
    not_begun: usize,
    /// When the first iteration ended.
    offered: Option<u64>,
    last_begun: u64,
}

#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) items: Vec<Item>,
    pub(super) permits: Vec<PermitLog>,
    /// The permits and times when a leaf began while another leaf with this permit was running.
    pub(super) shared_permits: Vec<(usize, u64)>,
    /// The number of leaves that ran without a permit.
    pub(super) homeless: usize,
    loops: Vec<Called>,
    /// Each thread's newest leaf: its permit, and when it ended.
    newest: Vec<(SimulatedThread, usize, u64)>,
}

#[derive(Debug)]
pub(super) struct Recorder(Mutex<Log>);

/// Pauses of a permit that are shorter than this, in cycles, are ignored.
const PAUSE: u64 = 2_000;

impl Recorder {
    /// Makes a recorder for a pool of this number of threads.
    pub(super) fn new(threads: usize) -> Self {
        // The capacity is enough for most runs: a vector that grows during the simulation takes the
        // simulated machine's memory.
        let permit = || PermitLog {
            leaves: Vec::with_capacity(1 << 10),
            jobs: Vec::with_capacity(1 << 10),
            waits: Vec::with_capacity(1 << 8),
        };
        Self(Mutex::new(Log {
            items: Vec::with_capacity(1 << 14),
            permits: (0..threads).map(|_| permit()).collect(),
            loops: Vec::with_capacity(1 << 10),
            newest: Vec::with_capacity(1 << 8),
            ..Log::default()
        }))
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An item is available from `at` on, to the permit `only` or to all. Returns its number.
    pub(super) fn offer(&self, kind: Kind, only: Option<usize>, at: u64) -> usize {
        let items = &mut self.log().items;
        items.push(Item {
            kind,
            only,
            from: at,
            until: None,
        });
        items.len() - 1
    }

    /// Announces that an item will be available later. Returns its number.
    pub(super) fn announce(&self, kind: Kind) -> usize {
        self.offer(kind, None, u64::MAX)
    }

    /// The announced item is available from `at` on.
    pub(super) fn offer_announced(&self, item: usize, at: u64) {
        let item = &mut self.log().items[item];
        item.from = item.from.min(at);
    }

    pub(super) fn begin(&self, item: usize, at: u64) {
        let item = &mut self.log().items[item];
        assert!(item.until.is_none(), "an item began twice");
        item.until = Some(at);
        // A thief may begin the item before its owner has recorded the offer.
        item.from = item.from.min(at);
    }

    pub(super) fn call_loop(&self, iterations: usize) -> usize {
        let loops = &mut self.log().loops;
        loops.push(Called {
            not_begun: iterations,
            offered: None,
            last_begun: 0,
        });
        loops.len() - 1
    }

    pub(super) fn begin_iteration(&self, of: usize, at: u64) {
        let called = &mut self.log().loops[of];
        called.not_begun -= 1;
        called.last_begun = called.last_begun.max(at);
    }

    pub(super) fn end_iteration(&self, of: usize, at: u64) {
        self.log().loops[of].offered.get_or_insert(at);
    }

    pub(super) fn leaf(&self, permit: Option<usize>, from: u64, to: u64) {
        let mut log = self.log();
        if permit.is_none() {
            log.homeless += 1;
        }
        let permit = permit.unwrap_or(0);
        let spans = &mut log.permits[permit].leaves;
        match spans.last_mut() {
            Some(last) if from < last.to => {
                last.to = last.to.max(to);
                last.from = last.from.min(from);
                log.shared_permits.push((permit, from));
            }
            Some(last) if from - last.to <= PAUSE => last.to = to,
            _ => spans.push(Span { from, to }),
        }
    }

    /// This thread's newest leaf ran with `permit` and ended at `to`.
    pub(super) fn newest_leaf(&self, permit: Option<usize>, to: u64) {
        let (mut log, this) = (self.log(), Simulated::this_thread());
        let leaf = (this, permit.unwrap_or(0), to);
        match log.newest.iter_mut().find(|newest| newest.0 == this) {
            Some(newest) => *newest = leaf,
            None => log.newest.push(leaf),
        }
    }

    /// A job ran with `permit`, including its calls and waits.
    pub(super) fn job(&self, permit: Option<usize>, from: u64, to: u64) {
        let spans = &mut self.log().permits[permit.unwrap_or(0)].jobs;
        // Removes inner jobs, which this job called or ran during its waits: their time is a part of this job's time.
        while spans.last().is_some_and(|last| last.from >= from) {
            spans.pop();
        }
        match spans.last_mut() {
            Some(last) if from <= last.to + PAUSE => last.to = last.to.max(to),
            _ => spans.push(Span { from, to }),
        }
    }

    /// This thread, a caller from outside, has waited for the rest of its loop, from its newest leaf until
    /// `to`.
    pub(super) fn end_of_call(&self, to: u64) {
        let (log, this) = (self.log(), Simulated::this_thread());
        let newest = log.newest.iter().find(|newest| newest.0 == this).copied();
        drop(log);
        if let Some((_, permit, from)) = newest {
            self.wait(permit, Span { from, to });
        }
    }

    /// A caller from outside waited with `permit`.
    pub(super) fn wait(&self, permit: usize, during: Span) {
        self.log().permits[permit].waits.push(during);
    }

    /// Takes the record. Loops become items.
    pub(super) fn take(&self) -> Log {
        let mut log = std::mem::take(&mut *self.log());
        for called in std::mem::take(&mut log.loops) {
            // A loop becomes available when its first iteration ends. Until then it counts as a call.
            let Some(from) = called.offered else { continue };
            let until = (called.not_begun == 0).then_some(called.last_begun);
            if until.is_none_or(|until| until > from) {
                log.items.push(Item {
                    kind: Kind::Loop,
                    only: None,
                    from,
                    until,
                });
            }
        }
        log
    }
}
