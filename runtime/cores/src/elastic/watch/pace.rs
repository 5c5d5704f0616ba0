//! How many workers a CPU quota pays for, from one moment to the next.
//!
//! A quota of 1.5 CPUs is 150 ms of CPU time in each period of 100 ms. Two workers use it up in 75 ms, and the kernel
//! stops them for the rest of the period, even in the middle of a section that other threads wait for. One worker
//! leaves a third of the quota unused. So two workers run from the period's beginning, until the rest of the quota
//! just pays for one worker to the period's end. A change moves data to another cache and divides a team's work anew.
//! At least two changes in each period are needed to use the quota.
//!
//! The pace is a closed loop: it counts the CPU time that all threads have used, not the number of workers. Workers
//! that stop late use more time. The pace learns how much more, and reserves that time in the next period (`reserve`).
//!
//! If [`Phase`] does not know when the kernel's periods begin, the pace makes up periods that are ten times shorter.
//! The use in any of the kernel's periods then differs from the rate by at most the variation within one made-up
//! period.
//!
//! The kernel may throttle nevertheless, because the group has processes with invisible times, or because the watch is
//! late. In that case the margin grows, and shrinks again slowly.

use super::phase::Phase;
use std::time::Duration;

/// The part of the quota that stays unused at first, and at least. CPUs take their share in slices, and some 1 ms of a
/// slice is left on each CPU.
const MARGIN: f64 = 0.025;
/// The largest margin.
const MOST_MARGIN: f64 = 0.25;
/// The growth of the margin after a throttled period, and its decrease per second.
const BACK_OFF: f64 = 0.01;
const RECOVERY: f64 = 0.0005;
/// The larger number of workers runs again if at least this part of a period, on one CPU, is left over.
const LEFT_OVER: f64 = 0.02;
/// The part of a period, on one CPU, that may be missing before the pace uses still fewer workers.
const LACK: f64 = 0.03;
/// The shortest time between two looks, as a part of the kernel's period, and in seconds.
const SOON: [f64; 2] = [0.002, 0.0005];
/// The longest time between two looks, as a part of the period: if the period's beginning is known, and if it is not.
const LATE: [f64; 2] = [0.05, 0.02];
/// The part of the reserve that remains after a period that needed less.
const FORGET: f64 = 0.9;

/// Whether a quota of `cpus` needs no pace, because one worker always remains.
pub(super) fn is_for_one(cpus: f64) -> bool {
    cpus * (1.0 - MARGIN) <= 1.0
}

/// How much of the quota has been used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// When these values were read, as the time since some fixed moment.
    pub(super) now: Duration,
    /// The CPU time that was used between some fixed moment and `now`.
    pub(super) used: Duration,
    /// The number of periods that the kernel has begun.
    pub(super) periods: Option<u64>,
    /// The number of periods in which the kernel has throttled the group.
    pub(super) throttled: Option<u64>,
}

/// The decision of a look, which holds until the next look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    /// The number of workers, at least one.
    pub(super) workers: usize,
    pub(super) next: Duration,
}

#[derive(Debug)]
pub(super) struct QuotaPace {
    margin: f64,
    phase: Phase,
    /// The CPU time that had been used when the period began, in seconds.
    base: f64,
    /// Whether the larger number of workers is allowed.
    many: bool,
    /// The most CPU seconds that workers used after they should have stopped: `reserve` in earlier periods, fading,
    /// and `overrun` in this period.
    reserve: f64,
    overrun: f64,
    last: Option<Usage>,
}

impl QuotaPace {
    pub(super) fn new() -> Self {
        Self {
            margin: MARGIN,
            phase: Phase::default(),
            base: 0.0,
            many: false,
            reserve: 0.0,
            overrun: 0.0,
            last: None,
        }
    }

