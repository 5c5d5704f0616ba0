//! The memory of a machine for declared programs.

use super::world::PackingWorld;
use manycore_chip::config::Config;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering};
use manycore_programs::spmd::Part;

/// The number of lines that a core can fetch from memory at the same time: the ten line fill buffers that Intel
/// documents from Nehalem to Broadwell (64 and IA-32 Architectures Optimization Reference Manual). The study uses it
/// for all machines.
const UNDER_WAY: f64 = 10.0;

/// The speed of the device that has the programs' files, in bytes for each nanosecond: 150 MB/s. A hard disk of the
/// time of the poster (`mod.rs` names it) reads a file in order at this speed. The study uses it for all machines.
pub(super) const DISK_BYTES_A_NS: f64 = 0.15;

/// The time for which a core waits for a byte from memory, in instructions of the core.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bandwidth {
    /// The least time: a line's latency divided by the bytes of all lines that a core fetches at a time.
    alone: f64,
    /// The time at full bandwidth. It is multiplied by the number of cores that read memory.
    shared: f64,
}

impl Bandwidth {
    /// The bandwidth of a simulated machine.
    pub(super) fn of(machine: &Config) -> Self {
        let (memory, cpi) = (&machine.memory, machine.core.cpi);
        // A line goes to its home and back through the last-level cache.
        let caches = machine.llc.as_ref().map_or(0, |llc| llc.latency);
        let latency = (memory.latency + caches) as f64;
        let all = memory.bytes_per_cycle * f64::from(machine.controllers());
        Self {
            alone: latency / (UNDER_WAY * f64::from(machine.line)) / cpi,
            shared: 1.0 / all / cpi,
        }
    }

    /// The bandwidth of a host. It is not used, since a host runs no declared programs.
    pub(super) fn unknown() -> Self {
        Self {
            alone: 0.0,
            shared: 0.0,
        }
    }
}

pub(super) struct Memory<W: PackingWorld> {
    bandwidth: Bandwidth,
    cores: u32,
    /// The number of ranks (threads of the team) that are not at a barrier, or 0 if there are no ranks. It changes when
    /// ranks meet, so it has its own cache line.
    busy: CachePadded<W::AtomicU32>,
}

impl<W: PackingWorld> Memory<W> {
    pub(super) fn new(bandwidth: Bandwidth, cores: usize) -> Self {
        Self {
            bandwidth,
            cores: cores as u32,
            busy: CachePadded::new(Atomic::new(0)),
        }
    }

    /// The time of a byte now, in instructions.
    pub(super) fn work_a_byte(&self) -> f64 {
        // Relaxed: only the number matters. Ranks that share a core do not read at the same time. Without ranks, loops
        // keep all cores busy to their end.
        let active = match self.busy.load(Ordering::Relaxed) {
            0 => self.cores,
            busy => busy.min(self.cores),
        };
        let Bandwidth { alone, shared } = self.bandwidth;
        alone.max(shared * f64::from(active))
    }
}

/// A rank that is not counted as a reader of memory while it waits.
pub(super) struct Wanting<'a, W: PackingWorld> {
    inner: &'a mut dyn Part,
    memory: Option<&'a Memory<W>>,
}

impl<'a, W: PackingWorld> Wanting<'a, W> {
    /// Begins to count the rank.
    pub(super) fn new(inner: &'a mut dyn Part, memory: Option<&'a Memory<W>>) -> Self {
        let this = Self { inner, memory };
        this.begin();
        this
    }

    fn begin(&self) {
        if let Some(memory) = self.memory {
            // Relaxed, here and below: only the number matters.
            memory.busy.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn end(&self) {
        if let Some(memory) = self.memory {
            memory.busy.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl<W: PackingWorld> Drop for Wanting<'_, W> {
    fn drop(&mut self) {
        self.end();
    }
}

// SAFETY: all calls go to `inner`, which is a `Part`.
unsafe impl<W: PackingWorld> Part for Wanting<'_, W> {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn meet(&mut self, site: &'static str) {
        self.end();
        self.inner.meet(site);
        self.begin();
    }

    fn pause(&mut self) {
        self.inner.pause();
    }
}
