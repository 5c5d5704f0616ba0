//! Tests whole machines in discrete steps.

use super::super::*;
use super::{linux, only};
use crate::core_set::CoreSet;

const SECOND: Cycles = 1_000_000;
const STEP: Cycles = 100;

/// A machine of compute-bound threads in steps of 100 us.
struct Machine {
    os: Scheduler,
    now: Cycles,
    cores: u32,
    had: Vec<Cycles>,
    /// The time of each core's last balancing.
    balanced: Vec<Cycles>,
    migrations: u32,
}

impl Machine {
    fn new(cores: u32, group_cores: u32, affinities: &[CoreSet]) -> Machine {
        let os = Scheduler::new(&linux(), cores, group_cores);
        let had = vec![0; affinities.len()];
        let mut machine = Machine {
            os,
            now: 0,
            cores,
            had,
            balanced: vec![0; cores as usize],
            migrations: 0,
        };
        for (thread, affinity) in affinities.iter().enumerate() {
            machine.os.spawn(thread as u32, affinity.clone(), 0);
        }
        (0..cores).for_each(|core| machine.pick(core));
        machine
    }

    fn pick(&mut self, core: u32) {
        let picked = self.os.pick(self.now, core);
        self.migrations += u32::from(picked.is_some_and(|picked| picked.migrated));
    }

    fn placed(&mut self, placed: Placement) {
        if placed.preempts {
            self.os.requeue(self.now, placed.core);
        }
        if placed.idle || placed.preempts {
            self.pick(placed.core);
        }
    }

    /// Does one step on all cores. Then blocks the threads for which `leaves` returns `true`.
    fn step(&mut self, leaves: impl Fn(&[Cycles], ThreadId) -> bool) {
        self.now += STEP;
        for core in 0..self.cores {
            let Some(thread) = self.os.running(core) else {
                continue;
            };
            self.os.ran(core, STEP);
            self.had[thread as usize] += STEP;
        }
        for core in 0..self.cores {
            let Some(thread) = self.os.running(core) else {
                continue;
            };
            if leaves(&self.had, thread) {
                self.os.block(self.now, core);
                self.pick(core);
            } else if self.ticks(core) && self.os.tick(core) {
                self.os.requeue(self.now, core);
                self.pick(core);
            }
        }
        for core in 0..self.cores {
            let since = self.balanced[core as usize];
            if self.os.is_crowded()
                && self.ticks(core)
                && self.os.next_balance(since, core) <= self.now
            {
                self.balanced[core as usize] = self.now;
                if let Some(pulled) = self.os.balance(since, self.now, core) {
                    self.placed(pulled.to);
                }
            }
        }
    }

    /// Whether the core's clock interrupt is in this step. At its interrupt, a core checks its threads and the other
    /// queues. The cores' interrupts are spread over the tick.
    fn ticks(&self, core: u32) -> bool {
        let tick = linux().tick;
        let phase = tick * u64::from(core) / u64::from(self.cores) / STEP * STEP;
        self.now % tick == phase
    }

    fn run(&mut self, time: Cycles) {
        for _ in 0..time / STEP {
            self.step(|_, _| false);
        }
    }

    /// Each thread does `work` and blocks at a barrier. Returns the time.
    fn interval(&mut self, work: Cycles) -> Cycles {
        let begin = self.now;
        let goal: Vec<_> = self.had.iter().map(|had| had + work).collect();
        while self.had != goal {
            self.step(|had, thread| had[thread as usize] == goal[thread as usize]);
        }
        self.now - begin
    }

    /// Each thread does `work` and spins at a barrier until the last thread arrives. Returns the time.
    fn spinning_interval(&mut self, work: Cycles) -> Cycles {
        let begin = self.now;
        let goal: Vec<_> = self.had.iter().map(|had| had + work).collect();
        while self.had.iter().zip(&goal).any(|(had, goal)| had < goal) {
            self.step(|_, _| false);
        }
        self.now - begin
    }

    fn wake_all(&mut self) {
        for thread in 0..self.had.len() as u32 {
            let placed = self.os.wake(thread, 0);
            self.placed(placed);
        }
    }
}

#[test]
fn two_threads_share_a_core() {
    let mut machine = Machine::new(1, 1, &[only(0), only(0)]);
    for _ in 0..50 {
        machine.run(20_000);
        assert!(
            machine.had[0].abs_diff(machine.had[1]) <= 24_000,
            "{:?}",
            machine.had
        );
    }
    assert_eq!(machine.had.iter().sum::<u64>(), SECOND);
}

