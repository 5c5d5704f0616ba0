//! Ranges of tasks that thieves halve: manycore's own discipline (algorithm of work stealing). This folder's
//! `README.md` argues that it is right, and describes its costs and worse designs.

#[cfg(test)]
mod checked;
mod hints;
mod parking;
mod range;
mod rank_set;
mod ring;
mod search;
mod termination;

use super::rng::Rng;
use super::{Counts, Discipline, Task, TaskDeque};
use hints::Hints;
use manycore_chip::Broadcast;
use manycore_platform::{Atomic, CachePadded, Ordering};
use manycore_team::barrier::Placement;
use parking::Parking;
use range::{MOST_WORKERS, Range};
use rank_set::RankSet;
use ring::Ring;
use std::collections::VecDeque;
use std::sync::Arc;
use termination::TerminationTree;

/// Tasks stay where they were put. A thief takes half of a victim's range of tasks, whatever its size, with one
/// compare-and-swap. Other thieves take half of the thief's range in turn.
///
/// With a broadcast network, a worker without tasks sends a request. A thief invites one worker without tasks to its
/// own range, and another to the range of its victim. Without such a network, thieves look at all deques in turn, and
/// finally sleep.
///
/// The owner takes its tasks first in, first out. While no worker is idle, each worker touches only its own cache
/// lines.
///
/// ```
/// use manycore::Native;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::stealing::{Discipline, TaskDeque, RangeStealing, Task};
///
/// let discipline = RangeStealing::<Native>::new(&Placement::flat(2), 1);
/// let done: u64 = std::thread::scope(|scope| {
///     let work = |rank| {
///         let discipline = &discipline;
///         scope.spawn(move || {
///             let mut deque = discipline.deque(rank);
///             if rank == 0 {
///                 deque.fill((1..=100).filter_map(Task::new));
///             }
///             std::iter::from_fn(|| deque.get()).map(Task::get).sum::<u64>()
///         })
///     };
///     [0, 1].map(work).map(|worker| worker.join().unwrap()).iter().sum()
/// });
/// assert_eq!(done, 5050);
/// ```
pub struct RangeStealing<P: Broadcast>(Arc<SharedRanges<P>>);

/// A worker's end of a [`RangeStealing`].
pub struct RangeDeque<P: Broadcast> {
    shared: Arc<SharedRanges<P>>,
    rank: usize,
    /// Tasks that did not fit in the ring (this worker's array of tasks).
    overflow: VecDeque<Task>,
    hints: Option<Hints<P>>,
    rng: Rng,
    over: bool,
    /// The workers that have invited this worker while it had no tasks.
    hosts: Vec<usize>,
    /// The workers without tasks, by the messages received so far.
    guests: RankSet,
    counts: Counts,
}

struct SharedRanges<P: Broadcast> {
    stores: Box<[Store<P>]>,
    termination: TerminationTree<P>,
    parking: Parking<P>,
    over: CachePadded<P::AtomicBool>,
    wire: Option<P::Channel>,
    seed: u64,
}

/// One worker's tasks.
struct Store<P: Broadcast> {
    hands: CachePadded<Hands<P>>,
    ring: Ring<P>,
}

/// The two ranges that a worker takes from, on one line.
struct Hands<P: Broadcast> {
    /// A range of this worker's ring: tasks that the worker has put.
    own: P::AtomicU64,
    /// A range of any ring: tasks that the worker has stolen.
    loot: P::AtomicU64,
}

impl<P: Broadcast> Discipline<P> for RangeStealing<P> {
    const NAME: &'static str = "ours";
    type Deque = RangeDeque<P>;

    fn new(placement: &Placement, seed: u64) -> Self {
        let members = placement.members();
        assert!(
            members <= MOST_WORKERS,
            "{members} workers; at most {MOST_WORKERS}"
        );
        let store = |rank| {
            let nothing = Range::new(rank, 0, 0).0;
            let store = Store {
                hands: CachePadded::new(Hands {
                    own: P::AtomicU64::new(nothing),
                    loot: P::AtomicU64::new(nothing),
                }),
                ring: Ring::new(),
            };
            P::name(&store.hands, "pile: ranges");
            store
        };
        Self(Arc::new(SharedRanges {
            stores: (0..members).map(store).collect(),
            termination: TerminationTree::new(members),
            parking: Parking::new(),
            over: CachePadded::new(P::AtomicBool::new(false)),
            wire: P::create_channel(),
            seed,
        }))
    }

    fn deque(&self, rank: usize) -> RangeDeque<P> {
        let workers = self.0.stores.len();
        assert!(rank < workers, "rank {rank} of {workers}");
        RangeDeque {
            shared: Arc::clone(&self.0),
            rank,
            overflow: VecDeque::new(),
            hints: self.0.wire.map(|wire| Hints::new(wire, rank)),
            rng: Rng::new(self.0.seed, rank),
            // This load comes after the opening of the port, see `finish`.
            over: self.0.over.load(Ordering::SeqCst),
            hosts: Vec::new(),
            guests: RankSet::new(workers),
            counts: Counts::default(),
        }
    }
}

