//! The scheduler of Linux before 6.6 (CFS) with threads of equal weight: the next thread on a core,
//! and its time slice.
//!
//! It follows the rules of `kernel/sched/fair.c`, Linux 5.12 to 6.5. Comments name functions of
//! that file.

use super::queue::Queue;
use super::{Cycles, ThreadId};
use crate::config;
use crate::core_set::CoreSet;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Picked {
    pub(crate) thread: ThreadId,
    /// The thread last ran on another core.
    pub(crate) migrated: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Absent,
    Running,
    Queued,
    Blocked,
}

#[derive(Debug, Default)]
pub(super) struct Thread {
    pub(super) state: State,
    /// The thread's virtual run time, relative to the virtual time of `core`.
    pub(super) vruntime: i64,
    pub(super) affinity: CoreSet,
    /// The core on which the thread runs or is queued. For a blocked thread, the core on which it ran or was queued
    /// when it blocked.
    pub(super) core: u32,
    /// The cycles that the thread has run.
    pub(super) used: Cycles,
    /// The core on which the thread last ran, and the time when it stopped running there.
    pub(super) ran: Option<(u32, Cycles)>,
}

#[derive(Debug)]
pub(super) struct Core {
    pub(super) running: Option<ThreadId>,
    pub(super) queue: Queue,
    /// The cycles that the running thread has run in its slice.
    used: Cycles,
    /// The thread that yielded. It does not run next if the vruntime (virtual run time) of another thread is near.
    skip: Option<ThreadId>,
    idle_since: Option<Cycles>,
    /// The moving average of the core's idle times.
    pub(super) mean_idle: Cycles,
    /// For the group and for the machine, the number of consecutive rounds of balancing that saw an imbalance and moved
    /// no thread.
    pub(super) failed: [u32; 2],
}

/// The run queues of all cores and the threads in them.
///
/// A thread is running, queued or blocked. If a core has a queue and no running thread, the engine must call `pick`. It
/// must do so at once if the core's thread has left, or later if the core was woken.
#[derive(Debug)]
pub(crate) struct Scheduler {
    pub(super) os: config::Os,
    pub(super) group_cores: u32,
    /// The hardware threads that share a core. Each counts as a core of its own here.
    pub(super) siblings: u32,
    pub(super) cores: Vec<Core>,
    pub(super) threads: Vec<Thread>,
    /// Cores that got no thread at their last `pick`, and have had no thread since.
    pub(super) idle: CoreSet,
    /// Cores with at least two runnable threads.
    pub(super) crowded: CoreSet,
    /// Runnable threads of each group.
    pub(super) groups: Vec<u32>,
}

impl Scheduler {
    pub(crate) fn new(os: &config::Os, cores: u32, group_cores: u32) -> Scheduler {
        let core = |_| Core {
            running: None,
            queue: Queue::default(),
            used: 0,
            skip: None,
            idle_since: Some(0),
            mean_idle: 2 * os.hot,
            failed: [0; 2],
        };
        Scheduler {
            os: os.clone(),
            group_cores,
            siblings: 1,
            cores: (0..cores).map(core).collect(),
            threads: Vec::new(),
            idle: CoreSet::below(cores),
            crowded: CoreSet::new(),
            groups: vec![0; cores.div_ceil(group_cores) as usize],
        }
    }

    /// The same scheduler on cores of `siblings` hardware threads.
    pub(crate) fn with_siblings(self, siblings: u32) -> Scheduler {
        Scheduler { siblings, ..self }
    }

    /// Picks a thread for a core without a running thread: the thread with the least vruntime of the core's queue, or a
    /// waiting thread of another core. If there is no such thread, the core becomes idle.
    pub(crate) fn pick(&mut self, now: Cycles, core: u32) -> Option<Picked> {
        debug_assert_eq!(self.running(core), None);
        if self.core(core).queue.is_empty() {
            self.pull_newly_idle(now, core);
        }
        let hot = self.os.hot;
        let wakeup_granularity = self.os.wakeup_granularity as i64;
        let this = &mut self.cores[core as usize];
        let Some(first) = this.queue.first() else {
            this.idle_since.get_or_insert(now);
            self.idle.insert(core);
            return None;
        };
        let next = match (this.skip.take(), this.queue.second()) {
            (Some(skip), Some(second))
                if skip == first.1 && second.0 - first.0 <= wakeup_granularity =>
            {
                second
            }
            _ => first,
        };
        this.queue.remove(next.0, next.1);
        this.queue.advance(next.0);
        this.running = Some(next.1);
        this.used = 0;
        if let Some(since) = this.idle_since.take() {
            let idle = (now - since).min(2 * hot);
            this.mean_idle = this.mean_idle - this.mean_idle / 8 + idle / 8;
        }
        let thread = &mut self.threads[next.1 as usize];
        thread.state = State::Running;
        let migrated = thread.ran.is_some_and(|(last, _)| last != core);
        Some(Picked {
            thread: next.1,
            migrated,
        })
    }

