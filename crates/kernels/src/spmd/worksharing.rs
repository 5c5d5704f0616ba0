//! Who runs the items of a phase: each rank of a team its share, or whoever of a pool has
//! time.

use super::{Part, Phase};
use manycore::sleep::Sleep;
use manycore::{Loop, Pool};
use manycore_platform::Platform;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::Range;

/// Runs the phases of a program that is written once.
///
/// In a team ([`Ranked`]) every rank runs the whole program: what is outside of phases
/// all of them compute, and each phase is divided among them. Over parallel loops
/// ([`Looped`]) one thread runs the program, and a phase is a loop.
///
/// # Safety
///
/// In a phase every item is in exactly one range that a body is called with. All calls
/// are over, and what they wrote is visible, before the phase ends for anybody. Programs
/// write memory that bodies share without any other protection.
pub unsafe trait Worksharing {
    /// Runs `body` for all items of the phase, in ranges of up to a grain that begin at
    /// multiples of it.
    fn share(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) + Sync));

    /// The sum over all grains of what `body` returns for each, added in their order: the
    /// same for any number of ranks.
    fn sum(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64;
}

/// Sums of grains.
struct Partials(Vec<UnsafeCell<f64>>);

// SAFETY: a grain's cell is written by whoever runs the grain and read when the phase is
// over, by the contract of `Worksharing`.
unsafe impl Sync for Partials {}

/// What the ranks of a team share to add up.
pub struct Sums {
    /// Two sums take turns: a rank that is still reading the one has not passed the
    /// barrier at the end of the other.
    partials: [Partials; 2],
}

impl Sums {
    /// For phases of up to so many grains.
    #[must_use]
    pub fn new(grains: usize) -> Self {
        let partials = || Partials((0..grains).map(|_| UnsafeCell::new(0.0)).collect());
        Self {
            partials: [partials(), partials()],
        }
    }
}

/// A rank's share of each phase.
pub struct Ranked<'a, P> {
    part: &'a mut dyn Part,
    sums: &'a Sums,
    added: usize,
    platform: PhantomData<fn() -> P>,
}

impl<'a, P: Platform> Ranked<'a, P> {
    /// `sums` is the team's.
    ///
    /// # Safety
    ///
    /// All ranks are given the same `sums`, nobody else is, and all run the same program.
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
        // Grains, not items, are divided: a sum must not hang on where shares end.
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
            // SAFETY: this rank has the grain, see `Partials`.
            unsafe { *partials[grain].get() = body(items) };
        });
        self.part.meet(phase.name);
        let grains = phase.items.div_ceil(phase.grain);
        P::compute(2 * grains as u64);
        let partial = |cell: &UnsafeCell<f64>| {
            // SAFETY: all have passed the barrier, and write here again only after the
            // next sum's, which this rank has not come to.
            unsafe { *cell.get() }
        };
        partials[..grains].iter().map(partial).sum()
    }
}

/// Phases as parallel loops of a pool.
pub struct Looped<'a, P: Platform> {
    loops: Loop<'a, P>,
    sums: Sums,
    phases: u64,
}

impl<'a, P: Platform> Looped<'a, P> {
    /// On this pool.
    pub fn on<S: Sleep<P>>(pool: &'a Pool<P, S>) -> Self {
        Self::with(pool.with(manycore::Partitioner::Adaptive))
    }

    /// With the partitioner of these loops.
    #[must_use]
    pub fn with(loops: Loop<'a, P>) -> Self {
        Self {
            loops,
            sums: Sums::new(0),
            phases: 0,
        }
    }

    /// How many phases it has run.
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

// SAFETY: a parallel loop runs every iteration once and is over when it returns.
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
            // SAFETY: each grain is run once, see `Partials`.
            unsafe { *shared.0[grain].get() = body(items) };
        });
        let sum = partials.0[..grains].iter_mut().map(|cell| *cell.get_mut());
        let sum = sum.sum();
        self.sums = sums;
        sum
    }
}
