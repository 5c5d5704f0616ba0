//! How the items of a phase are divided: among the ranks (threads) of a team, or by a parallel loop of a pool.

use super::{Part, Phase};
use manycore::{Loop, Pool};
use manycore_platform::Platform;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::Range;

/// Runs the phases of a program.
///
/// In a team ([`Ranked`]) every rank runs the whole program. Code outside phases runs on all ranks;
/// each phase is divided among them. With parallel loops ([`Looped`]) one thread runs the program,
/// and each phase is a loop.
///
/// # Safety
///
/// In a phase every item is in the range of exactly one call of the body. All calls are over, and their writes are
/// visible, before the phase ends on any rank. Programs rely on this alone: their bodies write shared memory without
/// any other protection.
///
/// ```
/// use manycore_programs::spmd::{Alone, Cost, Phase, Ranked, Sums, Worksharing};
/// use manycore_platform::Native;
///
/// let sums = Sums::new(10);
/// let mut alone = Alone;
/// // SAFETY: the only rank, with its own sums.
/// let mut sharing = unsafe { Ranked::<Native>::new(&mut alone, &sums) };
/// let phase = Phase { name: "sum", items: 100, grain: 10, cost: Cost::default() };
/// let sum = sharing.sum(&phase, &|items| items.map(|item| item as f64).sum());
/// assert_eq!(sum, 4_950.0);
/// ```
pub unsafe trait Worksharing {
    /// Runs `body` for all items of the phase, with one grain (a range of consecutive items) for each call. Grains
    /// begin at multiples of [`Phase::grain`].
    fn share(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) + Sync));

    /// Returns the sum of the results of `body` for all grains. The results are added in the order of the grains, so
    /// the sum is the same for any number of ranks.
    fn sum(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64;
}

/// The result of each grain.
struct Partials(Vec<UnsafeCell<f64>>);

// SAFETY: by the contract of `Worksharing`, only the thread that runs a grain writes its cell, and
// cells are read after the phase.
unsafe impl Sync for Partials {}

/// Memory for the sums of a team's ranks. [`Worksharing`] has an example.
pub struct Sums {
    /// Consecutive sums use these two alternately. While a rank still reads the partial results of one sum, it has not
    /// passed the barrier at the end of the next sum. So no rank writes the same partial results again.
    partials: [Partials; 2],
}

impl Sums {
    /// Makes memory for phases of up to `grains` grains.
    #[must_use]
    pub fn new(grains: usize) -> Self {
        let partials = || Partials((0..grains).map(|_| UnsafeCell::new(0.0)).collect());
        Self {
            partials: [partials(), partials()],
        }
    }
}

/// Runs a rank's share of each phase. [`Worksharing`] has an example.
pub struct Ranked<'a, P> {
    part: &'a mut dyn Part,
    sums: &'a Sums,
    added: usize,
    platform: PhantomData<fn() -> P>,
}

impl<'a, P: Platform> Ranked<'a, P> {
    /// Runs phases on this rank, with the team's `sums`.
    ///
    /// # Safety
    ///
    /// All ranks of the team, and no other code, use `sums`. All ranks run the same program.
    pub unsafe fn new(part: &'a mut dyn Part, sums: &'a Sums) -> Self {
        Self {
            part,
            sums,
            added: 0,
            platform: PhantomData,
        }
    }

    /// Runs this rank's grains.
    fn grains(&mut self, phase: &Phase, mut body: impl FnMut(usize, Range<usize>)) {
        let grains = phase.items.div_ceil(phase.grain);
        let (rank, size) = (self.part.rank(), self.part.size());
        // A rank's share consists of whole grains, since a sum must not depend on the bounds of shares.
        for grain in grains * rank / size..grains * (rank + 1) / size {
            let items = items(phase, grain);
            P::compute((phase.cost.instructions * items.len() as f64) as u64);
            body(grain, items);
            self.part.pause();
        }
    }
}

fn items(phase: &Phase, grain: usize) -> Range<usize> {
    let start = grain * phase.grain;
    start..(start + phase.grain).min(phase.items)
}

// SAFETY: the shares are disjoint and cover all grains; `Part::meet` is a barrier by its
// contract.
unsafe impl<P: Platform> Worksharing for Ranked<'_, P> {
    fn share(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) + Sync)) {
        self.grains(phase, |_, items| body(items));
        self.part.meet(phase.name);
    }

    fn sum(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64 {
        let partials = &self.sums.partials[self.added % 2].0;
        self.added += 1;
        self.grains(phase, |grain, items| {
            // SAFETY: only this rank runs the grain, see `Partials`.
            unsafe { *partials[grain].get() = body(items) };
        });
        self.part.meet(phase.name);
        let grains = phase.items.div_ceil(phase.grain);
        P::compute(2 * grains as u64);
        let partial = |cell: &UnsafeCell<f64>| {
            // SAFETY: all ranks have written and reached the barrier. They write to these cells again only after the
            // barrier of the next sum, which this rank has not reached.
            unsafe { *cell.get() }
        };
        partials[..grains].iter().map(partial).sum()
    }
}

