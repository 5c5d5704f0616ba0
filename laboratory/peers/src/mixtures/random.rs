//! Runs programs that are generated from seeds on both runtimes, and reports their figures.

use super::Row;
use super::generate::{self, Kind, Program};
use super::interpret::Run;
use super::visit::Order;
use crate::contest::Contest;
use crate::output::Output;
use crate::stats::quantile;
use crate::table;
use anyhow::Result;
use std::ops::Range;

/// The number of worst seeds in the report.
const WORST: usize = 5;

/// Prints the program of a seed.
pub fn tell(seed: u64, threads: usize, output: &Output) {
    let program = generate::program(seed, threads);
    output.say(&format!(
        "\n{}, {threads} threads",
        describe(seed, &program)
    ));
    for (caller, steps) in program.callers.iter().enumerate() {
        output.say(&format!("caller {caller}:"));
        steps
            .iter()
            .for_each(|step| output.say(&format!("  {step:?}")));
    }
}

fn describe(seed: u64, program: &Program) -> String {
    let (kind, callers) = (program.kind, program.callers.len());
    format!("seed {seed}: {kind}, {callers} callers")
}

/// The figures of a seed and a number of threads on both runtimes.
struct Measured {
    seed: u64,
    kind: Kind,
    /// The median over the rounds of the median over the runs of a round.
    ms: [f64; 2],
    ratio: f64,
    /// The longest wait of all rounds and runs, in microseconds, and its call.
    longest: [(f64, String); 2],
}

/// Runs the programs of all seeds on both runtimes.
///
/// # Errors
///
/// If the figures cannot be written.
pub fn measure(seeds: Range<u64>, threads: &[usize], contest: &mut Contest) -> Result<()> {
    for &threads in threads {
        let mut all = Vec::new();
        for seed in seeds.clone() {
            let order = Order::Seed { seed, threads };
            let visits = order.on_both(contest)?;
            if let Some(visits) = visits {
                let program = generate::program(seed, threads);
                let measured = Measured::of(seed, program.kind, &visits);
                measured.write(&describe(seed, &program), threads, contest)?;
                all.push(measured);
            }
        }
        if !all.is_empty() {
            report(all, threads, &contest.output);
        }
    }
    Ok(())
}

impl Measured {
    fn of(seed: u64, kind: Kind, visits: &[Vec<Vec<Run>>; 2]) -> Self {
        let [own, rayon] = visits.each_ref().map(|rounds| {
            let middle = |runs: &Vec<Run>| quantile(&times(runs), 0.5);
            rounds.iter().map(middle).collect::<Vec<_>>()
        });
        let ratios: Vec<_> = own.iter().zip(&rayon).map(|(a, b)| a / b).collect();
        let longest = visits.each_ref().map(|rounds| {
            let all = rounds.iter().flatten();
            let longest = all.max_by(|a, b| a.longest_us.total_cmp(&b.longest_us));
            let longest = longest.expect("a visit has runs");
            (longest.longest_us, longest.longest_of.clone())
        });
        Self {
            seed,
            kind,
            ms: [quantile(&own, 0.5), quantile(&rayon, 0.5)],
            ratio: quantile(&ratios, 0.5),
            longest,
        }
    }

    fn write(&self, case: &str, threads: usize, contest: &mut Contest) -> Result<()> {
        let [own, rayon] = self.longest.each_ref().map(|(us, _)| *us);
        let mut row = Row {
            mixture: "random",
            case,
            threads,
            figure: "time in calls",
            unit: "ms",
            manycore: self.ms[0],
            rayon: self.ms[1],
            ratio: Some(self.ratio),
            rounds: contest.rounds,
        };
        contest.output.row(&row)?;
        row.figure = "longest wait";
        (row.unit, row.manycore, row.rayon) = ("us", own, rayon);
        row.ratio = Some(own / rayon).filter(|ratio| ratio.is_finite());
        contest.output.row(&row)
    }
}

fn times(runs: &[Run]) -> Vec<f64> {
    runs.iter().map(|run| run.ms).collect()
}

/// Prints ratios over all seeds and by kind, the worst seeds, and the longest waits.
fn report(mut all: Vec<Measured>, threads: usize, output: &Output) {
    output.say(&format!(
        "\n{threads} threads, {} seeds: time in calls, manycore / rayon",
        all.len()
    ));
    let header = [
        "",
        "seeds",
        "median",
        "quartiles",
        "worst",
        "longest wait, us: manycore",
        "rayon",
    ];
    let mut table = table::table(header.map(str::to_owned).into());
    let kinds = Kind::ALL.map(Some);
    for kind in std::iter::once(None).chain(kinds) {
        let of_kind = |it: &&Measured| kind.is_none_or(|kind| it.kind == kind);
        let some: Vec<_> = all.iter().filter(of_kind).collect();
        if some.is_empty() {
            continue;
        }
        let ratios: Vec<_> = some.iter().map(|it| it.ratio).collect();
        let at = |q| table::figure(quantile(&ratios, q));
        let [own, rayon] = [0, 1].map(|runtime| {
            let longest = |a: &&&Measured, b: &&&Measured| {
                a.longest[runtime].0.total_cmp(&b.longest[runtime].0)
            };
            let it = some.iter().max_by(longest).expect("not empty");
            let (us, of) = &it.longest[runtime];
            format!("{us:.0} ({of}, seed {})", it.seed)
        });
        table.add_row([
            kind.map_or("all seeds".to_owned(), |kind| kind.to_string()),
            some.len().to_string(),
            at(0.5),
            format!("{} to {}", at(0.25), at(0.75)),
            at(1.0),
            own,
            rayon,
        ]);
    }
    output.say(&table.to_string());
    all.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    for it in all.iter().take(WORST) {
        let [own, rayon] = it.ms;
        output.say(&format!(
            "ratio {:.2}: manycore {own:.1} ms, rayon {rayon:.1} ms ({}); --seed {} --threads \
             {threads}",
            it.ratio, it.kind, it.seed
        ));
    }
}
