//! Events and their times, in cycles: kept in the host's memory, so that the simulated machine
//! knows nothing of it and takes no time for it.
//!
//! Its mutex is the standard library's. A simulated machine is one host thread, and no thread of
//! the machine is put aside while it holds the mutex, so no thread ever waits.

use manycore_chip::{Simulated, SimulatedThread};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The kinds of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A call from outside, until its first code runs.
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

/// Something that a pool has been given to do, while it can be had.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    /// The only permit that may do it, if there is but one.
    pub(super) only: Option<usize>,
    pub(super) from: u64,
    /// When it was begun. Never: the run ended before.
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
    /// Computing, or waiting for what the user's own code waits for. In order.
    pub(super) leaves: Vec<Span>,
    /// The times inside jobs, including waits. In order, for each thread.
    pub(super) jobs: Vec<Span>,
    /// From when a caller from outside had done its own part of a loop until the loop was
    /// over.
    pub(super) waits: Vec<Span>,
}

/// A loop that has been called.
#[derive(Debug)]
struct Called {
    not_begun: usize,
    /// The end of the first iteration.
    offered: Option<u64>,
    last_begun: u64,
}

#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) items: Vec<Item>,
    pub(super) permits: Vec<PermitLog>,
    /// Leaves that ran where another one was running: the permit, and when.
    pub(super) shared_permits: Vec<(usize, u64)>,
    /// Leaves that ran with no permit.
    pub(super) homeless: usize,
    loops: Vec<Called>,
    /// Each thread's newest leaf: where it ran, and when it ended.
    newest: Vec<(SimulatedThread, usize, u64)>,
}

#[derive(Debug)]
pub(super) struct Recorder(Mutex<Log>);

/// Shorter pauses of a permit are not kept.
const PAUSE: u64 = 2_000;

impl Recorder {
    /// For a pool of this number of threads.
    pub(super) fn new(threads: usize) -> Self {
        // With room for most runs: what grows inside of the simulation takes memory of
        // the simulated machine.
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

    /// Something can be had from `at` on, with the permit `only` if there is but one.
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

    /// An item will be available.
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
        assert!(item.until.is_none(), "begun twice");
        item.until = Some(at);
        // A thief may be ahead of the thread that has pushed it.
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

    /// A leaf ran with `permit`.
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

    /// This thread has run a leaf with `permit` that ended at `to`.
    pub(super) fn newest_leaf(&self, permit: Option<usize>, to: u64) {
        let (mut log, this) = (self.log(), Simulated::this_thread());
        let leaf = (this, permit.unwrap_or(0), to);
        match log.newest.iter_mut().find(|newest| newest.0 == this) {
            Some(newest) => *newest = leaf,
            None => log.newest.push(leaf),
        }
    }

    /// A job, with all that it called, ran with `permit`.
    pub(super) fn job(&self, permit: Option<usize>, from: u64, to: u64) {
        let spans = &mut self.log().permits[permit.unwrap_or(0)].jobs;
        // Jobs that it called itself, or ran while it waited, are recorded already.
        while spans.last().is_some_and(|last| last.from >= from) {
            spans.pop();
        }
        match spans.last_mut() {
            Some(last) if from <= last.to + PAUSE => last.to = last.to.max(to),
            _ => spans.push(Span { from, to }),
        }
    }

    /// This thread, a caller from outside, has waited until `to` for the rest of its loop: since
    /// its newest leaf, of the loop or of an inner one.
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

    /// All that was recorded. Loops become items.
    pub(super) fn take(&self) -> Log {
        let mut log = std::mem::take(&mut *self.log());
        for called in std::mem::take(&mut log.loops) {
            // A loop is available once an iteration has ended; without an owner yet it is a call.
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
