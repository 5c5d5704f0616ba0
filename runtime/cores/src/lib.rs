//! The machine under a runtime: which CPUs there are, how many of them this process may use now,
//! and what the runtime's threads wait on.
//!
//! * [`topology`]: CPUs, cores, caches, NUMA nodes and packages; affinity masks and quotas.
//! * [`elastic`]: an [`Allotment`](elastic::Allotment) of cores that changes, and a
//!   [`Watch`](elastic::Watch) that keeps it at what the system leaves this process.
//! * [`sync`]: a lock, parking and event counts, over any [`Platform`](manycore_platform::Platform).
//!
//! ```
//! use manycore_cores::elastic::Allotment;
//! use manycore_cores::topology::Topology;
//!
//! let machine = Topology::detect();
//! let allotment: Allotment = Allotment::new(machine.default_threads());
//! allotment.set(1);
//! assert_eq!(allotment.cores(), 1);
//! ```
//!
//! Pools (crate `manycore`), teams (crate `manycore-team`) and the OpenMP library stand on this crate
//! side by side. It knows none of them.

pub mod elastic;
pub mod sync;
pub mod topology;

/// The README's example, compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
