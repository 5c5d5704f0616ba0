//! How many CPUs other processes leave to this process, computed from their use of CPU time.
//!
//! If a worker shares its CPU with another process, the kernel stops the worker for milliseconds at a time, at any
//! point of its work. A team that meets at barriers then waits for this worker at each barrier. So CPUs that other
//! processes use count as gone, in whole CPUs.
//!
//! The use by other processes is the busy time of this process's CPUs, less the time that the process itself has used.
//! Time that a hypervisor has taken (steal) is busy time. While this process competes for CPUs, other processes get
//! less time than they want, so this process leaves them one CPU too few. The other processes then use more time,
//! until this process leaves them as many CPUs as they want.

use std::time::Duration;

/// How long the use is added up before the number of CPUs may change. The kernel counts in steps of 10 ms for each
/// CPU.
pub(super) const WINDOW: Duration = Duration::from_millis(300);
/// Other processes may use this part of a CPU before it counts as gone.
const CRUMBS: f64 = 0.3;

/// CPU times, each since some fixed moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Load {
    pub(super) now: Duration,
    /// A number that changes when the set of CPUs that this process may use changes.
    pub(super) set: u32,
    /// The time that all processes, and a hypervisor, have used on the CPUs that this process may use.
    pub(super) busy: Duration,
    /// The time that this process has used.
    pub(super) own: Duration,
}

/// The use by other processes, in CPUs.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    last: Option<Load>,
    use_of_others: f64,
}

impl Neighbours {
    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.last
            .is_none_or(|last| now.saturating_sub(last.now) >= WINDOW)
    }

    /// Ends the window with `load`, and begins the next window.
    pub(super) fn learn(&mut self, load: Load) {
        // The earlier use of new CPUs does not count: their window begins now.
        if let Some(last) = self.last.replace(load).filter(|last| last.set == load.set) {
            let others = load.busy.saturating_sub(last.busy).as_secs_f64()
                - load.own.saturating_sub(last.own).as_secs_f64();
            let window = load.now.saturating_sub(last.now).as_secs_f64();
            self.use_of_others = (others / window.max(1e-3)).max(0.0);
        }
    }

    /// The number of CPUs that other processes used in the last window.
    pub(super) fn used(&self) -> f64 {
        self.use_of_others
    }

    /// How many of `cpus` the other processes leave, at least one.
    pub(super) fn leave(&self, cpus: usize) -> usize {
        let taken = (self.use_of_others - CRUMBS).max(0.0).ceil();
        // The conversion is exact for every machine's number of CPUs.
        cpus.saturating_sub(taken as usize).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A kernel that divides its CPUs fairly among threads that each always want one. It counts in steps of 10 ms,
    /// from a random phase on.
    struct FairKernel {
        cpus: usize,
        others: usize,
        now: f64,
        phase: f64,
        busy: f64,
        own: f64,
    }

    impl FairKernel {
        fn run(&mut self, workers: usize) -> Load {
            let window = WINDOW.as_secs_f64();
            let running = (workers + self.others) as f64;
            let each = (self.cpus as f64 / running).min(1.0);
            self.now += window;
            self.busy += each * running * window;
            self.own += each * workers as f64 * window;
            let counted = ((self.busy + self.phase) * 100.0).floor() / 100.0;
            Load {
                now: Duration::from_secs_f64(self.now),
                busy: Duration::from_secs_f64(counted),
                own: Duration::from_secs_f64(self.own),
                ..Load::default()
            }
        }
    }

    proptest! {
        /// Other processes begin and end. The workers use all CPUs that the others leave, and lack no more than the
        /// part that does not count.
        #[test]
        fn workers_have_whole_cpus(
            cpus in 1_usize..64,
            crowds in prop::collection::vec(0_usize..80, 1..5),
            phase in 0.0..0.01,
        ) {
            let mut kernel = FairKernel { cpus, others: 0, now: 0.0, phase, busy: 0.0, own: 0.0 };
            let mut neighbours = Neighbours::default();
            let mut workers = cpus;
            for others in crowds {
                kernel.others = others;
                for _ in 0..=cpus + 4 {
                    neighbours.learn(kernel.run(workers));
                    workers = neighbours.leave(cpus);
                }
                let wanted_by_nobody = cpus.saturating_sub(others).max(1);
                prop_assert!(workers >= wanted_by_nobody);
                let share = (cpus as f64 / (workers + others) as f64).min(1.0);
                let lack = (1.0 - share) * workers as f64;
                prop_assert!(workers == 1 || lack < CRUMBS + 0.05, "{workers} lack {lack}");
            }
        }

        /// A use of less than 0.3 of a CPU changes nothing.
        #[test]
        fn crumbs_do_not_count(cpus in 1_usize..64, each in 0.0..0.29_f64) {
            let mut neighbours = Neighbours::default();
            for second in 0..3_u64 {
                neighbours.learn(Load {
                    now: Duration::from_secs(second),
                    busy: Duration::from_secs_f64(second as f64 * (1.0 + each)),
                    own: Duration::from_secs(second),
                    ..Load::default()
                });
            }
            prop_assert_eq!(neighbours.leave(cpus), cpus);
        }
    }

    #[test]
    fn the_first_load_ends_no_window() {
        let mut neighbours = Neighbours::default();
        assert!(neighbours.is_due(Duration::ZERO));
        // The use since the machine began ends no window.
        neighbours.learn(Load {
            now: Duration::ZERO,
            busy: Duration::from_secs(1_000_000),
            own: Duration::ZERO,
            ..Load::default()
        });
        assert_eq!(neighbours.leave(4), 4);
        assert!(!neighbours.is_due(WINDOW / 2));
    }

    /// The mask grows. The earlier use of the new CPUs does not count.
    #[test]
    fn new_cpus_count_as_free_for_a_window() {
        let mut neighbours = Neighbours::default();
        let load = |ms, set, busy| Load {
            now: Duration::from_millis(ms),
            set,
            busy: Duration::from_millis(busy),
            own: Duration::from_millis(ms),
        };
        neighbours.learn(load(0, 1, 5_000));
        neighbours.learn(load(300, 1, 5_300));
        neighbours.learn(load(600, 2, 900_000));
        assert_eq!(neighbours.leave(2), 2);
        // Another process uses a CPU.
        neighbours.learn(load(900, 2, 900_600));
        assert_eq!(neighbours.leave(2), 1);
    }
}
