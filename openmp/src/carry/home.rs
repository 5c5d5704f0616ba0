//! The home of a rank (a thread of a team): the kernel thread that made the rank. Usually workers, other kernel
//! threads, execute the rank. While all workers are blocked, the rank can run at its home.
//!
//! Ranks may wait for each other in the kernel. For example, a rank is cut (made to leave its worker) while it holds a
//! lock of the program or of an allocator, and all workers block for this lock. Then the rank with the lock has no
//! worker. A new thread for the rank would need memory, and the lock may be that of the allocator. But the rank's own
//! kernel thread exists already: it sleeps while workers execute the rank. This module wakes that thread to execute the
//! rank itself, until the rank leaves. So a team makes progress as POSIX threads would, whatever its ranks wait for.
//! This needs no lock and no allocation.
//!
//! # Two threads with one thread pointer
//!
//! A rank's kernel thread has the rank's thread-locals, and workers use these while that kernel thread sleeps. So the
//! sleeping kernel thread touches no thread-local: [`detach`](super::switch::detach) waits without the C library.
//! `detach` calls [`serve`] only after the caller of the home has taken the rank. When `serve` has let the rank go, it
//! writes no thread-local, not even `errno`: it wakes a sleeper by a call that does not fail, and returns. All signals
//! are blocked meanwhile ([`thread_state`](super::thread_state)).
//!
//! # Callers of a home
//!
//! * [`watchdog`](super::watchdog) and [`lookout`](super::lookout), which observe the workers, call the home of a rank
//!   that can continue.
//! * A worker calls the home of its rank when the rank leaves the worker to block in the kernel
//!   ([`blocking`](super::blocking)). The worker does not mark the rank as `WAITING`: the rank stays taken, for its
//!   home.
//! * A worker calls the home of a rank that it takes while all ranks of the team are to run at home
//!   ([`trials`](super::trials)). The rank that begins such a time calls the homes too.
//!
//! * A thread calls the home when it sends a signal to the rank ([`Rank::summon`]). The rank's sleeping kernel thread
//!   has all signals blocked.
//!
//! In each case the caller owns the rank alone, like a worker that executes the rank. The caller's order ([`Order`])
//! hands the rank over to the home.
//!
//! While all ranks are at home, a rank sleeps there like any thread of the system, at the [bell](crate::words::bell)
//! that rings when its condition may hold. Each ring of such a bell also wakes workers. So a ring is not lost, whether
//! the rank sleeps at home or has left its worker. The flag by which ranks know that all are at home may be read late:
//! then a rank waits once more in the other way. Meanwhile the leader stays on worker 0, its own kernel thread.
//!
//! # An order is accepted once
//!
//! See [`Order`].

use super::order::Order;
use super::rank::Rank;
use super::worker::Worker;
use super::{kernel_threads, switch};
use crate::system::threads::{Place, number, spawn};
use manycore_platform::Native;
use std::sync::atomic::Ordering::Release;

/// The size of the stack of a worker. A signal handler of the program may run there between two ranks, and may need a
/// megabyte. Unused pages need no memory.
pub(super) const STACK: usize = 2 << 20;
/// The indices of homes' workers begin here. [`division`](super::division) plans no ranks for these workers.
pub(super) const FIRST: usize = usize::MAX / 2;

/// See the module. A home lives for ever.
#[repr(C)]
pub(super) struct Home {
    /// The first field, where [`detach`](super::switch::detach) finds it.
    order: Order<Native>,
    worker: Worker,
    /// The kernel's number of the thread.
    pub(super) thread: libc::pid_t,
    /// `None` if the thread lends worker 0 its stack. Such a thread gets no order.
    rank: Option<&'static Rank>,
}

impl Home {
    /// Makes the home of the calling thread. The thread has all signals blocked when it begins to execute its rank.
    pub(super) fn of_this_thread(place: Place<Self>, rank: Option<&'static Rank>) -> &'static Self {
        switch::use_vectors();
        let home = place.fill(Self {
            order: Order::new(),
            worker: Worker::new(FIRST),
            thread: number(),
            rank,
        });
        if let Some(rank) = rank {
            // Release publishes the home.
            rank.home.store(home, Release);
        }
        home
    }

    /// The word that the thread looks at for an order.
    pub(super) const fn word(&self) -> *const u32 {
        self.order.word()
    }

    /// Makes the thread execute its rank, which the caller has taken.
    pub(super) fn call(&self) {
        self.order.give();
    }

    /// Executes the rank until it leaves. The rank was taken for this home.
    fn run(&'static self, rank: &'static Rank) {
        // This must precede any handler of the program that asks for the rank's worker.
        rank.set_worker(&self.worker);
        self.worker.run(rank, None);
    }
}

/// Serves an order: the calling thread executes its rank, which the caller of the home has taken for it.
pub(super) extern "C" fn serve(home: &'static Home) {
    home.order.accept();
    if let Some(rank) = home.rank {
        home.run(rank);
    }
}

/// Starts a home for the leader's rank, since the leader's own kernel thread is worker 0. The new thread calls `begins`
/// when it is ready for orders.
pub(super) fn lend(rank: &'static Rank, begins: impl FnOnce() + Send + 'static) {
    let place = Place::new();
    spawn(c"omp-home", Some(STACK), move || {
        let home = Home::of_this_thread(place, Some(rank));
        kernel_threads::enter(home.worker.address(), home.worker.thread_pointer);
        begins();
        loop {
            home.order.wait();
            serve(home);
        }
    });
}
