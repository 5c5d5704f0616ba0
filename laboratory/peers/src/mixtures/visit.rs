//! One visit to a runtime: a separate process with a time limit.

use super::generate;
use super::interpret::{self, Run};
use super::shapes::{self, Effort};
use crate::contest::Contest;
use crate::peer::{Manycore, Rayon};
use crate::process;
use crate::runtime::Runtime;
use anyhow::{Context, Result, anyhow, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The runtimes, in the order of pairs of figures.
pub const RUNTIMES: [&str; 2] = ["manycore", "rayon"];
/// Counted runs of a program, after an uncounted run.
const RUNS: usize = 4;
/// The time after which a visit hangs: programs last milliseconds, shapes half a minute.
const LIMIT: Duration = Duration::from_secs(90);

/// An order to a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Order {
    Seed { seed: u64, threads: usize },
    Shape { name: String, full: bool },
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seed { seed, threads } => write!(f, "seed {seed}, {threads} threads"),
            Self::Shape { name, .. } => f.write_str(name),
        }
    }
}

/// The results of visits to one runtime.
type Visits<T> = Vec<Vec<T>>;

impl Order {
    /// Visits both runtimes alternately, round by round. Returns `None` if a runtime failed.
    ///
    /// # Errors
    ///
    /// Only errors outside visits: errors of visits are reported.
    pub fn on_both<T: DeserializeOwned>(
        &self,
        contest: &mut Contest,
    ) -> Result<Option<[Visits<T>; 2]>> {
        let seen = contest.take_turns(&RUNTIMES, None, |runtime, _| {
            process::visit("mixtures", RUNTIMES[runtime], self).with_context(|| self.to_string())
        })?;
        let visits: Vec<_> = seen.into_iter().map(|(_, visits)| visits).collect();
        Ok(visits.try_into().ok())
    }
}

/// Carries out an order in a runtime's process.
///
/// # Errors
///
/// If there is no such runtime, or a result is wrong.
pub fn visit(runtime: &str, order: Order) -> Result<serde_json::Value> {
    std::thread::spawn(|| {
        std::thread::sleep(LIMIT);
        let late: Result<()> = Err(anyhow!("it took more than {} s", LIMIT.as_secs()));
        // If the reader has ended, no answer is needed.
        let _ = process::say(late);
        std::process::exit(0);
    });
    match runtime {
        "manycore" => visit_to::<Manycore>(&order),
        "rayon" => visit_to::<Rayon>(&order),
        _ => bail!("there is no runtime `{runtime}`"),
    }
}

fn visit_to<R: Runtime>(order: &Order) -> Result<serde_json::Value> {
    Ok(match order {
        Order::Seed { seed, threads } => serde_json::to_value(runs::<R>(*seed, *threads)?)?,
        Order::Shape { name, full } => {
            let effort = if *full { Effort::Full } else { Effort::Quick };
            serde_json::to_value(shapes::run::<R>(name, effort)?)?
        }
    })
}

fn runs<R: Runtime>(seed: u64, threads: usize) -> Result<Vec<Run>> {
    let program = generate::program(seed, threads);
    let runtime = R::new(threads)?;
    interpret::run(&runtime, &program)?;
    (0..RUNS)
        .map(|_| interpret::run(&runtime, &program))
        .collect()
}
