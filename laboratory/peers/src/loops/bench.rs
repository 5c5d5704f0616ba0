//! The benchmarks: loops, rounds, and divisors.

use crate::load::{Load, Shape};
use crate::peer::Variant;
use crate::protocol::{Order, Pace};
use crate::recursion::{Layout, Recursion};
use anyhow::{Result, bail};
use std::num::NonZeroUsize;

/// The amount of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    Quick,
    Full,
}

pub struct Bench {
    pub name: &'static str,
    pub title: String,
    pub cases: Vec<Case>,
    /// Every peer is visited once in each round and case.
    pub rounds: usize,
    /// The fixed blocks for comparison: peers are divided by the best. Without blocks, peers are
    /// divided by the serial loop.
    pub blocks: Vec<NonZeroUsize>,
    pub takes: Takes,
}

/// The peers that take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    All,
    /// One peer for each runtime: the way of calling loops changes nothing.
    OnePerRuntime,
    /// The peers with joins.
    Joining,
}

pub struct Case {
    pub name: String,
    /// The cases of one group share one geometric mean.
    pub group: String,
    pub order: Order,
    pub measure: Measure,
}

/// The meaning of a case's figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Nanoseconds a loop.
    Latency,
    /// Nanoseconds a loop, and the mean number of busy cores.
    LatencyAndCores,
    /// Milliseconds of processor time a second.
    IdleCpu,
}

pub const NAMES: [&str; 10] = [
    "launch",
    "periodic",
    "idle",
    "grid",
    "irregular",
    "tiny",
    "levels",
    "join",
    "fib",
    "tree",
];

/// The benchmarks called `names`, in the order of [`NAMES`]. Without names, returns all.
///
/// # Errors
///
/// If a name is not in [`NAMES`].
pub fn select(names: &[String], effort: Effort) -> Result<Vec<Bench>> {
    if let Some(unknown) = names.iter().find(|name| !NAMES.contains(&name.as_str())) {
        let known = NAMES.join(", ");
        bail!("--only: there is no benchmark `{unknown}`; expected one of {known}");
    }
    let wanted = NAMES
        .iter()
        .filter(|&name| names.is_empty() || names.iter().any(|n| n == name));
    Ok(wanted.flat_map(|name| of_name(name, effort)).collect())
}

fn of_name(name: &str, effort: Effort) -> Vec<Bench> {
    let quick = effort == Effort::Quick;
    match name {
        "launch" => vec![launch(if quick { 6 } else { 30 })],
        "periodic" => vec![periodic(if quick { 3 } else { 12 })],
        "idle" => vec![idle(if quick { 1 } else { 4 })],
        "grid" if quick => vec![grid(&[6, 10, 14], 6)],
        "grid" => vec![grid(&[6, 8, 10, 12, 14, 16], 12)],
        // One for each length, since the useful blocks differ.
        "irregular" => [1024, 100_000, 1_000_000]
            .map(|n| irregular(n, if quick { 6 } else { 24 }))
            .into(),
        "tiny" => vec![tiny(if quick { 6 } else { 24 })],
        "levels" => vec![levels(if quick { 3 } else { 12 })],
        "join" => vec![join(if quick { 12 } else { 48 })],
        "fib" => vec![fib(if quick { 6 } else { 24 })],
        // One for each size, since the times of a call differ.
        _ => [(10, 10), (17, 10), (23, 3)]
            .map(|(levels, rounds)| tree(levels, if quick { rounds } else { 4 * rounds }))
            .into(),
    }
}

impl Bench {
    fn new(name: &'static str, title: &str, rounds: usize, cases: impl Into<Vec<Case>>) -> Self {
        Self {
            name,
            title: title.to_owned(),
            cases: cases.into(),
            rounds,
            blocks: Vec::new(),
            takes: Takes::All,
        }
    }

    /// Divides the peers by the best fixed block for `n` indices.
    fn against_blocks(self, n: usize) -> Self {
        Self {
            blocks: blocks(n),
            ..self
        }
    }
}

impl Case {
    fn new(load: Load, pace: Pace, group: &str, (warm_up_ms, sampling_ms): (u64, u64)) -> Self {
        Self {
            name: load.to_string(),
            group: group.to_owned(),
            order: Order::Loops {
                load,
                pace,
                warm_up_ms,
                sampling_ms,
            },
            measure: Measure::Latency,
        }
    }
}

fn launch(rounds: usize) -> Bench {
    let spin = |us: u64| Load::Spin {
        n: 2,
        ns: us * 1000,
    };
    let hot = [Load::Empty { n: 2 }, Load::Trivial { n: 1000 }, spin(10)]
        .map(|load| Case::new(load, Pace::Hot, "hot", (4, 6)));
    let gap = [Load::Empty { n: 2 }, spin(10), spin(50)]
        .map(|load| Case::new(load, Pace::AfterGap, "after 1 ms", (6, 24)));
    let mut cases: Vec<_> = hot.into_iter().chain(gap).collect();
    for case in &mut cases {
        case.name = format!("{}, {}", case.name, case.group);
    }
    let title = "Launch: hot loops follow each other without a pause; before all other loops the \
         caller works for 1 ms";
    Bench::new("launch", title, rounds, cases)
}

fn periodic(rounds: usize) -> Bench {
    // With 30 ns an index for the clock, this takes 87 us serially.
    let load = Load::Spin { n: 100, ns: 845 };
    let mut case = Case::new(load, Pace::Periodic, "periodic", (50, 200));
    case.name = "call".to_owned();
    case.measure = Measure::LatencyAndCores;
    let title =
        "Periodic: 87 us of work (100 indices) every 1.1 ms; the caller sleeps between two loops";
    Bench::new("periodic", title, rounds, [case])
}

