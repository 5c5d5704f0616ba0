//! The thread pool and the ParallelFor of the document (Shuai's paper), as in its listing.
//!
//! Each thread has a queue behind a mutex and sleeps on a condition variable. The caller puts the loop into one queue
//! after the other, and each time wakes that queue's thread. Then the caller takes part in the loop, and waits for each
//! thread. All threads claim blocks from one counter. The counter, N and the block size are variables of the caller.
//! The threads have references to these variables, which share a cache line. A claim takes this line away from every
//! thread that is about to read N. The tasks read their sizes from the same line, so a claim delays them too.

use crate::threads::start_ranks;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Ordering, Platform};
use std::sync::Arc;

/// Instructions to call a `std::function` and to set up the task's loops. The set-up contains a division.
const CALL: u64 = 30;
/// Instructions to move a `std::function` into or out of a queue.
const MOVE: u64 = 100;

/// A lock with sleeping waiters: 0 is free, 1 held, 2 held with waiters.
struct Mutex<P: Platform>(P::Futex);

impl<P: Platform> Mutex<P> {
    fn new() -> Self {
        Self(P::Futex::new(0))
    }

    fn lock(&self) {
        let order = Ordering::SeqCst;
        if self.0.compare_exchange(0, 1, order, order).is_ok() {
            return;
        }
        while self.0.swap(2, Ordering::SeqCst) != 0 {
            self.0.wait(2, None);
        }
    }

    fn unlock(&self) {
        if self.0.swap(0, Ordering::SeqCst) == 2 {
            self.0.wake(1);
        }
    }
}

/// A condition variable for one sleeper. As on Windows, a notification without a sleeper makes no system call.
struct Condition<P: Platform> {
    epoch: P::Futex,
    sleepers: P::AtomicU32,
}

impl<P: Platform> Condition<P> {
    fn new() -> Self {
        Self {
            epoch: P::Futex::new(0),
            sleepers: P::AtomicU32::new(0),
        }
    }

    fn wait(&self, mutex: &Mutex<P>) {
        let epoch = self.epoch.load(Ordering::SeqCst);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        mutex.unlock();
        self.epoch.wait(epoch, None);
        mutex.lock();
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    fn notify(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            self.epoch.fetch_add(1, Ordering::SeqCst);
            self.epoch.wake(1);
        }
    }
}

const IDLE: u32 = 0;
const LOOP: u32 = 1;
const END: u32 = 2;

/// The queue of one thread of the pool. Here it never holds more than one task.
struct Queue<P: Platform> {
    mutex: Mutex<P>,
    task: P::AtomicU32,
    filled: Condition<P>,
    done: Condition<P>,
}

impl<P: Platform> Queue<P> {
    fn new() -> Self {
        Self {
            mutex: Mutex::new(),
            task: P::AtomicU32::new(IDLE),
            filled: Condition::new(),
            done: Condition::new(),
        }
    }

    fn enqueue(&self, task: u32) {
        P::compute(MOVE);
        self.mutex.lock();
        self.task.store(task, Ordering::SeqCst);
        self.mutex.unlock();
        self.filled.notify();
    }

    /// Sleeps until there is a task.
    fn next(&self) -> u32 {
        self.mutex.lock();
        while self.task.load(Ordering::SeqCst) == IDLE {
            self.filled.wait(&self.mutex);
        }
        let task = self.task.load(Ordering::SeqCst);
        self.mutex.unlock();
        P::compute(MOVE);
        task
    }

    fn finish(&self) {
        self.mutex.lock();
        self.task.store(IDLE, Ordering::SeqCst);
        self.mutex.unlock();
        self.done.notify();
    }

    /// Sleeps until the task is done.
    fn wait(&self) {
        self.mutex.lock();
        while self.task.load(Ordering::SeqCst) != IDLE {
            self.done.wait(&self.mutex);
        }
        self.mutex.unlock();
    }
}

/// The variables of ParallelFor that its threads share.
struct Loop<P: Platform> {
    counter: P::AtomicU64,
    n: P::AtomicU64,
    block: P::AtomicU64,
}

/// The data that the caller and the threads share.
struct DocumentShared<P: Platform, F> {
    shared_loop: CachePadded<Loop<P>>,
    queues: Vec<CachePadded<Queue<P>>>,
    body: F,
}

impl<P: Platform, F: Fn(usize, &dyn Fn())> DocumentShared<P, F> {
    /// The document's `thread_task`.
    fn thread_task(&self) {
        let Loop { counter, n, block } = &*self.shared_loop;
        let load = |word: &P::AtomicU64| word.load(Ordering::Relaxed);
        loop {
            let begin = counter.fetch_add(load(block), Ordering::SeqCst);
            if begin >= load(n) {
                return;
            }
            let mut iteration = begin;
            while iteration < load(n).min(begin + load(block)) {
                P::compute(CALL);
                (self.body)(iteration as usize, &|| {
                    load(n);
                });
                iteration += 1;
            }
        }
    }

    fn work(&self, rank: usize) {
        let queue = &self.queues[rank];
        while queue.next() == LOOP {
            self.thread_task();
            queue.finish();
        }
    }
}

pub(super) struct DocumentPool<P: Platform, F> {
    shared: Arc<DocumentShared<P, F>>,
    threads: Vec<P::Thread>,
}

impl<P: Platform, F: Fn(usize, &dyn Fn()) + Send + Sync + 'static> DocumentPool<P, F> {
    /// Starts one thread for each of `cores`, and binds it to that core. These threads and the caller run `body`.
    pub(super) fn new(cores: impl Iterator<Item = usize>, body: F) -> anyhow::Result<Self> {
        let cores: Vec<usize> = cores.collect();
        let shared = Arc::new(DocumentShared {
            shared_loop: CachePadded::new(Loop {
                counter: P::AtomicU64::new(0),
                n: P::AtomicU64::new(0),
                block: P::AtomicU64::new(0),
            }),
            queues: cores
                .iter()
                .map(|_| CachePadded::new(Queue::new()))
                .collect(),
            body,
        });
        let cpus = |rank: usize| vec![cores[rank]];
        let threads = start_ranks::<P, _>(0..cores.len(), cpus, |rank| {
            let shared: Arc<DocumentShared<P, F>> = Arc::clone(&shared);
            move || shared.work(rank)
        });
        let threads = threads.collect::<anyhow::Result<_>>()?;
        Ok(Self { shared, threads })
    }

    /// The document's `ParallelFor`.
    pub(super) fn parallel_for(&self, n: usize, block: usize) {
        let DocumentShared {
            shared_loop,
            queues,
            ..
        } = &*self.shared;
        shared_loop.n.store(n as u64, Ordering::SeqCst);
        shared_loop.block.store(block as u64, Ordering::SeqCst);
        shared_loop.counter.store(0, Ordering::SeqCst);
        queues.iter().for_each(|queue| queue.enqueue(LOOP));
        self.shared.thread_task();
        queues.iter().for_each(|queue| queue.wait());
    }
}

impl<P: Platform, F> Drop for DocumentPool<P, F> {
    fn drop(&mut self) {
        self.shared
            .queues
            .iter()
            .for_each(|queue| queue.enqueue(END));
        self.threads.drain(..).for_each(P::join);
    }
}
