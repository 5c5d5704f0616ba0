//! This study's additional requirements of a machine.

use super::account::Account;
use super::host;
use manycore::Native;
use manycore_chip::{Broadcast, Simulated};
use manycore_platform::{Atomic, Futex, Platform};
use manycore_programs::opaque_additions;
use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

/// A machine with working cores that lets threads be moved.
pub(super) trait PackingWorld: Broadcast {
    /// The time in which the system may still move threads to their final cores: no run counts as
    /// steady before.
    const SETTLED_NS: f64;

    /// Whether time is disturbed from outside.
    const HAS_NOISE: bool;

    /// The least work between two safe points.
    const LEAST_NS: f64;

    /// Works: `units` in the unit of [`per_ns`](Self::per_ns).
    fn work(units: u64);

    /// Waits for a device, and leaves the core to others.
    fn rest(ns: f64) {
        let word = <Self::Futex as Atomic<u32>>::new(0);
        word.wait(0, Some(Duration::from_nanos(ns as u64)));
    }

    /// How much a core works in a nanosecond, which takes `cpi` cycles an instruction.
    fn per_ns(cpi: f64) -> f64;

    /// Sets the CPUs that another thread may run on from now on.
    fn confine(thread: &Self::Thread, cpus: &[usize]) -> io::Result<()>;

    /// The activity of `cores` cores since some time in the past.
    fn account(cores: usize) -> Account;
}

impl PackingWorld for Simulated {
    /// Some rounds of balancing.
    const SETTLED_NS: f64 = 4e8;

    const HAS_NOISE: bool = false;

    /// As fine as a phase is cut at most.
    const LEAST_NS: f64 = 1.0;

    /// Instructions.
    fn work(units: u64) {
        Self::compute(units);
    }

    fn per_ns(cpi: f64) -> f64 {
        Self::ticks_per_ns() / cpi
    }

    fn confine(thread: &Self::Thread, cpus: &[usize]) -> io::Result<()> {
        Self::set_affinity(*thread, cpus)
    }

    /// The machine's first ones.
    fn account(cores: usize) -> Account {
        Account::of_cores(&Self::accounts()[..cores], Self::ticks_per_ns())
    }
}

impl PackingWorld for Native {
    /// On few cores. Neighbours take some of their time in any case.
    const SETTLED_NS: f64 = 2e6;

    const HAS_NOISE: bool = true;

    /// Some fifty times what a safe point takes.
    const LEAST_NS: f64 = 1e3;

    /// Additions, each after the other.
    fn work(units: u64) {
        black_box(opaque_additions(black_box(1), units));
    }

    /// The best of some short measurements: what disturbs them makes them longer.
    fn per_ns(_: f64) -> f64 {
        const TRIES: usize = 20;
        const ADDITIONS: u64 = 100_000;
        let one = |_: usize| {
            let begin = Instant::now();
            Self::work(ADDITIONS);
            begin.elapsed().as_nanos().max(1)
        };
        let best = (0..TRIES).map(one).min().unwrap_or(1);
        ADDITIONS as f64 / best as f64
    }

    fn confine(_: &Self::Thread, _: &[usize]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn account(cores: usize) -> Account {
        host::account(cores)
    }
}
