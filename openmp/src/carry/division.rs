//! Plans the ranks (threads of a team) that each worker (a kernel thread) runs in an *episode*, the time from one
//! barrier to the next.
//!
//! T ranks of w seconds each need T/C × w seconds on C workers, if up to C - 1 ranks are *cut* (McNaughton's rule,
//! `manycore_team::seam`). One worker begins such a rank, and another worker finishes it. The rank that arrives last at
//! a barrier plans the next episode before it releases the others. The planned time of a rank is its time in the last
//! episode of the same *interval*, which is the code after the same barrier.
//!
//! Every second episode is planned in reverse order. So the last rank of a worker is the first rank of the same worker
//! in the next episode, and its memory is in that core's cache. A region begins in forward order: the leader is running
//! already, and in that order it is the first rank of worker 0. In reverse order the plan would give worker 0 a rank
//! first that is to be cut. But worker 0 still runs the leader then, so that rank would be too late for its cut.
//!
//! Plans are only advice: the [word](super::ownership) of the rank decides which worker runs it. A worker that reads
//! the plan of an old episode, or a mixture of two plans, runs ranks in another order.

use super::backoff::Backoff;
use super::balance::Balance;
use super::costs;
use super::slices::{SPINS, Slices, TURN};
use super::trials::{Signs, Trials, Way};
use crate::environment::cores::cores;
use crate::environment::settings;
use crate::system::report;
use crate::words::lock::Guarded;
use manycore_platform::{Native, Platform};
use manycore_team::seam::{self, Cut, Planner, Plans, Schedule};
use manycore_team::{Policy, Site};
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::time::Duration;

/// How long a worker may stay with one rank while other ranks wait. After this time the [watchdog](super::watchdog)
/// acts.
pub(super) const STALL: Duration = Duration::from_millis(5);
/// A worker may stay longer with a rank whose planned time is longer, but not longer than this. A step of the
/// processor's counter may have made the planned time absurd.
const LONGEST: Duration = Duration::from_secs(10);

/// Divides the ranks of teams of one size among the workers.
pub(super) struct Division {
    size: usize,
    /// Only the rank that opens an episode touches this and the other cells here.
    planner: UnsafeCell<Planner>,
    turns: UnsafeCell<Vec<Slices>>,
    /// The balances of each interval, in forward and in reverse order. The order decides which of two workers cuts the
    /// rank that they share.
    balances: UnsafeCell<Vec<[Balance; 2]>>,
    backoffs: UnsafeCell<Vec<Backoff>>,
    /// The planned time of each rank in the episode.
    work: UnsafeCell<Vec<u64>>,
    trials: UnsafeCell<Trials>,
    missed: Cell<bool>,
    schedule: Schedule<Native>,
    plans: Plans<Native>,
    /// Core `c` begins a rank, and core `c - 1` finishes it. `heads[c]` is the rank's time on core `c`, and `tails[c]` its
    /// time on core `c - 1`, in ticks. Both are 0 if core `c` begins no rank that is to be cut.
    heads: Box<[AtomicU64]>,
    tails: Box<[AtomicU64]>,
    /// When the last rank of each worker arrived at the barrier. Relaxed: these times are read after all ranks have
    /// arrived.
    done: Box<[AtomicU64]>,
    reversed: AtomicBool,
    /// The length of a rank's turn in ticks, or 0 if ranks have no turns ([`slices`](super::slices)).
    quantum: AtomicU64,
    /// If a worker has not changed ranks for this number of ticks, its rank may be spinning.
    stall: AtomicU64,
    /// How often a signal made ranks leave their workers in this episode, and how often ranks were found waiting for
    /// each other. Relaxed: the rank that plans reads these estimates after a barrier of all ranks.
    cuts: AtomicU32,
    spins: AtomicU32,
    /// Whether a cut rank had to continue at its [home](super::home), because all workers had blocked.
    blocks: AtomicBool,
    /// Whether the ranks run at their homes in this episode.
    is_at_home: AtomicBool,
    /// Whether ranks have blocked in the kernel, and (`passes`) whether all ranks have yielded.
    signs: AtomicBool,
    passes: AtomicBool,
    /// Whether a rank was found spinning on memory.
    has_spun: AtomicBool,
    episode: AtomicU64,
    /// How often ranks were found waiting for each other outside of OpenMP's functions.
    waits: AtomicU64,
}