/// Runs phases as parallel loops of a pool.
///
/// ```
/// use manycore::Pool;
/// use manycore_programs::spmd::{Cost, Looped, Phase, Worksharing};
///
/// let pool = Pool::builder().threads(2).build()?;
/// let mut sharing = Looped::on(&pool);
/// let phase = Phase { name: "sum", items: 100, grain: 10, cost: Cost::default() };
/// let sum = sharing.sum(&phase, &|items| items.map(|item| item as f64).sum());
/// assert_eq!((sum, sharing.phases()), (4_950.0, 1));
/// # Ok::<(), manycore::BuildError>(())
/// ```
pub struct Looped<'a, P: Platform> {
    loops: Loop<'a, P>,
    sums: Sums,
    phases: u64,
}

impl<'a, P: Platform> Looped<'a, P> {
    /// Runs phases on this pool, with the default partitioner.
    pub fn on(pool: &'a Pool<P>) -> Self {
        Self::with(pool.with(manycore::Partitioner::default()))
    }

    /// Runs phases with the pool and the partitioner of `loops`.
    #[must_use]
    pub fn with(loops: Loop<'a, P>) -> Self {
        Self {
            loops,
            sums: Sums::new(0),
            phases: 0,
        }
    }

    /// The number of phases run so far.
    #[must_use]
    pub fn phases(&self) -> u64 {
        self.phases
    }

    fn grains(&mut self, phase: &Phase, body: impl Fn(usize, Range<usize>) + Sync) {
        self.phases += 1;
        self.loops
            .parallel_for(0..phase.items.div_ceil(phase.grain), |grain| {
                let items = items(phase, grain);
                P::compute((phase.cost.instructions * items.len() as f64) as u64);
                body(grain, items);
            });
    }
}

// SAFETY: a parallel loop runs every iteration once, and returns after all iterations.
unsafe impl<P: Platform> Worksharing for Looped<'_, P> {
    fn share(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) + Sync)) {
        self.grains(phase, |_, items| body(items));
    }

    fn sum(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64 {
        let grains = phase.items.div_ceil(phase.grain);
        let mut sums = std::mem::replace(&mut self.sums, Sums::new(0));
        let partials = &mut sums.partials[0];
        if partials.0.len() < grains {
            partials.0.resize_with(grains, UnsafeCell::default);
        }
        let shared: &Partials = partials;
        self.grains(phase, |grain, items| {
            // SAFETY: one thread runs the grain, see `Partials`.
            unsafe { *shared.0[grain].get() = body(items) };
        });
        let sum = partials.0[..grains].iter_mut().map(|cell| *cell.get_mut());
        let sum = sum.sum();
        self.sums = sums;
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spmd::{Cost, Member};
    use manycore_platform::Native;
    use manycore_team::barrier::Placement;
    use manycore_team::seam::SenseBarrier;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    fn phase(items: usize, grain: usize) -> Phase {
        Phase {
            name: "test",
            items,
            grain,
            cost: Cost::default(),
        }
    }

    /// Runs `program` on `ranks` ranks.
    fn team(ranks: usize, grains: usize, program: impl Fn(&mut dyn Worksharing) + Sync) {
        let barrier = SenseBarrier::<Native>::new(&Placement::flat(ranks));
        let sums = Sums::new(grains);
        std::thread::scope(|scope| {
            for rank in 0..ranks {
                let (barrier, sums, program) = (&barrier, &sums, &program);
                scope.spawn(move || {
                    // SAFETY: the barrier has `ranks` members. Each rank is made once.
                    let mut member = unsafe { Member::new(barrier, rank, ranks) };
                    // SAFETY: all ranks use the same sums and run `program`.
                    let mut sharing = unsafe { Ranked::<Native>::new(&mut member, sums) };
                    program(&mut sharing);
                });
            }
        });
    }

    #[test]
    fn every_item_is_run_once_in_grains() {
        for (items, grain, ranks) in [(100, 7, 3), (5, 10, 4), (0, 1, 2), (64, 64, 5)] {
            let runs: Vec<AtomicU32> = (0..items).map(|_| AtomicU32::new(0)).collect();
            let body = |range: Range<usize>| {
                assert!(range.start.is_multiple_of(grain) && range.len() <= grain);
                for item in range {
                    runs[item].fetch_add(1, Relaxed);
                }
            };
            team(ranks, 0, |sharing| {
                sharing.share(&phase(items, grain), &body)
            });
            let pool = Pool::builder().threads(2).build().unwrap();
            Looped::on(&pool).share(&phase(items, grain), &body);
            assert!(runs.iter().all(|runs| runs.load(Relaxed) == 2));
        }
    }

    #[test]
    fn sums_are_the_same_to_the_bit_for_any_number_of_ranks() {
        let phase = phase(1_000, 9);
        let term = |items: Range<usize>| items.map(|item| 1.0 / (item as f64 + 1.0)).sum();
        // There are three sums in a row. Two would not show the fault that a rank overwrites a sum that another rank
        // still reads.
        let all = |sharing: &mut dyn Worksharing| [(); 3].map(|()| sharing.sum(&phase, &term));
        let pool = Pool::builder().threads(2).build().unwrap();
        let right = all(&mut Looped::on(&pool));
        assert_eq!(right[0], right[2]);
        for ranks in [1, 2, 5] {
            team(ranks, 112, |sharing| assert_eq!(all(sharing), right));
        }
    }
}
