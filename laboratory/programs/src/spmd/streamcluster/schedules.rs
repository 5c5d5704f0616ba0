//! The whole program under random schedules. If a barrier were missing between the write of one rank (thread) and the
//! read of another, the answer would sometimes differ.

use super::{Solution, Streamcluster, StreamclusterProblem};
use manycore_check::{Shuttle, caught_at_random, shuttle_pct, shuttle_random, team};
use manycore_platform::{Atomic, AtomicInteger, Futex, Native, Ordering::SeqCst, Platform};
use std::cell::Cell;

/// A barrier at which ranks sleep. In each `leaky`th round rank 1 leaves early.
struct Barrier {
    arrived: <Shuttle as Platform>::AtomicU32,
    over: <Shuttle as Platform>::Futex,
    ranks: u32,
    leaky: u32,
}

impl Barrier {
    fn wait(&self, rank: usize, round: &Cell<u32>) {
        // Waits only if this rank left the last round early.
        self.wait_for(round.get());
        round.set(round.get() + 1);
        if self.arrived.fetch_add(1, SeqCst) + 1 == self.ranks {
            self.arrived.store(0, SeqCst);
            self.over.fetch_add(1, SeqCst);
            self.over.wake(u32::MAX);
        } else if rank != 1 || !round.get().is_multiple_of(self.leaky) {
            self.wait_for(round.get());
        }
    }

    fn wait_for(&self, round: u32) {
        loop {
            let over = self.over.load(SeqCst);
            if over >= round {
                return;
            }
            self.over.wait(over, None);
        }
    }
}

/// Few points, but too many for all to be centres.
fn problem() -> StreamclusterProblem {
    StreamclusterProblem::new(2..=3, 1, 7, 7).unwrap()
}

fn same_as_alone(alone: &Solution, ranks: usize, leaky: u32) {
    let program = Streamcluster::<Shuttle>::new(problem(), ranks).unwrap();
    let barrier = Barrier {
        arrived: Atomic::new(0),
        over: Atomic::new(0),
        ranks: ranks as u32,
        leaky,
    };
    team::<Shuttle>(ranks, |rank| {
        let round = Cell::new(0);
        program.run(rank, &mut || barrier.wait(rank, &round));
    });
    let mut solution = program.solution().unwrap();
    assert_eq!(solution.waits, vec![alone.waits[0]; ranks]);
    solution.waits.truncate(1);
    assert_eq!(&solution, alone, "another clustering");
}

#[test]
fn barriers_are_where_they_need_to_be() {
    let alone = Streamcluster::<Native>::alone(problem());
    assert!(alone.offers() > 0);
    let (first, second) = (alone.clone(), alone);
    shuttle_random(300, move || same_as_alone(&first, 3, u32::MAX));
    shuttle_pct(300, 3, move || same_as_alone(&second, 2, u32::MAX));
}

#[test]
fn barriers_that_leak_are_caught() {
    let alone = Streamcluster::<Native>::alone(problem());
    caught_at_random(move || same_as_alone(&alone, 3, 1));
}
