//! How [`adaptive`](super::adaptive) posts a loop. Threads claim the iterations from a counter if the loop has few
//! iterations, and otherwise from ranges. While all workers are busy, a nested loop runs on its caller.

use super::adaptive::Launch;
use super::claims::{Adaptive, Few};
use super::inline_run::{Inline, InlineRun};
use super::launch::{Posted, Wake};
#[cfg(test)]
use crate::conserving::fault::{self, Fault};
use crate::decide::{Reason, Run};
use crate::partition::FixedBlock;
use crate::pool::Context;
use crate::times::{LAUNCH_NS, MAX_BLOCK_NS};
use manycore_platform::{Atomic, Ordering, Platform};
use std::num::NonZeroUsize;

/// If a loop takes less than this share of the time that the caller alone would take, its helpers have saved time.
const GAINS: f32 = 0.9;
/// If a loop has at most this many iterations for each thread, and they are long, each iteration is a block of its own.
const FEW_BLOCKS: usize = 2;

impl<P: Platform> Launch<'_, P> {
    /// Runs a nested loop inline while every worker is busy, since no helper would come. Returns the number of
    /// iterations that are done once a thread is idle.
    fn run_while_all_busy(&self, mut done: usize) -> usize {
        let long = 20.0 * self.post_ticks();
        let mut block = 1_usize;
        while done < self.n && !self.pool.has_idle_permit() {
            let to = self.n.min(done.saturating_add(block));
            let took = self.time(done, to);
            block = if took < long {
                block.saturating_mul(2)
            } else {
                // The iterations have become longer. The next block has the number of iterations that take `long`
                // ticks at this rate.
                ((block as f32 * long / took) as usize).max(1)
            };
            done = to;
        }
        done
    }

    /// Like `run_while_all_busy`. If an iteration waits, this thread may have another permit afterwards.
    fn run_before_posting(&self, done: usize) -> usize {
        #[cfg(test)]
        if fault::is(Fault::StaleRank) {
            let shared = self.pool.shared();
            return Context::with_stale_permit(shared, || self.run_while_all_busy(done));
        }
        self.run_while_all_busy(done)
    }

    /// Posts the iterations from `done` on, of about `each` ticks each, and records how long they took. `woken` says
    /// whether all helpers were asleep, and so one helper had to be woken.
    pub(super) fn post(&self, done: usize, each: f32, wake: Wake, woken: bool) -> Reason {
        let Some(shared) = self.share(done, each, wake) else {
            return Reason::Crowded;
        };
        let ticks_per_ns = self.pool.shared().ticks_per_ns();
        let took = shared.took + LAUNCH_NS * ticks_per_ns;
        if took < GAINS * self.work(done, each) {
            self.pool.shared().idle().helped();
        }
        let run = Run {
            n: self.n - done,
            took,
            own: shared.own,
            own_n: shared.own_n,
            aside: self.was_aside(self.choice(), shared.own_n, shared.own),
            woken,
        };
        #[cfg(test)]
        if fault::is(Fault::MeanDecides) {
            self.update(|choice| choice.ran_shared_by_mean(run));
            return Reason::Shared;
        }
        let units = self.pool.shared().call_sites().units();
        self.update(|choice| choice.ran_shared(run, units));
        Reason::Shared
    }

    /// Shares the iterations from `done` on with the threads that join. Each iteration takes about `each` ticks (0
    /// if unknown). Returns `None` if the iterations have run inline.
    pub(super) fn share(&self, mut done: usize, each: f32, wake: Wake) -> Option<Posted> {
        let pool = self.pool;
        let watched = self.inline.watched;
        if Context::is_in_loop(pool.shared()) && (watched.is_some() || !self.may_meet()) {
            done = self.run_before_posting(done);
        }
        let end = watched.map_or(self.n, InlineRun::claim_all);
        if done >= end {
            return None;
        }
        let n = end - done;
        let Inline { body, start, .. } = self.inline;
        let range = start + done..start + end;
        let threads = pool.shared().allowed();
        // Iterations that wait for each other are never in one block, however few threads may run now.
        let few = n <= FEW_BLOCKS * threads && self.are_long(each, threads);
        let posted = if few || self.may_meet() {
            // The few iterations are claimed one by one from one counter. The counter is in the loop's frame, so a
            // helper fetches its cache line along with the frame. The thread that claims the last iteration leaves
            // without another look.
            let in_turn = P::AtomicBool::new(false);
            let posted = pool.post(body, range, wake, |shares| Few::<P> {
                counter: FixedBlock::new(n, NonZeroUsize::MIN, pool.shared().threads()),
                ended: (pool.shared().clusters().count() > 1).then(|| P::AtomicBool::new(false)),
                in_turn: &in_turn,
                caller: shares.caller,
                watched: watched.map(|watched| (watched, done)),
            });
            // Relaxed: this hint affects only time.
            self.in_turn.set(in_turn.load(Ordering::Relaxed));
            posted
        } else {
            // The predicted time may be wrong, and after each block the caller can still wake helpers and invite
            // clusters. So if the caller woke no helper, or did not invite all clusters, its first block is one
            // iteration.
            let tries = matches!(wake, Wake::Late(_));
            pool.post(body, range, wake, |shares| Adaptive {
                ranges: shares.of(n),
                guess: each,
                claim: pool.shared().claim_ticks(),
                max_ticks: MAX_BLOCK_NS * pool.shared().ticks_per_ns(),
                caller: shares.caller as u32,
                tries: tries || !shares.are_for_all(),
                all_try: pool.shared().clusters().count() > 1,
            })
        };
        if posted.is_none() {
            self.run_refused(done, end);
        }
        posted
    }

    /// Whether iterations of `each` ticks (0 if unknown) are so long that `threads` threads may claim them one by one
    /// from one counter. Each claim transfers the counter's line. While that line crosses clusters, one thread waits
    /// for the others. So an iteration must be longer than a transfer for each thread.
    fn are_long(&self, each: f32, threads: usize) -> bool {
        let shared = self.pool.shared();
        let one_cluster = shared.clusters().count() == 1;
        one_cluster || each == 0.0 || each >= threads as f32 * shared.idle().transfer()
    }

    /// Runs iterations `from..to` alone, since the board, where loops are posted, is full.
    #[cold]
    fn run_refused(&self, from: usize, to: usize) {
        let inline = self.inline;
        if inline.watched.is_none() && self.may_meet() {
            let n = to - from;
            let run = InlineRun::new(self.pool, inline.body, inline.start + from, n);
            if run.watch(self.pool, || run.run(0, n)).is_some() {
                return;
            }
        }
        self.run_inline(from, to);
    }
}
