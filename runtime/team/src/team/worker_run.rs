use super::Site;
use super::body::{Step, Turn};
use super::plan::{Cut, even};
use super::planner::Division;
use super::rank_cell::NOWHERE;
use super::run::Run;
use super::words::{Episode, OVER, PARKED};
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why a worker leaves a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// The run is over.
    Over,
    /// The allotment has no core for the worker.
    Revoked,
}

/// The next action of a worker in its episode (the work between two barriers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// The worker has no rank (part of a program) to run.
    Waits,
    /// The episode is over.
    Next,
    /// The worker must leave.
    Leaves,
}

/// The longest pause between two looks for a preempted rank, as a multiple of the first pause.
const LONGEST: u64 = 8;

/// A worker in a run.
pub(super) struct WorkerRun<'a, P: Platform> {
    run: &'a Run<P>,
    worker: usize,
    /// The number of ranks that have arrived on this worker and are not announced, how many of them
    /// are done, and the site of the last of them.
    arrived: u32,
    done: u32,
    site: Site,
    /// When the last turn ended.
    clock: u64,
    switches: u64,
    preemptions: u64,
    migrations: u64,
}

impl<'a, P: Platform> WorkerRun<'a, P> {
    pub(super) fn new(run: &'a Run<P>, worker: usize) -> Self {
        let tally = &run.tallies[worker];
        // Relaxed: only this worker writes the tally, which has the counts of its earlier parts in
        // this run.
        let before = |count: &P::AtomicU64| count.load(Ordering::Relaxed);
        Self {
            run,
            worker,
            arrived: 0,
            done: 0,
            site: Site::START,
            clock: 0,
            switches: before(&tally.switches),
            preemptions: before(&tally.preemptions),
            migrations: before(&tally.migrations),
        }
    }

    /// Runs ranks until the run is over or the worker must leave.
    pub(super) fn take_part(mut self) -> Leave {
        loop {
            // Acquire pairs with the release of the worker that opened the episode.
            let opening = Atomic::load(&self.run.opening.word, Ordering::Acquire);
            if opening & OVER != 0 {
                return Leave::Over;
            }
            if !self.may_run() {
                return Leave::Revoked;
            }
            let episode = Episode::of(opening);
            self.clock = P::now();
            let (way, cores) = self.run.opening.schedule.get();
            let mut then = match way {
                Division::Turns(quantum) => self.take_turns(episode, quantum),
                _ => self.run_list(episode, way, cores),
            };
            if self.announce(episode) {
                then = Then::Next;
            }
            if then == Then::Waits {
                then = self.wait(episode);
            }
            if then == Then::Leaves {
                return Leave::Revoked;
            }
        }
    }

    fn may_run(&self) -> bool {
        self.run.allotment.allows(self.worker)
    }

    /// Runs the ranks that the plan gives to this worker.
    fn run_list(&mut self, episode: Episode, way: Division, cores: usize) -> Then {
        if self.worker >= cores {
            return Then::Waits;
        }
        let cut = |core| match way {
            Division::Planned(interval) => self.run.plans.get(interval, core),
            _ => even(self.run.ranks.len(), core, cores),
        };
        let (from, to): (Cut, Cut) = (cut(self.worker), cut(self.worker + 1));
        // The previous core may have a part of the first rank, and the next core may have a part of
        // the last rank.
        let last = to.rank + usize::from(to.budget > 0);
        for place in from.rank..last {
            let rank = match way {
                Division::Planned(interval) => self.run.plans.rank(interval, place),
                _ => place,
            };
            let budget = (place == from.rank && from.budget > 0).then_some(from.budget);
            if self.run.ranks[rank].claim(episode) && !self.run_rank(episode, rank, budget) {
                return Then::Leaves;
            }
            if !self.may_run() {
                return Then::Leaves;
            }
        }
        Then::Waits
    }

    /// Runs a claimed rank, and puts it back if it does not arrive. Returns `false` if the worker
    /// must leave.
    fn run_rank(&mut self, episode: Episode, rank: usize, budget: Option<u64>) -> bool {
        if self.go_on(episode, rank, budget) {
            return true;
        }
        self.put_back(episode, rank);
        self.may_run()
    }

