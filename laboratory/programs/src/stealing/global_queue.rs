use super::deque::TracedDeque;
use super::{Counts, Discipline, Task, TaskDeque};
use crate::mutex::Mutex;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Ordering, Platform};
use manycore_team::barrier::Placement;
use std::sync::Arc;

/// One queue for all workers with one mutex: the thesis's model of a Java work queue (Park 2013, section
/// 6.2.1), a `LinkedBlockingQueue`.
///
/// First in, first out. A worker that finds the queue empty sleeps. A worker that puts a task wakes a sleeper. The run
/// is over when all workers wait; they are counted under the mutex.
///
/// ```
/// use manycore::Native;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::stealing::{Discipline, GlobalQueue, TaskDeque, Task};
///
/// let discipline = GlobalQueue::<Native>::new(&Placement::flat(2), 1);
/// let got = std::thread::scope(|scope| {
///     let worker = |rank| {
///         let discipline = &discipline;
///         scope.spawn(move || {
///             let mut deque = discipline.deque(rank);
///             if rank == 0 {
///                 deque.fill((1..=100).filter_map(Task::new));
///             }
///             std::iter::from_fn(|| deque.get()).map(Task::get).sum::<u64>()
///         })
///     };
///     [0, 1].map(worker).map(|worker| worker.join().unwrap())
/// });
/// assert_eq!(got.iter().sum::<u64>(), 5_050);
/// ```
pub struct GlobalQueue<P: Platform>(Arc<SharedQueue<P>>);

/// A worker's end of a [`GlobalQueue`].
pub struct GlobalDeque<P: Platform> {
    shared: Arc<SharedQueue<P>>,
    waits: bool,
}

struct SharedQueue<P: Platform> {
    state: CachePadded<Mutex<P, QueueState<P>>>,
    /// A word that changes, under the lock, with every event that sleepers wait for.
    hints: CachePadded<P::Futex>,
    /// Read without the lock, so that workers do not queue for the lock once more at the end.
    over: CachePadded<P::AtomicBool>,
    workers: usize,
}

struct QueueState<P> {
    tasks: TracedDeque<P>,
    /// The number of workers that have no task and found the queue empty.
    waiting: usize,
}

enum Found {
    Task(Task),
    Over,
    /// The queue was empty, and all other workers wait.
    Ends,
    /// The queue was empty when `hints` had this value.
    Nothing(u32),
}

impl<P: Platform> Discipline<P> for GlobalQueue<P> {
    const NAME: &'static str = "global-queue";
    type Deque = GlobalDeque<P>;

    fn new(placement: &Placement, _: u64) -> Self {
        let shared = Arc::new(SharedQueue {
            state: CachePadded::new(Mutex::new(QueueState {
                tasks: TracedDeque::new(),
                waiting: 0,
            })),
            hints: CachePadded::new(<P::Futex as Atomic<u32>>::new(0)),
            over: CachePadded::new(Atomic::new(false)),
            workers: placement.members(),
        });
        P::name(&shared.state, "global queue");
        Self(shared)
    }

    fn deque(&self, rank: usize) -> GlobalDeque<P> {
        assert!(rank < self.0.workers, "rank {rank} of {}", self.0.workers);
        GlobalDeque {
            shared: Arc::clone(&self.0),
            waits: false,
        }
    }
}

impl<P: Platform> GlobalDeque<P> {
    fn look(&mut self) -> Found {
        let Self { shared, waits } = self;
        shared.state.with(|state| {
            if let Some(task) = state.tasks.pop_front() {
                state.waiting -= usize::from(std::mem::take(waits));
                return Found::Task(task);
            }
            // Relaxed: the flag is set under the lock.
            if shared.over.load(Ordering::Relaxed) {
                return Found::Over;
            }
            state.waiting += usize::from(!std::mem::replace(waits, true));
            if state.waiting == shared.workers {
                // No task is queued, and no worker has one.
                shared.end();
                return Found::Ends;
            }
            // Relaxed: the word is read and changed only under the lock.
            Found::Nothing(shared.hints.load(Ordering::Relaxed))
        })
    }
}

impl<P: Platform> SharedQueue<P> {
    /// Ends the run, under the lock. The caller then wakes the sleepers.
    fn end(&self) {
        // Release: a worker that sees the flag also sees the earlier work.
        self.over.store(true, Ordering::Release);
        self.hints.fetch_add(1, Ordering::Relaxed);
    }
}

impl<P: Platform> TaskDeque<P> for GlobalDeque<P> {
    fn put(&mut self, task: Task) {
        let shared = &self.shared;
        let somebody_waits = shared.state.with(|state| {
            state.tasks.push_back(task);
            if state.waiting > 0 {
                shared.hints.fetch_add(1, Ordering::Relaxed);
            }
            state.waiting > 0
        });
        if somebody_waits {
            shared.hints.wake(1);
        }
    }

    fn get(&mut self) -> Option<Task> {
        // Acquire: see `end`.
        while !self.shared.over.load(Ordering::Acquire) {
            match self.look() {
                Found::Task(task) => return Some(task),
                Found::Over => break,
                Found::Ends => self.shared.hints.wake(u32::MAX),
                // A worker that puts a task or ends the run after the look changes the word before it wakes sleepers. A
                // sleeper that compares the word later does not sleep.
                Found::Nothing(hints) => {
                    self.shared.hints.wait(hints, None);
                    0
                }
            };
        }
        None
    }

    fn finish(&mut self) {
        let shared = &self.shared;
        shared.state.with(|_| shared.end());
        shared.hints.wake(u32::MAX);
    }

    fn counts(&self) -> Counts {
        Counts::default()
    }
}