    pub(crate) fn ran(&mut self, core: u32, cycles: Cycles) {
        let this = &mut self.cores[core as usize];
        let running = this.running.expect("only a running thread is charged");
        let thread = &mut self.threads[running as usize];
        thread.vruntime += cycles as i64;
        thread.used += cycles;
        this.used += cycles;
        this.queue.advance(thread.vruntime);
    }

    /// The clock interrupt. Returns whether the running thread has used its slice and must go back
    /// to the queue.
    pub(crate) fn tick(&mut self, core: u32) -> bool {
        let slice = self.slice(core, 0);
        let this = &mut self.cores[core as usize];
        let (Some(running), Some(first)) = (this.running, this.queue.first()) else {
            return false;
        };
        let vruntime = self.threads[running as usize].vruntime;
        if this.used >= slice {
            // The thread would be picked again, so it gets a new slice.
            if (vruntime, running) < first {
                this.used = 0;
                return false;
            }
            return true;
        }
        this.used >= self.os.min_granularity && vruntime - first.0 > slice as i64
    }

    /// The slice of a thread if `more` threads join the core's runnable threads.
    pub(super) fn slice(&self, core: u32, more: u32) -> Cycles {
        let runnable = u64::from(self.runnable(core) + more).max(1);
        (self.os.latency / runnable).max(self.os.min_granularity)
    }

    pub(crate) fn requeue(&mut self, now: Cycles, core: u32) {
        let (id, vruntime) = self.stop(now, core, State::Queued);
        self.cores[core as usize].queue.insert(vruntime, id);
    }

    /// Puts the running thread back into the queue. Another thread runs first unless its vruntime
    /// is far ahead (`sched_yield`).
    pub(crate) fn yield_now(&mut self, now: Cycles, core: u32) {
        self.cores[core as usize].skip = self.running(core);
        self.requeue(now, core);
    }

    pub(crate) fn block(&mut self, now: Cycles, core: u32) {
        self.stop(now, core, State::Blocked);
        self.count_out(core);
    }

    /// Blocks a thread that runs or waits for its core. Returns that core.
    pub(crate) fn rest(&mut self, now: Cycles, thread: ThreadId) -> u32 {
        let core = self.core_of(thread);
        if self.running(core) == Some(thread) {
            self.block(now, core);
        } else {
            self.dequeue(thread);
            self.threads[thread as usize].state = State::Blocked;
        }
        core
    }

    /// The cycles that a thread has run, as far as they have been charged to it.
    pub(crate) fn used(&self, thread: ThreadId) -> Cycles {
        self.threads[thread as usize].used
    }

    /// The core of a running, waiting or sleeping thread. A sleeping thread keeps its last core.
    pub(crate) fn core_of(&self, thread: ThreadId) -> u32 {
        self.threads[thread as usize].core
    }

    /// Ends the running thread. Its number may be used again.
    pub(crate) fn exit(&mut self, now: Cycles, core: u32) {
        let (id, _) = self.stop(now, core, State::Absent);
        self.threads[id as usize] = Thread::default();
        self.count_out(core);
    }

    pub(super) fn stop(&mut self, now: Cycles, core: u32, state: State) -> (ThreadId, i64) {
        let running = self.cores[core as usize].running.take();
        let id = running.expect("only a running thread is stopped");
        let thread = &mut self.threads[id as usize];
        thread.state = state;
        thread.ran = Some((core, now));
        (id, thread.vruntime)
    }

    pub(super) fn count_in(&mut self, core: u32) {
        let group = self.group(core);
        self.groups[group] += 1;
        self.idle.remove(core);
        if self.runnable(core) >= 2 {
            self.crowded.insert(core);
        }
    }

    pub(super) fn count_out(&mut self, core: u32) {
        let group = self.group(core);
        self.groups[group] -= 1;
        if self.runnable(core) < 2 {
            self.crowded.remove(core);
        }
    }

    pub(crate) fn running(&self, core: u32) -> Option<ThreadId> {
        self.core(core).running
    }

    /// The number of threads that run on the core or wait for it.
    pub(crate) fn runnable(&self, core: u32) -> u32 {
        let this = self.core(core);
        this.queue.len() + u32::from(this.running.is_some())
    }

    /// Whether the core has no thread and must be woken to get one.
    pub(crate) fn is_idle(&self, core: u32) -> bool {
        self.idle.contains(core)
    }

    /// The time since which the core has been idle. While an idle core is woken, the time
    /// stays set until `pick` gives the core a thread.
    #[cfg(test)]
    pub(crate) fn idle_since(&self, core: u32) -> Option<Cycles> {
        self.core(core).idle_since
    }

    /// Whether any core has a waiting thread. Only then are clock interrupts and periodic balancing
    /// needed.
    pub(crate) fn is_crowded(&self) -> bool {
        !self.crowded.is_empty()
    }

    pub(super) fn core(&self, core: u32) -> &Core {
        &self.cores[core as usize]
    }

    pub(super) fn group(&self, core: u32) -> usize {
        (core / self.group_cores) as usize
    }

    pub(super) fn span(&self, group: usize) -> Range<u32> {
        let start = group as u32 * self.group_cores;
        start..(start + self.group_cores).min(self.machine().end)
    }

    pub(super) fn machine(&self) -> Range<u32> {
        0..self.cores.len() as u32
    }
}
