//! The next action of a worker without work, and the cost of waking it.

use super::announcements::Announcements;
use super::inter_arrival::InterArrival;
use super::other_processes::OtherProcesses;
use super::period::View;
use crate::decide::Samples;
use crate::times::{CLOSING_NS, LATENESS_NS, WAKE_NS};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::time::Duration;

/// A pool's data about its idle times: the event counts that announce work, the gaps between loops,
/// and the measured latencies that decide whether waking pays.
pub struct Idle<P: Platform> {
    pub(crate) events: Announcements<P>,
    inter_arrival: CachePadded<InterArrival<P>>,
    costs: CachePadded<Costs<P>>,
    /// Callers from outside that wait for the end of their calls, or do not run again yet.
    callers: CachePadded<P::AtomicU32>,
    other_processes: OtherProcesses<P>,
    /// The longest a worker spins for the next loop, in ticks.
    spin_budget: u64,
    /// In a pool with more threads than cores, the number of workers that find a core beside the
    /// caller's: short loops do without the others, which never spin.
    seated: Option<usize>,
}

/// Measured latencies in ticks, and what is needed to measure them. Relaxed and
/// racy, as estimates may be: nothing but time depends on them.
struct Costs<P: Platform> {
    /// From a sleeper's being roused to its first instruction.
    wake: Samples<P>,
    /// From the end of a timed sleep to the sleeper's first instruction.
    lateness: Samples<P>,
    /// Time that loops lost for lack of an awake worker since the last wake.
    missed: P::AtomicU64,
    /// The cost of one more cluster to the caller of a loop that closes the loop's gates.
    closing: Samples<P>,
    /// Workers woken for that, in a row, without a loop that gained by one.
    in_vain: P::AtomicU32,
}

/// Why a waiting worker goes looking for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// Something was posted while it was awake.
    Spinning,
    /// It was asleep: others may be too.
    Sleeping,
}

/// A worker's last action before it ran out of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// It worked in a loop, which ends about now.
    Helping,
    /// It woke from sleep and came too late; the next loop of the same row may
    /// be soon.
    Sleeping,
    /// It looked, and found nothing.
    Looking,
}

/// A loop is expected: how a worker comes to be awake for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimedWait {
    /// Until when to sleep; past if the window is open.
    pub(super) alarm: u64,
    /// Until when to spin from then on.
    pub(super) until: u64,
    /// The time to sleep if the loop has not come by then: until the worker finds its trace, and the period
    /// with it. It may come yet, and may not wake this worker.
    pub(super) timeout: u64,
    /// The core to spin elsewhere than on.
    pub(super) core: usize,
}

/// Spinning in expectation may take this share of the time, in one worker.
const DUTY: u64 = 8;
/// A longer spin budget means the same, and no sum of clock readings wraps.
const LONGEST_SPIN: Duration = Duration::from_secs(3600);
/// Transfers of a line between clusters, one after the other, that one more cluster costs a loop;
/// the closing of its gate is one of them.
const TRANSFERS: f32 = 3.0;
/// A window is no wider than this many spin budgets, however long the period: what
/// it saves is one wake-up.
const WIDEST: u64 = 8;
/// Loops that last longer than this many wake-ups have every worker take part, also
/// where threads outnumber cores: their bodies may be blocking.
const LONG: f32 = 20.0;
/// A loop with no prediction for the next one misses this part of its work for lack of an awake
/// worker.
const UNFORESEEABLE: f32 = 128.0;
/// How often the price of a wake-up doubles while none gains.
const DOUBLINGS: u32 = 6;

impl<P: Platform> Idle<P> {
    /// `seated`: where threads outnumber cores, the workers that find a core beside
    /// the caller's. `clusters`: how many the workers are in.
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

    /// A loop has ended. It was posted, or would have been with a worker awake. `caller`: as in
    /// [`InterArrival::loop_ended`].
    pub(crate) fn loop_ended(&self, caller: usize, started: u64, ended: u64) {
        self.inter_arrival
            .loop_ended(caller, started, ended, self.spin_budget);
    }

    /// The number of `helpers` that are useful to a loop with `work` ticks to do (unknown:
    /// infinite): in a pool with more threads than cores, a helper that must wait for a core delays
    /// the caller at the end of a short loop.
    pub(crate) fn helpers(&self, work: f32, helpers: usize) -> usize {
        if work > LONG * self.wake_cost() as f32 {
            return helpers;
        }
        self.seated
            .map_or(helpers, |seated| helpers.min(seated.max(1)))
    }

    /// Ticks to wake a worker.
    pub(crate) fn wake_cost(&self) -> u64 {
        self.costs.wake.recent().typical().unwrap_or(0.0) as u64
    }

    /// Ticks that a loop takes longer for each cluster that it invites.
    pub(crate) fn cluster_cost(&self) -> f32 {
        TRANSFERS * self.costs.closing.recent().typical().unwrap_or(0.0)
    }

    /// A caller took `ticks` to close the gates of this number of clusters.
    pub(crate) fn learn_closing(&self, ticks: u64, clusters: usize) {
        self.costs.closing.add(ticks / clusters as u64);
    }

    /// Whether a loop with `work` ticks to do should wake a sleeper, as far as can be known before that
    /// was tried: it is longer than a wake-up takes, or loops have missed enough.
    pub(crate) fn pays_to_wake(&self, work: f32) -> bool {
        work > 1.25 * self.wake_cost() as f32 || self.has_missed(work)
    }

