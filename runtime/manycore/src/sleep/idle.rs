//! The next action of a worker without work, and the cost of waking it.

use super::announcements::Announcements;
use super::inter_arrival::InterArrival;
use super::other_processes::OtherProcesses;
use super::period::View;
use crate::decide::Samples;
use crate::times::{CLOSING_NS, LATENESS_NS, WAKE_NS};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::time::Duration;

/// A pool's data about its idle times: event counts that announce work, gaps between loops, and measured
/// latencies that decide whether to wake a worker.
pub struct Idle<P: Platform> {
    pub(crate) events: Announcements<P>,
    inter_arrival: CachePadded<InterArrival<P>>,
    costs: CachePadded<Costs<P>>,
    /// The number of callers from outside the pool that have begun to wait and do not run again
    /// yet.
    callers: CachePadded<P::AtomicU32>,
    other_processes: OtherProcesses<P>,
    /// The longest time that a worker spins for the next loop, in ticks.
    spin_budget: u64,
    /// In a pool with more threads than cores: the number of cores minus the caller's core. Workers
    /// whose number is higher do not help with short loops, and never spin.
    seated: Option<usize>,
}

/// Measured latencies in ticks. All accesses are relaxed and racy, because only speed depends on these
/// estimates.
struct Costs<P: Platform> {
    /// The time from the call that rouses a sleeper to the sleeper's first instruction.
    wake: Samples<P>,
    /// The time from the alarm of a timed sleep to the sleeper's first instruction.
    lateness: Samples<P>,
    /// The time that loops have lost for lack of an awake worker. It restarts from 0 when such
    /// losses make a loop wake a worker.
    missed: P::AtomicU64,
    /// The time that a caller takes to close a loop's gate (the entrance for helpers) for one cluster (a group of near
    /// workers).
    closing: Samples<P>,
    /// The number of workers that were woken because of `missed` since an awake worker last shortened a loop.
    in_vain: P::AtomicU32,
}

/// Why a waiting worker looks for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// Something was posted while the worker was awake.
    Spinning,
    /// The worker was asleep, so other workers may be asleep too.
    Sleeping,
}

/// A worker's last action before it ran out of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The worker helped with a loop, which ends about now.
    Helping,
    /// The worker woke from sleep and found no work. The next loop of the same series may be near.
    Sleeping,
    /// The worker looked for work and found none.
    Looking,
}

/// How a worker waits for an expected loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimedWait {
    /// When to wake up, in ticks. This is in the past if the loop may come at any moment.
    pub(super) alarm: u64,
    /// When to stop spinning after the alarm.
    pub(super) until: u64,
    /// How long to sleep if the loop has not come by `until`. During this sleep the loop may come
    /// without waking this worker, which then finds it in the record of gaps.
    pub(super) timeout: u64,
    /// The core on which the worker must not spin.
    pub(super) core: usize,
}

/// One worker spins for expected loops for at most one part in `DUTY` of its time.
const DUTY: u64 = 8;
/// The largest spin budget. With this limit no sum of clock readings overflows.
const LONGEST_SPIN: Duration = Duration::from_secs(3600);
/// Each further cluster adds to a loop this many successive transfers of a cache line between
/// clusters. One transfer closes the cluster's gate.
const TRANSFERS: f32 = 3.0;
/// The greatest width of a window in which a loop is expected, as a multiple of the spin budget. The width is limited
/// because a window saves only one wake-up.
const WIDEST: u64 = 8;
/// All workers help with a loop that lasts longer than this many wake-ups, even if threads outnumber cores,
/// because its body may block.
const LONG: f32 = 20.0;
/// If the next loop cannot be predicted, the time that counts as missed for lack of an awake worker
/// is the loop's work divided by this.
const UNFORESEEABLE: f32 = 128.0;
/// The price of a wake-up doubles at most this many times.
const DOUBLINGS: u32 = 6;

impl<P: Platform> Idle<P> {
    /// `seated` is the number of cores minus the caller's core, if threads outnumber cores.
    /// `clusters` is the number of the workers' clusters.
    pub fn new(spin_budget: Duration, seated: Option<usize>, clusters: usize) -> Self {
        let ticks = |ns| P::duration_to_ticks(Duration::from_nanos(ns));
        Self {
            events: Announcements::new(clusters),
            inter_arrival: CachePadded::new(InterArrival::new()),
            costs: CachePadded::new(Costs {
                wake: Samples::new(ticks(WAKE_NS)),
                lateness: Samples::new(ticks(LATENESS_NS)),
                closing: Samples::new(ticks(CLOSING_NS)),
                missed: P::AtomicU64::new(0),
                in_vain: P::AtomicU32::new(0),
            }),
            callers: CachePadded::new(P::AtomicU32::new(0)),
            other_processes: OtherProcesses::new(),
            spin_budget: P::duration_to_ticks(spin_budget.min(LONGEST_SPIN)),
            seated,
        }
    }

