//! A data-parallel runtime whose loops choose their own block size.
//!
//! ```
//! let mut samples = vec![4.0_f64; 10_000];
//! manycore::for_each_mut(&mut samples, |x| *x = x.sqrt());
//! assert!(samples.iter().all(|&x| x == 2.0));
//! ```
//!
//! Nothing needs tuning. The default [`Partitioner`] measures each loop while it runs. A loop too short to gain from a
//! second thread runs inline. Idle workers spin only while the next loop is likely to be near.
//!
//! # Which call for which purpose
//!
//! The free functions use the pool that the current thread is in, or else the [global pool](Pool::global). The methods
//! of [`Pool`] with the same names use that pool.
//!
//! | purpose | call | cost |
//! |---|---|---|
//! | a loop over indices | [`parallel_for`], [`Pool::parallel_for_blocks`] | 1,000 trivial iterations: 1.25 times the serial loop; two tasks of 10 us: 0.54 times (hot) |
//! | a loop over a slice | [`for_each`], [`for_each_mut`], [`chunks_mut`] | as above |
//! | a reduction | [`map_reduce`] | as a loop, and one value for each stretch of neighbouring indices |
//! | the same sum on any number of threads | [`Pool::map_reduce_deterministic`] | as a loop in at most 1,024 blocks, and one value for each block |
//! | chains of adaptors | [`prelude`]: `par_iter`, `map`, `filter`, `collect`, `par_sort` and the like | as a loop |
//! | a scan | [`Pool::inclusive_scan`], [`Pool::exclusive_scan`] | two reads and one write for each item |
//! | fork-join: two closures | [`join`] | 2.59 ns if no thread steals the second; two plain calls take 1.49 ns |
//! | a scope: jobs that borrow | [`scope()`], [`scope_fifo`], [`in_place_scope`] | for each job one allocation, and a queue with a lock |
//! | a background job | [`spawn`], [`spawn_fifo`] | as above; if the pool sleeps, the job begins after 1.23 to 1.26 times a futex wake-up |
//! | the same closure on every thread | [`broadcast`], [`spawn_broadcast`] | one job for each thread |
//! | a call inside of one pool | [`Pool::install`] | one locked instruction to enter and one to leave, if the first permit is free |
//! | ranks that meet at barriers | the crate `manycore-team` | a barrier of two threads: 118 ns |
//! | cores that change | [`Builder::follow`] with an [`elastic::Watch`] | one read of a cached word a block; the watch's thread takes 0.5% of a CPU, or 2.5% under a quota |
//!
//! The figures are native, on two threads of a 2-core virtual machine (Intel Xeon, 2.6 GHz, Linux 6.18), 2026-11-23.
//! In the repository, `docs/figures.md` has their spreads and commands.
//!
//! A reduction and a join:
//!
//! ```
//! let words = ["many", "cores", "one", "loop"];
//! let letters =
//!     manycore::map_reduce(0..words.len(), || 0, |i| words[i].len(), |a, b| a + b);
//! assert_eq!(letters, 16);
//!
//! fn fib(n: u32) -> u64 {
//!     if n < 2 {
//!         return n.into();
//!     }
//!     let (a, b) = manycore::join(|| fib(n - 1), || fib(n - 2));
//!     a + b
//! }
//! assert_eq!(fib(20), 6_765);
//! ```
//!
//! Jobs that borrow from their caller:
//!
//! ```
//! let (mut left, mut right) = (vec![3, 1, 2], vec![9, 7, 8]);
//! manycore::scope(|scope| {
//!     scope.spawn(|_| left.sort());
//!     scope.spawn(|_| right.sort());
//! });
//! assert_eq!((left[0], right[0]), (1, 7));
//! ```
//!
//! A pool that follows the affinity mask, the cpuset and the CPU quota of its process:
//!
//! ```
//! use manycore::Pool;
//! use manycore::elastic::Watch;
//!
//! let watch = Watch::start()?;
//! let pool = Pool::builder().follow(watch.allotment()).build()?;
//! pool.parallel_for(0..1_000, |_| ());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # When not to use it
//!
//! * **For input and output.** A job that blocks in the system keeps its permit, and a pool of n threads runs n jobs
//!   at once. Use an asynchronous runtime, or your own threads.
//! * **For jobs that wait for each other**, by a lock, a channel or a condition variable, if they outnumber the pool's
//!   threads. Ranks that must all make progress belong in a team (crate `manycore-team`) or in threads. Iterations of
//!   one loop may wait for each other only if they do not outnumber the pool's threads.
//! * **For your own parallel iterators**, or for adaptors that see their neighbours: [`iter`] has none. Programs with
//!   rayon's iterators run on this pool by `runtime/rayon-core`.
//! * **For a deadline.** Workers sleep when no loop is due, and the system decides how long a wake-up takes.
//! * **On WebAssembly** and other systems without threads. There a pool has one thread, and everything runs on its
//!   caller.
//!
//! # What callers may rely on
//!
//! The caller takes part in its own call. Calls nest, and several threads may call at once. A panic reaches the caller
//! when all threads have left the call, and the pool remains usable. A thread that waits for a call runs only
//! descendants of that call, so stacks get no deeper than the program's own recursion. If there is work to take and a
//! permit is idle, a thread begins some of the work within a bound.
//!
//! All code uses the [`Platform`] trait, so that the same code is model-checked. [`Native`] is the default, and its
//! abstraction costs nothing.

mod clusters;
#[cfg(test)]
mod conserving;
mod decide;
pub mod iter;
mod loops;
mod partition;
mod pool;
pub mod prelude;
#[doc(hidden)]
pub mod seam;
mod sleep;
mod steal;
mod times;

pub use decide::{Decision, Reason};
pub use loops::{Loop, chunks_mut, for_each, for_each_mut, map_reduce, parallel_for};
pub use manycore_cores::{elastic, topology};
pub use manycore_platform::{Native, Platform};
pub use partition::Partitioner;
pub use pool::{
    BroadcastContext, BuildError, Builder, FnContext, Pool, Scope, ScopeFifo, Yield, broadcast,
    current_num_threads, current_thread_has_pending_tasks, current_thread_index, in_place_scope,
    in_place_scope_fifo, join, join_context, scope, scope_fifo, spawn, spawn_broadcast, spawn_fifo,
    yield_local, yield_now,
};
pub use topology::Affinity;

/// The README's example, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The guide's pages on loops, jobs, iterators and quotas.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/first-loop.md")]
#[doc = include_str!("../../../docs/guide/fork-join.md")]
#[doc = include_str!("../../../docs/guide/iterators.md")]
#[doc = include_str!("../../../docs/guide/containers.md")]
struct Guide;
