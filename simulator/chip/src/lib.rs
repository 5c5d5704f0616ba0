//! The simulated world of manycore: a deterministic machine of 2 to more than 1024 cores. It runs
//! code that is generic over `manycore_platform::Platform`.
//!
//! A TOML file describes a machine ([`config`]). [`Simulation`] runs a program on the machine. The
//! program's threads use the platform [`Simulated`]. The host runs their code natively, and only
//! calls of the platform take simulated time: atomics, announced reads and writes, computation,
//! futexes, threads, messages.
//!
//! ```
//! use manycore_chip::{Activity, Simulated, Simulation, config::Config};
//! use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform, ThreadSpec};
//! use std::sync::Arc;
//!
//! // 16 cores add to one counter, on a machine of 80.
//! let machine = Config::preset("westmere-ex")?;
//! let run = Simulation::new(&machine).run(|| {
//!     let counter = Arc::new(<Simulated as Platform>::AtomicU64::new(0));
//!     Simulated::name(&*counter, "counter");
//!     let add = |core| {
//!         let counter = Arc::clone(&counter);
//!         let spec = ThreadSpec { cpus: vec![core], ..ThreadSpec::default() };
//!         let body = move || {
//!             for _ in 0..100 {
//!                 counter.fetch_add(1, Ordering::Relaxed);
//!             }
//!         };
//!         Simulated::spawn(spec, Box::new(body)).expect("the machine has the core")
//!     };
//!     let threads: Vec<_> = (0..16).map(add).collect();
//!     threads.into_iter().for_each(Simulated::join);
//!     counter.load(Ordering::Relaxed)
//! })?;
//! assert_eq!(run.value, 1_600);
//! // Each core's activities add up to all cycles of the run.
//! let report = &run.statistics.report;
//! assert!(report.cores.iter().all(|core| core.sum() == run.statistics.cycles));
//! assert_eq!(report.lines[0].names, ["counter"]);
//! // Core 10 is the first core of the second socket: the line crosses over to it.
//! assert!(report.cores[10][Activity::Remote] > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is exact, and what is not modelled
//!
//! The same machine and program give the same cycles and the same hash on any host. Accesses take
//! effect one at a time in the order of simulated time, so the machine is sequentially consistent.
//! Cores execute in order and wait for each access, except for plain stores in a store buffer and
//! for lines that a prefetcher requests, if the machine has `[core.overlap]`. Not modelled:
//! instruction fetch, other effects of out-of-order execution, virtual memory.

mod account;
mod broadcast;
pub mod config;
mod core_set;
mod engine;
mod front;
pub use front::guest;
mod memory;
pub mod network;
mod os;

pub use account::{
    Activity, Breakdown, CacheCounters, ControllerCounters, CoreCounters, CounterRow, Counters,
    Energy, Histogram, HotLine, Latencies, LinkCounters, NamedSpin, OpticalCounters, Order, Report,
    Sample, Trace,
};
pub use broadcast::{Broadcast, Delivery, Filter, MatchOperation, Message};
pub use engine::{Messages, SimulationError, Statistics, Waiting};
pub use front::arena::Allocator;
pub use front::fiber::{
    Cell, Cell32, Cell64, CellBool, CellPtr, CellUsize, Simulated, SimulatedThread, Stack,
};
pub use front::simulation::{Run, Simulation};

/// Runs the README's programs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the programs on the guide's page about a simulated lock.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/simulated-lock.md")]
struct Guide;
