//! Programs over parallel iterators: manycore's beside rayon's, in one process, in turn.

mod programs;

use clap::Parser;
use programs::{Input, manycores, rayons};
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Runs each program on manycore's parallel iterators and on rayon's, in turn, and prints the times
#[derive(Parser)]
struct Arguments {
    /// Threads of the pools, with commas
    #[arg(long, value_delimiter = ',', default_values_t = [2])]
    threads: Vec<usize>,
    /// Runs of each program on each
    #[arg(long, default_value_t = 31)]
    runs: usize,
    /// The folder for iterators.csv
    #[arg(long, default_value = "out")]
    out: PathBuf,
}

/// The time that `run` takes in microseconds, and what it returns; after a gap of `gap`.
fn timed(gap: Duration, run: impl FnOnce() -> u64) -> (f64, u64) {
    std::thread::sleep(gap);
    let begin = Instant::now();
    let result = run();
    (begin.elapsed().as_nanos() as f64 / 1e3, result)
}

/// The 10th, 50th and 90th percentile.
fn spread(mut times: Vec<f64>) -> [f64; 3] {
    times.sort_by(f64::total_cmp);
    [10, 50, 90].map(|percent| times[(times.len() - 1) * percent / 100])
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if arguments.runs == 0 {
        return Err("--runs: expected at least 1; found 0".into());
    }
    let input = Input::new();
    let mut csv = String::from("program,threads,peer,p10_us,p50_us,p90_us\n");
    for &threads in &arguments.threads {
        let ours = manycore::Pool::builder().threads(threads).build()?;
        let theirs = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()?;
        println!("{threads} threads; us: median (10th to 90th percentile)");
        let mut logarithms = Vec::new();
        for ((name, our), (_, their)) in manycores::ALL.into_iter().zip(rayons::ALL) {
            // A server's bursts come after a gap.
            let gap = Duration::from_millis(u64::from(name.starts_with("a burst")));
            let (mut of_ours, mut of_theirs) = (Vec::new(), Vec::new());
            for _ in 0..arguments.runs {
                let (time, result) = timed(gap, || ours.install(|| our(&input)));
                of_ours.push(time);
                let (time, other) = timed(gap, || theirs.install(|| their(&input)));
                of_theirs.push(time);
                assert_eq!(result, other, "{name}");
            }
            let (of_ours, of_theirs) = (spread(of_ours), spread(of_theirs));
            let ratio = of_ours[1] / of_theirs[1];
            logarithms.push(ratio.ln());
            let show = |[p10, p50, p90]: [f64; 3]| format!("{p50:9.1} ({p10:.1} to {p90:.1})");
            println!(
                "{name:22} manycore {:32} rayon {:32} ratio {ratio:.2}",
                show(of_ours),
                show(of_theirs)
            );
            for (peer, [p10, p50, p90]) in [("manycore", of_ours), ("rayon", of_theirs)] {
                csv += &format!("\"{name}\",{threads},{peer},{p10:.2},{p50:.2},{p90:.2}\n");
            }
        }
        let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
        println!("geometric mean of the ratios: {mean:.3}\n");
    }
    fs::create_dir_all(&arguments.out)?;
    let path = arguments.out.join("iterators.csv");
    fs::write(&path, csv)?;
    println!("written: {}", path.display());
    Ok(())
}
