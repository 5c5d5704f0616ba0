//! The kernel thread that a rank was made with, where the rank can go on while all workers are blocked.
//!
//! Ranks may wait for each other in the kernel: a rank was cut while it had a lock of the program's, or of its allocator's.
//! Then each worker is blocked, and the rank with the lock has no worker. To start a thread for
//! it takes memory, and the lock may be the allocator's. A rank's own kernel thread is there already: it sleeps
//! while workers execute the rank. Here it is woken to execute the rank itself, until the rank leaves. So a team goes on as
//! its threads would, whatever its ranks wait for, and nothing is locked or allocated for it.
//!
//! # Two threads with one thread pointer
//!
//! A rank's kernel thread has the rank's thread-locals, and workers use these while it sleeps. So
//! it touches none then: [`detach`](super::switch::detach) waits without the C library, and
//! [`serve`] is called after the rank was taken for it. After the rank is left to others, [`serve`]
//! writes no thread-local: it wakes a sleeper, which does not fail, and returns. All signals are
//! blocked meanwhile ([`thread_state`](super::thread_state)).
//!
//! # Who calls a home
//!
//! * The watch and the lookout: they take a rank that can go on.
//! * A worker whose rank leaves to block in the kernel ([`blocking`](super::blocking)). The worker
//!   does not put `WAITING` back: the rank stays taken, for its home.
//! * A worker that takes a rank while the ranks of the team are at home ([`trials`](super::trials)), and the rank that opens such an
//!   episode.
//!
//! In each case the caller has the rank alone, as a worker has that executes it, and gives it on by the order.
//!
//! While ranks are at home, a rank waits there as a thread does, at the bell itself. Whoever rings for threads also rings for workers, so that
//! the rank is woken in both ways of waiting. That ranks are at home is advice: a rank that reads it late waits in the
//! other way once more. The leader's own kernel thread is worker 0, where the leader stays meanwhile.
//!
//! # An order is heard once
//!
//! See [`Order`].

use super::kernel_threads;
use super::order::Order;
use super::rank::Rank;
use super::worker::Worker;
use crate::system::threads::spawn;
use manycore_platform::Native;
use std::sync::atomic::Ordering::Release;

/// The size of workers' stacks. A handler of the program's may run there between two ranks: it may need a megabyte. Unused pages
/// take no memory.
pub(super) const STACK: usize = 2 << 20;
/// Indices of homes' workers begin here: they own no share.
pub(super) const FIRST: usize = usize::MAX / 2;

/// See the module; it lives for ever.
#[repr(C)]
pub(super) struct Home {
    /// First, where [`detach`](super::switch::detach) finds it.
    order: Order<Native>,
    worker: Worker,
    /// The kernel's number of the thread.
    pub(super) thread: libc::pid_t,
    /// `None` at the thread that lends worker 0 a stack: it gets no order.
    rank: Option<&'static Rank>,
}

impl Home {
    /// The home of the calling thread, which has all signals blocked when it executes its rank.
    pub(super) fn of_this_thread(rank: Option<&'static Rank>) -> &'static Self {
        let home = Box::leak(Box::new(Self {
            order: Order::new(),
            worker: Worker::new(FIRST),
            thread: kernel_threads::number(),
            rank,
        }));
        if let Some(rank) = rank {
            // Release: what was written above.
            rank.home.store(home, Release);
        }
        home
    }

    /// The word that the thread looks at for an order.
    pub(super) const fn word(&self) -> *const u32 {
        self.order.word()
    }

    /// The thread is to execute its rank, which the caller has taken.
    pub(super) fn call(&self) {
        self.order.give();
    }

    /// Executes the rank, which was taken, until it leaves.
    fn run(&'static self, rank: &'static Rank) {
        // Before a handler of the program's can ask.
        rank.set_worker(&self.worker);
        self.worker.run(rank, None);
    }
}

/// The calling thread has an order: the watch has taken its rank for it.
pub(super) extern "C" fn serve(home: &'static Home) {
    home.order.accept();
    if let Some(rank) = home.rank {
        home.run(rank);
    }
}

/// Starts a home for the leader's rank, since the leader's own thread is worker 0. The thread calls `begins` when it can be
/// called.
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
