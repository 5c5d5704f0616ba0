//! How many workers a CPU quota pays for, from one moment to the next.
//!
//! A quota of 1.5 CPUs is 150 ms of CPU time in each period of 100 ms. Two workers use it up in 75 ms, and the kernel
//! stops them for the rest of the period, even in the middle of a section that other threads wait for. One worker
//! leaves a third of the quota unused. So two workers run until the rest of the quota just pays for one worker. A
//! change moves data to another cache and divides a team's work anew. At least two changes in each period are needed to
//! use the quota.
//!
//! The pace does not know when the kernel's periods begin. It keeps the use in *every* interval of a period's length
//! below the quota ([`Window`]). So after a rest, or after the use of one CPU, the larger number of workers may run at
//! once.
//!
//! The pace is a closed loop: it counts the CPU time that all threads have used, not the number of workers. Workers
//! that stop late use more time. The pace learns how much more, and reserves that time in the next period (`reserve`).
//!
//! The kernel may throttle nevertheless, because the group has processes with invisible times, or because the watch is
//! late. In that case the margin grows, and shrinks again slowly.

use super::window::Window;
use std::time::Duration;

/// The part of the quota that stays unused at first, and at least. CPUs take their share in slices, and some 1 ms of a
/// slice is left on each CPU.
const MARGIN: f64 = 0.025;
/// The largest margin.
const MOST_MARGIN: f64 = 0.25;
/// The growth of the margin after a throttled period, and its decrease per second.
const BACK_OFF: f64 = 0.01;
const RECOVERY: f64 = 0.0005;
/// The larger number of workers runs again if it can run for at least this part of a period. So a fraction of a CPU below
/// this number is not used.
const WORTH: f64 = 0.05;
/// The part of a period, on one CPU, that may be missing before the pace uses still fewer workers.
const LACK: f64 = 0.03;
/// The shortest time between two looks, as a part of the period, and in seconds.
const SOON: [f64; 2] = [0.002, 0.0005];
/// The longest time between two looks, as a part of the period.
const LATE: f64 = 0.05;
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
    /// The number of periods in which the kernel has throttled the group.
    pub(super) throttled: Option<u64>,
    /// The counter of `used`.
    pub(super) source: Source,
}

/// A counter of CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Source {
    /// Whether it counts a control group. Otherwise it counts this process.
    pub(super) is_group: bool,
    /// How often the process's groups have changed.
    pub(super) changes: u32,
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
    window: Window,
    /// Whether the larger number of workers runs.
    many: bool,
    /// The most CPU seconds that workers used after they should have stopped, fading.
    reserve: f64,
    last: Option<Usage>,
}

impl QuotaPace {
    pub(super) fn new() -> Self {
        Self {
            margin: MARGIN,
            window: Window::default(),
            many: false,
            reserve: 0.0,
            last: None,
        }
    }