    /// Whether waking a worker pays by now: loops, including this one of `work` ticks, have missed
    /// enough for lack of an awake worker.
    ///
    /// A short loop gains only if more follow while the woken worker still spins. So loops save up
    /// their missed work, and wake a worker once that exceeds the cost: waking costs at most about
    /// twice the cost of never or always waking (the ski-rental argument). After each wake-up
    /// without gain the price doubles, so that wake-ups cost next to nothing in the long run.
    pub(crate) fn has_missed(&self, work: f32) -> bool {
        let wake = self.wake_cost();
        // If the worker would be asleep again before the next loop, it is tried now and then.
        let foreseeable = self.spins(1) && self.inter_arrival.next_is_foreseeable();
        let share = if foreseeable { 2.0 } else { UNFORESEEABLE };
        let missed = self.costs.missed.load(Ordering::Relaxed) + (work / share) as u64;
        let in_vain = self.costs.in_vain.load(Ordering::Relaxed);
        let pays = missed > wake.max(1) << in_vain;
        if pays {
            // With a core for each thread a useless wake-up disturbs no other thread.
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
        // Looking first spares the line.
        if self.costs.in_vain.load(Ordering::Relaxed) > 0 {
            self.costs.in_vain.store(0, Ordering::Relaxed);
        }
    }

    /// A caller from outside waits from here on.
    pub(crate) fn caller_waits(&self) {
        // Relaxed: a hint to threads that look for work and may have the core that the caller
        // needs.
        self.callers.fetch_add(1, Ordering::Relaxed);
    }

    /// It runs again.
    pub(crate) fn caller_runs(&self) {
        self.callers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Callers from outside that wait, or do not run again yet.
    pub(crate) fn waiting_callers(&self) -> u32 {
        self.callers.load(Ordering::Relaxed)
    }

    /// Yields the core to other threads of the pool and to its callers; `false`: other processes
    /// would take it, and the thread that waits sleeps instead. `filled`: whether the pool's own
    /// threads have had work for all cores since then.
    pub(crate) fn yield_core(&self, filled: impl FnOnce(u64) -> bool) -> bool {
        self.other_processes.yield_core(filled)
    }

    /// As [`yield_core`](Self::yield_core), for a worker without work.
    pub(super) fn yield_idle_core(&self, filled: impl FnOnce(u64) -> bool) -> bool {
        self.yield_core(|since| !self.is_waited_for() || filled(since))
    }

    /// A worker without work runs again, `now`, and should have done so at `due`, or was woken then. As
    /// [`notice_other_processes`](Self::notice_other_processes).
    pub(super) fn notice_late_worker(&self, due: u64, now: u64, filled: impl FnOnce(u64) -> bool) {
        self.notice_other_processes(due, now, |since| !self.is_waited_for() || filled(since));
    }

    /// Whether a late worker costs time. A caller from outside may wait
    /// for the worker to take its call. A loop does not wait for helpers that have not come. An
    /// account of its own decides whether it is shared (`decide/choice.rs`).
    fn is_waited_for(&self) -> bool {
        self.waiting_callers() > 0
    }

    /// Whether other processes want the cores, so that a thread that waits had better sleep at
    /// once.
    pub(crate) fn other_processes_run(&self, now: u64) -> bool {
        self.other_processes.are_running(now)
    }

    /// A thread that waits runs again, `now`, and had something to do since `due`: another process
    /// may have come between. `filled`: as in [`yield_core`](Self::yield_core).
    pub(crate) fn notice_other_processes(
        &self,
        due: u64,
        now: u64,
        filled: impl FnOnce(u64) -> bool,
    ) {
        self.other_processes.notice(due, now, filled);
    }

    /// Whether another process was ever seen.
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

    /// How long `worker` looks on before it sleeps.
    pub(super) fn spin(&self, worker: usize, after: After, watches: bool) -> u64 {
        match after {
            // After jobs more jobs are likely.
            After::Looking => self.spin_budget,
            _ if !self.spins(worker) => 0,
            After::Sleeping if !watches => self.spin_budget,
            After::Sleeping | After::Helping => self.inter_arrival.spin(self.spin_budget),
        }
    }

    /// Whether waking early for an expected loop makes sense for `worker`.
    pub(super) fn has_period(&self, worker: usize) -> bool {
        self.spins(worker) && self.inter_arrival.are_regular()
    }

    /// When the next loop is expected, if one is. `helped`: with a loop that ends
    /// about now.
    pub(super) fn expected(&self, helped: bool) -> Option<TimedWait> {
        let view = View {
            now: P::now(),
            helped,
            margin: self.spin_budget / 2,
        };
        // The share of time counts all periods together.
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

    /// A sleep that was to end at `alarm` has ended.
    ///
    /// Learned from also when a post came first: a lateness that makes the worker
    /// miss every loop must not go unnoticed.
    pub(super) fn learn_lateness(&self, alarm: u64) {
        let woke = P::now();
        if woke >= alarm {
            let most = 2 * self.spin_budget;
            self.costs.lateness.add((woke - alarm).min(most));
        }
    }

    /// A worker runs that was roused at `roused_at`: it has measured what that takes.
    pub(super) fn learn_wake(&self, roused_at: u64, filled: impl FnOnce(u64) -> bool) {
        let now = P::now();
        self.notice_late_worker(roused_at, now, filled);
        self.costs.wake.add(now.saturating_sub(roused_at));
    }
}