// SAFETY: only `next`, `miss` and `end_region` touch the six `UnsafeCell`s and `missed`. Their caller is the leader
// that has claimed the team, or the rank of the team that arrived last. No other thread calls them until the caller
// releases the ranks, by the barrier's word or the team's epoch. The next caller has acquired that release. At most one
// team is carried, and `claim` acquires what the leader of the last team has released. All other fields are atomics, or
// consist of atomics (`Schedule`, `Plans`).
unsafe impl Sync for Division {}

/// The ranks that a worker is to run in an episode.
#[derive(Clone, Copy, Default)]
pub(super) struct Part {
    division: Option<&'static Division>,
    first: usize,
    end: usize,
    reversed: bool,
    interval: Option<usize>,
    /// How many ticks the first rank is to run on this worker, or 0 if it runs to its end.
    pub(super) budget: u64,
}

impl Part {
    pub(super) fn len(&self) -> usize {
        self.end - self.first
    }

    /// The length of a turn, in ticks, if ranks have turns. Turns may begin within an episode.
    pub(super) fn quantum(&self) -> Option<u64> {
        let quantum = self.division?.quantum.load(Relaxed);
        (quantum > 0).then_some(quantum)
    }

    /// The number of the member at this place in the order.
    pub(super) fn member(&self, at: usize) -> Option<usize> {
        let place = if self.reversed {
            self.end - 1 - at
        } else {
            self.first + at
        };
        let plans = &self.division?.plans;
        Some(match self.interval {
            Some(interval) => plans.rank(interval, place),
            None => place,
        })
    }
}

/// Returns the division for teams of `size`. The first call for a size makes it.
pub(super) fn of_size(size: usize) -> &'static Division {
    static KNOWN: Guarded<Vec<&'static Division>> = Guarded::new(vec![]);
    let find = |known: &mut Vec<&'static Division>| known.iter().copied().find(|d| d.size == size);
    KNOWN.with(find).unwrap_or_else(|| {
        let new: &'static Division = Box::leak(Box::new(Division::new(size)));
        KNOWN.with(|known| known.push(new));
        new
    })
}

impl Division {
    fn new(size: usize) -> Self {
        let policy = if settings().cuts {
            Policy::Wrap
        } else {
            Policy::Fifo
        };
        let mut planner = Planner::new(policy, size, costs::cut() / 4).always();
        let none = || (0..=size).map(|_| AtomicU64::new(0)).collect();
        planner.begin::<Native>();
        Self {
            size,
            planner: UnsafeCell::new(planner),
            turns: UnsafeCell::new(vec![]),
            balances: UnsafeCell::new(vec![]),
            backoffs: UnsafeCell::new(vec![]),
            work: UnsafeCell::new(Vec::with_capacity(size)),
            trials: UnsafeCell::new(Trials::new()),
            missed: Cell::new(true),
            schedule: Schedule::new(cores().min(size)),
            plans: Plans::new(size, size),
            heads: none(),
            tails: none(),
            done: none(),
            reversed: AtomicBool::new(true),
            quantum: AtomicU64::new(0),
            stall: AtomicU64::new(Native::duration_to_ticks(STALL)),
            cuts: AtomicU32::new(0),
            spins: AtomicU32::new(0),
            blocks: AtomicBool::new(false),
            is_at_home: AtomicBool::new(false),
            signs: AtomicBool::new(false),
            passes: AtomicBool::new(false),
            has_spun: AtomicBool::new(false),
            // Each division counts its episodes from another number. So the number also shows whether a worker's part
            // belongs to another division.
            episode: AtomicU64::new((size as u64) << 48),
            waits: AtomicU64::new(0),
        }
    }

    /// Ends an episode whose times are incomplete.
    pub(super) fn miss(&self) {
        self.missed.set(true);
        // SAFETY: as in `next`.
        unsafe { &mut *self.trials.get() }.interrupt(Native::now);
    }

    /// The leader calls this at a region's end.
    pub(super) fn end_region(&self) {
        // SAFETY: as in `next`.
        unsafe { &mut *self.trials.get() }.interrupt(Native::now);
    }