    fn put_back(&mut self, episode: Episode, rank: usize) {
        self.preemptions += 1;
        self.keep_tally();
        self.run.ranks[rank].put_back(episode);
        self.run.tell_sleepers();
    }

    /// Runs ranks in turns of a quantum.
    fn take_turns(&mut self, episode: Episode, quantum: u64) -> Then {
        let mut held = None;
        loop {
            if !self.may_run() {
                if let Some(rank) = held {
                    self.put_back(episode, rank);
                }
                return Then::Leaves;
            }
            // The worker gives its rank back only if it gets another rank.
            let rank = match (self.next_turn(episode), held.take()) {
                (Some(other), held) => {
                    if let Some(rank) = held {
                        self.put_back(episode, rank);
                    }
                    other
                }
                (None, Some(rank)) => rank,
                (None, None) => return Then::Waits,
            };
            if !self.go_on(episode, rank, Some(quantum)) {
                held = Some(rank);
            }
        }
    }

    /// Claims the next rank in a circle.
    fn next_turn(&self, episode: Episode) -> Option<usize> {
        // Relaxed: this is a hint where to look first.
        let turn = self.run.turn.load(Ordering::Relaxed);
        let rank = self.claim_from(episode, turn)?;
        self.run.turn.store(rank + 1, Ordering::Relaxed);
        Some(rank)
    }

    /// Claims the first rank that is ready, in a circle from `start`.
    fn claim_from(&self, episode: Episode, start: usize) -> Option<usize> {
        let ranks = &self.run.ranks;
        let start = start % ranks.len();
        let mut order = (start..ranks.len()).chain(0..start);
        order.find(|&rank| ranks[rank].claim_of_others(episode))
    }

    /// Gives a claimed rank a turn, of `budget` ticks if there is a budget. Returns `false` if the
    /// rank was preempted. In that case the worker still has the rank.
    fn go_on(&mut self, episode: Episode, rank: usize, budget: Option<u64>) -> bool {
        let run = self.run;
        let cell = &run.ranks[rank];
        if run.has_failed() {
            self.bury(episode, rank);
            return true;
        }
        // SAFETY: the rank is claimed, and is given back below or by the caller.
        let inner = unsafe { cell.inner() };
        if inner.is_fresh {
            (inner.is_fresh, inner.took) = (false, 0);
        }
        if inner.worker != self.worker {
            self.migrations += u64::from(inner.worker != NOWHERE);
            inner.worker = self.worker;
        }
        let turn = Turn {
            rank,
            size: run.ranks.len(),
            worker: self.worker,
            deadline: budget.map_or(u64::MAX, |budget| self.clock.saturating_add(budget)),
            opening: &run.opening.word,
            allotment: &run.allotment,
            exchange: &run.exchange,
            stacks: &run.stacks,
            episode,
            not_sync: PhantomData,
        };
        self.switches += 1;
        // SAFETY: the body lives until the run is over, and the run is not over before this rank
        // has arrived. The body belongs to this worker, as `inner` does.
        let body = unsafe { &mut *inner.body };
        // No code looks at the state that a panic leaves: the rank is done.
        let step = catch_unwind(AssertUnwindSafe(|| body.go_on(&turn)));
        let now = P::now();
        inner.took += now.saturating_sub(self.clock);
        self.clock = now;
        let done = match step {
            Ok(Step::Preempted) => {
                if run.has_failed() {
                    self.bury(episode, rank);
                    return true;
                }
                return false;
            }
            Ok(Step::Arrived(site)) => {
                self.site = site;
                inner.site = Some(site);
                false
            }
            Ok(Step::Done) => {
                inner.site = None;
                true
            }
            Err(payload) => {
                run.fail(payload);
                true
            }
        };
        inner.is_fresh = true;
        cell.arrive(episode);
        self.arrived += 1;
        self.done += u32::from(done);
        true
    }

