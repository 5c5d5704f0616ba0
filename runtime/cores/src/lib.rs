//! The machine below a runtime: its CPUs, the number of CPUs that this process may use now, and the primitives that
//! threads wait on.
//!
//! * [`topology`]: CPUs, cores, caches, NUMA nodes and packages; affinity masks and quotas.
//! * [`elastic`]: an [`Allotment`](elastic::Allotment), the number of cores that a runtime may use now, and a
//!   [`Watch`](elastic::Watch), which sets that number to the cores that the system leaves this process.
//! * [`sync`]: a lock, a parker and event counts, over any [`Platform`](manycore_platform::Platform).
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
//! The crate `manycore` (pools), the crate `manycore-team` (teams) and the OpenMP library all use this crate. This
//! crate does not depend on them.

pub mod elastic;
pub mod sync;
pub mod topology;

/// The README's example, compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