    /// Chooses whether workers execute the ranks of the episode.
    fn choose_way(&self, site: usize) -> Way {
        let signs = if self.has_spun.load(Relaxed) {
            self.has_spun.store(false, Relaxed);
            Signs::Spun
        } else if self.signs.load(Relaxed) {
            self.signs.store(false, Relaxed);
            Signs::Blocked
        } else if self.passes.load(Relaxed) {
            Signs::Waited
        } else {
            Signs::None
        };
        if signs == Signs::Waited {
            self.passes.store(false, Relaxed);
        }
        // SAFETY: as in `next`.
        let trials = unsafe { &mut *self.trials.get() };
        if trials.passes_over(signs) {
            return Way::Carried;
        }
        let (way, is_new) = trials.begin(site, Native::now(), signs);
        if is_new && settings().displays {
            let what = match way {
                Way::Carried => "are carried again",
                Way::AtHome => "are carried no more",
            };
            report::line(format_args!(
                "teams of {} {what}, which was found to be faster",
                self.size
            ));
        }
        self.is_at_home.store(way == Way::AtHome, Relaxed);
        way
    }

    /// Plans the episode that begins at `site`, an address of the program. All ranks of the team have arrived at the
    /// barrier, or wait for the region that the caller `begins`. The caller releases them after this call. `took`
    /// returns how many ticks a member took in the last episode.
    ///
    /// For a new interval this allocates memory. No rank is inside the program's allocator then, since all have
    /// arrived.
    pub(super) fn next(&self, site: usize, begins: bool, took: impl Fn(usize) -> u64) {
        let way = self.choose_way(site);
        // SAFETY: the caller is the only one until it opens the episode, and this function does not call itself.
        let (planner, turns, balances, backoffs, work) = unsafe {
            (
                &mut *self.planner.get(),
                &mut *self.turns.get(),
                &mut *self.balances.get(),
                &mut *self.backoffs.get(),
                &mut *self.work.get(),
            )
        };
        if let Some(turns) = turns.get_mut(planner.interval()) {
            turns.learn(self.spins.load(Relaxed), self.cuts.load(Relaxed));
        }
        let blocked = self.blocks.load(Relaxed);
        if blocked {
            self.blocks.store(false, Relaxed);
        }
        if let Some(backoff) = backoffs.get_mut(planner.interval()) {
            backoff.learn(blocked);
        }
        if !self.missed.replace(false) {
            planner.close::<Native>((0..self.size).map(took));
            let is_planned = matches!(self.schedule.get().0, seam::Division::Planned(_));
            if is_planned && self.quantum.load(Relaxed) == 0 {
                let done = |worker: usize| self.done[worker].load(Relaxed);
                let way = usize::from(self.reversed.load(Relaxed));
                let balance = &mut balances[planner.interval()][way];
                if self.cuts.load(Relaxed) >= balance.cuts() {
                    balance.learn(done);
                }
            }
        }
        let cores = cores().min(self.size);
        let overhead = costs::cut();
        planner.charge(overhead);
        planner.open(Site::at(site), cores, &self.schedule, &self.plans);
        let interval = planner.interval();
        planner.work(work);
        if balances.len() <= interval {
            balances.resize(interval + 1, Default::default());
        }
        let reversed = !begins && !self.reversed.load(Relaxed);
        self.reversed.store(reversed, Relaxed);
        let balance = &mut balances[interval][usize::from(reversed)];
        balance.begin(site, cores);
        if backoffs.len() <= interval {
            backoffs.resize(interval + 1, Backoff::default());
        }
        let may_cut = backoffs[interval].begin(site);
        if let seam::Division::Planned(interval) = self.schedule.get().0 {
            for core in 1..cores {
                let cut = self.plans.get(interval, core);
                let rank = self.plans.rank(interval, cut.rank.min(self.size - 1));
                let (mut head, mut tail) = (0, 0);
                if let (Some(&work), true) = (work.get(rank), cut.budget > 0 && may_cut) {
                    head = balance.head(core, cut.budget, work + overhead);
                    tail = (work + overhead).saturating_sub(head).max(1);
                }
                self.heads[core].store(head, Relaxed);
                self.tails[core].store(tail, Relaxed);
            }
        }
        if turns.len() <= interval {
            turns.resize(interval + 1, Slices::default());
        }
        let quantum = turns[interval].of_site(site);
        // Plans do not use the times of ranks that run at their homes.
        if way == Way::AtHome {
            self.missed.set(true);
        }
        self.quantum.store(quantum, Relaxed);
        // If ranks spin, their times are not those of their work.
        let work = if quantum > 0 { 0 } else { work.iter().sum() };
        let [least, most] = [STALL, LONGEST].map(Native::duration_to_ticks);
        let stall = work.saturating_mul(2) / cores as u64;
        self.stall.store(stall.clamp(least, most), Relaxed);
        self.spins.store(0, Relaxed);
        self.cuts.store(0, Relaxed);
        // Release: a worker that sees the number of the episode also sees the plan.
        self.episode.fetch_add(1, Release);
    }

