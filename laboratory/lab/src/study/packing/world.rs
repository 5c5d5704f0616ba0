//! The platform operations that this study needs.

use super::account::Account;
use super::host;
use manycore::Native;
use manycore_chip::{Broadcast, Simulated};
use manycore_platform::{Atomic, Futex, Platform};
use manycore_programs::opaque_additions;
use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

/// A platform with measured work, and with threads that can be moved.
pub(super) trait PackingWorld: Broadcast {
    /// The time in which the system may still move threads to their final cores. Steps of the program in this time are
    /// not measured.
    const SETTLED_NS: f64;

    /// Whether other programs disturb measured times.
    const HAS_NOISE: bool;

    /// The least work between two safe points (places where a thread can be interrupted), in ns.
    const LEAST_NS: f64;

    /// Does `units` of work, in the unit of [`per_ns`](Self::per_ns).
    fn work(units: u64);

    /// Waits for a device for `ns`, while other threads may use the core.
    fn rest(ns: f64) {
        let word = <Self::Futex as Atomic<u32>>::new(0);
        word.wait(0, Some(Duration::from_nanos(ns as u64)));
    }

    /// The work of a core in a nanosecond, if an instruction takes `cpi` cycles.
    fn per_ns(cpi: f64) -> f64;

    /// Changes the CPUs on which another thread may run.
    fn confine(thread: &Self::Thread, cpus: &[usize]) -> io::Result<()>;

    /// The activity of `cores` cores since some time in the past.
    fn account(cores: usize) -> Account;
}

impl PackingWorld for Simulated {
    /// Some rounds of the system's load balancing.
    const SETTLED_NS: f64 = 4e8;

    const HAS_NOISE: bool = false;

    /// Any grain (call of a phase's body) has more work than this.
    const LEAST_NS: f64 = 1.0;

    /// The unit is an instruction.
    fn work(units: u64) {
        Self::compute(units);
    }

    fn per_ns(cpi: f64) -> f64 {
        Self::ticks_per_ns() / cpi
    }

    fn confine(thread: &Self::Thread, cpus: &[usize]) -> io::Result<()> {
        Self::set_affinity(*thread, cpus)
    }

    fn account(cores: usize) -> Account {
        Account::of_cores(&Self::accounts()[..cores], Self::ticks_per_ns())
    }
}

impl PackingWorld for Native {
    /// Enough on few cores. Neighbours on the host disturb the runs in any case.
    const SETTLED_NS: f64 = 2e6;

    const HAS_NOISE: bool = true;

    /// The work at a safe point takes about a fiftieth of this.
    const LEAST_NS: f64 = 1e3;

    /// The unit is an addition that depends on the addition before.
    fn work(units: u64) {
        black_box(opaque_additions(black_box(1), units));
    }

    /// The best of some short measurements, since disturbances only make them longer.
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
