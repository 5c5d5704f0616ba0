//! Programs of ranks on a simulated machine, as teams at a barrier and as loops of a pool. The answers are right, and
//! two runs have the same events. Each program runs twice as a team or as loops, and each of these ways runs one
//! program twice: a difference would come from the program or from the way.

use manycore::Builder;
use manycore_chip::config::Config;
use manycore_chip::{Simulated, SimulatedThread, Simulation};
use manycore_platform::{Platform, ThreadSpec};
use manycore_programs::barrier::{Barrier, FutexBarrier};
use manycore_programs::spmd::barnes::{Barnes, BarnesInput};
use manycore_programs::spmd::canneal::{Canneal, CannealInput};
use manycore_programs::spmd::{
    Class, Looped, Member, Npb, Program, Ranked, Sums, Verified, WrongAnswer,
};
use manycore_team::barrier::Placement;
use std::sync::Arc;

/// What runs the program: a team of ranks, or a pool.
#[derive(Clone, Copy, Debug)]
enum By {
    Team(usize),
    Pool(usize),
}

const ALL: [By; 4] = [By::Team(3), By::Team(16), By::Pool(3), By::Pool(16)];

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq)]
struct Ran<R> {
    result: R,
    cycles: u64,
    /// The hash of all events.
    hash: u64,
}

/// Runs a program and verifies it. Then `result` reads its result.
fn run_once<T: Program + ?Sized + 'static, R>(
    by: By,
    make: impl Fn() -> Arc<T>,
    result: impl Fn(&T) -> Result<R, WrongAnswer>,
) -> Ran<R> {
    let machine = Config::preset("e5-2640x2").unwrap();
    let program = || {
        let program = make();
        let start = Simulated::now();
        match by {
            By::Team(ranks) => team(&machine, &program, ranks),
            By::Pool(threads) => pool(&machine, &program, threads),
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
}

/// Runs a program twice. Both runs must have the same events.
fn run_twice<T: Program + ?Sized + 'static, R: PartialEq + std::fmt::Debug>(
    by: By,
    make: impl Fn() -> Arc<T>,
    result: impl Fn(&T) -> Result<R, WrongAnswer>,
) -> Ran<R> {
    let [first, second] = [(); 2].map(|()| run_once(by, &make, &result));
    println!("{by:?}: {first:?}");
    assert_eq!(first, second, "{by:?}");
    first
}

fn team<T: Program + ?Sized + 'static>(machine: &Config, program: &Arc<T>, ranks: usize) {
    let cores = machine.cores as usize;
    let barrier = Arc::new(FutexBarrier::<Simulated>::new(
        &Placement::flat(ranks).on_cores(cores),
    ));
    let sums = Arc::new(Sums::new(program.grains()));
    let spawn = |rank: usize| {
        let (program, barrier) = (Arc::clone(program), Arc::clone(&barrier));
        let sums = Arc::clone(&sums);
        let spec = ThreadSpec {
            name: format!("rank {rank}"),
            cpus: vec![rank % cores],
            ..ThreadSpec::default()
        };
        let body = move || {
            // SAFETY: the barrier has `ranks` members, and each rank is made once.
            let mut member = unsafe { Member::<Simulated, _>::new(&*barrier, rank, ranks) };
            // SAFETY: all ranks run the same program with the team's sums.
            unsafe { program.run(&mut Ranked::<Simulated>::new(&mut member, &sums)) };
        };
        Simulated::spawn(spec, Box::new(body)).unwrap()
    };
    let team: Vec<SimulatedThread> = (0..ranks).map(spawn).collect();
    team.into_iter().for_each(Simulated::join);
}

fn pool<T: Program + ?Sized>(machine: &Config, program: &Arc<T>, threads: usize) {
    let cores = machine.cores as usize;
    let pool = Builder::<Simulated>::on_platform()
        .build_on(
            cores,
            machine.groups() as usize,
            (0..threads).map(|thread| vec![thread % cores]).collect(),
        )
        .unwrap();
    // SAFETY: only this thread runs the program, once, and looks at it afterwards.
    unsafe { program.run(&mut Looped::on(&pool)) };
}

#[test]
fn bodies_move_alike_whoever_moves_them() {
    let make = || Arc::new(Barnes::<Simulated>::new(BarnesInput::Tiny.problem()));
    let answers = ALL.map(|by| run_twice(by, make, |program| program.verify()).result);
    assert!(answers.iter().all(|it| *it == answers[0]), "{answers:?}");
}

#[test]
fn elements_are_placed_the_same_way_each_time() {
    for input in [CannealInput::Test, CannealInput::SimDev] {
        let cost = |program: &Canneal<Simulated>| {
            program.verify()?;
            Ok((program.cost_at_start(), program.cost()))
        };
        let make = || Arc::new(Canneal::<Simulated>::of(input));
        for by in [By::Team(3), By::Pool(3)] {
            run_once(by, make, cost);
        }
        for by in [By::Team(16), By::Pool(16)] {
            run_twice(by, make, cost);
        }
        // The cost of PARSEC's program with four threads varies from run to run.
        let costs = [1, 2, 4].map(|ranks| run_once(By::Team(ranks), make, cost).result);
        println!("{input}: from and to, by 1, 2 and 4 ranks: {costs:?}");
    }
}

/// The program of class S.
fn of_class_s(npb: Npb) -> impl Fn() -> Arc<dyn Program> {
    move || npb.program::<Simulated>(Class::S).into()
}

/// Runs a program of class S and verifies it.
fn once(npb: Npb, by: By) -> Ran<Verified> {
    run_once(by, of_class_s(npb), |program| program.verify())
}

fn twice(npb: Npb, by: By) -> Ran<Verified> {
    run_twice(by, of_class_s(npb), |program| program.verify())
}

fn more_are_faster(three: &Ran<Verified>, sixteen: &Ran<Verified>) {
    let [sixteen, three] = [sixteen, three].map(|ran| ran.cycles);
    assert!(sixteen < three, "{sixteen} and {three} cycles");
}

#[test]
fn bt_by_ranks() {
    let [three, sixteen] = [once(Npb::Bt, By::Team(3)), once(Npb::Bt, By::Team(16))];
    more_are_faster(&three, &sixteen);
}

#[test]
fn bt_by_loops() {
    twice(Npb::Bt, By::Pool(4));
}

#[test]
fn cg_by_ranks() {
    twice(Npb::Cg, By::Team(16));
}

#[test]
fn cg_by_loops() {
    once(Npb::Cg, By::Pool(4));
}

#[test]
fn ft_by_ranks() {
    let [three, sixteen] = [once(Npb::Ft, By::Team(3)), once(Npb::Ft, By::Team(16))];
    more_are_faster(&three, &sixteen);
}

#[test]
fn ft_by_loops() {
    twice(Npb::Ft, By::Pool(4));
}