fn idle(rounds: usize) -> Bench {
    let case = Case {
        name: "cpu".to_owned(),
        group: "idle".to_owned(),
        order: Order::Idle { ms: 1000 },
        measure: Measure::IdleCpu,
    };
    let title = "Idle: processor time, beginning 100 ms after the last loop";
    Bench {
        takes: Takes::OnePerRuntime,
        ..Bench::new("idle", title, rounds, [case])
    }
}

fn grid(exponents: &[u32], rounds: usize) -> Bench {
    let mut cases = Vec::new();
    for &read in exponents {
        for &write in exponents {
            let load = Load::Unit {
                n: 1024,
                read: 1 << read,
                write: 1 << write,
            };
            cases.push(Case::new(load, Pace::Hot, "unit task", (3, 9)));
        }
    }
    let title = "Unit task (folded), 1,024 indices";
    Bench::new("grid", title, rounds, cases).against_blocks(1024)
}

fn irregular(n: usize, rounds: usize) -> Bench {
    let group = format!("irregular {n}");
    let case = |shape| Case::new(Load::Irregular { n, shape }, Pace::Hot, &group, (3, 12));
    let title = format!("Irregular work, {n} indices");
    Bench::new("irregular", &title, rounds, Shape::ALL.map(case)).against_blocks(n)
}

fn tiny(rounds: usize) -> Bench {
    let n = 1_000_000;
    let cases = [(true, "inlined"), (false, "called")]
        .map(|(inlined, group)| Case::new(Load::Tiny { n, inlined }, Pace::Hot, group, (4, 16)));
    Bench::new("tiny", "A million items of 5 ns", rounds, cases).against_blocks(n)
}

fn levels(rounds: usize) -> Bench {
    // About 5 ns and 20 ns a cell.
    let cases = [0, 40].map(|steps| {
        let load = Load::Levels { side: 300, steps };
        Case::new(load, Pace::Hot, "levels", (20, 60))
    });
    let title = "Levels: breadth-first search on a grid, 599 loops of 1 to 300 iterations";
    Bench::new("levels", title, rounds, cases)
}

/// Powers of two for loops of up to 1,024 iterations. Powers of four for longer loops, since their
/// optimum is wide.
fn blocks(n: usize) -> Vec<NonZeroUsize> {
    let factor = if n <= 1024 { 2 } else { 4 };
    let powers = std::iter::successors(NonZeroUsize::new(1), |block| {
        block.checked_mul(NonZeroUsize::new(factor)?)
    });
    powers.take_while(|block| block.get() <= n).collect()
}

fn join(rounds: usize) -> Bench {
    let recursion = Recursion::Empty { levels: 14 };
    let title = "Join: a recursive tree of 16,383 empty joins, time per join";
    joining("join", title, vec![recursion], (4, 12), rounds)
}

fn fib(rounds: usize) -> Bench {
    let title = "Fib: a join at every call, 3,524,577 in all";
    joining(
        "fib",
        title,
        vec![Recursion::Fib { n: 32 }],
        (20, 60),
        rounds,
    )
}

fn tree(levels: u32, rounds: usize) -> Bench {
    let sums = [Layout::PreOrder, Layout::PostOrder]
        .map(|layout| Recursion::Sum { levels, layout })
        .into();
    let title = "Tree: a sum with a join at every inner node";
    joining("tree", title, sums, (10, 30), rounds)
}

fn joining(
    name: &'static str,
    title: &str,
    recursions: Vec<Recursion>,
    (warm_up_ms, sampling_ms): (u64, u64),
    rounds: usize,
) -> Bench {
    let case = |recursion: Recursion| Case {
        name: recursion.to_string(),
        group: name.to_owned(),
        order: Order::Joins {
            recursion,
            warm_up_ms,
            sampling_ms,
        },
        measure: Measure::Latency,
    };
    let cases: Vec<_> = recursions.into_iter().map(case).collect();
    Bench {
        takes: Takes::Joining,
        ..Bench::new(name, title, rounds, cases)
    }
}

impl Bench {
    /// The peers that take part: peers of `compared`, and the fixed blocks.
    pub fn variants(&self, compared: &[Variant]) -> Vec<Variant> {
        let mut variants = match self.takes {
            Takes::Joining => Variant::joining(compared),
            Takes::All | Takes::OnePerRuntime => compared.to_vec(),
        };
        if self.takes == Takes::OnePerRuntime {
            let mut runtimes = Vec::new();
            variants.retain(|variant| {
                let first = !runtimes.contains(&variant.runtime);
                runtimes.push(variant.runtime);
                first
            });
        }
        variants.extend(self.blocks.iter().copied().map(Variant::fixed_block));
        variants
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_benchmark_and_others_are_not() {
        for name in NAMES {
            let benches = select(&[name.to_owned()], Effort::Quick).unwrap();
            assert!(!benches.is_empty() && benches.iter().all(|bench| bench.name == name));
        }
        let message = select(&["barrier".to_owned()], Effort::Full)
            .err()
            .unwrap()
            .to_string();
        assert!(
            message.contains("`barrier`") && message.contains("launch"),
            "{message}"
        );
    }

    #[test]
    fn blocks_reach_from_one_to_the_length() {
        let sizes = |n| {
            blocks(n)
                .into_iter()
                .map(NonZeroUsize::get)
                .collect::<Vec<_>>()
        };
        assert_eq!(sizes(1024), (0..=10).map(|k| 1 << k).collect::<Vec<_>>());
        assert_eq!(sizes(100_000).last(), Some(&65_536));
    }
}
