//! Makespans of the stealing disciplines on the chip: `cargo run --release -p
//! manycore-chip --example pile_times -- MACHINE CORES TASKS-A-CORE SIZE,SIZE
//! [DISCIPLINE,...] [DISTRIBUTION,...]`.

use manycore::barrier::Placement;
use manycore::piles::{
    Counts, Discipline, DisciplineVisitor, Pile, Task, disciplines, with_discipline,
};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::{Platform, ThreadSpec};
use std::error::Error;
use std::sync::{Arc, Mutex};

#[derive(Clone)]
struct Study {
    machine: Config,
    cores: usize,
    /// Tasks of each core at the beginning.
    start: Vec<usize>,
    size: u64,
}

struct Result_ {
    makespan: u64,
    first: u64,
    counts: Counts,
}

impl DisciplineVisitor<Simulated> for Study {
    type Output = Result_;

    fn visit<D: Discipline<Simulated>>(self) -> Result_ {
        let machine = self.machine.clone();
        let run = Simulation::new(&machine)
            .limit(1 << 44)
            .run(move || program::<D>(&self))
            .unwrap();
        run.value
    }
}

fn program<D: Discipline<Simulated>>(study: &Study) -> Result_ {
    let discipline = Arc::new(D::new(&Placement::flat(study.cores), 1));
    let begin = 20_000_000;
    let done = Arc::new(Mutex::new((0, 0, 0, Counts::default())));
    let member = |rank: usize| {
        let discipline = Arc::clone(&discipline);
        let done = Arc::clone(&done);
        let (tasks, size) = (study.start[rank], study.size);
        let cpi = study.machine.core.cpi;
        move || {
            let mut pile = discipline.pile(rank);
            pile.fill((0..tasks).map(|_| Task::MIN));
            let wait = begin - Simulated::now();
            Simulated::compute((wait as f64 / cpi) as u64);
            let mut first = 0;
            let mut count = 0;
            let mut last = 0;
            let mut in_get = 0;
            loop {
                let before = Simulated::now();
                if pile.get().is_none() {
                    break;
                }
                if first > 0 {
                    in_get += Simulated::now() - before;
                }
                if first == 0 {
                    first = Simulated::now() - begin;
                }
                last = Simulated::now() - begin;
                Simulated::compute((size as f64 / cpi) as u64);
                count += 1;
            }
            let end = Simulated::now() - begin;
            if std::env::var("TRACE").is_ok() {
                println!(
                    "rank {rank} first {first} tasks {count} last {last} in-get {in_get} {:?}",
                    pile.counts()
                );
            }
            let mut done = done.lock().unwrap();
            done.0 = done.0.max(end);
            done.1 = done.1.max(first);
            done.2 += count;
            done.3 = done.3 + pile.counts();
        }
    };
    let team: Vec<_> = (1..study.cores)
        .map(|core| {
            let spec = ThreadSpec {
                cpus: vec![core],
                ..ThreadSpec::default()
            };
            Simulated::spawn(spec, Box::new(member(core))).unwrap()
        })
        .collect();
    member(0)();
    team.into_iter().for_each(Simulated::join);
    let done = done.lock().unwrap();
    assert_eq!(done.2, study.start.iter().sum::<usize>());
    Result_ {
        makespan: done.0,
        first: done.1,
        counts: done.3,
    }
}

fn start(distribution: &str, cores: usize, each: usize) -> Vec<usize> {
    let total = cores * each;
    let on = |some: usize| {
        (0..cores)
            .map(|core| if core < some { total / some } else { 0 })
            .collect()
    };
    match distribution {
        "total" => on(1),
        "half" => on(cores / 2),
        "quarter" => on(cores / 4),
        "even" => on(cores),
        "random" => {
            let mut rng = fastrand::Rng::with_seed(1);
            let mut normal = || (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
            let mut counts: Vec<_> = (0..cores)
                .map(|_| ((each as f64) * (1.0 + normal() / 2.0)).max(0.0) as usize)
                .collect();
            // As many in all.
            let mut core = 0;
            while counts.iter().sum::<usize>() != total {
                if counts.iter().sum::<usize>() < total {
                    counts[core] += 1;
                } else {
                    counts[core] = counts[core].saturating_sub(1);
                }
                core = (core + 1) % cores;
            }
            counts
        }
        other => panic!("no distribution {other}"),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let list = |at: usize, default: String| -> Vec<String> {
        let text = arguments
            .get(at)
            .filter(|text| *text != "-")
            .cloned()
            .unwrap_or(default);
        text.split(',').map(str::to_owned).collect()
    };
    let cores: usize = arguments[1].parse()?;
    let each: usize = arguments[2].parse()?;
    let mut machine = Config::named(&arguments[0])?;
    if machine.cores as usize != cores && arguments[0] == "atac-64" {
        machine.set(&format!("cores={cores}"))?;
    }
    for size in list(3, "1200".into()) {
        let size: u64 = size.parse()?;
        for distribution in list(5, "total,half,quarter,even,random".into()) {
            let start = start(&distribution, cores, each);
            for name in list(4, disciplines().join(",")) {
                let study = Study {
                    machine: machine.clone(),
                    cores,
                    start: start.clone(),
                    size,
                };
                let result = with_discipline(&name, study)?;
                let ideal = size * each as u64;
                println!(
                    "{size:>8} {distribution:8} {name:13} {:>10} {:7.3} first {:>7} {:?}",
                    result.makespan,
                    result.makespan as f64 / ideal as f64,
                    result.first,
                    result.counts
                );
            }
        }
    }
    Ok(())
}