    /// Returns the pace for a quota of `cpus` in each `period`.
    pub(super) fn look(&mut self, cpus: f64, period: Duration, usage: Usage) -> Pace {
        let soon = (SOON[0] * period.as_secs_f64()).max(SOON[1]);
        let late = |is_known: bool| (LATE[usize::from(!is_known)] * period.as_secs_f64()).max(soon);
        let Some(last) = self.last.replace(usage) else {
            // The use before the first look is unknown.
            self.phase.make_up(usage.now, period);
            self.base = usage.used.as_secs_f64();
            return Pace {
                workers: (self.rate(cpus).floor() as usize).max(1),
                next: usage.now + Duration::from_secs_f64(late(false)),
            };
        };
        let seconds = usage.now.saturating_sub(last.now).as_secs_f64();
        // The comparison is right without a new count too, since `None` is less than any number.
        if last.throttled.is_some() && usage.throttled > last.throttled {
            self.margin = (self.margin + BACK_OFF).min(MOST_MARGIN);
        }
        self.margin = (self.margin - RECOVERY * seconds).max(MARGIN);
        let rate = self.rate(cpus);
        self.follow_period(last, usage, period, rate);

        let length = self.phase.length().as_secs_f64();
        let rest = self.phase.end().saturating_sub(usage.now).as_secs_f64();
        let left = rate * length - (usage.used.as_secs_f64() - self.base);
        let few = rate.floor();
        // The time that is left if the smaller number of workers runs until the period's end.
        let over = left - few * rest - self.reserve;
        let enough = if self.many { soon } else { LEFT_OVER * length };
        self.many = over > enough;
        let mut pause = late(self.phase.is_known());
        let workers = if self.many {
            pause = over.clamp(soon, pause);
            rate.ceil()
        } else {
            self.overrun = self.overrun.max(-over - self.reserve);
            // If other processes use the time, the rest of the quota may not pay for `few` workers. Then fewer workers
            // run.
            few.min(((left + LACK * length) / rest.max(1e-6)).floor())
        };
        let next = (self.phase).next_look(usage.now, usage.now + Duration::from_secs_f64(pause));
        Pace {
            workers: (workers as usize).max(1),
            next: next.max(usage.now + Duration::from_secs_f64(SOON[1])),
        }
    }

    /// Adjusts the counts if another period has begun.
    fn follow_period(&mut self, last: Usage, usage: Usage, period: Duration, rate: f64) {
        let counted = last.periods.zip(usage.periods);
        let (begun_before, was_known) = (self.phase.begun(), self.phase.is_known());
        let Some(began) = self.phase.follow(last.now, usage.now, counted, period) else {
            return;
        };
        // The CPU time at the beginning of the period, on the assumption that it was used evenly between the two
        // looks.
        let share = began.saturating_sub(last.now).as_secs_f64()
            / usage.now.saturating_sub(last.now).as_secs_f64().max(1e-6);
        let base = last.used.as_secs_f64()
            + usage.used.saturating_sub(last.used).as_secs_f64() * share.min(1.0);
        // The next made-up period pays back excess use, up to a limit, since the kernel forgets the excess at the end
        // of its own period. Several made-up periods may have passed between two looks.
        let is_made_up = !was_known && !self.phase.is_known();
        let debt = if is_made_up {
            let passed = began.saturating_sub(begun_before).as_secs_f64();
            base - self.base - rate * passed
        } else {
            0.0
        };
        self.base = base - debt.clamp(0.0, rate * period.as_secs_f64());
        // A look may be late by `SOON[1]`, so the reserve may be that large.
        let most = (LACK * self.phase.length().as_secs_f64()).max(SOON[1]);
        self.reserve = self.overrun.max(FORGET * self.reserve).min(most);
        self.overrun = 0.0;
    }

