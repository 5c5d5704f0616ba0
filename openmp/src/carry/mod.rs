//! Ranks that are carried: members of a team of more members than cores.
//!
//! Such a member is a POSIX thread. Its kernel thread sleeps; [`home`] has the exception. *Workers*, a kernel thread
//! for each core, run on its stack and with its thread-locals: to go from one rank to another
//! is to exchange the stack pointer and the thread pointer, some 15 ns. `threadprivate` variables, `errno`,
//! `malloc` and `pthread_self` are the rank's on every worker. [`thread_state`] lists what else goes with a rank.
//!
//! # Who runs what
//!
//! A rank goes on until it waits: at a barrier, for a lock, for tasks. It then leaves its worker,
//! with the condition for its return. The worker looks for a rank whose condition holds: among its
//! own ranks (an even share, the same at each barrier), and if there is none for
//! [`POLITENESS`](worker) among all. So T ranks on C cores take ceil(T/C) intervals, not a time
//! slice of the system's for each.
//!
//! The thread that begins the regions is worker 0 and one of the ranks. At the end of a region only
//! worker 0 runs that rank, so that it comes back to its own kernel thread. Between ranks, worker 0
//! runs on the stack of a separate thread.
//!
//! Between barriers, ranks are *cut* as well: a rank leaves its worker at any instruction, by a
//! timer's signal ([`alarm`], [`preempt`]), and another worker goes on with it. Then T ranks of w
//! take T/C w ([`division`]). A rank that leaves in a handler has no condition: the protocol is the
//! same.
//!
//! # The words
//!
//! | state of a rank | what | next |
//! |---|---|---|
//! | `RUNNING` | a worker executes it, or looks at its condition | `WAITING`, by that worker |
//! | `WAITING` | nobody does; its stack is saved, its condition lives there | `RUNNING`, by whoever exchanges it |
//!
//! The worker that has exchanged the word to `RUNNING` has the rank alone. The worker puts `WAITING`
//! back by a release, after it has left the rank's stack.
//!
//! # No wake-up is lost
//!
//! A worker that finds no rank for long sleeps at a bell, [`WORKERS`](crate::words::bell::WORKERS).
//! A thread that makes a condition true (`Bell::ring`, `WordLock::unlock`) rings it. Before a
//! worker sleeps, it looks at all ranks. So [`Bell`](manycore_cores::sync::Bell) has the proof. If
//! another worker looks at a rank's condition meanwhile, the rank belongs to that worker: it looks
//! at all again before it sleeps, or rings if it goes without a look. `checked` runs this under
//! loom. A worker that has no core sleeps elsewhere, until the allotment gives it one.
//!
//! # Ranks that do not come back
//!
//! A rank may spin on a word of the program's that another rank is to write. The alarm interrupts a
//! worker that has not changed ranks for [`STALL`](division::STALL), or for twice its rank's
//! planned time, while other ranks wait for a worker. If that happens again and again, between the
//! same two barriers, ranks have turns from then on, of the length that loses least. A rank that
//! waits for memory ([`waits`]) is taken again when that memory has changed. A worker that loses
//! its core leaves its rank at the next look. A rank may also block in the kernel, or spin outside
//! the code where it can be cut. If the alarm changes nothing, another rank goes on at its own
//! kernel thread, its [`home`]; the system then shares the cores. So every rank goes on some time.
//!
//! A rank that waits in the system's ways, by yielding or sleeping, leaves by itself ([`yields`], [`sleeps`]).

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
