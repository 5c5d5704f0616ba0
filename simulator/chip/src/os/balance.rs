//! Load balancing: moves waiting threads to cores with less load.

use super::place::Placement;
use super::scheduler::Scheduler;
use super::{Cycles, ThreadId};
use std::ops::Range;

/// A waiting thread that a core took from another core's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pulled {
    pub(crate) thread: ThreadId,
    pub(crate) from: u32,
    pub(crate) to: Placement,
}

/// The domains of balancing, the nearest first.
#[derive(Clone, Copy)]
enum Domain {
    /// The cores of the core's group.
    Group,
    /// The groups of the machine.
    Machine,
}

/// A number of runnable threads, and of the cores that they are on.
#[derive(Clone, Copy)]
struct Load {
    threads: u32,
    cores: u32,
}

const UNIT: u64 = 1024;
/// After this many failed rounds, even a hot thread is moved (`cache_nice_tries`).
const PATIENCE: u32 = 1;

impl Load {
    fn per_core(self) -> u64 {
        u64::from(self.threads) * UNIT / u64::from(self.cores)
    }
}

/// The load to move for an even distribution, or 0 if the distribution is even enough. This is `calculate_imbalance` of
/// Linux 5.5 to 6.5, with equal threads.
fn imbalance(local: Load, busiest: Load, whole: Load) -> u64 {
    if busiest.threads <= busiest.cores {
        return 0;
    }
    let (here, there, mean) = (local.per_core(), busiest.per_core(), whole.per_core());
    if here >= mean || there <= mean {
        return 0;
    }
    // Two overloaded sides must differ by more than `imbalance_pct`.
    if local.threads > local.cores && 100 * there <= 117 * here {
        return 0;
    }
    ((there - mean) * u64::from(busiest.cores)).min((mean - here) * u64::from(local.cores))
}

impl Scheduler {
    /// The time after `now` at which the core next has to `balance`. The interval is `os.balance` times the number of
    /// cores in the group, and times `os.balance_busy` while the core is not idle. The cores take turns. While no core
    /// is crowded ([`is_crowded`](Self::is_crowded)), balancing has no effect.
    pub(crate) fn next_balance(&self, now: Cycles, core: u32) -> Cycles {
        let (interval, phase) = self.rounds(core);
        let since = (now + interval - phase) % interval;
        now + interval - since
    }

    /// A core's interval between rounds, and the time of its first round.
    fn rounds(&self, core: u32) -> (Cycles, Cycles) {
        let group = self.span(self.group(core));
        let cores = u64::from(group.end - group.start);
        let factor = if self.is_idle(core) {
            1
        } else {
            self.os.balance_busy
        };
        let step = self.os.balance * factor;
        (step * cores, step * u64::from(core - group.start))
    }

    /// Does a round of periodic balancing: pulls at most one waiting thread to this core. The
    /// core's last round was at `since`.
    ///
    /// With n groups, every n-th round covers the machine. A core balances only at its clock interrupt, so rounds of a
    /// small group may pass between two interrupts. If a round for the machine was among them, this round covers the
    /// machine.
    ///
    /// An idle core takes any thread that it may take. If a queue has one more thread than a busy core's own queue, the
    /// busy core takes this surplus thread only after failed rounds. The load to move is then a fraction of a thread
    /// (1/15 for 16 threads on 15 cores). `detach_tasks` halves a thread's load for each failed round, and moves the
    /// thread only if the result is at most that fraction (Linux 5.12 to 6.5). So the surplus thread moves from core to
    /// core, more slowly with more cores. If there is an idle core that the thread may not use, the mean is one thread
    /// for each core, so the thread does not move.
    ///
    /// Load is the number of runnable threads, without decaying averages. Unlike in Linux
    /// (`active_load_balance_cpu_stop`), running threads are never moved.
    pub(crate) fn balance(&mut self, since: Cycles, now: Cycles, core: u32) -> Option<Pulled> {
        let group = self.group(core);
        let (interval, phase) = self.rounds(core);
        let groups = self.groups.len() as u64;
        let turns =
            |at: Cycles| ((at + interval - phase) / interval + groups - group as u64) / groups;
        let machine = groups > 1 && turns(now) > turns(since) && self.speaks_for(group, core);
        self.attempt(now, core, Domain::Group).or_else(|| {
            machine
                .then(|| self.attempt(now, core, Domain::Machine))
                .flatten()
        })
    }

