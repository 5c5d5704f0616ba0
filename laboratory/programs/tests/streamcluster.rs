//! Streamcluster on the simulated chip: on any machine, any number of ranks finds the same clustering as
//! this host. Also tests a broken barrier.

use manycore_chip::config::Config;
use manycore_chip::{Simulated, SimulatedThread, Simulation, SimulationError};
use manycore_platform::{
    Atomic, AtomicInteger, CachePadded, Futex, Native, Ordering, Platform, ThreadSpec,
};
use manycore_programs::spmd::{Solution, Streamcluster, StreamclusterInput, StreamclusterProblem};
use std::sync::Arc;

/// A central barrier whose ranks sleep, with an optional fault.
struct Barrier {
    arrived: CachePadded<<Simulated as Platform>::AtomicU32>,
    /// The number of finished rounds.
    over: CachePadded<<Simulated as Platform>::Futex>,
    ranks: u32,
    /// In this round, counted from 1, rank 1 does not wait for rank 0, which is late.
    broken_in: Option<u32>,
}

impl Barrier {
    fn new(ranks: usize, broken_in: Option<u32>) -> Self {
        Self {
            arrived: CachePadded::new(Atomic::new(0)),
            over: CachePadded::new(Atomic::new(0)),
            ranks: ranks as u32,
            broken_in,
        }
    }

    /// `round` is the number of rounds that this rank has finished.
    fn wait(&self, rank: usize, round: &mut u32) {
        // Waits only after the fault: otherwise the last round is over.
        self.wait_for(*round);
        *round += 1;
        // The simulated machine is sequentially consistent.
        if self.arrived.fetch_add(1, Ordering::SeqCst) + 1 == self.ranks {
            self.arrived.store(0, Ordering::SeqCst);
            self.over.fetch_add(1, Ordering::SeqCst);
            self.over.wake(u32::MAX);
        } else if rank != 1 || self.broken_in != Some(*round) {
            self.wait_for(*round);
        }
        if rank == 0 && self.broken_in == Some(*round + 1) {
            Simulated::compute(20_000);
        }
    }

    fn wait_for(&self, round: u32) {
        loop {
            let over = self.over.load(Ordering::SeqCst);
            if over >= round {
                return;
            }
            self.over.wait(over, None);
        }
    }
}

/// The program's result, and the cycles from the first rank's start to the last rank's end.
fn simulate(
    machine: &Config,
    problem: StreamclusterProblem,
    ranks: usize,
    broken_in: Option<u32>,
) -> Result<(Solution, u64), SimulationError> {
    let run = Simulation::new(machine).limit(1 << 40).run(|| {
        let program = Arc::new(Streamcluster::<Simulated>::new(problem, ranks).unwrap());
        let barrier = Arc::new(Barrier::new(ranks, broken_in));
        let start = Simulated::now();
        let spawn = |rank: usize| {
            let (program, barrier) = (Arc::clone(&program), Arc::clone(&barrier));
            let spec = ThreadSpec {
                name: format!("rank {rank}"),
                cpus: vec![rank % machine.cores as usize],
                ..ThreadSpec::default()
            };
            let body = move || {
                let mut round = 0;
                program.run(rank, &mut || barrier.wait(rank, &mut round));
            };
            Simulated::spawn(spec, Box::new(body)).unwrap()
        };
        let team: Vec<SimulatedThread> = (0..ranks).map(spawn).collect();
        team.into_iter().for_each(Simulated::join);
        let cycles = Simulated::now() - start;
        (program.solution().unwrap(), cycles)
    })?;
    Ok(run.value)
}

#[test]
fn the_chip_finds_what_this_host_finds() {
    let natively = Streamcluster::<Native>::alone(StreamclusterInput::Test);
    for (preset, teams) in [("atac-64", [1, 4, 16, 64]), ("gold5225r", [1, 2, 4, 8])] {
        let machine = Config::preset(preset).unwrap();
        for ranks in teams {
            let problem = StreamclusterInput::Test.problem();
            let (solution, cycles) = simulate(&machine, problem, ranks, None).unwrap();
            solution.verify().unwrap();
            println!("{preset}: {ranks} ranks, {cycles} cycles");
            assert_eq!(solution.output(), natively.output());
            assert_eq!(solution.barrier_waits(), vec![1_107; ranks]);
            assert_eq!(solution.offers(), 120);
        }
    }
}

/// With a hundred times the points there is enough work to divide.
#[test]
fn more_cores_are_faster_where_there_is_work() {
    let machine = Config::preset("atac-64").unwrap();
    let problem = StreamclusterProblem::new(2..=5, 16, 1_000, 1_000).unwrap();
    let natively = Streamcluster::<Native>::alone(problem);
    let cycles = [1, 4, 16].map(|ranks| {
        let (solution, cycles) = simulate(&machine, problem, ranks, None).unwrap();
        solution.verify().unwrap();
        assert_eq!(solution.hash(), natively.hash());
        println!("{ranks} ranks, {cycles} cycles");
        cycles
    });
    assert!(cycles.is_sorted_by(|fewer, more| fewer > more));
}

/// In the first 50 rounds centres are drawn and the first offers are made. An early leave often does no
/// harm, because most offers change little.
#[test]
fn a_barrier_that_lets_a_rank_pass_early_is_noticed() {
    let machine = Config::preset("atac-64").unwrap();
    let problem = StreamclusterProblem::new(2..=5, 2, 24, 24).unwrap();
    let (mut wrong, mut panicked) = (0, 0);
    for round in 1..=50 {
        let run = || simulate(&machine, problem, 4, Some(round)).unwrap();
        match std::panic::catch_unwind(run) {
            Ok((solution, _)) => wrong += usize::from(solution.verify().is_err()),
            // An index out of bounds, or no rank is left to meet at the barrier.
            Err(_) => panicked += 1,
        }
    }
    println!("of 50 faults {wrong} do not verify, and {panicked} end the program");
    assert!(wrong > 0 && wrong + panicked < 50);
}
