//! How many workers a quota pays for, from one moment to the next.
//!
//! A quota of 1.5 CPUs is 150 ms of CPU time in each period of 100 ms. Two workers use
//! it up in 75 ms, and the kernel stops them for the rest, wherever they are; one leaves
//! a third of it. So there are two workers for some milliseconds and then one, such
//! that what they use stays below the quota, by a margin, over *any* period: the kernel
//! does not tell when its own begins.
//!
//! The loop is closed: it counts the CPU time that all threads have used, not the number of
//! workers. `debt` is the use beyond the rate aimed at. It stays
//! within a narrow band, and so over any period what is used differs from the rate by
//! no more than the band is wide.
//!
//! If the kernel throttles all the same (other processes in the group whose time is not
//! seen, a watch that runs late) the margin grows, and shrinks again slowly.

use std::time::Duration;

/// The part of the quota that is not used, at first and at least.
const MARGIN: f64 = 0.03;
/// At most.
const MOST_MARGIN: f64 = 0.25;
/// What it grows by when the kernel has throttled, and shrinks by in a second.
const BACK_OFF: f64 = 0.01;
const RECOVERY: f64 = 0.0005;
/// How far `debt` may go before the number of workers changes, in periods of one CPU.
const BAND: f64 = 0.003;
/// What is saved up at most, in periods of one CPU: more than what is left unused
/// between two looks at a steady pace, so that none of that is lost.
const CREDIT: f64 = 0.015;

/// What has been used of what may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// When this was read, from any beginning.
    pub(super) now: Duration,
    /// CPU time used until then, from any beginning.
    pub(super) used: Duration,
    /// Periods that the kernel has throttled, so far.
    pub(super) throttled: Option<u64>,
}

/// The controller.
#[derive(Debug)]
pub(super) struct QuotaPace {
    margin: f64,
    /// Seconds of CPU time used beyond the rate.
    debt: f64,
    /// Whether the larger number of workers is allowed.
    many: bool,
    last: Option<Usage>,
}

impl QuotaPace {
    pub(super) fn new() -> Self {
        Self {
            margin: MARGIN,
            debt: 0.0,
            many: false,
            last: None,
        }
    }

    /// Workers from now until the next call, at least one, for a quota of `cpus` in each
    /// `period`. To be called several times in `period`/20.
    pub(super) fn workers(&mut self, cpus: f64, period: Duration, usage: Usage) -> usize {
        let (band, credit) = (BAND * period.as_secs_f64(), CREDIT * period.as_secs_f64());
        if let Some(last) = self.last {
            let seconds = usage.now.saturating_sub(last.now).as_secs_f64();
            let used = usage.used.saturating_sub(last.used).as_secs_f64();
            // `None` is less than any number.
            if last.throttled.is_some() && usage.throttled > last.throttled {
                self.margin = (self.margin + BACK_OFF).min(MOST_MARGIN);
            }
            self.margin = (self.margin - RECOVERY * seconds).max(MARGIN);
            let rate = self.rate(cpus);
            // What was not used in time is lost, as the kernel has it. What was used
            // beyond is paid back, though not for ever: the kernel has forgotten it.
            let most = cpus * period.as_secs_f64();
            self.debt = (self.debt + used - rate * seconds).clamp(-credit, most);
        }
        // A count that was not read this time is compared the next.
        let throttled = usage
            .throttled
            .or(self.last.and_then(|last| last.throttled));
        self.last = Some(Usage { throttled, ..usage });
        if self.debt >= band {
            self.many = false;
        } else if self.debt <= -band {
            self.many = true;
        }
        let rate = self.rate(cpus);
        if self.many {
            return (rate.ceil() as usize).max(1);
        }
        // If the smaller number does not pay it back, because others use the time, a
        // still smaller one does.
        let deeper = (self.debt / (2.0 * credit)) as usize;
        (rate.floor() as usize).saturating_sub(deeper).max(1)
    }