    /// Whether the core balances for its group. The first idle core does so, or the first core if all cores are busy
    /// (`should_we_balance`).
    fn speaks_for(&self, group: usize, core: u32) -> bool {
        let span = self.span(group);
        core == self.idle.iter_in(span.clone()).next().unwrap_or(span.start)
    }

    fn attempt(&mut self, now: Cycles, core: u32, domain: Domain) -> Option<Pulled> {
        let failed = self.core(core).failed[domain as usize];
        let (span, local) = self.domain(core, domain);
        let Some((from, _)) = self.busiest(span.clone(), local.clone(), core, |_| true) else {
            self.cores[core as usize].failed[domain as usize] = 0;
            return None;
        };
        let source = match domain {
            Domain::Group => from..from + 1,
            Domain::Machine => self.span(self.group(from)),
        };
        let excess = imbalance(
            self.load(local.clone()),
            self.load(source),
            self.load(span.clone()),
        );
        let idle = self.is_idle(core);
        if !idle && excess == 0 {
            self.cores[core as usize].failed[domain as usize] = 0;
            return None;
        }
        let enough = idle || UNIT >> failed.min(u64::BITS - 1) <= excess;
        let movable = |thread| failed > PATIENCE || !self.is_hot(now, thread);
        match self.busiest(span, local, core, movable).filter(|_| enough) {
            Some((from, thread)) => Some(self.pull(thread, from, core)),
            None => {
                self.cores[core as usize].failed[domain as usize] += 1;
                None
            }
        }
    }

    /// A core without threads takes a waiting thread of another core, and looks first within its group. It takes no
    /// thread that has just run. It takes no thread at all if the core's idle times are usually shorter than the time
    /// of a move (`newidle_balance`).
    pub(super) fn pull_newly_idle(&mut self, now: Cycles, core: u32) {
        if self.core(core).mean_idle < self.os.hot {
            return;
        }
        let found = [Domain::Group, Domain::Machine]
            .into_iter()
            .find_map(|domain| {
                let (span, local) = self.domain(core, domain);
                self.busiest(span, local, core, |thread| !self.is_hot(now, thread))
            });
        if let Some((from, thread)) = found {
            self.pull(thread, from, core);
        }
    }

    /// The cores of a domain, and the cores in it for which this core balances.
    fn domain(&self, core: u32, domain: Domain) -> (Range<u32>, Range<u32>) {
        let group = self.span(self.group(core));
        match domain {
            Domain::Group => (group, core..core + 1),
            Domain::Machine => (self.machine(), group),
        }
    }

    fn load(&self, span: Range<u32>) -> Load {
        let cores = span.end - span.start;
        let threads = if cores == 1 {
            self.runnable(span.start)
        } else {
            let groups = self.group(span.start)..=self.group(span.end - 1);
            self.groups[groups].iter().sum()
        };
        Load { threads, cores }
    }

    /// The busiest queue outside `local`, in the busiest group, that has a thread for `core`.
    /// Returns the first such thread of that queue.
    fn busiest(
        &self,
        span: Range<u32>,
        local: Range<u32>,
        core: u32,
        movable: impl Fn(ThreadId) -> bool,
    ) -> Option<(u32, ThreadId)> {
        let mut best = None;
        let mut most = (0, 0);
        for from in self
            .crowded
            .iter_in(span)
            .filter(|from| !local.contains(from))
        {
            let group = self.load(self.span(self.group(from))).per_core();
            let load = (group, self.runnable(from));
            if load <= most {
                continue;
            }
            let may = |&thread: &ThreadId| {
                self.threads[thread as usize].affinity.contains(core) && movable(thread)
            };
            if let Some(thread) = self.core(from).queue.iter().find(may) {
                best = Some((from, thread));
                most = load;
            }
        }
        best
    }

    /// Whether a thread ran so recently that its data are still in its core's caches (`task_hot`).
    fn is_hot(&self, now: Cycles, thread: ThreadId) -> bool {
        let ran = self.threads[thread as usize].ran;
        // The thread's core may be a few cycles ahead of the asking core.
        ran.is_some_and(|(_, until)| now.saturating_sub(until) < self.os.hot)
    }

    fn pull(&mut self, thread: ThreadId, from: u32, core: u32) -> Pulled {
        self.cores[core as usize].failed = [0; 2];
        let vruntime = self.vruntime_on(thread, core);
        self.dequeue(thread);
        let to = self.enqueue(thread, core, vruntime);
        Pulled { thread, from, to }
    }
}
