//! The choice of a core for a new or woken thread.

use super::scheduler::{Scheduler, State, Thread};
use super::{Cycles, ThreadId};
use crate::core_set::CoreSet;
use std::cmp::Reverse;
use std::ops::Range;

/// The core of a queued thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    pub(crate) core: u32,
    /// The core was idle. The engine must wake the core and call `pick` for it.
    pub(crate) idle: bool,
    /// The core must preempt its running thread: the engine calls `requeue` and `pick`.
    pub(crate) preempts: bool,
}

/// The move of a thread after a change of its affinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) from: u32,
    /// The thread was running, so the core `from` must stop it, and the engine must call `pick`.
    pub(crate) was_running: bool,
    pub(crate) to: Placement,
}

impl Scheduler {
    /// Places a new thread. The thread goes to the group with the most idle cores, or to the parent's group if that
    /// group has equally many. In the group, it goes to the next idle core after its parent's core. If no core is idle,
    /// it goes to the least loaded core. It starts a slice behind the other threads there.
    ///
    /// `affinity` must have a core of the machine.
    pub(crate) fn spawn(
        &mut self,
        thread: ThreadId,
        affinity: CoreSet,
        parent_core: u32,
    ) -> Placement {
        let index = thread as usize;
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, Default::default);
        }
        debug_assert_eq!(self.threads[index].state, State::Absent);
        let core = self.idlest(parent_core, &affinity);
        let this = &mut self.threads[index];
        this.affinity = affinity;
        this.core = core;
        let vruntime = self.core(core).queue.min_vruntime() + self.slice(core, 1) as i64;
        self.enqueue(thread, core, vruntime)
    }

    /// Adds a sleeping thread that was last on `core`.
    pub(crate) fn asleep(&mut self, now: Cycles, thread: ThreadId, affinity: CoreSet, core: u32) {
        let index = thread as usize;
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, Default::default);
        }
        self.threads[index] = Thread {
            state: State::Blocked,
            vruntime: self.core(core).queue.min_vruntime(),
            affinity,
            core,
            used: 0,
            ran: Some((core, now)),
        };
    }

    /// Makes a blocked thread runnable. Its target is its last core, or the waker's core if that core is less loaded.
    /// The thread goes to the target if that core is idle. Otherwise it goes to the next idle core of the target's
    /// group. If no core of the group is idle, the thread waits for the target. It is at most half a period
    /// (`os.latency`) ahead of the other threads there, however long it has slept. If wake-ups are sticky, no core
    /// counts as idle.
    pub(crate) fn wake(&mut self, thread: ThreadId, waker_core: u32) -> Placement {
        debug_assert_eq!(self.threads[thread as usize].state, State::Blocked);
        let core = self.wake_core(thread, waker_core);
        let bonus = self.os.latency as i64 / 2;
        let vruntime = self.vruntime_on(thread, core);
        let earliest = self.core(core).queue.min_vruntime() - bonus;
        self.enqueue(thread, core, vruntime.max(earliest))
    }

    /// Sets the cores that a thread may run on. The thread stays where it is.
    pub(crate) fn allow(&mut self, thread: ThreadId, affinity: CoreSet) {
        self.threads[thread as usize].affinity = affinity;
    }

    /// Sets the cores that a thread may run on. A thread that runs or waits on a forbidden core
    /// moves at once.
    ///
    /// `affinity` must have a core of the machine.
    pub(crate) fn set_affinity(
        &mut self,
        now: Cycles,
        thread: ThreadId,
        affinity: CoreSet,
    ) -> Option<Moved> {
        let this = &mut self.threads[thread as usize];
        this.affinity = affinity;
        let (from, state) = (this.core, this.state);
        if this.affinity.contains(from) || !matches!(state, State::Running | State::Queued) {
            return None;
        }
        let was_running = state == State::Running;
        if was_running {
            self.stop(now, from, State::Queued);
            self.count_out(from);
        } else {
            self.dequeue(thread);
        }
        let affinity = &self.threads[thread as usize].affinity;
        let group = self.span(self.group(from));
        let idle = self.idle_near(from, group, affinity);
        let core = idle.unwrap_or_else(|| self.idlest(from, affinity));
        let to = self.enqueue(thread, core, self.vruntime_on(thread, core));
        Some(Moved {
            from,
            was_running,
            to,
        })
    }

    /// The core of a woken thread, as in `select_idle_sibling` with a target as in `wake_affine`. Before
    /// [`wake`](Self::wake), the engine charges the running thread of that core ([`ran`](Self::ran)), as `update_curr`
    /// does, because `wake` compares the vruntimes (virtual run times) of both threads.
    pub(crate) fn wake_core(&self, thread: ThreadId, waker: u32) -> u32 {
        let Thread {
            core: last,
            affinity: ref allowed,
            ..
        } = self.threads[thread as usize];
        let allows = |core| allowed.contains(core);
        let sees_idle = self.os.sticky_wakes != Some(true);
        if sees_idle && allows(last) && self.is_idle(last) {
            return last;
        }
        let affine = allows(waker) && (!allows(last) || self.runnable(waker) < self.runnable(last));
        let target = if affine { waker } else { last };
        let group = self.span(self.group(target));
        match self.idle_near(target, group, allowed) {
            Some(core) if sees_idle => core,
            _ if allows(target) => target,
            _ => self.idlest(target, allowed),
        }
    }

    pub(crate) fn affinity(&self, thread: ThreadId) -> &CoreSet {
        &self.threads[thread as usize].affinity
    }

    /// The core of a new thread, as in `find_idlest_cpu`. Before [`spawn`](Self::spawn), the engine charges the running
    /// thread of that core.
    pub(crate) fn idlest(&self, parent: u32, allowed: &CoreSet) -> u32 {
        let home = self.group(parent);
        let idle_cores = |&group: &usize| {
            let idle = self.idle.common_in(allowed, self.span(group)).count();
            (idle, group == home, Reverse(group))
        };
        let group = (0..self.groups.len())
            .max_by_key(idle_cores)
            .unwrap_or(home);
        let idle = self.idle_near(parent, self.span(group), allowed);
        let load = |&core: &u32| (self.runnable(core), self.group(core) != home, core);
        idle.or_else(|| allowed.iter_in(self.machine()).min_by_key(load))
            .expect("a thread may run on some core of the machine")
    }

    /// The first idle core of a span. The search begins at `core` and continues at the span's start. Hardware threads
    /// with idle siblings (the other hardware threads of the core) come first, as in Linux (`select_idle_core`).
    fn idle_near(&self, core: u32, span: Range<u32>, allowed: &CoreSet) -> Option<u32> {
        let start = core.clamp(span.start, span.end);
        let idle = || {
            let after = self.idle.common_in(allowed, start..span.end);
            after.chain(self.idle.common_in(allowed, span.start..start))
        };
        let siblings = self.siblings;
        let is_whole = |&core: &u32| {
            let first = core - core % siblings;
            (first..first + siblings).all(|sibling| self.is_idle(sibling))
        };
        let whole = (siblings > 1).then(|| idle().find(is_whole)).flatten();
        whole.or_else(|| idle().next())
    }

    /// A thread's vruntime on another core. Its distance from the core's virtual time stays the
    /// same.
    pub(super) fn vruntime_on(&self, thread: ThreadId, core: u32) -> i64 {
        let this = &self.threads[thread as usize];
        let time = |core| self.core(core).queue.min_vruntime();
        this.vruntime - time(this.core) + time(core)
    }

    pub(super) fn enqueue(&mut self, thread: ThreadId, core: u32, vruntime: i64) -> Placement {
        let idle = self.is_idle(core);
        let running = self
            .running(core)
            .map(|running| self.threads[running as usize].vruntime);
        let this = &mut self.threads[thread as usize];
        this.state = State::Queued;
        this.core = core;
        this.vruntime = vruntime;
        self.cores[core as usize].queue.insert(vruntime, thread);
        self.count_in(core);
        let granularity = self.os.wakeup_granularity as i64;
        let preempts = running.is_some_and(|running| running - vruntime > granularity);
        Placement {
            core,
            idle,
            preempts,
        }
    }

    pub(super) fn dequeue(&mut self, thread: ThreadId) {
        let this = &self.threads[thread as usize];
        let core = this.core;
        self.cores[core as usize]
            .queue
            .remove(this.vruntime, thread);
        self.count_out(core);
    }
}
