//! What a pool's monitor does: it checks whether callers make progress in the loops that they run alone.

use super::registry::Registry;
use super::watch::LastSeen;
#[cfg(test)]
use crate::conserving::fault::{self, Fault};
use crate::times::{MONITOR_STAYS, MONITOR_TICK};
use manycore_platform::{Platform, ThreadSpec};

impl<P: Platform> Registry<P> {
    /// Whether a monitor looks at the frame (the record of a watched loop) that the current thread has just entered.
    /// Starts a monitor if necessary. Returns `false` if no monitor can be started now.
    #[inline]
    pub(crate) fn is_monitored(&self) -> bool {
        #[cfg(test)]
        if fault::is(Fault::Unwatched) {
            return true;
        }
        self.monitor().is_on() || self.start_monitor()
    }

    #[cold]
    #[inline(never)]
    fn start_monitor(&self) -> bool {
        let monitor = self.monitor();
        if !self.threads().have_reserve() || self.shared().is_forked() {
            return false;
        }
        if !monitor.begin() {
            return monitor.is_on();
        }
        let registry = self.keep();
        let spec = ThreadSpec {
            name: self.threads().monitor_name(),
            ..ThreadSpec::default()
        };
        let started = P::spawn(spec, Box::new(move || registry.watch()));
        let is_on = started.is_ok();
        if !is_on {
            self.threads().note_refusal();
        }
        monitor.began(started.ok());
        is_on
    }

    /// The main function of a monitor.
    fn watch(&self) {
        let monitor = self.monitor();
        let mut seen = Vec::new();
        let mut idle_ticks = 0;
        loop {
            let told = monitor.told();
            let is_idle = idle_ticks >= MONITOR_STAYS || told.is_some();
            let is_needed = || {
                self.workers()
                    .iter()
                    .any(|worker| worker.watched().is_inside())
            };
            if is_idle && monitor.end(is_needed) {
                return;
            }
            monitor.nap(told, MONITOR_TICK);
            seen.resize(self.workers().len(), LastSeen::default());
            let mut steps = false;
            for (worker, last) in self.workers().iter().zip(&mut seen) {
                steps |= worker.watched().look(last);
            }
            idle_ticks = if steps { 0 } else { idle_ticks + 1 };
        }
    }
}