    /// The number of CPUs that the pace aims at.
    fn rate(&self, cpus: f64) -> f64 {
        cpus * (1.0 - self.margin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step of the kernel's clock, in microseconds.
    const STEP: u64 = 20;
    /// The slice that a CPU takes at a time, and the part of it that an idle CPU keeps, in microseconds.
    const SLICE: f64 = 5_000.0;
    const KEPT: f64 = 1_000.0;

    /// A kernel that grants `quota` microseconds of CPU time in each `period`, in slices to each CPU, and stops CPUs
    /// that get no more. Under this kernel runs a process with workers that never rest.
    struct QuotaKernel {
        quota: f64,
        period: u64,
        /// Whether the kernel reports the number of periods.
        counts: bool,
        /// CPUs that another process of the group uses, unseen by the watch.
        others: f64,
        /// The watch is at most this many microseconds late.
        late: u64,
        /// Workers continue for at most this many microseconds after they should stop.
        overrun: u64,
        left: f64,
        /// The part of `left` that each CPU has.
        local: Vec<f64>,
        /// CPU time of the process. The next two fields are what the process sees.
        used: f64,
        periods: u64,
        throttled: u64,
        /// Changes of the number of workers.
        changes: u64,
    }

    impl QuotaKernel {
        fn new(cpus: f64, period: u64) -> Self {
            Self {
                quota: cpus * period as f64,
                period,
                counts: true,
                others: 0.0,
                late: 300,
                overrun: 0,
                left: 0.0,
                local: vec![0.0; cpus.ceil() as usize],
                used: 0.0,
                periods: 0,
                throttled: 0,
                changes: 0,
            }
        }

        /// Runs `workers` workers for one step. Returns whether the kernel stopped a worker.
        fn step(&mut self, workers: usize) -> bool {
            let mut stopped = false;
            self.left -= self.others * STEP as f64;
            for (cpu, local) in self.local.iter_mut().enumerate() {
                if cpu >= workers {
                    self.left += (*local - KEPT).max(0.0);
                    *local = local.min(KEPT);
                    continue;
                }
                if *local <= 0.0 {
                    let slice = SLICE.min(self.left).max(0.0);
                    *local += slice;
                    self.left -= slice;
                }
                if *local > 0.0 {
                    *local -= STEP as f64;
                    self.used += STEP as f64;
                } else {
                    stopped = true;
                }
            }
            stopped
        }

        /// Runs for `seconds`, and counts from the second one on. Returns the CPUs used and the throttled periods.
        fn run(&mut self, seconds: u64, phase: u64) -> (f64, u64) {
            let mut rng = fastrand::Rng::with_seed(phase);
            let cpus = self.quota / self.period as f64;
            let (mut pace, mut next) = (QuotaPace::new(), 0);
            let (mut told, mut workers, mut obeyed_at) = (1, 1, 0);
            let (mut used, mut throttled, mut stopped) = (0.0, 0, false);
            for now in (0..seconds * 1_000_000).step_by(STEP as usize) {
                if (now + phase) % self.period < STEP {
                    self.left = self.quota;
                    self.periods += 1;
                    self.throttled += u64::from(std::mem::take(&mut stopped));
                }
                if now < 1_000_000 {
                    (used, throttled, self.changes) = (self.used, self.throttled, 0);
                }
                if now >= next {
                    let now = Duration::from_micros(now);
                    let it = pace.look(
                        cpus,
                        Duration::from_micros(self.period),
                        Usage {
                            now,
                            used: Duration::from_micros(self.used as u64),
                            periods: self.counts.then_some(self.periods),
                            throttled: Some(self.throttled),
                        },
                    );
                    assert!(it.next > now, "{it:?} at {now:?}");
                    next = it.next.as_micros() as u64 + rng.u64(..=self.late);
                    if it.workers != told {
                        self.changes += 1;
                        obeyed_at = now.as_micros() as u64 + rng.u64(..=self.overrun);
                    }
                    told = it.workers;
                }
                if told > workers || now >= obeyed_at {
                    workers = told;
                }
                stopped |= self.step(workers);
            }
            let seconds = (seconds - 1) as f64 * 1e6;
            ((self.used - used) / seconds, self.throttled - throttled)
        }
    }

    /// This holds whenever the kernel's periods begin, and whether or not it counts them.
    #[test]
    fn a_quota_is_used_and_never_runs_out() {
        for cpus in [1.05, 1.25, 1.5, 1.75, 2.0, 2.5, 3.9, 17.3] {
            for phase in [0, 13_700, 61_000] {
                for counts in [true, false] {
                    let mut kernel = QuotaKernel::new(cpus, 100_000);
                    kernel.counts = counts;
                    let (used, throttled) = kernel.run(4, phase);
                    let what = format!("{cpus} CPUs, phase {phase}, counted: {counts}");
                    assert_eq!(throttled, 0, "{what}");
                    let share = used / cpus;
                    assert!((0.95..0.98).contains(&share), "{what}: {share} used");
                }
            }
        }
    }

    #[test]
    fn there_are_two_changes_a_period() {
        let mut kernel = QuotaKernel::new(1.5, 100_000);
        kernel.run(4, 13_700);
        assert!((58..64).contains(&kernel.changes), "{}", kernel.changes);
    }

    #[test]
    fn workers_that_stop_late() {
        for counts in [true, false] {
            let mut kernel = QuotaKernel::new(1.5, 100_000);
            (kernel.overrun, kernel.counts) = (2_500, counts);
            let (used, throttled) = kernel.run(6, 0);
            assert!(throttled <= 1, "{throttled}, counted: {counts}");
            assert!(used > 1.41, "{used}, counted: {counts}");
        }
    }

    #[test]
    fn longer_and_shorter_periods() {
        for period in [1_000_000, 250_000, 50_000, 20_000, 5_000] {
            let (used, throttled) = QuotaKernel::new(1.5, period).run(5, 7);
            assert_eq!(throttled, 0, "{period} us");
            assert!(used > 1.43, "{used}, {period} us");
        }
    }

    /// This checks the test's kernel: half a CPU that others use exceeds the margin.
    #[test]
    fn a_pace_without_regard_to_others_throttles() {
        let mut kernel = QuotaKernel::new(1.5, 100_000);
        kernel.others = 0.5;
        let (_, throttled) = kernel.run(2, 0);
        assert!(throttled > 0);
    }

    /// The watch sees the use by others only in the kernel's throttling.
    #[test]
    fn the_pace_backs_off_when_the_kernel_throttles() {
        let mut kernel = QuotaKernel::new(2.5, 100_000);
        kernel.others = 0.2;
        let _ = kernel.run(5, 3);
        let before = kernel.throttled;
        assert!(before > 0, "nothing to back off from");
        let mut kernel = QuotaKernel::new(2.5, 100_000);
        kernel.others = 0.2;
        let _ = kernel.run(15, 3);
        let later = kernel.throttled - before;
        assert!(later <= before / 2, "{before} in 5 s, {later} in 10 s more");
    }

    #[test]
    fn below_one_cpu_one_worker_remains() {
        let (used, throttled) = QuotaKernel::new(0.5, 100_000).run(3, 0);
        assert!(throttled > 0 && (0.49..0.51).contains(&used), "{used}");
    }

    /// The look is late, but the use is below the rate.
    #[test]
    fn a_late_look_leaves_no_debt() {
        let mut pace = QuotaPace::new();
        let mut look = |ms: u64, used: u64| {
            let usage = Usage {
                now: Duration::from_millis(ms),
                used: Duration::from_millis(used),
                periods: None,
                throttled: None,
            };
            pace.look(1.5, Duration::from_millis(100), usage).workers
        };
        look(0, 0);
        look(2, 2);
        assert_eq!(look(102, 142), 2);
        // The use exceeds the rate, and one worker pays it back first.
        assert_eq!(look(202, 302), 1);
    }

    /// Unused time of a period is no credit for later periods.
    #[test]
    fn a_rest_gives_no_credit() {
        let mut pace = QuotaPace::new();
        let usage = |ms: u64, used: u64| Usage {
            now: Duration::from_millis(ms),
            used: Duration::from_millis(used),
            periods: None,
            throttled: None,
        };
        let period = Duration::from_millis(100);
        for ms in 0..1_000 {
            pace.look(1.5, period, usage(ms, 0));
        }
        let mut many = 0;
        let mut used = 0;
        for ms in 1_000..1_100 {
            let workers = pace.look(1.5, period, usage(ms, used)).workers;
            used += workers as u64;
            many += usize::from(workers == 2);
        }
        assert!((40..52).contains(&many), "{many} ms of two");
    }
}
