//! Keeps counters, samples and the timeline, if the user asked for them.

use super::thread::Wait;
use super::{Engine, Port};
use crate::account::{
    Activity, Breakdown, Census, CoreCounters, Counters, Name, Sample, Segment, Span,
};
use crate::os::ThreadId;

/// The cycles of each core by activity: as charged, and up to `now`.
fn spent_by_core(ports: &[Port], now: u64) -> impl Iterator<Item = (Breakdown, Breakdown)> {
    let ports = ports.iter();
    ports.map(move |port| (port.spent, port.spent_until(now)))
}

impl Engine {
    /// The address of a word that changes with each step of the machine.
    pub(crate) fn events_at(&self) -> *const u64 {
        &raw const self.events
    }

    /// Counts from now on. With a `period`, takes a sample every `period` cycles.
    pub(crate) fn count(&mut self, period: Option<u64>) {
        let census = Census::new(&self.config, period);
        self.pause = self.limit.min(census.next());
        self.census = Some(Box::new(census));
        self.memory.count();
        self.plain_cpi_1024 = None;
    }

    /// Counts `instructions`, and returns the cycles of an instruction of `core` in 1024ths. The engine calls this
    /// function only if instructions are counted or their cycles vary.
    #[inline(never)]
    pub(super) fn varying_cpi_1024(&mut self, core: u32, instructions: u64) -> u64 {
        if let Some(census) = &mut self.census {
            census.computed(core, instructions);
        }
        match &mut self.pace {
            None => self.cpi_1024,
            Some(pace) => {
                let siblings = self.config.threads_per_core;
                pace.cpi(&self.ports, core, siblings, self.cpi_1024)
            }
        }
    }

    /// All counters at `now`, if the run counts.
    pub(crate) fn counters(&self, now: u64) -> Option<Counters> {
        let census = self.census.as_ref()?;
        let mut counters = census.counters(now, spent_by_core(&self.ports, now));
        self.memory.add_to(&mut counters);
        if let Some(optical) = &self.optical {
            counters.optical = optical.words();
        }
        Some(counters)
    }

    pub(crate) fn counted_by_core(&self, now: u64) -> Option<Vec<CoreCounters>> {
        let census = self.census.as_ref()?;
        Some(census.cores(spent_by_core(&self.ports, now)).collect())
    }

    /// The cycles of all cores together by activity until `now`.
    pub(crate) fn spent(&self, now: u64) -> Breakdown {
        let mut all = Breakdown::default();
        for port in &self.ports {
            all.add(&port.spent_until(now));
        }
        all
    }

    /// Takes the sample that is due at `now`, the time of the next event.
    #[cold]
    pub(super) fn sample(&mut self, now: u64) {
        if let Some(census) = &mut self.census {
            census.sample(now, spent_by_core(&self.ports, now));
            self.pause = self.limit.min(census.next());
        }
    }

    #[inline]
    pub(super) fn record(&mut self, core: u32, activity: Activity, from: u64, to: u64) {
        self.record_named(core, activity, from, to, None);
    }

    pub(super) fn record_named(
        &mut self,
        core: u32,
        activity: Activity,
        from: u64,
        to: u64,
        name: Option<Name>,
    ) {
        if !self.timeline.is_on() {
            return;
        }
        let port = &mut self.ports[core as usize];
        let segment = Segment {
            core,
            thread: port.thread,
            activity,
            name,
            from,
            to,
        };
        // Single computations and hits are not recorded. They fill the gaps between the other segments.
        if port.shown < from && port.thread.is_some() {
            self.timeline.record(Segment {
                activity: Activity::Compute,
                name: None,
                from: port.shown,
                to: from,
                ..segment
            });
        }
        port.shown = to;
        self.timeline.record(segment);
    }

    pub(crate) fn begin_region(&mut self, core: u32, name: &str) {
        let port = &self.ports[core as usize];
        if let (Some(thread), true) = (port.thread, self.spans.is_on()) {
            let name = self.lines.intern(name);
            self.spans.begin(thread, Span::Region(name), port.clock);
        }
    }

    pub(crate) fn end_region(&mut self, core: u32) {
        let port = &self.ports[core as usize];
        if let (Some(thread), true) = (port.thread, self.spans.is_on()) {
            self.spans.end(thread, port.clock);
        }
    }

    pub(super) fn waits(&mut self, thread: ThreadId, wait: Wait, at: u64) {
        if self.spans.is_on() {
            let span = match wait {
                Wait::Futex { address } => Span::Sleep(self.lines.name_at(address)),
                Wait::Join(_) => Span::Join,
            };
            self.spans.begin(thread, span, at);
        }
    }

    pub(crate) fn take_samples(&mut self) -> Vec<Sample> {
        let census = self.census.take();
        census.map_or_else(Vec::new, |census| census.into_samples())
    }
}
