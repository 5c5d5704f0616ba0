//! The data that the workers of a run share. `README.md` in this folder describes the protocol.

use super::exchange::ValueExchange;
use super::planner::{Planner, Plans, Schedule};
use super::rank_cell::{RankCell, wake_all};
use super::words::{Episode, OVER, PARKED, STOP};
use super::{Body, Policy, Report, Site};
use crate::fiber::Stacks;
use manycore_cores::elastic::Allotment;
use manycore_cores::sync::Lock;
use manycore_cores::sync::{Payload, let_go};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::time::Duration;

/// In `arrived` the low half counts the ranks (parts of the program) that have arrived at the end of the episode (the
/// work between two barriers), and the high half counts how many of these ranks are done.
const DONE_SHIFT: u32 = 16;
/// The largest number of ranks that each half can count.
pub(super) const MOST_RANKS: usize = u16::MAX as usize;

#[derive(Clone, Debug)]
pub(super) struct TeamSettings {
    pub(super) policy: Policy,
    /// How long a worker without a rank stays awake.
    pub(super) patience: Duration,
    /// The cost of preempting a rank and continuing it on another worker.
    pub(super) switch_cost: Duration,
}

/// The cache line that all workers read. It is written when an episode is opened, when a worker
/// falls asleep, and when the run is stopped.
pub(super) struct EpisodeOpening<P: Platform> {
    pub(super) word: P::Futex,
    pub(super) schedule: Schedule<P>,
}

/// The counts of a worker, on a cache line of its own. The worker writes them before it gives ranks
/// away.
pub(super) struct Tally<P: Platform> {
    pub(super) switches: P::AtomicU64,
    pub(super) preemptions: P::AtomicU64,
    pub(super) migrations: P::AtomicU64,
}

pub(super) struct Run<P: Platform> {
    pub(super) opening: CachePadded<EpisodeOpening<P>>,
    /// The number of ranks whose arrival in this episode has been announced.
    arrived: CachePadded<P::AtomicU32>,
    /// The next rank, in an episode in which ranks take turns. This is a hint.
    pub(super) turn: CachePadded<P::AtomicUsize>,
    pub(super) ranks: Box<[CachePadded<RankCell<P>>]>,
    pub(super) plans: Plans<P>,
    /// The planner belongs to the worker that completes an episode, until that worker opens the
    /// next episode.
    planner: UnsafeCell<Planner>,
    episodes: UnsafeCell<u64>,
    pub(super) tallies: Box<[CachePadded<Tally<P>>]>,
    pub(super) allotment: Allotment<P>,
    pub(super) exchange: ValueExchange,
    pub(super) stacks: Arc<Stacks<P>>,
    /// The first panic of the run.
    failure: Lock<P, Option<Payload>>,
    workers: usize,
    pub(super) patience: u64,
    pub(super) politeness: u64,
}

// SAFETY: the planner and the count of episodes belong to one worker at a time: the worker whose
// announcement completed an episode, until that worker opens the next episode. All other
// announcements come before that announcement in the modification order of `arrived`. All other
// fields are made to be shared.
unsafe impl<P: Platform> Sync for Run<P> {}
// SAFETY: as above.
unsafe impl<P: Platform> Send for Run<P> {}

/// How long a worker without ranks leaves the ranks of other workers alone. Those workers may be
/// about to run their ranks, and then taking over the ranks' cache lines costs both workers more
/// than it helps.
const POLITENESS: Duration = Duration::from_micros(1);

impl<P: Platform> Run<P> {
    /// Makes a run of these bodies by `workers` workers.
    ///
    /// # Safety
    ///
    /// The bodies live until the run is over, and no other code touches them until then.
    pub(super) unsafe fn new<'a>(
        bodies: impl ExactSizeIterator<Item = *mut (dyn Body<P> + 'a)>,
        workers: usize,
        allotment: Allotment<P>,
        stacks: Arc<Stacks<P>>,
        settings: &TeamSettings,
    ) -> Self {
        let ranks = bodies.len();
        let workers = workers.min(ranks);
        let cell = |body: *mut (dyn Body<P> + 'a)| {
            // SAFETY: the same pointer with a longer lifetime. It is used until the run is over,
            // and by the contract the body lives until then.
            let body = unsafe {
                std::mem::transmute::<*mut (dyn Body<P> + 'a), *mut (dyn Body<P> + 'static)>(body)
            };
            CachePadded::new(RankCell::new(body))
        };
        let tally = |_| {
            CachePadded::new(Tally {
                switches: P::AtomicU64::new(0),
                preemptions: P::AtomicU64::new(0),
                migrations: P::AtomicU64::new(0),
            })
        };
        let switch = P::duration_to_ticks(settings.switch_cost).max(1);
        let mut planner = Planner::new(settings.policy, ranks, switch);
        planner.begin::<P>();
        let cores = allotment.cores().min(workers);
        let run = Self {
            opening: CachePadded::new(EpisodeOpening {
                word: Atomic::new(Episode::FIRST.opening()),
                schedule: Schedule::new(cores),
            }),
            arrived: CachePadded::new(P::AtomicU32::new(0)),
            turn: CachePadded::new(P::AtomicUsize::new(0)),
            ranks: bodies.map(cell).collect(),
            plans: Plans::new(workers, ranks),
            planner: UnsafeCell::new(planner),
            episodes: UnsafeCell::new(0),
            tallies: (0..workers).map(tally).collect(),
            allotment,
            exchange: ValueExchange::new(ranks),
            stacks,
            failure: Lock::new(None),
            workers,
            patience: P::duration_to_ticks(settings.patience),
            politeness: P::duration_to_ticks(POLITENESS.min(settings.patience)),
        };
        P::name(&*run.opening, "team: opening");
        P::name(&*run.arrived, "team: arrived");
        for rank in &run.ranks {
            P::name(&**rank, "team: rank");
        }
        run
    }

