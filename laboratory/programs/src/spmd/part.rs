//! A rank (thread of a team), as the program uses it.

use crate::barrier::Barrier;
use manycore_platform::Platform;
use manycore_team::Rank;

/// A rank of a team: its number, and its wait for the other ranks.
///
/// # Safety
///
/// `size` ranks run the program. They are numbered from 0, each number once. The n-th call of [`meet`](Self::meet)
/// returns only after every rank has made its n-th call. All writes of any rank before this call are visible to all
/// ranks after it. Programs rely on this alone: they write shared memory without any other protection.
pub unsafe trait Part {
    /// This rank's number, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Waits for all other ranks. `site` names this place in the program. After a wait at the same site, a rank most
    /// likely does the same work as last time.
    fn meet(&mut self, site: &'static str);

    /// A point at which the rank can be interrupted. Programs call this every few microseconds.
    fn pause(&mut self) {}
}

/// A team of one.
///
/// ```
/// use manycore_programs::spmd::{Alone, Part};
///
/// assert_eq!((Alone.rank(), Alone.size()), (0, 1));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Alone;

// SAFETY: there is no other rank to wait for.
unsafe impl Part for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn meet(&mut self, _site: &'static str) {}
}

/// A rank that is a thread and meets the others at a barrier.
pub struct Member<'a, P: Platform, B: Barrier<P>> {
    barrier: &'a B,
    member: B::Member,
    rank: usize,
    size: usize,
}

impl<'a, P: Platform, B: Barrier<P>> Member<'a, P, B> {
    /// Makes rank number `rank` of `size`. The thread that will run the rank calls this.
    ///
    /// # Safety
    ///
    /// The barrier was made for `size` members, and each rank is made once.
    ///
    /// # Panics
    ///
    /// If the barrier has no member `rank`.
    pub unsafe fn new(barrier: &'a B, rank: usize, size: usize) -> Self {
        Self {
            barrier,
            member: barrier.member(rank),
            rank,
            size,
        }
    }
}

// SAFETY: by the contract of `new`, the ranks are all members of one barrier, each once. The wait is a barrier.
unsafe impl<P: Platform, B: Barrier<P>> Part for Member<'_, P, B> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn meet(&mut self, _site: &'static str) {
        self.barrier.wait(&mut self.member);
    }
}

// SAFETY: a `Team` numbers its ranks from 0, each once. The team's barrier opens when all ranks have arrived. The run
// stops if a rank ends while others wait.
unsafe impl<P: Platform> Part for Rank<P> {
    fn rank(&self) -> usize {
        Rank::rank(self)
    }

    fn size(&self) -> usize {
        Rank::size(self)
    }

    fn meet(&mut self, site: &'static str) {
        self.barrier_at(site);
    }

    #[inline]
    fn pause(&mut self) {
        Rank::pause(self);
    }
}

#[cfg(test)]
mod tests {
    use super::Part;
    use crate::spmd::{Cost, Phase, Program, Ranked, Sums, Verified, Worksharing, WrongAnswer};
    use manycore::elastic::Allotment;
    use manycore_chip::config::Config;
    use manycore_chip::{Simulated, Simulation};
    use manycore_platform::{Native, Platform};
    use manycore_team::{Policy, Rank, Stackful, Team};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Squares numbers and adds them up, `STEPS` times.
    struct Squares {
        numbers: Vec<AtomicU64>,
        sums: Mutex<Vec<f64>>,
    }

    const ITEMS: usize = 1_000;
    const STEPS: usize = 10;

    impl Squares {
        fn new() -> Self {
            Self {
                numbers: (0..ITEMS).map(|_| AtomicU64::new(0)).collect(),
                sums: Mutex::new(vec![]),
            }
        }
    }

    fn phase(name: &'static str) -> Phase {
        let cost = Cost {
            instructions: 10.0,
            bytes: 8.0,
        };
        Phase {
            name,
            items: ITEMS,
            grain: 16,
            cost,
        }
    }

    impl Program for Squares {
        fn grains(&self) -> usize {
            ITEMS.div_ceil(16)
        }

        unsafe fn run(&self, sharing: &mut dyn Worksharing) {
            for step in 0..STEPS {
                sharing.share(&phase("squares"), &|items| {
                    for item in items {
                        self.numbers[item].fetch_add((item * item) as u64, Relaxed);
                    }
                });
                let sum = sharing.sum(&phase("sum"), &|items| {
                    let number = |item: usize| self.numbers[item].load(Relaxed) as f64;
                    items.map(number).sum()
                });
                let right = (step + 1) as f64 * 332_833_500.0;
                assert_eq!(sum, right);
                self.sums.lock().unwrap().push(sum);
            }
        }

        fn verify(&self) -> Result<Verified, WrongAnswer> {
            let sums = self.sums.lock().unwrap();
            assert!(!sums.is_empty() && sums.len().is_multiple_of(STEPS));
            Ok(Verified(format!("{} sums", sums.len())))
        }
    }

    /// Runs more ranks than workers, and takes a core away during the run.
    fn on_a_team<P: Platform>(policy: Policy) {
        const RANKS: usize = 5;
        let program = Squares::new();
        let sums = Sums::new(program.grains());
        let mut team: Team<P> = Team::builder(3, Allotment::new(3))
            .policy(policy)
            .build()
            .unwrap();
        let allotment = team.allotment().clone();
        let run = |rank: &mut Rank<P>| {
            if Part::rank(rank) == 2 {
                allotment.set(2);
            }
            // SAFETY: all ranks use these sums and run the same program.
            let mut sharing = unsafe { Ranked::<P>::new(rank, &sums) };
            // SAFETY: each rank of the team calls this once.
            unsafe { program.run(&mut sharing) };
        };
        // SAFETY: a rank's stack holds numbers and references to shared data. No lock is held
        // across a barrier.
        let report = team.run(RANKS, |_| unsafe { Stackful::new(run) });
        assert_eq!(report.episodes, 2 * STEPS as u64 + 1);
        assert_eq!(program.verify().unwrap().0, "50 sums");
    }

    #[test]
    fn a_program_on_a_team() {
        for policy in [Policy::Fifo, Policy::RoundRobin, Policy::Wrap] {
            on_a_team::<Native>(policy);
            let machine = Config::preset("e5-2640x2").unwrap();
            let simulation = Simulation::new(&machine).limit(1 << 36);
            simulation.run(|| on_a_team::<Simulated>(policy)).unwrap();
        }
    }
}