    /// Records a loop that was posted, or that would have been posted if a worker had been awake. `caller` is as in
    /// [`InterArrival::loop_ended`].
    pub(crate) fn loop_ended(&self, caller: usize, started: u64, ended: u64) {
        self.inter_arrival
            .loop_ended(caller, started, ended, self.spin_budget);
    }

    /// Returns how many of `helpers` are useful to a loop of `work` ticks (infinite if unknown). In a pool
    /// with more threads than cores, a helper that waits for a core delays the end of a short loop.
    pub(crate) fn helpers(&self, work: f32, helpers: usize) -> usize {
        if work > LONG * self.wake_cost() as f32 {
            return helpers;
        }
        self.seated
            .map_or(helpers, |seated| helpers.min(seated.max(1)))
    }

    /// The typical time to wake a worker, in ticks.
    pub(crate) fn wake_cost(&self) -> u64 {
        self.costs.wake.recent().typical().unwrap_or(0.0) as u64
    }

    /// The time that each invited cluster adds to a loop, in ticks.
    pub(crate) fn cluster_cost(&self) -> f32 {
        TRANSFERS * self.transfer()
    }

    /// The time of a transfer of a cache line between clusters, in ticks, if several transfers overlap. It is a guess in
    /// a pool of one cluster.
    pub(crate) fn transfer(&self) -> f32 {
        self.costs.closing.recent().typical().unwrap_or(0.0)
    }

    /// Records that a caller took `ticks` to close the gates of `clusters` clusters.
    pub(crate) fn learn_closing(&self, ticks: u64, clusters: usize) {
        self.costs.closing.add(ticks / clusters as u64);
    }

    /// Returns whether a loop of `work` ticks should wake a sleeper: the loop is longer than a wake-up, or loops have
    /// lost enough for lack of an awake worker. If the loop is shorter, [adds its loss](Self::add_loss).
    pub(crate) fn pays_to_wake(&self, work: f32) -> bool {
        work > 1.25 * self.wake_cost() as f32 || self.add_loss(work)
    }

    /// Adds the time that a loop of `work` ticks loses for lack of an awake worker. Returns whether the loops have lost
    /// so much that it pays to wake a worker. If so, the sum begins anew.
    ///
    /// A short loop gains only if more loops follow while the woken worker still spins. So the lost time is added up,
    /// and a worker is woken once the sum exceeds the price of a wake-up. This costs at most about twice as much as
    /// never waking or always waking, whichever is better (the ski-rental argument). After each wake-up without gain
    /// the price doubles, so useless wake-ups become rare.
    pub(crate) fn add_loss(&self, work: f32) -> bool {
        let wake = self.wake_cost();
        // If the woken worker would sleep again before the next loop, less time counts as lost, so wake-ups are rare.
        let foreseeable = self.spins(1) && self.inter_arrival.next_is_foreseeable();
        let share = if foreseeable { 2.0 } else { UNFORESEEABLE };
        let missed = self.costs.missed.load(Ordering::Relaxed) + (work / share) as u64;
        let in_vain = self.costs.in_vain.load(Ordering::Relaxed);
        let pays = missed > wake.max(1) << in_vain;
        if pays {
            // If each thread has a core, a useless wake-up disturbs no other thread: one doubling is enough.
            let most = self.seated.map_or(1, |_| DOUBLINGS);
            let in_vain = (in_vain + 1).min(most);
            self.costs.in_vain.store(in_vain, Ordering::Relaxed);
        }
        self.costs
            .missed
            .store(if pays { 0 } else { missed }, Ordering::Relaxed);
        pays
    }

    /// A loop ended sooner because an awake worker helped.
    pub(crate) fn helped(&self) {
        // Reading first avoids a needless write to the cache line.
        if self.costs.in_vain.load(Ordering::Relaxed) > 0 {
            self.costs.in_vain.store(0, Ordering::Relaxed);
        }
    }

