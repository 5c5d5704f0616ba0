//! Spinning on an unchanged line, which takes the right simulated time and no host time.
//!
//! A spinning core loads its word every `spin-period` cycles. While the core's tile (the hardware threads that share an
//! L1) keeps the line, each load is a hit that reads the same value, so these loads are not simulated. When another
//! core has taken the line, the next load misses, and this load is simulated. It happens a multiple of the period after
//! the first load.

use super::Engine;
use super::agenda::Event;
use super::port::Mode;
use super::thread::{DISTURBED, State, Wait};
use crate::account::Activity;
use crate::os::ThreadId;
use std::ops::Range;

impl Engine {
    /// `core` spins on the word at the address `word`, which it has just read, until another core takes the line, or
    /// until the time `until`. The thread must suspend. Returns `false` if the tile has lost the line already.
    pub(crate) fn spin(&mut self, core: u32, word: u64, until: u64) -> bool {
        let line = self.line_at(word);
        let tile = self.ports[core as usize].tile;
        if self.memory.tiles[tile as usize].state(line).is_none() {
            return false;
        }
        self.memory.watch(line, core);
        let port = &mut self.ports[core as usize];
        port.mode = Mode::Spinning { word, until };
        // This makes the plans (entries in the agenda) for an earlier wait void.
        port.plan = port.plan.wrapping_add(1);
        if until < u64::MAX {
            let plan = port.plan;
            self.agenda
                .plan(until.max(port.clock), core, Event::Patience { plan });
        }
        true
    }

    /// Ends the spinning of a thread, or its sleep on a futex, because `core` has done something
    /// that concerns it.
    pub(crate) fn disturb(&mut self, core: u32, thread: ThreadId) {
        if let State::Blocked(Wait::Futex { address }) = self.threads[thread as usize].state {
            self.futexes.remove(address, thread);
            // This value tells a guest that no wake-up ended its sleep.
            self.threads[thread as usize].reply.value = DISTURBED;
            let at = self.ports[core as usize].clock;
            self.wake_thread(thread, core, at);
            self.set_horizon(core);
            return;
        }
        let at = self.ports[core as usize].clock + self.lookahead;
        let mut ports = self.ports.iter();
        let Some(port) = ports.find(|port| port.thread == Some(thread)) else {
            return;
        };
        if matches!(port.mode, Mode::Spinning { .. }) {
            let (at, plan) = (at.max(port.clock), port.plan);
            self.agenda.plan(at, port.core, Event::Patience { plan });
            self.set_horizon(core);
        }
    }

    /// Ends the spinning on all lines that overlap `addresses`, which the kernel has written on `core`.
    pub(crate) fn written(&mut self, core: u32, addresses: &[Range<u64>]) {
        for range in addresses {
            let reservations = &mut self.memory.reservations;
            reservations.written(core, range, self.line_shift);
        }
        let earliest = self.ports[core as usize].clock + self.lookahead;
        for port in &self.ports {
            let Mode::Spinning { word, .. } = port.mode else {
                continue;
            };
            let line = self.line_at(word);
            let has_line = |range: &Range<u64>| {
                let last = range.end.saturating_sub(1).max(range.start);
                (self.line_at(range.start)..=self.line_at(last)).contains(&line)
            };
            if addresses.iter().any(has_line) {
                let (at, plan) = (earliest.max(port.clock), port.plan);
                self.agenda.plan(at, port.core, Event::Patience { plan });
            }
        }
        // The new horizon (the time up to which the core may run) makes the core stop in time for these events.
        self.set_horizon(core);
    }

    pub(super) fn patience_ended(&mut self, core: u32, plan: u32, at: u64) {
        let port = &mut self.ports[core as usize];
        let Mode::Spinning { word, .. } = port.mode else {
            return;
        };
        if port.plan == plan {
            self.memory.unwatch(self.line_at(word), core);
            self.look_again(core, at);
        }
    }

    /// Makes all spinning cores whose line was taken load again. Returns whether there are such cores.
    pub(super) fn wake_disturbed(&mut self, at: u64) -> bool {
        let any = !self.memory.disturbed.is_empty();
        while let Some((line, core)) = self.memory.disturbed.pop() {
            let port = &self.ports[core as usize];
            if !matches!(port.mode, Mode::Spinning { word, .. } if self.line_at(word) == line) {
                continue;
            }
            let period = self.config.core.spin_period.max(1);
            let looks = at.saturating_sub(port.clock).div_ceil(period).max(1);
            let look = port.clock + looks * period;
            self.look_again(core, look);
        }
        any
    }

    /// Makes a spinning core load again at `at`, or continue at its time limit if that is earlier.
    fn look_again(&mut self, core: u32, at: u64) {
        let port = &mut self.ports[core as usize];
        let Mode::Spinning { word, until } = port.mode else {
            return;
        };
        let at = at.min(until.max(port.clock));
        self.spun(core, word, at);
        self.agenda.go_on(&mut self.ports[core as usize]);
    }

    /// Charges a core for spinning on a word until `at`.
    fn spun(&mut self, core: u32, word: u64, at: u64) {
        let port = &mut self.ports[core as usize];
        let from = port.clock;
        port.pass_until(Activity::Spin, at);
        port.mode = Mode::Running;
        self.lines.spin(word, at - from);
        if self.timeline.is_on() {
            let name = self.lines.name_at(word);
            self.record_named(core, Activity::Spin, from, at, name);
        }
    }

    /// Ends the spinning of a thread that is preempted at `at`.
    pub(super) fn stop_spinning(&mut self, core: u32, at: u64) {
        let port = &mut self.ports[core as usize];
        let Mode::Spinning { word, .. } = port.mode else {
            return;
        };
        let at = at.max(port.clock);
        port.plan = port.plan.wrapping_add(1);
        self.spun(core, word, at);
        self.memory.unwatch(self.line_at(word), core);
    }

    fn line_at(&self, address: u64) -> u32 {
        (address >> self.line_shift) as u32
    }
}