    /// The number of workers that may take part, which is at most the number of ranks.
    pub(super) fn workers(&self) -> usize {
        self.workers
    }

    pub(super) fn is_over(&self) -> bool {
        // Acquire: the caller, which returns from the run, sees the work of the ranks.
        Atomic::load(&self.opening.word, Ordering::Acquire) & OVER != 0
    }

    pub(super) fn has_failed(&self) -> bool {
        // Relaxed: this look only keeps a worker from beginning more work.
        Atomic::load(&self.opening.word, Ordering::Relaxed) & STOP != 0
    }

    /// Ends the run because of a panic. Keeps the first panic. Does not unwind: other ranks still
    /// run, on bodies that are on the stack of `Team::run`.
    pub(super) fn fail(&self, payload: Payload) {
        let later = self.failure.with(|failure| match failure {
            Some(_) => Some(payload),
            None => {
                *failure = Some(payload);
                None
            }
        });
        // This is not done under the lock, because it runs the destructor of a user's type.
        if let Some(later) = later {
            let_go(later);
        }
        // Relaxed: the caller holds a rank, and announces its arrival later, by a release. No
        // worker need wake up for this: the caller counts the ranks that are ready as done, and a
        // worker that runs a rank ends by itself.
        self.opening.word.fetch_or(STOP, Ordering::Relaxed);
    }

    /// Wakes all workers that sleep or are about to, because there is a rank to claim. Called after
    /// [`RankCell::put_back`].
    pub(super) fn tell_sleepers(&self) {
        let word = &self.opening.word;
        // Relaxed: the fence of `put_back` orders this load after the write of the rank's word.
        // That fence pairs with the fence of a worker that falls asleep: see `README.md`.
        if Atomic::load(word, Ordering::Relaxed) & PARKED != 0 {
            // Relaxed: this publishes nothing. The word changes, so a worker that is about to fall
            // asleep stays awake.
            word.fetch_and(!PARKED, Ordering::Relaxed);
            wake_all::<P>(word);
        }
    }

    /// Announces that `arrived` more ranks have arrived, of which `done` are at their ends. The
    /// last rank has arrived at `site`. Returns whether the episode is complete. If so, the next
    /// episode is open, or the run is over.
    pub(super) fn announce(&self, arrived: u32, done: u32, site: Site, episode: Episode) -> bool {
        let news = arrived | done << DONE_SHIFT;
        // Release publishes the ranks' work and their words. Acquire makes the work and words of
        // all other ranks visible to the worker that completes the episode. All announcements are
        // one chain of read-modify-writes.
        let all = self.arrived.fetch_add(news, Ordering::AcqRel) + news;
        if (all & u32::from(u16::MAX)) as usize != self.ranks.len() {
            return false;
        }
        // Relaxed: the opening publishes it, and no worker makes an announcement before the
        // opening.
        self.arrived.store(0, Ordering::Relaxed);
        self.complete((all >> DONE_SHIFT) as usize, site, episode);
        true
    }

    /// Opens the next episode, or ends the run. Called when all ranks have arrived.
    fn complete(&self, done: usize, site: Site, episode: Episode) {
        // SAFETY: all ranks have arrived, and the next episode is not open.
        let (planner, episodes) = unsafe { (&mut *self.planner.get(), &mut *self.episodes.get()) };
        *episodes += 1;
        let size = self.ranks.len();
        if done > 0 && done < size && !self.has_failed() {
            let mut sites = self.ranks.iter().map(|rank| {
                // SAFETY: as above.
                unsafe { rank.inner() }.site
            });
            let site = sites.find_map(|site| site).unwrap_or(site);
            let why = format!(
                "{done} of {size} ranks have ended, and the others wait for them at {site}"
            );
            self.fail(Box::new(why));
        }
        if done == size || self.has_failed() {
            return self.open(episode.opening() | OVER);
        }
        planner.close::<P>(self.ranks.iter().map(|rank| {
            // SAFETY: as above.
            unsafe { rank.inner() }.took
        }));
        let cores = self.allotment.cores().min(self.workers);
        planner.open(site, cores, &self.opening.schedule, &self.plans);
        self.open(episode.next().opening());
    }

    fn open(&self, word: u32) {
        // Release publishes the ranks' work, the schedule, and this worker's use of the planner.
        // The swap also takes PARKED: a worker that set it before is woken, and a worker that sets
        // it later sees the new word.
        let before = self.opening.word.swap(word, Ordering::Release);
        if before & PARKED != 0 {
            wake_all::<P>(&self.opening.word);
        }
    }

    /// The statistics of the run, or its first panic.
    ///
    /// # Safety
    ///
    /// The run is over.
    pub(super) unsafe fn result(&self) -> Result<Report, Payload> {
        if let Some(payload) = self.failure.with(Option::take) {
            return Err(payload);
        }
        let sum = |of: fn(&Tally<P>) -> &P::AtomicU64| {
            let of = |tally: &CachePadded<Tally<P>>| of(tally).load(Ordering::Relaxed);
            self.tallies.iter().map(of).sum()
        };
        Ok(Report {
            // SAFETY: no worker completes an episode any more, and the caller has acquired the last
            // opening.
            episodes: unsafe { *self.episodes.get() },
            switches: sum(|tally| &tally.switches),
            preemptions: sum(|tally| &tally.preemptions),
            migrations: sum(|tally| &tally.migrations),
        })
    }
}
