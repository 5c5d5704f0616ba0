//! Frontiers (sets of vertices to visit) that a discipline of work stealing shares.

use super::{Task, Work};
use crate::barrier::Barrier;
use crate::stealing::{Counts, Discipline, TaskDeque};
use manycore_platform::Platform;
use manycore_team::barrier::Placement;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

/// Shares the tasks of a team by the discipline `D`, with a new instance of `D` for each frontier. Between frontiers
/// the team meets at the barrier `B`.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::barrier::ChannelBarrier;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::stealing::GlobalQueue;
/// use manycore_programs::graph::{BreadthFirst, Rmat, Shares};
///
/// let graph = Rmat { scale: 6, edge_factor: 8, seed: 1 }.graph();
/// let hub = graph.hub();
/// let search = BreadthFirst::<Native>::new(graph.into(), hub);
/// let placement = Placement::flat(2);
/// let shares = Shares::<Native, GlobalQueue<Native>, ChannelBarrier<Native>>::new(placement, 1);
/// std::thread::scope(|scope| {
///     let (search, shares) = (&search, &shares);
///     for rank in 0..2 {
///         scope.spawn(move || search.run(rank, &mut shares.take(rank)));
///     }
/// });
/// assert!(search.verify().is_ok());
/// ```
pub struct Shares<P: Platform, D: Discipline<P>, B: Barrier<P>> {
    placement: Placement,
    seed: u64,
    barrier: B,
    /// The instance for this frontier. Rank 0 replaces it before the ranks (threads) meet, when every rank has its pile
    /// (deque). The lock is held only while the `Arc` is cloned.
    current: Mutex<Arc<D>>,
    platform: PhantomData<P>,
}

impl<P: Platform, D: Discipline<P>, B: Barrier<P>> Shares<P, D, B> {
    /// Makes the shares of a team on `placement`. Random choices follow from `seed`.
    pub fn new(placement: Placement, seed: u64) -> Self {
        Self {
            barrier: B::new(&placement),
            current: Mutex::new(Arc::new(D::new(&placement, seed))),
            placement,
            seed,
            platform: PhantomData,
        }
    }

    /// The share of one rank. The rank's thread calls this, on its core.
    pub fn take(&self, rank: usize) -> Share<'_, P, D, B> {
        Share {
            shares: self,
            rank,
            member: self.barrier.member(rank),
            pile: Some(self.current().deque(rank)),
            before: Counts::default(),
            tasks: 0,
        }
    }

    fn current(&self) -> Arc<D> {
        let current = self.current.lock();
        Arc::clone(&current.unwrap_or_else(PoisonError::into_inner))
    }
}

impl<P: Platform, D: Discipline<P>, B: Barrier<P>> std::fmt::Debug for Shares<P, D, B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shares")
            .field("placement", &self.placement)
            .field("discipline", &D::NAME)
            .finish_non_exhaustive()
    }
}

/// One rank's part of [`Shares`].
pub struct Share<'s, P: Platform, D: Discipline<P>, B: Barrier<P>> {
    shares: &'s Shares<P, D, B>,
    rank: usize,
    member: B::Member,
    /// The pile of this frontier. A core has one pile at a time, because piles may set the core's filter.
    pile: Option<D::Deque>,
    /// The counts of the finished frontiers.
    before: Counts,
    tasks: u64,
}

impl<P: Platform, D: Discipline<P>, B: Barrier<P>> Share<'_, P, D, B> {
    /// The rank's steps to get work so far.
    pub fn counts(&self) -> Counts {
        let now = self.pile.as_ref().map(TaskDeque::counts);
        self.before + now.unwrap_or_default()
    }

    /// How many tasks the rank has received.
    pub fn tasks(&self) -> u64 {
        self.tasks
    }
}

impl<P: Platform, D: Discipline<P>, B: Barrier<P>> Work for Share<'_, P, D, B> {
    fn put(&mut self, task: Task) {
        self.pile.iter_mut().for_each(|pile| pile.put(task));
    }

    fn get(&mut self) -> Option<Task> {
        let task = self.pile.as_mut().and_then(TaskDeque::get);
        self.tasks += u64::from(task.is_some());
        task
    }

    fn meet(&mut self) {
        let shares = self.shares;
        if self.rank == 0 {
            let next = Arc::new(D::new(&shares.placement, shares.seed));
            *shares
                .current
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = next;
        }
        self.before = self.counts();
        self.pile = None;
        shares.barrier.wait(&mut self.member);
        self.pile = Some(shares.current().deque(self.rank));
    }
}

impl<P: Platform, D: Discipline<P>, B: Barrier<P>> std::fmt::Debug for Share<'_, P, D, B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Share")
            .field("rank", &self.rank)
            .finish_non_exhaustive()
    }
}
