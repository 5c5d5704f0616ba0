//! Counts events while a machine runs, if the user asked for counters.
//!
//! Hits need no counting. Each hit takes exactly the cache's latency, so the number of hits is the cycles spent in the
//! cache divided by its latency. A run without counters pays one check at each miss.

use super::{
    Activity, Breakdown, CacheCounters, CoreCounters, Counters, Cycles, Histogram, Sample, Source,
};
use crate::config::Config;

#[derive(Debug)]
pub(crate) struct Census {
    cores: Box<[Counted]>,
    /// Cycles of a hit in the L1 and in the L2.
    hit: [Cycles; 2],
    latencies: [Histogram; 3],
    /// `period` is the period of samples, if there are any. `next` is the time of the next sample.
    period: Option<Cycles>,
    next: Cycles,
    samples: Vec<Sample>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    computed: u64,
    answers: [u64; 3],
    waited: [Cycles; 3],
    /// The stores that missed, and that the store buffer took in the time of an L1 hit.
    buffered: u64,
    /// The number of these stores whose line has arrived.
    landed: u64,
    /// The cycles that the current request has waited at its earlier stages.
    waiting: Cycles,
}

/// The most samples that are kept. If there are more, every second sample is dropped, and the
/// period doubles.
const SAMPLES: usize = 1024;

impl Census {
    pub(crate) fn new(config: &Config, period: Option<Cycles>) -> Self {
        Self {
            cores: vec![Counted::default(); config.cores as usize].into(),
            hit: [
                config.l1.latency,
                config.l2.as_ref().map_or(1, |l2| l2.latency),
            ],
            latencies: Default::default(),
            period: period.map(|period| period.max(1)),
            next: period.map_or(Cycles::MAX, |period| period.max(1)),
            samples: Vec::new(),
        }
    }

    pub(crate) fn next(&self) -> Cycles {
        self.next
    }

    #[inline]
    pub(crate) fn computed(&mut self, core: u32, instructions: u64) {
        let computed = &mut self.cores[core as usize].computed;
        *computed = computed.saturating_add(instructions);
    }

    /// Notes that the core's request has `waited` at a stage, and continues to the next stage.
    pub(crate) fn passed(&mut self, core: u32, waited: Cycles) {
        self.cores[core as usize].waiting += waited;
    }

    /// Counts a miss of the core that `source` served in `latency` cycles. The request `waited` at its last stage.
    pub(crate) fn answered(&mut self, core: u32, source: Source, latency: Cycles, waited: Cycles) {
        let core = &mut self.cores[core as usize];
        core.answers[source as usize] += 1;
        core.waited[source as usize] += waited + std::mem::take(&mut core.waiting);
        self.latencies[source as usize].record(latency);
    }

    /// Counts a store that missed and that the core's store buffer takes.
    pub(crate) fn buffered(&mut self, core: u32) {
        self.cores[core as usize].buffered += 1;
    }

    /// Counts that the line of a buffered store has arrived from `source`.
    pub(crate) fn landed(&mut self, core: u32, source: Source, latency: Cycles) {
        let core = &mut self.cores[core as usize];
        core.landed += 1;
        core.answers[source as usize] += 1;
        self.latencies[source as usize].record(latency);
    }

    /// A core's counters. `raw` has its cycles as charged, and `spent` has its cycles up to now.
    fn core(&self, core: usize, raw: &Breakdown, spent: Breakdown) -> CoreCounters {
        let counted = &self.cores[core];
        let [group, remote, memory] = counted.answers;
        let misses = group + remote + memory;
        let [l1, l2] = self.hit;
        // A buffered store took the time of an L1 hit, but was not a hit.
        let l1_passes = raw[Activity::L1] / l1;
        let l1_hits = l1_passes - counted.buffered;
        let l2_hits = raw[Activity::L2] / l2;
        let awaited = misses - counted.landed;
        CoreCounters {
            cycles: spent,
            serialised: counted.waited,
            instructions: counted
                .computed
                .saturating_add(l1_passes + l2_hits + awaited),
            l1: CacheCounters {
                hits: l1_hits,
                misses: l2_hits + misses,
            },
            l2: CacheCounters {
                hits: l2_hits,
                misses,
            },
            group,
            remote,
            memory,
        }
    }

    /// The counters of all cores. `cores` gives the cycles of each as charged and up to now.
    pub(crate) fn cores(
        &self,
        cores: impl Iterator<Item = (Breakdown, Breakdown)>,
    ) -> impl Iterator<Item = CoreCounters> {
        let cores = cores.enumerate();
        cores.map(|(core, (raw, spent))| self.core(core, &raw, spent))
    }

    /// All counters at `now`. `cores` gives the cycles of each core as charged and up to now.
    pub(crate) fn counters(
        &self,
        now: Cycles,
        cores: impl Iterator<Item = (Breakdown, Breakdown)>,
    ) -> Counters {
        let [group, remote, from_memory] = self.latencies.clone();
        let mut counters = Counters {
            cycles: now,
            cores: self.cores(cores).collect(),
            ..Counters::default()
        };
        counters.latencies.group = group;
        counters.latencies.remote = remote;
        counters.latencies.memory = from_memory;
        counters
    }

    pub(crate) fn sample(
        &mut self,
        now: Cycles,
        cores: impl Iterator<Item = (Breakdown, Breakdown)>,
    ) {
        let Some(period) = self.period else { return };
        let total = CoreCounters::sum(self.cores(cores));
        self.samples.push(Sample { at: now, total });
        let mut period = period;
        if self.samples.len() > SAMPLES {
            let mut odd = false;
            self.samples.retain(|_| {
                odd = !odd;
                !odd
            });
            period = period.saturating_mul(2);
            self.period = Some(period);
        }
        self.next = (now / period + 1).saturating_mul(period);
    }

    pub(crate) fn into_samples(self) -> Vec<Sample> {
        self.samples
    }
}

#[derive(Debug)]
pub(crate) struct MemoryCensus {
    shared: Box<[CacheCounters]>,
    pub(crate) home_queue: Histogram,
    pub(crate) controllers: Box<[super::ControllerCounters]>,
    line_cycles: f64,
}

impl MemoryCensus {
    pub(crate) fn new(config: &Config) -> Self {
        let groups = config.llc.as_ref().map_or(0, |_| config.groups());
        let controllers = config.controllers() as usize;
        Self {
            shared: vec![CacheCounters::default(); groups as usize].into(),
            home_queue: Histogram::default(),
            controllers: vec![super::ControllerCounters::default(); controllers].into(),
            line_cycles: config.line_cycles(),
        }
    }

    /// Counts a look-up in the cache of `group`, which is a hit if it `has` the line.
    pub(crate) fn looked_up(&mut self, group: u32, has: bool) {
        let cache = &mut self.shared[group as usize];
        match has {
            true => cache.hits += 1,
            false => cache.misses += 1,
        }
    }

    /// Counts a line that controller `which` transferred after the request had `waited`.
    pub(crate) fn transferred(&mut self, which: u32, waited: Cycles) {
        let controller = &mut self.controllers[which as usize];
        controller.lines += 1;
        controller.waited += waited;
    }

    pub(crate) fn add_to(&self, counters: &mut Counters) {
        counters.shared = self.shared.to_vec();
        counters.controllers = self.controllers.to_vec();
        for controller in &mut counters.controllers {
            controller.busy = (controller.lines as f64 * self.line_cycles).round() as Cycles;
        }
        counters.latencies.home_queue = self.home_queue.clone();
    }
}
