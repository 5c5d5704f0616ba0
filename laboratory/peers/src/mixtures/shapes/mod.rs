//! Named mixtures, *shapes* of calls that a runtime may run late or in a bad order, with the
//! figures that show it.

mod between;
mod bimodal;
pub mod report;
mod turns;

use crate::runtime::Runtime;
use crate::stats::quantile;
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The names of all shapes.
pub const ALL: [&str; 5] = ["deaf", "spawn", "bimodal", "starve1", "starve2"];

/// One figure of a shape.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// The circumstances of the measurement.
    pub case: String,
    pub threads: usize,
    pub name: String,
    pub unit: String,
    pub value: f64,
}

/// The duration of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    Quick,
    Full,
}

/// The figures of the shape called `name`.
///
/// # Errors
///
/// If a pool cannot be made, or there is no such shape.
pub fn run<R: Runtime>(name: &str, effort: Effort) -> Result<Vec<Figure>> {
    match name {
        "deaf" => between::join::<R>(effort),
        "spawn" => between::spawn::<R>(effort),
        "bimodal" => bimodal::run::<R>(effort),
        "starve1" => turns::spawned::<R>(effort),
        "starve2" => turns::calls::<R>(effort),
        _ => bail!(
            "--only: there is no mixture `{name}`; expected some of random, {}",
            ALL.join(", ")
        ),
    }
}

/// The figures of one case.
struct Case {
    name: String,
    threads: usize,
    figures: Vec<Figure>,
}

impl Case {
    fn new(name: String, threads: usize) -> Self {
        Self {
            name,
            threads,
            figures: Vec::new(),
        }
    }

    fn add(&mut self, name: &str, unit: &str, value: f64) {
        self.figures.push(Figure {
            case: self.name.clone(),
            threads: self.threads,
            name: name.to_owned(),
            unit: unit.to_owned(),
            value,
        });
    }

    /// Adds the median and the longest of the waits.
    fn add_waits(&mut self, waits: &[Duration]) {
        let ms: Vec<_> = waits.iter().map(|wait| wait.as_secs_f64() * 1e3).collect();
        self.add("median wait", "ms", quantile(&ms, 0.5));
        self.add("longest wait", "ms", quantile(&ms, 1.0));
    }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn sleep_until(time: Instant) {
    std::thread::sleep(time.saturating_duration_since(Instant::now()));
}

/// Keeps this thread busy for `time`.
fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::{Manycore, Rayon};

    #[test]
    fn every_shape_has_the_same_figures_on_both() {
        for name in ALL {
            let names = |figures: Vec<Figure>| {
                let name = |it: Figure| (it.case, it.threads, it.name, it.unit);
                figures.into_iter().map(name).collect::<Vec<_>>()
            };
            let ours = run::<Manycore>(name, Effort::Quick).unwrap();
            let theirs = run::<Rayon>(name, Effort::Quick).unwrap();
            assert!(
                !ours.is_empty() && ours.iter().all(|it| it.value >= 0.0),
                "{name}"
            );
            assert_eq!(names(ours), names(theirs), "{name}");
        }
        let message = run::<Rayon>("chan", Effort::Full).unwrap_err().to_string();
        assert!(message.contains("`chan`") && message.contains("starve2"));
    }
}