    /// Records that a caller from outside the pool begins to wait.
    pub(crate) fn caller_waits(&self) {
        // Relaxed: this is a hint to threads that look for work and may run on the core that the caller needs.
        self.callers.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a caller runs again after [`caller_waits`](Self::caller_waits).
    pub(crate) fn caller_runs(&self) {
        self.callers.fetch_sub(1, Ordering::Relaxed);
    }

    /// The number of callers from outside that wait, or do not run again yet.
    pub(crate) fn waiting_callers(&self) -> u32 {
        self.callers.load(Ordering::Relaxed)
    }

    /// Yields the core to other threads of the pool and to its callers. Returns `false`, without a yield, if other
    /// processes would take the core. In that case the waiting thread should sleep. `filled` returns whether the
    /// pool's own threads have had work for all cores since a given time.
    pub(crate) fn yield_core(&self, filled: impl FnOnce(u64) -> bool) -> bool {
        self.other_processes.yield_core(filled)
    }

    /// As [`yield_core`](Self::yield_core), for a worker without work.
    pub(super) fn yield_idle_core(&self, filled: impl FnOnce(u64) -> bool) -> bool {
        self.yield_core(|since| !self.is_waited_for() || filled(since))
    }

    /// As [`notice_other_processes`](Self::notice_other_processes), for a worker without work.
    pub(super) fn notice_late_worker(&self, due: u64, now: u64, filled: impl FnOnce(u64) -> bool) {
        self.notice_other_processes(due, now, |since| !self.is_waited_for() || filled(since));
    }

    /// Whether a late worker costs time: a caller from outside may wait for the worker to take its call. Loops
    /// do not matter here, because they do not wait for late helpers (`decide/choice.rs`).
    fn is_waited_for(&self) -> bool {
        self.waiting_callers() > 0
    }

    /// Whether other processes want the cores. If so, waiting threads should sleep at once.
    pub(crate) fn other_processes_run(&self, now: u64) -> bool {
        self.other_processes.are_running(now)
    }

    /// Records that a waiting thread, which has had something to do since `due`, runs again at
    /// `now`. Another process may have delayed it. `filled` is as in
    /// [`yield_core`](Self::yield_core).
    pub(crate) fn notice_other_processes(
        &self,
        due: u64,
        now: u64,
        filled: impl FnOnce(u64) -> bool,
    ) {
        self.other_processes.notice(due, now, filled);
    }

    /// Whether another process was ever noticed.
    #[cfg(test)]
    pub(super) fn have_noticed_other_processes(&self) -> bool {
        self.other_processes.were_noticed()
    }

    /// Whether `worker` may spin for a loop.
    fn spins(&self, worker: usize) -> bool {
        self.spin_budget > 0 && self.seated.is_none_or(|seated| worker <= seated)
    }

    /// The number of cores, if threads outnumber them.
    pub(super) fn scarce_cores(&self) -> Option<usize> {
        self.seated.map(|seated| seated + 1)
    }

    /// How many ticks `worker` looks for work before it sleeps.
    pub(super) fn spin(&self, worker: usize, after: After, watches: bool) -> u64 {
        match after {
            // The worker has run jobs, and more are likely to come.
            After::Looking => self.spin_budget,
            _ if !self.spins(worker) => 0,
            After::Sleeping if !watches => self.spin_budget,
            After::Sleeping | After::Helping => self.inter_arrival.spin(self.spin_budget),
        }
    }

    /// Whether `worker` may wake early for an expected loop.
    pub(super) fn has_period(&self, worker: usize) -> bool {
        self.spins(worker) && self.inter_arrival.are_regular()
    }

    /// Returns how to wait for the next loop, if one is expected. `helped` says whether the worker helped with a loop
    /// that ends about now.
    pub(super) fn expected(&self, helped: bool) -> Option<TimedWait> {
        let view = View {
            now: P::now(),
            helped,
            margin: self.spin_budget / 2,
        };
        // `DUTY` limits the windows of all periods together.
        let most = |period: u64, periods: u64| {
            (period / (DUTY * periods)).min(WIDEST * self.spin_budget) + self.spin_budget
        };
        let window = self.inter_arrival.expected(&view, most)?;
        let lateness = self.costs.lateness.recent().high().unwrap_or(0.0) as u64;
        Some(TimedWait {
            alarm: window.from.saturating_sub(lateness),
            until: window.to,
            timeout: window.period / 2,
            core: window.core,
        })
    }

    /// Records how late a sleep ended. The sleep was to end at `alarm`.
    ///
    /// If a post came before the worker woke, that sleep counts too. Otherwise a lateness that makes the worker
    /// miss every loop would go unnoticed.
    pub(super) fn learn_lateness(&self, alarm: u64) {
        let woke = P::now();
        if woke >= alarm {
            let most = 2 * self.spin_budget;
            self.costs.lateness.add((woke - alarm).min(most));
        }
    }

    /// Records how long the wake-up of a worker took. The worker was roused at `roused_at`.
    pub(super) fn learn_wake(&self, roused_at: u64, filled: impl FnOnce(u64) -> bool) {
        let now = P::now();
        self.notice_late_worker(roused_at, now, filled);
        self.costs.wake.add(now.saturating_sub(roused_at));
    }
}