    /// Returns the present episode and the worker's part of it, or `None` if the worker knows this episode (`known`).
    pub(super) fn part(&'static self, worker: usize, known: u64) -> Option<(u64, Part)> {
        let episode = self.episode.load(Acquire);
        if episode == known {
            return None;
        }
        let (way, cores) = self.schedule.get();
        let reversed = self.reversed.load(Relaxed);
        let interval = match way {
            seam::Division::Planned(interval) => Some(interval),
            _ => None,
        };
        let cut = |core| match interval {
            Some(interval) => self.plans.get(interval, core),
            None => seam::even(self.size, core, cores),
        };
        let mut part = Part {
            division: Some(self),
            reversed,
            interval,
            ..Part::default()
        };
        if worker < cores {
            let (this, next): (Cut, Cut) = (cut(worker), cut(worker + 1));
            let end = next.rank + usize::from(next.budget > 0);
            part.first = this.rank.min(self.size);
            part.end = end.clamp(part.first, self.size);
            part.budget = if !reversed && this.budget > 0 {
                self.heads[worker].load(Relaxed)
            } else if reversed && next.budget > 0 {
                self.tails[worker + 1].load(Relaxed)
            } else {
                0
            };
        }
        Some((episode, part))
    }

    /// Whether `episode` is the present one. A worker that has taken a rank sees the episode in which the rank was
    /// released, or a later one.
    pub(super) fn is_in(&self, episode: u64) -> bool {
        self.episode.load(Acquire) == episode
    }

    /// Whether the member is this worker's first rank, and runs here to its end.
    pub(super) fn goes_on_with(&'static self, worker: usize, member: usize) -> bool {
        let Some((_, part)) = self.part(worker, u64::MAX) else {
            return false;
        };
        part.budget == 0 && part.len() > 0 && part.member(0) == Some(member)
    }

    /// Called when a rank on this worker has arrived at the barrier.
    pub(super) fn arrived(&self, worker: usize, now: u64) {
        if let Some(done) = self.done.get(worker) {
            done.store(now, Relaxed);
        }
    }

    /// How often ranks have met at barriers, or were found waiting for each other.
    pub(super) fn meetings(&self) -> u64 {
        let waits = self.waits.load(Relaxed);
        self.episode.load(Relaxed).wrapping_add(waits)
    }

    /// A worker has stalled if it has not changed ranks for this number of ticks.
    pub(super) fn stall(&self) -> u64 {
        self.stall.load(Relaxed)
    }

    /// A cut rank continues at its home, since all workers have blocked.
    pub(super) fn found_blocking(&self) {
        self.blocks.store(true, Relaxed);
    }

    /// Whether the ranks run at their homes in this episode. Relaxed: if a rank reads an old value, it goes home later.
    #[inline]
    pub(super) fn is_at_home(&self) -> bool {
        self.is_at_home.load(Relaxed)
    }

    /// Called when a rank has blocked in the kernel, or was about to block.
    pub(super) fn found_trouble(&self) {
        self.signs.store(true, Relaxed);
    }

    /// Called when the turn of a rank is over.
    pub(super) fn end_turn(&self) {
        self.cuts.fetch_add(1, Relaxed);
    }

    /// Called when a rank spins on memory. `has_stalled` says whether the watchdog found the rank. Otherwise the timer
    /// of a planned cut found it, and then nothing is known about other ranks.
    pub(super) fn found_waiting(&self, has_stalled: bool) {
        self.has_spun.store(true, Relaxed);
        self.count_wait(has_stalled);
    }

    /// Called when all ranks have yielded, one after the other.
    pub(super) fn found_yielding(&self) {
        self.passes.store(true, Relaxed);
        self.count_wait(false);
    }

    fn count_wait(&self, has_stalled: bool) {
        self.waits.fetch_add(1, Relaxed);
        if !has_stalled && self.quantum.load(Relaxed) == 0 {
            return;
        }
        self.stall.store(Native::duration_to_ticks(STALL), Relaxed);
        let found = self.spins.fetch_add(1, Relaxed) + 1;
        if found >= SPINS && self.quantum.load(Relaxed) == 0 {
            self.quantum.store(Native::duration_to_ticks(TURN), Relaxed);
        }
    }
}
