//! The memory of a machine for declared programs.

use super::world::PackingWorld;
use manycore_chip::config::Config;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering};
use manycore_programs::spmd::Part;

/// Lines that a core can have under way from memory: the ten line fill buffers that Intel
/// documents from Nehalem to Broadwell (64 and IA-32 Architectures Optimization Reference
/// Manual). Ours for all machines.
const UNDER_WAY: f64 = 10.0;

/// The speed of the device with the programs' files, in bytes a nanosecond: 150 MB/s, as a hard
/// disk of the poster's time reads a file in order. We use it for all machines.
pub(super) const DISK_BYTES_A_NS: f64 = 0.15;

/// How long a byte from memory takes, in instructions of a core.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bandwidth {
    /// At least: as long as a line is under way, for as many lines at once.
    alone: f64,
    /// For each core that wants some: they share what the controllers give.
    shared: f64,
}

impl Bandwidth {
    /// The bandwidth of a simulated machine.
    pub(super) fn of(machine: &Config) -> Self {
        let (memory, cpi) = (&machine.memory, machine.core.cpi);
        // To the home and back through the caches on the way.
        let caches = machine.llc.as_ref().map_or(0, |llc| llc.latency);
        let latency = (memory.latency + caches) as f64;
        let all = memory.bytes_per_cycle * f64::from(machine.controllers());
        Self {
            alone: latency / (UNDER_WAY * f64::from(machine.line)) / cpi,
            shared: 1.0 / all / cpi,
        }
    }

    /// The bandwidth of a host, which runs programs and needs no declaration.
    pub(super) fn unknown() -> Self {
        Self {
            alone: 0.0,
            shared: 0.0,
        }
    }
}

/// How the bandwidth of memory is divided among the threads that want some.
pub(super) struct Memory<W: PackingWorld> {
    bandwidth: Bandwidth,
    cores: u32,
    /// Ranks between two barriers; 0 if there are no ranks. On a line of its own, that
    /// changes when ranks meet.
    busy: CachePadded<W::AtomicU32>,
}

impl<W: PackingWorld> Memory<W> {
    /// No rank yet, on `cores` cores.
    pub(super) fn new(bandwidth: Bandwidth, cores: usize) -> Self {
        Self {
            bandwidth,
            cores: cores as u32,
            busy: CachePadded::new(Atomic::new(0)),
        }
    }

    /// How long a byte takes now, in instructions.
    pub(super) fn work_a_byte(&self) -> f64 {
        // Relaxed: a number. Ranks that share a core want nothing at the same time, and loops keep
        // all cores busy to their end.
        let active = match self.busy.load(Ordering::Relaxed) {
            0 => self.cores,
            busy => busy.min(self.cores),
        };
        let Bandwidth { alone, shared } = self.bandwidth;
        alone.max(shared * f64::from(active))
    }
}

/// A rank that wants nothing from memory while it waits.
pub(super) struct Wanting<'a, W: PackingWorld> {
    inner: &'a mut dyn Part,
    memory: Option<&'a Memory<W>>,
}

impl<'a, W: PackingWorld> Wanting<'a, W> {
    /// From now on. `None`: without memory.
    pub(super) fn new(inner: &'a mut dyn Part, memory: Option<&'a Memory<W>>) -> Self {
        let this = Self { inner, memory };
        this.begin();
        this
    }

    fn begin(&self) {
        if let Some(memory) = self.memory {
            // Relaxed, here and below: a number.
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

// SAFETY: whoever it stands before is one.
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
