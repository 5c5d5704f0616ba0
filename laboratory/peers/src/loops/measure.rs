//! Visits the peers round by round, in a new random order each time.

use super::bench::{Bench, Measure};
use crate::fleet::Fleet;
use crate::peer::Variant;
use crate::protocol::{Order, Outcome};
use crate::recursion::{Layout, Recursion};
use crate::stats::Series;
use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A benchmark's samples, for one table.
pub struct Observed {
    pub bench: &'static str,
    pub title: String,
    pub threads: usize,
    pub variants: Vec<Variant>,
    pub columns: Vec<Column>,
    /// The number of variants that failed.
    pub failed: usize,
    /// Whether peers' times are divided by the best fixed block's time, not by the serial loop's.
    pub against_fixed: bool,
}

/// The samples of one case.
pub struct Column {
    pub name: String,
    pub group: String,
    pub unit: &'static str,
    /// The samples of each variant, without rounds if the variant failed.
    pub series: Vec<Series>,
    /// For each variant, the number of visits during which its threads waited for a core.
    pub disturbed: Vec<usize>,
}

impl Column {
    fn new(name: &str, group: &str, unit: &'static str, variants: usize) -> Self {
        Self {
            name: name.to_owned(),
            group: group.to_owned(),
            unit,
            series: vec![Series::default(); variants],
            disturbed: vec![0; variants],
        }
    }

    fn add(&mut self, variant: usize, samples: Vec<f64>, disturbed: bool) {
        self.series[variant].rounds.push(samples);
        self.disturbed[variant] += usize::from(disturbed);
    }
}

/// Checks that every variant runs every index exactly once. Returns the variants that do, and the
/// errors of the others.
pub fn check(fleet: &mut Fleet, variants: Vec<Variant>) -> (Vec<Variant>, Vec<String>) {
    let orders = [0, 1, 2, 3, 1000, 100_003].map(|n| Order::Check { n });
    check_with(fleet, variants, &orders)
}

/// Checks the results of every variant's recursions. Returns the variants with right results, and
/// the errors of the others.
pub fn check_joins(fleet: &mut Fleet, variants: Vec<Variant>) -> (Vec<Variant>, Vec<String>) {
    let layout = Layout::PreOrder;
    let recursions = [
        Recursion::Empty { levels: 8 },
        Recursion::Fib { n: 1 },
        Recursion::Fib { n: 20 },
        Recursion::Sum { levels: 1, layout },
        Recursion::Sum { levels: 14, layout },
    ];
    let orders = recursions.map(|recursion| Order::Joins {
        recursion,
        warm_up_ms: 0,
        sampling_ms: 2,
    });
    check_with(fleet, variants, &orders)
}

fn check_with(
    fleet: &mut Fleet,
    variants: Vec<Variant>,
    orders: &[Order],
) -> (Vec<Variant>, Vec<String>) {
    let mut complaints = Vec::new();
    let sound = variants.into_iter().filter(|variant| {
        let result = orders
            .iter()
            .try_for_each(|&order| fleet.order(variant, order).map(drop));
        complaints.extend(result.as_ref().err().map(|error| format!("{error:#}")));
        result.is_ok()
    });
    (sound.collect(), complaints)
}

/// Runs a benchmark on the peers of `fleet`.
///
/// # Errors
///
/// Errors of the terminal. A failing peer is no error: it is reported on standard error and left
/// out from then on.
pub fn run(
    bench: &Bench,
    fleet: &mut Fleet,
    compared: &[Variant],
    threads: usize,
    random: &mut fastrand::Rng,
) -> Result<Observed> {
    let variants: Vec<_> = bench
        .variants(compared)
        .into_iter()
        .filter(|variant| fleet.has(variant))
        .collect();
    let mut columns: Vec<_> = bench
        .cases
        .iter()
        .map(|case| {
            let unit = if case.measure == Measure::IdleCpu {
                "ms/s"
            } else {
                "ns"
            };
            Column::new(&case.name, &case.group, unit, variants.len())
        })
        .collect();
    let mut cores = Column::new("cores", "periodic", "cores", variants.len());

    let progress = progress(bench, variants.len(), threads)?;
    let mut failed = vec![false; variants.len()];
    let mut cases: Vec<_> = (0..bench.cases.len()).collect();
    let mut order: Vec<_> = (0..variants.len()).collect();
    for _ in 0..bench.rounds {
        random.shuffle(&mut cases);
        for &case in &cases {
            random.shuffle(&mut order);
            for &v in &order {
                progress.inc(1);
                if failed[v] {
                    continue;
                }
                match fleet.order(&variants[v], bench.cases[case].order) {
                    Ok(Outcome {
                        latencies,
                        cores: used,
                        disturbed,
                        ..
                    }) => match bench.cases[case].measure {
                        Measure::Latency => columns[case].add(v, latencies, disturbed),
                        Measure::LatencyAndCores => {
                            columns[case].add(v, latencies, disturbed);
                            cores.add(v, vec![used], disturbed);
                        }
                        Measure::IdleCpu => columns[case].add(v, vec![used * 1e3], disturbed),
                    },
                    Err(error) => {
                        progress.suspend(|| eprintln!("left out from now on: {error:#}"));
                        failed[v] = true;
                    }
                }
            }
        }
    }
    progress.finish_and_clear();
    if cores.series.iter().any(|series| !series.rounds.is_empty()) {
        columns.push(cores);
    }
    // A peer without results in some rounds cannot be compared round by round.
    for column in &mut columns {
        for (series, _) in column
            .series
            .iter_mut()
            .zip(&failed)
            .filter(|(_, failed)| **failed)
        {
            series.rounds.clear();
        }
    }
    Ok(Observed {
        bench: bench.name,
        title: bench.title.clone(),
        threads,
        variants,
        columns,
        failed: failed.into_iter().filter(|&failed| failed).count(),
        against_fixed: !bench.blocks.is_empty(),
    })
}

/// A bar that is drawn only between visits: a drawing thread would take a core from the peer.
fn progress(bench: &Bench, variants: usize, threads: usize) -> Result<ProgressBar> {
    let visits = (bench.rounds * bench.cases.len() * variants) as u64;
    let bar = ProgressBar::with_draw_target(Some(visits), ProgressDrawTarget::stderr_with_hz(2));
    let template = "{msg:32} {bar:30} {pos}/{len}, {eta} left";
    bar.set_style(ProgressStyle::with_template(template)?);
    bar.set_message(format!("{}, threads: {threads}", bench.name));
    Ok(bar)
}
