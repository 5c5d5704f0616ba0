//! Runs a program as the command line says, and prints the durations of its phases.

use manycore_team::barrier::Placement;

use manycore::{Native, Pool};
use manycore_programs::barrier::{Barrier, BarrierVisitor, with_barrier};
use manycore_programs::spmd::{Looped, Member, Phase, Program, Ranked, Sums, Worksharing};
use std::ops::Range;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// A program, or the reason why there is none.
pub(crate) type Made = Result<Box<dyn Program>, String>;

/// The way to run the program.
struct Options {
    size: String,
    ranks: usize,
    barrier: String,
    /// Threads of a pool, instead of ranks.
    loops: Option<usize>,
}

/// Reads the command line, runs what `make` makes of a size, and reports.
pub(crate) fn main(name: &str, size: &str, make: impl Fn(&str) -> Made) -> ExitCode {
    match options(size).and_then(|options| report(&options, &make)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            eprintln!("usage: {name} [SIZE] [--ranks N] [--barrier NAME] [--loops THREADS]");
            ExitCode::FAILURE
        }
    }
}

fn options(size: &str) -> Result<Options, String> {
    let mut options = Options {
        size: size.into(),
        ranks: 1,
        barrier: "default".into(),
        loops: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word}: expected a value"));
        match word.as_str() {
            "--ranks" => options.ranks = count(&word, &value()?)?,
            "--loops" => options.loops = Some(count(&word, &value()?)?),
            "--barrier" => options.barrier = value()?,
            flag if flag.starts_with('-') => return Err(format!("no flag `{flag}`")),
            _ => options.size = word,
        }
    }
    Ok(options)
}

fn count(flag: &str, value: &str) -> Result<usize, String> {
    match value.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("{flag}: expected a number from 1, not `{value}`")),
    }
}

fn report(options: &Options, make: &dyn Fn(&str) -> Made) -> Result<(), String> {
    let program = make(&options.size)?;
    let start = Instant::now();
    let phases = match options.loops {
        Some(threads) => {
            let pool = Pool::builder().threads(threads).build();
            let pool = pool.map_err(|error| format!("--loops: {error}"))?;
            timed(&*program, &mut Looped::on(&pool))
        }
        None => {
            let team = Team(options.ranks, &*program);
            with_barrier(&options.barrier, team).map_err(|error| error.to_string())?
        }
    };
    let took = start.elapsed();
    let verified = program.verify().map_err(|wrong| wrong.to_string())?;
    let count: u32 = phases.iter().map(|phase| phase.count).sum();
    println!("{verified}");
    println!(
        "{took:.3?}, {count} barriers, one each {:.1?}",
        took / count
    );
    for phase in phases {
        let mean = phase.took / phase.count;
        let instructions = phase.phase.instructions();
        println!(
            "{:>18}: {mean:>10.1?}, {} items, {instructions:.3e} instructions",
            phase.phase.name, phase.phase.items
        );
    }
    Ok(())
}

/// The durations of phases of a name on rank 0, from the end of the phase before.
struct Timed {
    phase: Phase,
    count: u32,
    took: Duration,
}

struct Timing<'a> {
    inner: &'a mut dyn Worksharing,
    last: Instant,
    phases: Vec<Timed>,
}

impl Timing<'_> {
    fn passed(&mut self, phase: &Phase) {
        let now = Instant::now();
        let took = now - std::mem::replace(&mut self.last, now);
        let known = |it: &&mut Timed| it.phase.name == phase.name;
        if let Some(timed) = self.phases.iter_mut().find(known) {
            timed.count += 1;
            timed.took += took;
        } else {
            let phase = *phase;
            let count = 1;
            self.phases.push(Timed { phase, count, took });
        }
    }
}

// SAFETY: as the one within.
unsafe impl Worksharing for Timing<'_> {
    fn share(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) + Sync)) {
        self.inner.share(phase, body);
        self.passed(phase);
    }

    fn sum(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64 {
        let sum = self.inner.sum(phase, body);
        self.passed(phase);
        sum
    }
}

fn timed(program: &dyn Program, inner: &mut dyn Worksharing) -> Vec<Timed> {
    let mut timing = Timing {
        inner,
        last: Instant::now(),
        phases: vec![],
    };
    // SAFETY: every rank of a team calls this once, or the one thread of the loops; the
    // program is looked at when they have been joined.
    unsafe { program.run(&mut timing) };
    timing.phases
}

struct Team<'a>(usize, &'a dyn Program);

impl BarrierVisitor<Native> for Team<'_> {
    type Output = Vec<Timed>;

    fn visit<B: Barrier<Native>>(self) -> Vec<Timed> {
        let Self(ranks, program) = self;
        let cores = std::thread::available_parallelism().map_or(1, Into::into);
        let barrier = B::new(&Placement::flat(ranks).on_cores(cores));
        let sums = Sums::new(program.grains());
        let rank = |rank: usize| {
            // SAFETY: the barrier is for `ranks` members, and each rank is made once.
            let mut member = unsafe { Member::<Native, B>::new(&barrier, rank, ranks) };
            // SAFETY: the team's sums, and all run the same program.
            timed(program, &mut unsafe {
                Ranked::<Native>::new(&mut member, &sums)
            })
        };
        std::thread::scope(|scope| {
            for other in 1..ranks {
                let rank = &rank;
                scope.spawn(move || rank(other));
            }
            rank(0)
        })
    }
}