    /// Returns the pace for a quota of `cpus` in each `period`.
    pub(super) fn look(&mut self, cpus: f64, period: Duration, usage: Usage) -> Pace {
        let (now, length) = (usage.now.as_secs_f64(), period.as_secs_f64());
        let [soon, late] = [SOON[0], LATE].map(|part| (part * length).max(SOON[1]));
        if self.last.is_some_and(|last| last.source != usage.source) {
            // The two counters have nothing in common.
            (self.window, self.last) = (Window::default(), None);
        }
        if let Some(last) = self.last.replace(usage) {
            let passed = now - last.now.as_secs_f64();
            // The comparison is right without a new count too, since `None` is less than any number.
            if last.throttled.is_some() && usage.throttled > last.throttled {
                self.margin = (self.margin + BACK_OFF).min(MOST_MARGIN);
            }
            self.margin = (self.margin - RECOVERY * passed).max(MARGIN);
            self.reserve *= FORGET.powf(passed / length);
        }
        self.window.note(now, usage.used.as_secs_f64(), length);

        let rate = cpus * (1.0 - self.margin);
        let (few, many) = (rate.floor(), rate.ceil());
        let left = || self.window.left(rate * length, length);
        // If `few` workers run from now on, the worst interval leaves this time.
        let spare = (left().map(|(end, left)| left - few * end)).fold(f64::INFINITY, f64::min);
        self.reserve = self.reserve.max(-spare).min((LACK * length).max(SOON[1]));
        // How long `many` workers may run before `few` workers run.
        let run = left()
            .filter(|(end, left)| left - self.reserve < many * end)
            .map(|(end, left)| (left - self.reserve - few * end) / (many - few))
            .fold(length, f64::min);
        self.many = run
            > if self.many {
                soon
            } else {
                soon.max(WORTH * length)
            };
        let (workers, pause) = if self.many {
            (many, run)
        } else {
            // If other processes use the time, the quota may not pay for `few` workers. Then fewer workers run, so that
            // they pay back what is missing until the next look.
            let missing = ((spare + LACK * length) / late).min(0.0).floor();
            // The use by `many` workers becomes old then. Half a CPU is for other threads.
            let relief = self.window.relief(few + 0.5, length).unwrap_or(late);
            (few + missing, relief + self.reserve - spare.min(0.0))
        };
        Pace {
            workers: (workers as usize).max(1),
            next: usage.now + Duration::from_secs_f64(pause.clamp(soon, late)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A step of the kernel's clock, in microseconds.
    const STEP: u64 = 20;
    /// The slice that a CPU takes at a time, and the part of it that an idle CPU keeps, in microseconds.
    const SLICE: f64 = 5_000.0;
    const KEPT: f64 = 1_000.0;

    /// A kernel that grants `quota` microseconds of CPU time in each `period`, in slices to each CPU, and stops CPUs
    /// that get no more. A process runs under this kernel. Its workers never rest while they have work.
    struct QuotaKernel {
        quota: f64,
        period: u64,
        /// CPUs that another process of the group uses, unseen by the watch.
        others: f64,
        /// The watch is at most this many microseconds late.
        late: u64,
        /// The program's phases, which repeat: a length in milliseconds, and the number of workers with work.
        program: Vec<(u64, usize)>,
        /// Workers continue for at most this many microseconds after they should stop.
        overrun: u64,
        left: f64,
        /// The part of `left` that each CPU has.
        local: Vec<f64>,
        /// CPUs that other threads of the process use. The watch sees that.
        beside: f64,
        /// The process's CPU time, and how many periods have throttled it. The watch sees both.
        used: f64,
        throttled: u64,
        /// How often the watch has looked, and the fewest workers so far.
        looks: u64,
        fewest: usize,
        /// Changes of the number of workers.
        changes: u64,
    }

    impl QuotaKernel {
        fn new(cpus: f64, period: u64) -> Self {
            Self {
                quota: cpus * period as f64,
                period,
                others: 0.0,
                late: 300,
                program: vec![(1, usize::MAX)],
                overrun: 0,
                left: cpus * period as f64,
                local: vec![0.0; cpus.ceil() as usize],
                beside: 0.0,
                used: 0.0,
                throttled: 0,
                looks: 0,
                fewest: usize::MAX,
                changes: 0,
            }
        }

        /// Runs `workers` workers for one step. Returns whether the kernel stopped a worker.
        fn step(&mut self, workers: usize) -> bool {
            let mut stopped = false;
            self.left -= (self.others + self.beside) * STEP as f64;
            self.used += self.beside * STEP as f64;
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

        /// The number of workers that have work at `now`.
        fn work(&self, now: u64) -> usize {
            let cycle: u64 = self.program.iter().map(|(ms, _)| ms).sum();
            let mut at = now / 1_000 % cycle;
            let phase = self.program.iter().find(|(ms, _)| {
                let is_here = at < *ms;
                at = at.saturating_sub(*ms);
                is_here
            });
            phase.expect("`at` is less than the sum").1
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
                            throttled: Some(self.throttled),
                            source: Source::default(),
                        },
                    );
                    assert!(it.next > now, "{it:?} at {now:?}");
                    next = it.next.as_micros() as u64 + rng.u64(..=self.late);
                    if it.workers != told {
                        self.changes += 1;
                        obeyed_at = now.as_micros() as u64 + rng.u64(..=self.overrun);
                    }
                    told = it.workers;
                    self.looks += 1;
                    self.fewest = self.fewest.min(told);
                }
                if told > workers || now >= obeyed_at {
                    workers = told;
                }
                stopped |= self.step(workers.min(self.work(now)));
            }
            let seconds = (seconds - 1) as f64 * 1e6;
            ((self.used - used) / seconds, self.throttled - throttled)
        }
    }

    /// This holds whenever the kernel's periods begin.
    #[test]
    fn a_quota_is_used_and_never_runs_out() {
        for cpus in [1.05, 1.25, 1.5, 1.75, 2.0, 2.5, 3.9, 17.3] {
            for phase in [0, 13_700, 61_000] {
                let (used, throttled) = QuotaKernel::new(cpus, 100_000).run(4, phase);
                assert_eq!(throttled, 0, "{cpus} CPUs, phase {phase}");
                let share = used / cpus;
                assert!(
                    (0.95..0.98).contains(&share),
                    "{cpus} CPUs, phase {phase}: {share} used"
                );
            }
        }
    }