    /// Counts a claimed rank as done, without running it.
    fn bury(&mut self, episode: Episode, rank: usize) {
        self.run.ranks[rank].arrive(episode);
        self.arrived += 1;
        self.done += 1;
    }

    /// Announces the ranks that have arrived on this worker. Returns `true` if this completes the
    /// episode.
    fn announce(&mut self, episode: Episode) -> bool {
        if self.arrived == 0 {
            return false;
        }
        self.keep_tally();
        let (arrived, done) = (self.arrived, self.done);
        (self.arrived, self.done) = (0, 0);
        self.run.announce(arrived, done, self.site, episode)
    }

    fn keep_tally(&self) {
        let tally = &self.run.tallies[self.worker];
        // Relaxed: the worker's next step publishes the counts. That step is an announcement, or it
        // puts back a rank, and the rank's next claimer makes an announcement.
        tally.switches.store(self.switches, Ordering::Relaxed);
        tally.preemptions.store(self.preemptions, Ordering::Relaxed);
        tally.migrations.store(self.migrations, Ordering::Relaxed);
    }

    /// Waits for the next episode. Meanwhile runs ranks that no worker runs.
    fn wait(&mut self, episode: Episode) -> Then {
        let word = &self.run.opening.word;
        let (politeness, patience) = (self.run.politeness, self.run.patience);
        let mut pause = politeness;
        let mut now = P::now();
        let (mut began, mut until) = (now, now + patience);
        let mut seen = episode.opening();
        loop {
            seen = P::spin_while(word, seen, until.min(now + pause));
            now = P::now();
            if seen & OVER != 0 || Episode::of(seen) != episode {
                return Then::Next;
            }
            if !self.may_run() {
                return Then::Leaves;
            }
            // A clock that jumps back (see `Platform::now`) ends the patience.
            let found = if (began..until).contains(&now) {
                self.claim_from(episode, self.own_end())
            } else {
                self.sleep(episode)
            };
            if let Some(rank) = found {
                self.clock = P::now();
                let goes_on = self.help(episode, rank);
                if self.announce(episode) {
                    return Then::Next;
                }
                if !goes_on {
                    return Then::Leaves;
                }
                now = P::now();
                (pause, began, until) = (0, now, now + patience);
                continue;
            }
            pause = (2 * pause).clamp(politeness, LONGEST * politeness);
        }
    }

    /// Runs a claimed rank of another worker, and then more ranks that are ready. Returns `false`
    /// if the worker must leave.
    ///
    /// These ranks are announced together. This delays no worker, since the episode cannot end
    /// before the last of them has arrived.
    fn help(&mut self, episode: Episode, mut rank: usize) -> bool {
        loop {
            if !self.run_rank(episode, rank, None) || !self.may_run() {
                return false;
            }
            match self.claim_from(episode, rank + 1) {
                Some(next) => rank = next,
                None => return true,
            }
        }
    }

    /// The end of this worker's own ranks, if ranks are divided by number. The worker looks for
    /// other ranks from there on.
    fn own_end(&self) -> usize {
        let (_, cores) = self.run.opening.schedule.get();
        even(self.run.ranks.len(), self.worker + 1, cores.max(1)).rank
    }

    /// Claims a rank that no worker runs. If there is no such rank, sleeps until the next episode
    /// or until a rank is put back.
    ///
    /// # No wake-up is lost
    ///
    /// See `README.md`. This worker sets PARKED, executes a fence, looks and sleeps. A worker that
    /// puts a rank back executes a fence and looks for PARKED. The opening swaps the word.
    #[cold]
    fn sleep(&self, episode: Episode) -> Option<usize> {
        let word = &self.run.opening.word;
        // Relaxed: the fence orders this exchange before the look below, and the word's
        // modification order orders it against the opening.
        let before = word.fetch_or(PARKED, Ordering::Relaxed);
        if before & OVER != 0 || Episode::of(before) != episode {
            return None;
        }
        P::fence_after_rmw();
        let found = self.claim_from(episode, self.own_end());
        // If a rank is found, PARKED stays set, and another worker makes a needless system call.
        if found.is_none() {
            Futex::wait(word, before | PARKED, None);
        }
        found
    }
}
