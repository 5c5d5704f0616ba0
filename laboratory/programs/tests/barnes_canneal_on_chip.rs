//! Barnes and canneal on a simulated machine, by teams at a barrier and as loops of a
//! pool: the answers are right, and the same each time.

use manycore::Builder;
use manycore_chip::config::Config;
use manycore_chip::{Simulated, SimulatedThread, Simulation};
use manycore_platform::{Platform, ThreadSpec};
use manycore_programs::barrier::{Barrier, FutexBarrier};
use manycore_programs::spmd::barnes::{self, Barnes};
use manycore_programs::spmd::canneal::{self, Canneal};
use manycore_programs::spmd::{Looped, Member, Program, Ranked, Sums, WrongAnswer};
use manycore_team::barrier::Placement;
use std::sync::Arc;

/// What runs the program: ranks or a pool.
#[derive(Clone, Copy, Debug)]
enum By {
    Team(usize),
    Pool(usize),
}

const ALL: [By; 4] = [By::Team(3), By::Team(16), By::Pool(3), By::Pool(16)];

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
struct Ran<R> {
    result: R,
    cycles: u64,
    /// The hash of all that happened.
    hash: u64,
}

/// Runs a program twice, which must be the same to the last event; `result` looks at it
/// when it has been verified.
fn run<T: Program + 'static, R: PartialEq + std::fmt::Debug>(
    by: By,
    make: impl Fn() -> T,
    result: impl Fn(&T) -> Result<R, WrongAnswer>,
) -> R {
    let machine = Config::preset("e5-2640x2").unwrap();
    let run = || {
        let program = || {
            let program = Arc::new(make());
            let start = Simulated::now();
            match by {
                By::Team(ranks) => team(&machine, Arc::clone(&program) as _, ranks),
                By::Pool(threads) => pool(&machine, &*program, threads),
            }
            let cycles = Simulated::now() - start;
            (result(&program), cycles)
        };
        let ran = Simulation::new(&machine).limit(1 << 40).run(program);
        let ran = ran.unwrap_or_else(|error| panic!("{by:?}: {error}"));
        let (result, cycles) = ran.value;
        Ran {
            result: result.unwrap_or_else(|wrong| panic!("{by:?}: {wrong}")),
            cycles,
            hash: ran.statistics.hash,
        }
    };
    let first = run();
    println!("{by:?}: {first:?}");
    assert_eq!(first, run(), "{by:?}");
    first.result
}

fn team(machine: &Config, program: Arc<dyn Program>, ranks: usize) {
    let cores = machine.cores as usize;
    let barrier = Arc::new(FutexBarrier::<Simulated>::new(
        &Placement::flat(ranks).on_cores(cores),
    ));
    let sums = Arc::new(Sums::new(program.grains()));
    let spawn = |rank: usize| {
        let (program, barrier, sums) = (
            Arc::clone(&program),
            Arc::clone(&barrier),
            Arc::clone(&sums),
        );
        let spec = ThreadSpec {
            name: format!("rank {rank}"),
            cpus: vec![rank % cores],
            ..ThreadSpec::default()
        };
        let body = move || {
            // SAFETY: a barrier of so many members, each rank made once.
            let mut member = unsafe { Member::<Simulated, _>::new(&*barrier, rank, ranks) };
            // SAFETY: the team's sums, and all run the same program.
            unsafe { program.run(&mut Ranked::<Simulated>::new(&mut member, &sums)) };
        };
        Simulated::spawn(spec, Box::new(body)).unwrap()
    };
    let team: Vec<SimulatedThread> = (0..ranks).map(spawn).collect();
    team.into_iter().for_each(Simulated::join);
}

fn pool(machine: &Config, program: &dyn Program, threads: usize) {
    let cores = machine.cores as usize;
    let pool = Builder::<Simulated>::on_platform()
        .build_on(
            cores,
            machine.groups() as usize,
            (0..threads).map(|thread| vec![thread % cores]).collect(),
        )
        .unwrap();
    // SAFETY: run once, by this thread, which looks at it when that is over.
    unsafe { program.run(&mut Looped::on(&pool)) };
}

#[test]
fn bodies_move_alike_whoever_moves_them() {
    let make = || Barnes::<Simulated>::new(barnes::BarnesInput::Tiny.problem());
    let answers = ALL.map(|by| run(by, make, |program| program.verify()));
    assert!(answers.iter().all(|it| *it == answers[0]), "{answers:?}");
}

#[test]
fn elements_are_placed_the_same_way_each_time() {
    for input in [canneal::CannealInput::Test, canneal::CannealInput::SimDev] {
        let cost = |program: &Canneal<Simulated>| {
            program.verify()?;
            Ok((program.cost_at_start(), program.cost()))
        };
        let make = || Canneal::<Simulated>::of(input);
        for by in ALL {
            run(by, make, cost);
        }
        // PARSEC's program on two runs with four threads comes to different costs.
        let costs = [1, 2, 4].map(|ranks| run(By::Team(ranks), make, cost));
        println!("{input}: from and to, by 1, 2 and 4 ranks: {costs:?}");
    }
}
