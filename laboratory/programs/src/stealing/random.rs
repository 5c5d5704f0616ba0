use super::deque::LockedDeque;
use super::patience::Patience;
use super::rng::Rng;
use super::termination::{Standing, Termination};
use super::{Counts, Discipline, Task, TaskDeque};
use manycore_platform::{CachePadded, Platform};
use manycore_team::barrier::Placement;
use std::sync::Arc;

/// The longest pause between two victims. It is 2 to this power spins.
const LONGEST: u32 = 6;

/// Each worker has a deque, and a worker without tasks tries random victims. This is the thesis's model of Cilk (Park
/// 2013, section 6.2.1; Blumofe and Leiserson 1994).
///
/// The owner works at the back of its deque, and thieves take one task at the front, each under the deque's mutex. A
/// thief skips a victim with an empty deque without taking the mutex. After as many vain tries as there are other
/// workers, a thief rests (see `Termination`).
///
/// ```
/// use manycore::Native;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::stealing::{Discipline, RandomStealing, TaskDeque, Task};
///
/// let discipline = RandomStealing::<Native>::new(&Placement::flat(2), 1);
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
pub struct RandomStealing<P: Platform>(Arc<SharedDeques<P>>);

/// A worker's end of [`RandomStealing`].
pub struct RandomDeque<P: Platform> {
    shared: Arc<SharedDeques<P>>,
    rank: usize,
    rng: Rng,
    standing: Standing,
    counts: Counts,
}

struct SharedDeques<P: Platform> {
    deques: Vec<CachePadded<LockedDeque<P>>>,
    termination: Termination<P>,
    seed: u64,
}

impl<P: Platform> Discipline<P> for RandomStealing<P> {
    const NAME: &'static str = "random";
    type Deque = RandomDeque<P>;

    fn new(placement: &Placement, seed: u64) -> Self {
        let deque = |_| CachePadded::new(LockedDeque::new());
        let deques: Vec<_> = (0..placement.members()).map(deque).collect();
        for deque in &deques {
            P::name(deque, "deque");
        }
        Self(Arc::new(SharedDeques {
            deques,
            termination: Termination::new(placement.members()),
            seed,
        }))
    }

    fn deque(&self, rank: usize) -> RandomDeque<P> {
        let workers = self.0.deques.len();
        assert!(rank < workers, "rank {rank} of {workers}");
        RandomDeque {
            shared: Arc::clone(&self.0),
            rank,
            rng: Rng::new(self.0.seed, rank),
            standing: self.0.termination.enter(),
            counts: Counts::default(),
        }
    }
}

impl<P: Platform> RandomDeque<P> {
    /// Steals a task. Returns `None` at the end.
    fn hunt(&mut self) -> Option<Task> {
        let Self { shared, .. } = self;
        let others = shared.deques.len() - 1;
        let mut patience = Patience::new(LONGEST);
        let mut in_vain = 0;
        while !shared.termination.is_over() {
            if in_vain >= others {
                shared.termination.rest(&mut self.standing);
            }
            if others > 0 {
                let other = self.rng.below(others);
                let victim = &shared.deques[other + usize::from(other >= self.rank)];
                self.counts.attempts += 1;
                if victim.length() > 0 {
                    shared.termination.rouse(&mut self.standing);
                    if let Some(task) = victim.steal() {
                        self.counts.steals += 1;
                        return Some(task);
                    }
                }
            }
            in_vain += 1;
            patience.pause::<P>();
        }
        None
    }
}

impl<P: Platform> TaskDeque<P> for RandomDeque<P> {
    fn put(&mut self, task: Task) {
        self.shared.deques[self.rank].push(task);
    }

    fn get(&mut self) -> Option<Task> {
        if self.shared.termination.is_over() {
            return None;
        }
        self.shared.deques[self.rank].pop().or_else(|| self.hunt())
    }

    fn finish(&mut self) {
        self.shared.termination.end();
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