impl<P: Broadcast> Hands<P> {
    /// Divides the range in `word` by `split` into a claimed range and the rest. Returns `None` if the range is empty
    /// or the word changed.
    fn claim_once(
        word: &P::AtomicU64,
        split: impl Fn(Range) -> (Range, Range),
    ) -> Option<(Range, Range)> {
        // Acquire: an owner that finds the range empty leaves the count of active workers only after all thieves that
        // took from the range have joined the count.
        let range = Range(word.load(Ordering::Acquire));
        if range.is_empty() {
            return None;
        }
        let (claimed, left) = split(range);
        // Acquire: the tasks are in their places. Release: the taker joined the count before. The words change only by
        // read-modify-writes, so an acquire sees all earlier releases.
        word.compare_exchange(range.0, left.0, Ordering::AcqRel, Ordering::Relaxed)
            .ok()
            .map(|_| (claimed, left))
    }

    /// Like `claim_once`, for the owner, which tries again until it succeeds or the range is empty.
    fn claim_first(word: &P::AtomicU64) -> Option<Range> {
        loop {
            match Self::claim_once(word, |range| range.split(1)) {
                Some((claimed, _)) => return Some(claimed),
                // Acquire: as in `claim_once`.
                None if Range(word.load(Ordering::Acquire)).is_empty() => return None,
                None => {}
            }
        }
    }
}

impl<P: Broadcast> RangeDeque<P> {
    fn hands(&self) -> &Hands<P> {
        &self.shared.stores[self.rank].hands
    }

    fn take(&self, range: Range) -> Task {
        let ring = &self.shared.stores[range.ring()].ring;
        if range.ring() == self.rank {
            ring.take(range.low())
        } else {
            ring.take_from_afar(range.low())
        }
    }

    /// Takes the next of this worker's tasks.
    fn pop(&mut self) -> Option<Task> {
        let hands = self.hands();
        let claimed =
            Hands::<P>::claim_first(&hands.loot).or_else(|| Hands::<P>::claim_first(&hands.own));
        if let Some(range) = claimed {
            return Some(self.take(range));
        }
        let task = self.overflow.pop_front();
        while let Some(&next) = self.overflow.front() {
            if !self.publish(next) {
                break;
            }
            self.overflow.pop_front();
        }
        task
    }

    /// The number of this worker's tasks that others can take.
    fn spare(&self) -> u32 {
        let hands = self.hands();
        // Relaxed: the number is only a hint.
        [&hands.loot, &hands.own]
            .map(|word| Range(word.load(Ordering::Relaxed)).count())
            .iter()
            .sum()
    }

    /// Publishes the task for other workers. Returns `false` if there is no room.
    fn publish(&self, task: Task) -> bool {
        let store = &self.shared.stores[self.rank];
        let own = &store.hands.own;
        // Relaxed: only this worker writes the end.
        let mut range = Range(own.load(Ordering::Relaxed));
        if !store.ring.write(range.end(), task) {
            return false;
        }
        // Release: the task is in its place. Others change the word only by taking tasks.
        while let Err(now) = own.compare_exchange(
            range.0,
            range.longer().0,
            Ordering::AcqRel,
            Ordering::Relaxed,
        ) {
            range = Range(now);
        }
        self.published();
        true
    }

    /// Wakes a sleeper. The caller has just published tasks by an atomic read-modify-write.
    fn published(&self) {
        if self.hints.is_none() {
            self.shared.parking.published();
        }
    }

    /// Announces the end to all workers.
    fn end(&mut self) {
        self.over = true;
        match &self.hints {
            Some(hints) => {
                self.counts.sent += 1;
                hints.tell_over();
            }
            None => {
                // Release passes on all work.
                self.shared.over.store(true, Ordering::Release);
                self.shared.parking.wake_all();
            }
        }
    }
}

impl<P: Broadcast> TaskDeque<P> for RangeDeque<P> {
    fn put(&mut self, task: Task) {
        if !self.overflow.is_empty() || !self.publish(task) {
            self.overflow.push_back(task);
        }
    }

    fn get(&mut self) -> Option<Task> {
        self.listen();
        if self.over {
            return None;
        }
        let task = self.pop().or_else(|| self.hunt());
        self.settle();
        task
    }

    fn finish(&mut self) {
        // This store is for workers without a port, which read the word after they have opened one. A worker that reads
        // before this store already has its port, and receives the following message.
        self.shared.over.store(true, Ordering::SeqCst);
        self.end();
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
