//! How far a core may continue, and the time of its computation.

use crate::account::Activity;
use crate::engine::{Engine, LONGEST};

impl Engine {
    /// Whether `core` must suspend because an event or another core is earlier. The core may be up to `ahead` cycles
    /// ahead of other cores, but not ahead of events and of the other hardware threads of its tile. If the core must
    /// suspend, it gets a plan (an entry in the agenda) to continue at its clock.
    pub(super) fn others_first(&mut self, core: u32, ahead: u64) -> bool {
        let (time, other) = self.agenda.next_core(&self.ports);
        let event = self.agenda.next_event();
        let sibling = self.next_sibling(core);
        let port = &mut self.ports[core as usize];
        let me = (port.clock, core);
        let core_first = match ahead {
            0 => (time, other) < me,
            ahead => time.saturating_add(ahead) <= port.clock,
        };
        if core_first || sibling < me || event <= port.clock || port.clock > self.limit {
            self.agenda.go_on(port);
            return true;
        }
        let clock = port.clock;
        if self.stop.is_some_and(|stop| stop()) {
            self.agenda.go_on(port);
            self.stop_at(clock.saturating_sub(1));
            return true;
        }
        if ahead == 0 {
            self.agenda.reach(clock);
        }
        self.set_horizon(core);
        false
    }

    /// Whether `core` must suspend, and ask again, before it does something that other cores notice
    /// at once.
    pub(crate) fn must_wait(&mut self, core: u32) -> bool {
        self.others_first(core, 0)
    }

    /// Whether `core`, at the end of a computation, must suspend and ask again. The suspension lets
    /// ticks and other threads interrupt the computation.
    pub(crate) fn others_interrupt(&mut self, core: u32) -> bool {
        self.others_first(core, self.lookahead)
    }

    /// Whether the clock of `core` is within the run's limit. Code that only computes or reads the
    /// clock must ask, since it makes no other request.
    #[inline]
    pub(crate) fn is_within_limit(&self, core: u32) -> bool {
        self.ports[core as usize].clock <= self.limit
    }

    /// Computes for `instructions` instructions. Returns whether the core may continue at once. If the core may not, an
    /// event may interrupt the computation before its end, so the thread must ask
    /// [`others_interrupt`](Self::others_interrupt) before it does anything else.
    #[inline]
    pub(crate) fn compute(&mut self, core: u32, instructions: u64) -> bool {
        let cpi = self.cpi(core, instructions);
        let cycles = match instructions.checked_mul(cpi) {
            Some(product) => product.div_ceil(1024),
            None => {
                let cycles = u128::from(instructions) * u128::from(cpi);
                cycles.div_ceil(1024).min(LONGEST.into()) as u64
            }
        };
        let port = &mut self.ports[core as usize];
        port.compute(cycles);
        port.clock <= port.horizon
    }

    /// Computes for a few instructions. `rest` carries the fraction of a cycle to the next call, in
    /// 1024ths.
    #[inline]
    pub(crate) fn execute(&mut self, core: u32, instructions: u32, rest: &mut u64) {
        let cycles = u64::from(instructions) * self.cpi(core, instructions.into()) + *rest;
        *rest = cycles % 1024;
        self.ports[core as usize].compute(cycles / 1024);
    }

    /// Cycles of an instruction of `core`, in 1024ths.
    #[inline]
    fn cpi(&mut self, core: u32, instructions: u64) -> u64 {
        match self.plain_cpi_1024 {
            Some(cpi) => cpi,
            None => self.varying_cpi_1024(core, instructions),
        }
    }

    pub(crate) fn own_time(&self, core: u32) -> u64 {
        let port = &self.ports[core as usize];
        let used = port.thread.map_or(0, |thread| self.scheduler.used(thread));
        used + port.clock.saturating_sub(port.charged_until)
    }

    /// Busy cycles of all cores, up to the clock of `core`.
    pub(crate) fn cpu_time(&self, core: u32) -> u64 {
        let spent = self.spent(self.ports[core as usize].clock);
        spent.sum() - spent[Activity::Idle]
    }
}
