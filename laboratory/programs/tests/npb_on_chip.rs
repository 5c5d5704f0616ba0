//! The programs of the NAS parallel benchmarks on the simulated chip: right answers by any
//! number of ranks and by loops, and the same events each time.

use manycore_team::barrier::Placement;

use manycore::{Builder, Pool};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, SimulatedThread, Simulation, Statistics};
use manycore_platform::{Platform, ThreadSpec};
use manycore_programs::barrier::{Barrier, BarrierVisitor, with_barrier};
use manycore_programs::spmd::{Class, Looped, Member, Npb, Program, Ranked, Sums};
use std::sync::Arc;

/// A team that meets at a barrier, a rank a core.
struct Team {
    program: Arc<dyn Program>,
    ranks: usize,
}

impl BarrierVisitor<Simulated> for Team {
    type Output = ();

    fn visit<B: Barrier<Simulated>>(self) {
        let ranks = self.ranks;
        let barrier = Arc::new(B::new(&Placement::flat(ranks)));
        let sums = Arc::new(Sums::new(self.program.grains()));
        let spawn = |rank: usize| {
            let (program, barrier) = (Arc::clone(&self.program), Arc::clone(&barrier));
            let sums = Arc::clone(&sums);
            let spec = ThreadSpec {
                name: format!("rank {rank}"),
                cpus: vec![rank],
                ..ThreadSpec::default()
            };
            let body = move || {
                // SAFETY: the barrier is for so many, and each is made once.
                let mut member = unsafe { Member::new(&*barrier, rank, ranks) };
                // SAFETY: all are given these sums, and run this program.
                unsafe { program.run(&mut Ranked::<Simulated>::new(&mut member, &sums)) };
            };
            Simulated::spawn(spec, Box::new(body)).unwrap()
        };
        let team: Vec<SimulatedThread> = (0..ranks).map(spawn).collect();
        team.into_iter().for_each(Simulated::join);
    }
}

/// Runs the program of class S on the chip; returns the cycles it takes by itself.
fn simulate(npb: Npb, run: impl Fn(&Config, Arc<dyn Program>)) -> (u64, Statistics) {
    let machine = Config::preset("e5-2640x2").unwrap();
    let result = Simulation::new(&machine).limit(1 << 40).run(|| {
        let program: Arc<dyn Program> = npb.program::<Simulated>(Class::S).into();
        let start = Simulated::now();
        run(&machine, Arc::clone(&program));
        let cycles = Simulated::now() - start;
        program.verify().unwrap();
        cycles
    });
    let result = result.unwrap();
    (result.value, result.statistics)
}

/// As [`simulate`], twice.
fn is_the_same_twice(npb: Npb, run: impl Fn(&Config, Arc<dyn Program>)) -> u64 {
    let start = std::time::Instant::now();
    let [(cycles, first), (_, second)] = [(); 2].map(|()| simulate(npb, &run));
    let took = start.elapsed();
    println!("{npb}: {cycles} cycles; both runs took {took:?} here");
    assert_eq!((first.hash, first.cycles), (second.hash, second.cycles));
    cycles
}

fn by_ranks(npb: Npb) {
    let by =
        |ranks| move |_: &Config, program| with_barrier("futex", Team { program, ranks }).unwrap();
    let sixteen = is_the_same_twice(npb, by(16));
    let (three, _) = simulate(npb, by(3));
    assert!(sixteen < three, "{three} cycles by three ranks");
}

fn by_loops(npb: Npb) {
    is_the_same_twice(npb, |machine, program| {
        let groups = machine.groups() as usize;
        let cpus = (0..4).map(|core| vec![core]).collect();
        let builder = Builder::<Simulated>::on_platform();
        let pool: Pool<Simulated> = builder
            .build_on(machine.cores as usize, groups, cpus)
            .unwrap();
        // SAFETY: run once, by this thread, which looks at it when that is over.
        unsafe { program.run(&mut Looped::on(&pool)) };
    });
}

#[test]
fn bt_by_ranks() {
    by_ranks(Npb::Bt);
}

#[test]
fn bt_by_loops() {
    by_loops(Npb::Bt);
}

#[test]
fn cg_by_ranks() {
    by_ranks(Npb::Cg);
}

#[test]
fn cg_by_loops() {
    by_loops(Npb::Cg);
}

#[test]
fn ft_by_ranks() {
    by_ranks(Npb::Ft);
}

#[test]
fn ft_by_loops() {
    by_loops(Npb::Ft);
}