#[test]
fn the_surplus_thread_moves_and_all_threads_get_a_share() {
    let mut machine = Machine::new(15, 15, &vec![CoreSet::below(15); 16]);
    let time = 60 * SECOND;
    machine.run(time);
    assert_eq!(machine.had.iter().sum::<u64>(), 15 * time);
    let share = |thread: usize| machine.had[thread] as f64 / time as f64;
    let least = (0..16).map(share).fold(1.0, f64::min);
    let most = (0..16).map(share).fold(0.0, f64::max);
    assert!(least > 0.9 && most < 0.97, "{least} to {most}");
    assert!(machine.migrations > 100);
}

/// With a sixteenth core that the threads may not use, as under `taskset`, the mean is one thread for each core, so no
/// thread is moved.
#[test]
fn under_taskset_two_threads_stay_at_half() {
    let mut machine = Machine::new(16, 16, &vec![CoreSet::below(15); 16]);
    machine.run(10 * SECOND);
    let halves = machine.had.iter().filter(|&&had| had < 6 * SECOND).count();
    assert_eq!((halves, machine.migrations), (2, 0));
}

#[test]
fn pinned_threads_do_not_move() {
    let affinities: Vec<_> = (0..16).map(|thread| only(thread % 15)).collect();
    let mut machine = Machine::new(15, 5, &affinities);
    machine.run(5 * SECOND);
    assert_eq!(machine.migrations, 0);
    assert_eq!(machine.had[1], 5 * SECOND);
    assert!(machine.had[0].abs_diff(machine.had[15]) <= 24_000);
}

/// The machine has as many threads as cores, and they all start on some of the cores. In the end, each core has one
/// thread. This holds for all sizes of groups.
#[test]
fn load_is_balanced_for_all_group_sizes() {
    for (cores, group_cores) in (2..=16).flat_map(|cores| (1..=cores).map(move |n| (cores, n))) {
        for crowded in 1..cores {
            let threads = vec![CoreSet::below(crowded); cores as usize];
            let mut machine = Machine::new(cores, group_cores, &threads);
            machine.run(SECOND / 10);
            for thread in 0..cores {
                let all = CoreSet::below(cores);
                machine.os.set_affinity(machine.now, thread, all);
            }
            machine.run(SECOND);
            let runnable: Vec<_> = (0..cores).map(|core| machine.os.runnable(core)).collect();
            assert!(
                runnable.iter().all(|&threads| threads == 1),
                "{cores} cores in groups of {group_cores}, from {crowded}: {runnable:?}"
            );
        }
    }
}

/// The ratio with fair shares and idle pull, but without rotation. There are T = kC + r threads on C cores, and r(k+1)
/// threads are on crowded cores. When the other threads leave, these threads have done k/(k+1) of their work, and
/// continue alone.
fn fair_pull(threads: f64, cores: f64) -> f64 {
    let (k, r) = ((threads / cores).floor(), threads % cores);
    if threads <= cores {
        1.0
    } else if r == 0.0 {
        k
    } else {
        k + fair_pull(r * (k + 1.0), cores) / (k + 1.0)
    }
}

/// Barriers with blocking threads. The work is far longer than the slice, but shorter than the time
/// in which the surplus thread moves on.
#[test]
fn blocking_barrier_with_long_work_follows_the_fair_share_formula() {
    for cores in [9, 10, 12, 13, 14, 15] {
        let mut machine = Machine::new(cores, cores, &vec![CoreSet::below(cores); 16]);
        let work = 200_000;
        let ratio = machine.interval(work) as f64 / work as f64;
        let expected = fair_pull(16.0, cores.into());
        assert!(
            (ratio / expected - 1.0).abs() < 0.02,
            "{cores}: {ratio} {expected}"
        );
    }
}

/// With less work than a slice, one thread runs after the other.
#[test]
fn blocking_barrier_with_short_work_takes_twice_as_long() {
    let mut machine = Machine::new(15, 15, &vec![CoreSet::below(15); 16]);
    let mut time = 0;
    for _ in 0..20 {
        time += machine.interval(2_000);
        machine.wake_all();
    }
    let ratio = time as f64 / (20.0 * 2_000.0);
    assert!((1.9..=2.1).contains(&ratio), "{ratio}");
}

/// At a spinning barrier, each interval waits for a whole slice of a thread that only spins.
#[test]
fn spinning_barrier_burns_slices() {
    let mut machine = Machine::new(15, 15, &vec![CoreSet::below(15); 16]);
    let work = 100;
    let time: u64 = (0..20).map(|_| machine.spinning_interval(work)).sum();
    let ratio = time as f64 / (20 * work) as f64;
    assert!((60.0..=200.0).contains(&ratio), "{ratio}");
}
