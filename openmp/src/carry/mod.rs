//! Carried ranks: the members of a team that has more members than cores.
//!
//! Such a member, a *rank*, is a POSIX thread. Its own kernel thread sleeps ([`home`] has the exception). *Workers*,
//! one kernel thread for each core, execute the rank on its stack and with its thread-locals. To change from one rank
//! to another, a worker exchanges the stack pointer and the thread pointer, in some 15 ns. `threadprivate` variables,
//! `errno`, `malloc` and `pthread_self` are the rank's on every worker. [`thread_state`] lists what else moves with a
//! rank.
//!
//! # Which worker runs which rank
//!
//! A rank runs until it waits at a barrier, for a lock or for tasks. Then it leaves its worker, and says by a condition
//! when it can continue. The worker looks for a rank whose condition holds, first among its own ranks: an even share,
//! the same at each barrier. After [`POLITENESS`](worker) in vain, it looks among all ranks. So T ranks on C cores take
//! as long as ceil(T/C) ranks. No rank waits for a time slice of the system.
//!
//! The *leader* is the thread that begins the regions. Its kernel thread is worker 0, and the leader itself is one of
//! the ranks. At the end of a region only worker 0 runs the leader's rank, so that the leader returns on its own kernel
//! thread. Between ranks, worker 0 runs on the stack of a separate thread.
//!
//! Ranks are also *cut* between barriers: a timer's signal ([`alarm`], [`preempt`]) makes a rank leave its worker at
//! any instruction, and another worker continues the rank. So T ranks of w seconds take T/C w seconds ([`division`]). A
//! rank that leaves in a signal handler has no condition, unless it waits for memory. Otherwise the protocol is the
//! same.
//!
//! # The states of a rank
//!
//! | state of a rank | meaning | next state |
//! |---|---|---|
//! | `RUNNING` | a worker executes it, or looks at its condition | `WAITING`, by that worker |
//! | `WAITING` | no worker does; its saved stack holds its condition | `RUNNING`, by the worker that exchanges the word |
//!
//! A word of the rank has its state. The worker that exchanges the word to `RUNNING` owns the rank alone. After this
//! worker has left the rank's stack, it stores `WAITING` by a release.
//!
//! # No wake-up is lost
//!
//! A worker that finds no rank for some time sleeps at the bell [`WORKERS`](crate::words::bell::WORKERS). A thread that
//! makes a condition true (`Bell::ring`, `WordLock::unlock`) rings this bell. Before a worker sleeps, it looks at all
//! ranks. [`Bell`](manycore_cores::sync::Bell) proves that no wake-up is lost then. While a worker looks at a rank's
//! condition, it owns the rank, and no other worker sees the rank. So it looks at all ranks again before it sleeps; if
//! it leaves without a look, it rings. `checked` runs this protocol under loom. A worker that has no core sleeps
//! elsewhere, until the allotment of cores gives it one.
//!
//! # Ranks that do not come back
//!
//! A rank may spin on a word of the program's that another rank will write. While ranks wait for a worker, the alarm
//! interrupts each worker that has not changed ranks for [`STALL`](division::STALL), or for twice the planned time of
//! the episode if that is longer. If that happens repeatedly between the same two barriers, ranks have turns there from
//! then on. The length of a turn is the one that loses least. If a rank waits for memory ([`waits`]), a worker takes it
//! again when that memory has changed. A worker that loses its core leaves its rank at the next look. A rank may also
//! block in the kernel, or spin outside the code where it can be cut. If the alarm changes nothing, another rank
//! continues on its own kernel thread, its [`home`]; the system then shares the cores. So every rank continues at some
//! time.
//!
//! A rank that yields or sleeps by a call of the C library's leaves its worker by itself ([`yields`], [`sleeps`]).

mod alarm;
mod allocators;
mod backoff;
mod balance;
mod blocking;
#[cfg(target_arch = "x86_64")]
mod call_number;
mod carrier;
#[cfg(test)]
mod checked;
mod code_map;
mod costs;
mod current;
mod division;
mod frame;
mod granularity;
mod home;
mod interposed;
mod kernel_threads;
mod lookout;
mod mask;
mod median;
mod objects;
mod order;
mod ownership;
mod parked;
mod pending;
mod pins;
mod policy;
mod preempt;
mod priority;
mod rank;
mod registry;
mod restart;
mod room;
mod setxid;
mod signals;
mod sleeps;
mod slices;
mod switch;
mod thread_state;
mod trials;
mod vectors;
mod waits;
mod watchdog;
mod worker;
mod yields;

pub(crate) use crate::system::next::is_preloaded;
pub(crate) use carrier::{become_rank, claim};

/// Called by the loader.
pub(crate) fn on_load() {
    crate::system::next::find();
    signals::find();
    interposed::find();
    parked::find();
    pins::find();
    priority::find();
    blocking::find();
    sleeps::find();
    vectors::find();
    yields::find();
}
