//! A core as its running thread sees it: the words that each simulated operation reads and writes.

use crate::account::{Activity, Breakdown};
use crate::memory::Request;
use crate::network::Channel;
use crate::os::ThreadId;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The core has been idle since the port's clock.
    Idle,
    /// Runs its thread. The core is in the agenda's queue, or the host runs it now.
    Running,
    /// Its thread has been waiting for a line since the port's clock.
    Missing,
    /// Since the port's clock, its thread has been spinning on the word at a simulated address, in a line that the
    /// core's tile (the hardware threads that share an L1) holds. The thread spins until another core takes the line or
    /// the time is `until`.
    Spinning { word: u64, until: u64 },
    /// Its thread has been waiting for a message since the port's clock.
    Listening { channel: Channel },
}

pub(crate) struct Port {
    pub(crate) core: u32,
    pub(crate) tile: u32,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) mode: Mode,
    /// Cycles since the start of the run.
    pub(crate) clock: u64,
    /// Before this time, no event and no other core can change this core's caches, so hits need not
    /// ask the engine.
    pub(crate) horizon: u64,
    /// Cycles by activity. Their sum is the clock.
    pub(crate) spent: Breakdown,
    /// The activity of the last charge. This charge may reach beyond the present.
    pub(crate) latest: Activity,
    /// The clock before and after the last computation. While the end of this range is the clock, the computation can
    /// be interrupted.
    pub(crate) computed: Range<u64>,
    /// The scheduler has charged the thread up to this clock.
    pub(crate) charged_until: u64,
    /// The timeline shows the core up to this clock.
    pub(crate) shown: u64,
    /// The number of the core's plan (its latest entry in the agenda). Entries with another number are void.
    pub(crate) plan: u32,
    /// The thread must be preempted as soon as possible.
    pub(crate) displaced: bool,
    /// The thread must be preempted as soon as possible, because it may not run on this core.
    pub(crate) leaves: bool,
    /// Cycles of interrupts that are charged when the current access is done.
    pub(crate) interrupted: u64,
    /// A wake-up is on its way to this idle core.
    pub(crate) waking: bool,
    pub(crate) tick_armed: bool,
    /// The time of the core's last periodic balancing.
    pub(crate) balanced: u64,
    /// In the mode `Missing`, the request that the thread waits for.
    pub(crate) request: Option<Request>,
}

impl Port {
    pub(crate) fn new(core: u32, tile: u32) -> Self {
        Self {
            core,
            tile,
            thread: None,
            mode: Mode::Idle,
            clock: 0,
            horizon: 0,
            spent: Breakdown::default(),
            latest: Activity::Compute,
            computed: 0..0,
            charged_until: 0,
            shown: 0,
            plan: 0,
            displaced: false,
            leaves: false,
            interrupted: 0,
            waking: false,
            tick_armed: false,
            balanced: 0,
            request: None,
        }
    }

    /// Has the thread preempted as soon as possible. With `leaves`, a new affinity may take this back.
    pub(crate) fn displace(&mut self, leaves: bool) {
        match leaves {
            true => self.leaves = true,
            false => self.displaced = true,
        }
    }

    #[inline(always)]
    pub(crate) fn pass(&mut self, activity: Activity, cycles: u64) {
        self.clock += cycles;
        self.spent[activity] += cycles;
    }

    pub(crate) fn pass_until(&mut self, activity: Activity, at: u64) {
        debug_assert!(at >= self.clock);
        self.latest = activity;
        self.pass(activity, at - self.clock);
    }

    #[inline]
    pub(crate) fn compute(&mut self, cycles: u64) {
        if self.computed.end != self.clock {
            self.computed.start = self.clock;
        }
        self.pass(Activity::Compute, cycles);
        self.latest = Activity::Compute;
        self.computed.end = self.clock;
    }

    /// Whether the core is in a computation that lasts beyond `at`.
    pub(crate) fn computes_beyond(&self, at: u64) -> bool {
        self.mode == Mode::Running && self.computed.end == self.clock && self.clock > at
    }

    /// Takes back a computation's charge beyond `at`. Returns its cycles.
    pub(crate) fn take_back(&mut self, at: u64) -> u64 {
        debug_assert!(self.computes_beyond(at));
        let at = at.max(self.computed.start);
        let rest = self.clock - at;
        self.spent[Activity::Compute] -= rest;
        self.clock = at;
        self.computed.end = at;
        rest
    }

    /// Interrupts a computation at `at` for `cycles` cycles. The computation continues afterwards.
    pub(crate) fn interrupt(&mut self, at: u64, cycles: u64) {
        let rest = self.take_back(at);
        self.pass(Activity::Switch, cycles);
        self.compute(rest);
    }

    pub(crate) fn settle(&mut self, end: u64) {
        self.spent = self.spent_until(end);
        self.clock = end;
    }

    /// Cycles by activity up to `end`. Leaves out charges beyond `end`, and adds the cycles that
    /// are not charged yet.
    pub(crate) fn spent_until(&self, end: u64) -> Breakdown {
        let mut spent = self.spent;
        if self.clock < end {
            let activity = match self.mode {
                Mode::Idle => Activity::Idle,
                Mode::Spinning { .. } => Activity::Spin,
                Mode::Listening { .. } => Activity::Message,
                Mode::Missing => Activity::Remote,
                Mode::Running => Activity::Compute,
            };
            spent[activity] += end - self.clock;
        }
        let mut rest = self.clock.saturating_sub(end);
        // The charge beyond `end` is an access or a computation, so these activities come first.
        for activity in [self.latest, Activity::Atomic]
            .into_iter()
            .chain(Activity::ALL)
        {
            let part = rest.min(spent[activity]);
            spent[activity] -= part;
            rest -= part;
        }
        spent
    }
}