    /// CPUs aimed at.
    fn rate(&self, cpus: f64) -> f64 {
        cpus * (1.0 - self.margin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel that grants `quota` microseconds of CPU time in each `period` and stops
    /// all when they are used up, and a process whose workers never rest.
    struct QuotaKernel {
        quota: f64,
        period: u64,
        /// CPUs that another process of the group uses, unseen.
        others: f64,
        /// The watch is so many microseconds late at most.
        late: u64,
        left: f64,
        stopped: bool,
        /// CPU time of the process; below, what the process would see of it.
        used: f64,
        throttled: u64,
    }

    impl QuotaKernel {
        fn new(cpus: f64, period: u64) -> Self {
            Self {
                quota: cpus * period as f64,
                period,
                others: 0.0,
                late: 300,
                left: 0.0,
                stopped: false,
                used: 0.0,
                throttled: 0,
            }
        }

        /// Runs for so many seconds, of which the first does not count; CPUs used and
        /// periods throttled.
        fn run(&mut self, seconds: u64, phase: u64) -> (f64, u64) {
            let mut rng = fastrand::Rng::with_seed(phase);
            let cpus = self.quota / self.period as f64;
            let (mut pace, mut workers, mut next) = (QuotaPace::new(), 1, 0);
            let (mut used, mut throttled) = (0.0, 0);
            for now in 0..seconds * 1_000_000 {
                if (now + phase) % self.period == 0 {
                    (self.left, self.stopped) = (self.quota, false);
                }
                if now == 1_000_000 {
                    (used, throttled) = (self.used, self.throttled);
                }
                if now == next {
                    let usage = Usage {
                        now: Duration::from_micros(now),
                        used: Duration::from_micros(self.used as u64),
                        throttled: Some(self.throttled),
                    };
                    workers = pace.workers(cpus, Duration::from_micros(self.period), usage);
                    next += 2_000 + rng.u64(..=self.late);
                }
                if self.stopped {
                    continue;
                }
                self.used += workers as f64;
                self.left -= workers as f64 + self.others;
                if self.left <= 0.0 {
                    self.stopped = true;
                    self.throttled += 1;
                }
            }
            let seconds = (seconds - 1) as f64 * 1e6;
            ((self.used - used) / seconds, self.throttled - throttled)
        }
    }

    #[test]
    fn a_quota_is_used_and_never_runs_out() {
        for cpus in [1.25, 1.5, 1.75, 2.0, 2.5, 3.9, 17.3] {
            for phase in [0, 13_700, 61_000] {
                let (used, throttled) = QuotaKernel::new(cpus, 100_000).run(4, phase);
                assert_eq!(throttled, 0, "{cpus} CPUs, phase {phase}");
                let share = used / cpus;
                assert!((0.95..0.98).contains(&share), "{cpus} CPUs: {used} used");
            }
        }
    }

    #[test]
    fn longer_periods() {
        let (used, throttled) = QuotaKernel::new(1.5, 250_000).run(5, 7);
        assert_eq!(throttled, 0);
        assert!(used > 1.42, "{used}");
    }

    /// The kernel of these tests does throttle: half a CPU that others use is more than
    /// the margin.
    #[test]
    fn a_pace_without_regard_to_others_throttles() {
        let mut kernel = QuotaKernel::new(1.5, 100_000);
        kernel.others = 0.5;
        let (_, throttled) = kernel.run(2, 0);
        assert!(throttled > 0);
    }

    /// What others use is not seen but by what the kernel says.
    #[test]
    fn it_backs_off_when_the_kernel_throttles() {
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

    /// Idle time is no credit beyond the band.
    #[test]
    fn after_a_rest() {
        let mut pace = QuotaPace::new();
        let usage = |ms: u64, used: u64| Usage {
            now: Duration::from_millis(ms),
            used: Duration::from_millis(used),
            throttled: None,
        };
        let period = Duration::from_millis(100);
        for ms in 0..1_000 {
            pace.workers(1.5, period, usage(ms, 0));
        }
        let mut many = 0;
        let mut used = 0;
        for ms in 1_000..1_100 {
            let workers = pace.workers(1.5, period, usage(ms, used));
            used += workers as u64;
            many += usize::from(workers == 2);
        }
        assert!((40..50).contains(&many), "{many} ms of two");
    }
}
