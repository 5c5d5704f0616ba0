//! What a worker without work does next, and what waking it costs.

use super::events::EventCount;
use super::gaps::Gaps;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::time::Duration;

/// What a pool knows of its idle times: the event count on which work is
/// announced, the gaps between loops, and the measured latencies that decide
/// whether waking pays.
pub(crate) struct Idle<P: Platform> {
    pub(crate) events: EventCount<P>,
    gaps: CachePadded<Gaps<P>>,
    costs: CachePadded<Costs<P>>,
    /// The longest a worker spins for the next loop, in ticks.
    spin_budget: u64,
}

/// Measured latencies in ticks, and what is needed to measure them. Relaxed and
/// racy, as estimates may be: nothing but time depends on them.
struct Costs<P: Platform> {
    /// When a poster last woke somebody.
    woken_at: P::AtomicU64,
    /// From there to the woken worker's first instruction.
    wake: P::AtomicU64,
    /// From the end of a timed sleep to the sleeper's first instruction.
    lateness: P::AtomicU64,
    /// Time that loops lost for lack of an awake worker since the last wake.
    missed: P::AtomicU64,
}

/// Why a waiting worker goes looking for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Something was posted while it was awake.
    Spinning,
    /// It was asleep: others may be too.
    Sleeping,
}

/// What a worker did before it ran out of work.
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

/// What came of waiting for an expected loop.
pub(super) enum Expected {
    Came(Woken),
    Missed,
    Nothing,
}

/// Spinning in expectation may take this share of the time, in one worker.
const DUTY: u64 = 8;
/// A longer spin budget means the same, and no sum of clock readings wraps.
const LONGEST_SPIN: Duration = Duration::from_secs(3600);
/// First guesses, in ns; each is replaced by what is measured.
const WAKE_NS: u64 = 50_000;
const LATENESS_NS: u64 = 30_000;

impl<P: Platform> Idle<P> {
    pub(crate) fn new(spin_budget: Duration) -> Self {
        let ticks = |ns| P::duration_to_ticks(Duration::from_nanos(ns));
        Self {
            events: EventCount::new(),
            gaps: CachePadded::new(Gaps::new()),
            costs: CachePadded::new(Costs {
                woken_at: P::AtomicU64::new(0),
                wake: P::AtomicU64::new(ticks(WAKE_NS)),
                lateness: P::AtomicU64::new(ticks(LATENESS_NS)),
                missed: P::AtomicU64::new(0),
            }),
            spin_budget: P::duration_to_ticks(spin_budget.min(LONGEST_SPIN)),
        }
    }

    /// A posted loop has ended.
    pub(crate) fn loop_ended(&self, started: u64, ended: u64) {
        self.gaps.loop_ended(started, ended, self.spin_budget);
    }

    /// Whether a loop with `work` ticks to do should wake a sleeper.
    ///
    /// A loop much longer than a wake-up gains by itself. Shorter ones gain
    /// only if more follow while the woken worker still spins; they save up
    /// what they miss, and wake somebody once that exceeds what it costs. So
    /// waking costs at most about twice what never or always waking would have
    /// (the ski-rental argument).
    pub(crate) fn pays_to_wake(&self, work: f32) -> bool {
        let wake = self.costs.wake.load(Ordering::Relaxed);
        if work > 1.25 * wake as f32 {
            return true;
        }
        // A machine once thought slow to wake is tried again in the end.
        self.costs.wake.store(wake - wake / 128, Ordering::Relaxed);
        if !self.gaps.next_is_foreseeable() {
            return false; // It would be asleep again before the next loop.
        }
        let missed = self.costs.missed.load(Ordering::Relaxed) + (work / 2.0) as u64;
        let pays = missed > wake;
        self.costs
            .missed
            .store(if pays { 0 } else { missed }, Ordering::Relaxed);
        pays
    }

    /// Somebody is being woken: times how long it takes.
    pub(crate) fn waking(&self) {
        self.costs.woken_at.store(P::now(), Ordering::Relaxed);
    }

    /// The longest an idle worker spins, in ticks.
    pub(super) fn spin_budget(&self) -> u64 {
        self.spin_budget
    }

    /// How long a worker spins for the next loop.
    pub(super) fn spin(&self, after: After, watches: bool) -> u64 {
        if after == After::Sleeping && !watches {
            self.spin_budget
        } else {
            self.gaps.spin(self.spin_budget)
        }
    }

    /// Whether waking early for an expected loop makes sense.
    pub(super) fn has_rhythm(&self) -> bool {
        self.spin_budget > 0 && self.gaps.are_regular()
    }

    /// Sleeps, by `nap`, until shortly before the next loop is expected, spins for
    /// it, and if it does not come sleeps for as long as a loop may take to be
    /// late.
    pub(super) fn wait_for_expected(
        &self,
        seen: u32,
        helped: bool,
        mut nap: impl FnMut(Duration),
    ) -> Expected {
        let now = P::now();
        let most = self.gaps.usual() / DUTY + self.spin_budget;
        let end = if helped { Some(now) } else { None };
        let Some(window) = self.gaps.expected(now, end, self.spin_budget / 2, most) else {
            return Expected::Nothing;
        };
        let mut nap_until = |alarm: u64| {
            let ns = P::ticks_to_ns(alarm.saturating_sub(P::now()));
            nap(Duration::from_nanos(ns as u64));
        };
        let alarm = window
            .from
            .saturating_sub(self.costs.lateness.load(Ordering::Relaxed));
        if alarm > now {
            nap_until(alarm);
            let woke = P::now();
            if woke >= alarm {
                // Learned also when a post came first: a lateness that makes
                // the worker miss every loop must not go unnoticed.
                average(
                    &self.costs.lateness,
                    (woke - alarm).min(2 * self.spin_budget),
                );
            }
            if self.events.seen() != seen {
                return Expected::Came(Woken::Sleeping);
            }
        }
        // On the caller's own core this thread would be put aside just when the
        // loop comes, and the system sees no reason to part two threads that
        // both mostly sleep.
        P::leave_core(self.gaps.caller_core());
        if self.events.spin(seen, window.to) {
            return Expected::Came(Woken::Spinning);
        }
        // It may come yet, and may not wake anybody. Half a period later its
        // trace is found, and the rhythm with it.
        nap_until(P::now() + self.gaps.usual() / 2);
        if self.events.seen() == seen {
            Expected::Missed
        } else {
            Expected::Came(Woken::Sleeping)
        }
    }

    /// Whoever is first awake after a wake-up has measured it.
    pub(super) fn learn_wake(&self) {
        let woken_at = self.costs.woken_at.swap(0, Ordering::Relaxed);
        if woken_at != 0 {
            // A worker that could not run for long after its wake-up says
            // something about the machine's load, not about its wake-up.
            let bound = P::duration_to_ticks(Duration::from_micros(200));
            average(
                &self.costs.wake,
                P::now().saturating_sub(woken_at).min(bound),
            );
        }
    }
}

/// An exponential average, quick to rise and slow to fall: too early costs
/// some spinning, too late a loop. Racy, as an estimate may be.
fn average<A: AtomicInteger<u64>>(mean: &A, sample: u64) {
    let old = mean.load(Ordering::Relaxed);
    let share = if sample > old { 4 } else { 16 };
    mean.store(old - old / share + sample / share, Ordering::Relaxed);
}
