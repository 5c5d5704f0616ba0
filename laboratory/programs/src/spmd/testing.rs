//! Three ways to run a program in tests: alone, in a team at some barriers, and as loops of a pool.

use super::{Alone, Looped, Member, Phase, Program, Ranked, Sums, Worksharing};
use crate::barrier::Barrier;
use crate::barrier::{BarrierVisitor, with_barrier};
use manycore::{Native, Pool};
use manycore_team::barrier::Placement;
use std::ops::Range;

/// Records the phases that run.
struct Noting<'a> {
    inner: &'a mut dyn Worksharing,
    phases: Vec<Phase>,
}

// SAFETY: every call goes to `inner`, which keeps the contract.
unsafe impl Worksharing for Noting<'_> {
    fn share(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) + Sync)) {
        self.phases.push(*phase);
        self.inner.share(phase, body);
    }

    fn sum(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64 {
        self.phases.push(*phase);
        self.inner.sum(phase, body)
    }
}

/// Runs a program on one thread. Returns the phases that ran.
pub(super) fn alone(program: &dyn Program) -> Vec<Phase> {
    let (mut alone, sums) = (Alone, Sums::new(program.grains()));
    // SAFETY: the team has one rank (thread), and its own sums.
    let mut ranked = unsafe { Ranked::<Native>::new(&mut alone, &sums) };
    let mut noting = Noting {
        inner: &mut ranked,
        phases: vec![],
    };
    // SAFETY: only this thread calls `run`, once, and reads the program after it.
    unsafe { program.run(&mut noting) };
    noting.phases
}

struct Team<'a>(usize, &'a dyn Program);

impl BarrierVisitor<Native> for Team<'_> {
    type Output = ();

    fn visit<B: Barrier<Native>>(self) {
        let Self(ranks, program) = self;
        let barrier = B::new(&Placement::flat(ranks).on_cores(2));
        let sums = Sums::new(program.grains());
        std::thread::scope(|scope| {
            for rank in 0..ranks {
                let (barrier, sums) = (&barrier, &sums);
                scope.spawn(move || {
                    // SAFETY: the barrier is for `ranks` members, and each rank is made once.
                    let mut member = unsafe { Member::<Native, B>::new(barrier, rank, ranks) };
                    // SAFETY: all ranks use the team's sums and run the same program once.
                    unsafe { program.run(&mut Ranked::<Native>::new(&mut member, sums)) };
                });
            }
        });
    }
}

/// Runs and verifies a program in a team of `ranks` at each barrier.
pub(super) fn with_barriers<T: Program>(
    barriers: [&str; 2],
    ranks: usize,
    make: impl Fn() -> T,
) -> Vec<T> {
    let run = |barrier: &str| {
        let program = make();
        with_barrier(barrier, Team(ranks, &program)).unwrap();
        program.verify().unwrap();
        program
    };
    barriers.map(run).into()
}

/// Runs and verifies a program as loops of a pool.
pub(super) fn looped<T: Program>(threads: usize, make: impl Fn() -> T) -> T {
    let pool = Pool::builder().threads(threads).build().unwrap();
    let program = make();
    // SAFETY: only this thread calls `run`, once, and reads the program after it.
    unsafe { program.run(&mut Looped::on(&pool)) };
    program.verify().unwrap();
    program
}
