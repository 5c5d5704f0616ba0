//! One visit to a runtime: a process of its own, which is ended when it takes too long.

use crate::generate;
use crate::interpret::{self, Run};
use crate::runtime::{Manycore, Rayon, Runtime};
use crate::shapes::{self, Effort, Figure};
use anyhow::{Result, anyhow, bail};
use manycore_peers::program;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The runtimes, in the order of all pairs of figures.
pub const RUNTIMES: [&str; 2] = ["manycore", "rayon"];
/// Runs of a program that count, after one that does not.
const RUNS: usize = 4;
/// A program that lasts milliseconds and a shape that lasts half a minute have hung then.
const LIMIT: Duration = Duration::from_secs(90);

/// What a process is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Order {
    Seed { seed: u64, threads: usize },
    Shape { name: String, full: bool },
}

impl Order {
    /// Runs the program of a seed.
    ///
    /// # Errors
    ///
    /// What the process says, or that it died or hung.
    pub fn runs(seed: u64, threads: usize, runtime: &str) -> Result<Vec<Run>> {
        Self::Seed { seed, threads }.carry_out(runtime)
    }

    /// Runs a shape.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn figures(name: &str, full: bool, runtime: &str) -> Result<Vec<Figure>> {
        let name = name.to_owned();
        Self::Shape { name, full }.carry_out(runtime)
    }

    fn carry_out<T: DeserializeOwned>(&self, runtime: &str) -> Result<T> {
        let order = serde_json::to_string(self)?;
        program::visit(runtime, &["--order", &order])
    }
}

/// What that process does.
///
/// # Errors
///
/// When it cannot understand or answer.
pub fn answer(runtime: &str, order: &str) -> Result<()> {
    let order: Order = serde_json::from_str(order)?;
    std::thread::spawn(|| {
        std::thread::sleep(LIMIT);
        let late: Result<()> = Err(anyhow!("it took more than {} s", LIMIT.as_secs()));
        // If nobody is there to read it, the end of the process says enough.
        let _ = program::answer(late);
        std::process::exit(0);
    });
    match runtime {
        "manycore" => answer_on::<Manycore>(&order),
        "rayon" => answer_on::<Rayon>(&order),
        _ => bail!("there is no runtime `{runtime}`"),
    }
}

fn answer_on<R: Runtime>(order: &Order) -> Result<()> {
    match order {
        Order::Seed { seed, threads } => program::answer(runs::<R>(*seed, *threads)),
        Order::Shape { name, full } => {
            let effort = if *full { Effort::Full } else { Effort::Quick };
            program::answer(shapes::run::<R>(name, effort))
        }
    }
}

fn runs<R: Runtime>(seed: u64, threads: usize) -> Result<Vec<Run>> {
    let program = generate::program(seed, threads);
    let runtime = R::new(threads)?;
    interpret::run(&runtime, &program)?;
    (0..RUNS)
        .map(|_| interpret::run(&runtime, &program))
        .collect()
}
