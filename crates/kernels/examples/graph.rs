//! Searching an R-MAT graph on a simulated chip under every discipline of work stealing:
//! `cargo run --release -p manycore-kernels --example graph [SCALE] [CORES] [PRESET] [DISCIPLINE]`.

use manycore::barrier::{ChannelBarrier, Placement};
use manycore::piles::{Discipline, DisciplineVisitor, disciplines, with_discipline};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_kernels::graph::{BreadthFirst, Components, Graph, Rmat, Share, Shares};
use manycore_platform::{Platform, ThreadSpec};
use std::error::Error;
use std::sync::{Arc, Mutex};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let scale = arguments.next().map_or(Ok(11), |text| text.parse())?;
    let cores = arguments.next().map_or(Ok(64), |text| text.parse())?;
    let machine = Config::named(&arguments.next().unwrap_or_else(|| "atac-64".into()))?;
    let only = arguments.next();
    println!("program    discipline        cycles   tasks  steals attempts   sent  result");
    for program in [Program::BreadthFirst, Program::Components] {
        for name in disciplines() {
            if only.as_ref().is_none_or(|only| only == name) {
                let run = Simulation::new(&machine).run(|| {
                    let team = Team {
                        program,
                        cores,
                        scale,
                    };
                    with_discipline(name, team)
                })?;
                let (cycles, tasks, counts, result) = run.value?;
                println!(
                    "{program:?} {name:12} {cycles:9} {tasks:7} {:7} {:8} {:6}  {result}",
                    counts.steals, counts.attempts, counts.sent
                );
            }
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Debug)]
enum Program {
    BreadthFirst,
    Components,
}

struct Team {
    program: Program,
    cores: usize,
    scale: u32,
}

type Outcome = (u64, u64, manycore::piles::Counts, String);

impl DisciplineVisitor<Simulated> for Team {
    type Output = Outcome;

    fn visit<D: Discipline<Simulated>>(self) -> Outcome {
        let (scale, edge_factor, seed) = (self.scale, 16, 1);
        let graph: &'static Graph = Box::leak(Box::new(
            Rmat {
                scale,
                edge_factor,
                seed,
            }
            .graph(),
        ));
        let search = Arc::new(BreadthFirst::<Simulated>::new(graph, graph.hub()));
        let components = Arc::new(Components::<Simulated>::new(graph, self.cores));
        let placement = Placement::flat(self.cores);
        let shares = Shares::<Simulated, D, ChannelBarrier<Simulated>>::new(placement, 1);
        let shares = Arc::new(shares);
        let found = Arc::new(Mutex::new((0, 0, manycore::piles::Counts::default())));
        let member = |rank: usize| {
            let (search, components) = (Arc::clone(&search), Arc::clone(&components));
            let (shares, found) = (Arc::clone(&shares), Arc::clone(&found));
            let body = move || {
                let mut share: Share<'_, _, _, _> = shares.take(rank);
                let start = Simulated::now();
                match self.program {
                    Program::BreadthFirst => search.run(rank, &mut share),
                    Program::Components => components.run(rank, &mut share),
                }
                let cycles = Simulated::now() - start;
                let (counts, tasks) = (share.counts(), share.tasks());
                let mut found = found.lock().unwrap();
                *found = (found.0.max(cycles), found.1 + tasks, found.2 + counts);
            };
            let spec = ThreadSpec {
                cpus: vec![rank],
                ..ThreadSpec::default()
            };
            Simulated::spawn(spec, Box::new(body)).expect("the machine has the core")
        };
        let team: Vec<_> = (0..self.cores).map(member).collect();
        team.into_iter().for_each(Simulated::join);
        let result = match self.program {
            Program::BreadthFirst => format!("{:?}", search.verify()),
            Program::Components => format!("{:?}", components.verify()),
        };
        let (cycles, tasks, counts) = *found.lock().unwrap();
        (cycles, tasks, counts, result.as_str().to_owned())
    }
}