    proptest! {
        /// This holds for a program that changes between all workers, one thread and rest.
        #[test]
        fn a_quota_never_runs_out_for_a_program_that_changes(
            cpus in 1.03_f64..6.0,
            phase in 0_u64..100_000,
            program in prop::collection::vec((1_u64..150, prop_oneof![Just(0), Just(1), Just(9)]), 1..20),
        ) {
            let mut kernel = QuotaKernel::new(cpus, 100_000);
            kernel.program = program;
            kernel.run(3, phase);
            prop_assert_eq!(kernel.throttled, 0);
        }
    }

    #[test]
    fn there_are_two_changes_a_period() {
        let mut kernel = QuotaKernel::new(1.5, 100_000);
        kernel.run(4, 13_700);
        assert!((58..64).contains(&kernel.changes), "{}", kernel.changes);
    }

    /// The kernel never throttles, and the watch wakes some 20 to 30 times in each period, although it uses time itself.
    #[test]
    fn looks_are_rare() {
        for (cpus, beside) in [
            (1.5, 0.0),
            (1.5, 0.02),
            (1.5, 0.3),
            (2.5, 0.4),
            (40.0, 0.05),
        ] {
            let mut kernel = QuotaKernel::new(cpus, 100_000);
            kernel.beside = beside;
            kernel.run(3, 13_700);
            assert_eq!(kernel.throttled, 0, "{cpus} CPUs, {beside} beside");
            assert!(
                kernel.looks < 30 * 35,
                "{cpus} CPUs, {beside} beside: {} looks",
                kernel.looks
            );
        }
    }

    /// If the quota does not quite pay for all workers, most of them run nevertheless.
    #[test]
    fn a_small_debt_stops_few_workers() {
        for (cpus, beside) in [(40.0, 0.05), (96.5, 0.2), (3.1, 0.06)] {
            let mut kernel = QuotaKernel::new(cpus, 100_000);
            kernel.beside = beside;
            let (used, throttled) = kernel.run(3, 13_700);
            assert_eq!(throttled, 0, "{cpus} CPUs");
            assert!(
                kernel.fewest + 1 >= (0.975 * cpus) as usize,
                "{cpus} CPUs: {}",
                kernel.fewest
            );
            assert!(used > 0.93 * cpus, "{cpus} CPUs: {used} used");
        }
    }

    /// The process is moved to a group that has used more.
    #[test]
    fn another_counter_leaves_no_debt() {
        let mut pace = QuotaPace::new();
        let mut look = |ms: u64, used: u64, changes| {
            let usage = Usage {
                now: Duration::from_millis(ms),
                used: Duration::from_millis(used),
                throttled: None,
                source: Source {
                    is_group: true,
                    changes,
                },
            };
            pace.look(2.5, Duration::from_millis(100), usage).workers
        };
        look(0, 0, 0);
        look(100, 200, 0);
        assert!(look(105, 1_000_210, 1) >= 2);
    }

    /// A fraction of a CPU that is too short to use remains.
    #[test]
    fn a_fraction_that_is_too_short() {
        for (cpus, period, least) in [(1.07, 100_000, 0.93), (1.1, 5_000, 0.9), (1.5, 1_000, 0.66)]
        {
            let (used, throttled) = QuotaKernel::new(cpus, period).run(3, 7);
            assert_eq!(throttled, 0, "{cpus} CPUs, {period} us");
            assert!(used > least * cpus, "{cpus} CPUs, {period} us: {used} used");
        }
    }

    #[test]
    fn workers_that_stop_late() {
        let mut kernel = QuotaKernel::new(1.5, 100_000);
        kernel.overrun = 2_500;
        let (used, throttled) = kernel.run(6, 0);
        assert!(throttled <= 1, "{throttled}");
        assert!(used > 1.41, "{used}");
    }

    #[test]
    fn longer_and_shorter_periods() {
        // In a period of 5 ms, a look that is 0.3 ms late costs more.
        for (period, least) in [
            (1_000_000, 1.43),
            (250_000, 1.43),
            (50_000, 1.43),
            (20_000, 1.43),
            (5_000, 1.39),
        ] {
            let (used, throttled) = QuotaKernel::new(1.5, period).run(5, 7);
            assert_eq!(throttled, 0, "{period} us");
            assert!(used > least, "{used}, {period} us");
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
                throttled: None,
                source: Source::default(),
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
            throttled: None,
            source: Source::default(),
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
