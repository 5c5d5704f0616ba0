//! Carried ranks: the members of a team that has more members than cores.
//!
//! Such a member, a *rank*, is a POSIX thread. Its own kernel thread sleeps ([`home`] has the exception). *Workers*,
//! one kernel thread for each core, execute the rank on its stack and with its thread-locals. To change from one rank
//! to another, a worker exchanges the stack pointer and the thread pointer, in some 15 ns. On every worker, the rank
//! finds its own `threadprivate` variables, `errno`, `malloc` cache and `pthread_self`. [`thread_state`] lists what
//! else moves with a rank.
//!
//! # Which worker runs which rank
//!
//! A rank runs until it waits at a barrier, for a lock or for tasks. Then it *leaves* its worker: the worker switches
//! to another rank. The rank has a condition, and can continue when this condition holds. The worker looks for a rank
//! whose condition holds. For the time [`POLITENESS`](worker) it looks only among its own ranks: an even share, the
//! same at each barrier. Then it looks among all ranks. So T equal ranks on C cores take the time of ceil(T/C) ranks in
//! sequence. No rank waits for a time slice of the system.
//!
//! The *leader* is the thread that begins the regions. Its kernel thread is worker 0, and the leader itself is one of
//! the ranks. At the end of a region only worker 0 runs the leader's rank, so that the leader returns on its own kernel
//! thread. Between ranks, worker 0 runs on the stack of a separate thread.
//!
//! Ranks are also *cut* between barriers: the signal of a timer ([`alarm`], [`preempt`]) makes a rank leave its worker
//! at any instruction, and another worker continues the rank. So T ranks of w seconds each take T/C × w seconds
//! ([`division`]). A rank that is cut has no condition, unless it spins on memory. Otherwise the protocol is the same
//! as at a wait.
//!
//! # The states of a rank
//!
//! | state of a rank | meaning | next state |
//! |---|---|---|
//! | `RUNNING` | a worker executes it, or looks at its condition | `WAITING`, by that worker |
//! | `WAITING` | no worker executes it; its saved stack holds its condition | `RUNNING`, by the worker that exchanges the word |
//!
//! A word of the rank ([`ownership`]) has the state. The worker that exchanges the word to `RUNNING` owns the rank
//! alone. After this worker has left the rank's stack, it stores `WAITING` by a release.
//!
//! # No wake-up is lost
//!
//! A worker that finds no rank for some time sleeps at a bell, [`WORKERS`](crate::words::bell::WORKERS), until another
//! thread rings it. A thread that makes a condition true (`Bell::ring`, `WordLock::unlock`) rings this bell. Before a
//! worker sleeps, it looks at all ranks. [`Bell`](manycore_cores::sync::Bell) proves that no wake-up is lost then.
//! While a worker looks at a rank's condition, it owns the rank, and no other worker sees the rank. So the owner looks
//! at all ranks again before it sleeps, or rings the bell if it does not look again. `checked` runs this protocol under
//! loom. A worker that has no core sleeps elsewhere, until the allotment (the number of cores for this process) has a
//! core for it.
//!
//! # Ranks that do not come back
//!
//! A rank may spin on a word of the program that another rank will write. While ranks wait for a worker, a thread
//! ([`watchdog`]) interrupts each worker that has not changed ranks for too long: [`STALL`](division::STALL), or twice
//! the planned time between the two barriers if that is longer, but at most 10 s. If such interruptions repeat between
//! the same two barriers, the ranks there have turns of limited length from then on ([`slices`]). If a rank spins on
//! memory ([`waits`]), a worker takes it again when that memory has changed. The watchdog also interrupts a worker that
//! has lost its core. A rank may also block in the kernel, or spin outside the code where it can be cut. If
//! interruptions change nothing, another rank continues on its own kernel thread, its [`home`], and the system shares
//! the cores. So every rank continues at some time.
//!
//! A rank that calls the C library to yield or to sleep leaves its worker by itself ([`yields`], [`sleeps`]).

mod alarm;
mod allocators;
mod backoff;
mod balance;
mod blocking;
mod blocking_names;
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
mod questions;
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
pub(crate) use parked::SecondStack;
pub(crate) use questions::ask;

/// The loader calls this.
pub(crate) fn on_load() {
    crate::system::next::find();
    signals::find();
    interposed::find();
    parked::find();
    pins::find();
    priority::find();
    blocking::find();
    blocking_names::find();
    sleeps::find();
    questions::find();
    yields::find();
}
