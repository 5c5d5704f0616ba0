//! A rank's home: the kernel thread that made the rank. The rank can run there while all workers are blocked.
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
//! `detach` calls [`serve`] only after the rank was taken for the home. After [`serve`] has let the rank go, `serve`
//! writes no thread-local: it wakes a sleeper, which does not fail, and returns. All signals are blocked meanwhile
//! ([`thread_state`](super::thread_state)).
//!
//! # Callers of a home
//!
//! * The threads that watch the workers ([`watchdog`](super::watchdog) and [`lookout`](super::lookout)) take a rank
//!   that can continue.
//! * A worker has a rank that leaves to block in the kernel ([`blocking`](super::blocking)). The worker does not put
//!   `WAITING` back: the rank stays taken, for its home.
//! * A worker takes a rank while all ranks of the team are at home ([`trials`](super::trials)). The rank that opens
//!   such an episode calls the homes too.
//!
//! * A thread sends a signal to the rank ([`Rank::summon`]). The rank's sleeping kernel thread has all signals blocked.
//!
//! In each case the caller owns the rank alone, like a worker that executes the rank. The caller's order ([`Order`])
//! hands the rank over to the home.
//!
//! While all ranks are at home, a rank sleeps there like any thread of the system, at the [bell](crate::words::bell) of
//! its condition. Each ring of such a bell also wakes workers. So it wakes the rank in both ways of waiting. Whether
//! ranks are at home is advice: a rank that reads an old value waits in the other way once more. Meanwhile the leader
//! stays on worker 0, its own kernel thread.
//!
//! # An order is accepted once
//!
//! See [`Order`].

use super::kernel_threads;
use super::order::Order;
use super::rank::Rank;
use super::worker::Worker;
use crate::system::threads::spawn;
use manycore_platform::Native;
use std::sync::atomic::Ordering::Release;

/// The size of the stack of a worker. A signal handler of the program may run there between two ranks, and may need a
/// megabyte. Unused pages need no memory.
pub(super) const STACK: usize = 2 << 20;
/// The indices of homes' workers begin here. These workers have no part in a division.
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
    pub(super) fn of_this_thread(rank: Option<&'static Rank>) -> &'static Self {
        let home = Box::leak(Box::new(Self {
            order: Order::new(),
            worker: Worker::new(FIRST),
            thread: kernel_threads::number(),
            rank,
        }));
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
    spawn("manycore-omp-l", Some(STACK), move || {
        let home = Home::of_this_thread(Some(rank));
        kernel_threads::enter(home.worker.address(), home.worker.thread_pointer);
        begins();
        loop {
            home.order.wait();
            serve(home);
        }
    });
}
