//! The common parts of all contests: options, rounds of visits, and figures.

use crate::output::{Format, Output};
use crate::stats::{Series, Summary, least};
use crate::table::{figure, spread, table};
use anyhow::{Result, bail};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;

/// The options of every contest.
#[derive(Args)]
pub struct Options {
    /// Runs fewer rounds, and fewer cases in the contests that have many
    #[arg(long)]
    pub quick: bool,
    /// The number of rounds, instead of the default of the contest. Each round visits each peer once for each case
    #[arg(long, value_parser = count(), alias = "runs")]
    pub rounds: Option<usize>,
    /// Prints tables for people, or all rows as JSON
    #[arg(long, default_value = "text")]
    format: Format,
    /// The folder of the CSV file
    #[arg(long, default_value = "out", value_name = "DIR")]
    out: PathBuf,
}

impl Options {
    /// The number of rounds: the option if given, or `quick` for a first look, or `many`.
    pub fn rounds(&self, many: usize, quick: usize) -> usize {
        self.rounds.unwrap_or(if self.quick { quick } else { many })
    }

    /// Begins a contest of `rounds` rounds. Its CSV is called `name`; `line` states the unit.
    ///
    /// # Errors
    ///
    /// If the file cannot be made.
    pub fn begin(&self, name: &str, rounds: usize, line: &str) -> Result<Contest> {
        let output = Output::new(&self.out, name, self.format)?;
        let cpus = std::thread::available_parallelism()?;
        output.say(&format!("{cpus} CPUs, {rounds} rounds; {line}"));
        if cfg!(debug_assertions) {
            output.say("built without --release: the numbers of the Rust peers mean little");
        }
        Ok(Contest {
            output,
            rounds,
            random: fastrand::Rng::with_seed(1),
            failed: 0,
        })
    }
}

/// Parses a number of at least 1.
pub fn count() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=1_000_000)
}

/// Parses a number of threads.
pub fn threads() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=1_024)
}

/// Refuses a name in `asked` that is not in `known`.
///
/// # Errors
///
/// Names the `flag`, the unknown name, its `kind`, and all known names.
pub fn all_known(flag: &str, kind: &str, asked: &[String], known: &[&str]) -> Result<()> {
    match asked.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(unknown) => bail!(
            "{flag}: there is no {kind} `{unknown}`; expected some of {}",
            known.join(", ")
        ),
    }
}

/// Whether a list such as `--peers` selects a name: it is empty, or contains the name.
pub fn takes(asked: &[String], name: &str) -> bool {
    asked.is_empty() || asked.iter().any(|one| one == name)
}

/// A contest that is under way.
pub struct Contest {
    pub output: Output,
    pub rounds: usize,
    pub random: fastrand::Rng,
    /// The number of failures of peers.
    pub failed: usize,
}

/// A column of the CSV: its name, and the peer's figure in it.
pub type Column = (&'static str, fn(&Figures<'_>) -> Value);

impl Contest {
    /// Removes the `missing` peers from `names`, and prints the reasons.
    pub fn skip(&self, names: &mut Vec<&str>, missing: impl Fn(&str) -> Option<String>) {
        names.retain(|name| {
            let why = missing(name);
            why.iter()
                .for_each(|why| self.output.say(&format!("skipped: {name}: {why}")));
            why.is_none()
        });
    }

    /// Visits all peers round by round, in a new random order each round. Returns the results of
    /// each peer's visits. `visit` receives the peer's index in `names`, and the round. A failing
    /// peer is reported and left out, since comparisons need its results in every round.
    ///
    /// # Errors
    ///
    /// If the `leader` fails: the others are divided by it.
    pub fn take_turns<'a, T>(
        &mut self,
        names: &[&'a str],
        leader: Option<&str>,
        mut visit: impl FnMut(usize, usize) -> Result<T>,
    ) -> Result<Vec<(&'a str, Vec<T>)>> {
        let mut seen: Vec<_> = names.iter().map(|_| Some(Vec::new())).collect();
        let mut order: Vec<_> = (0..names.len()).collect();
        for round in 0..self.rounds {
            self.random.shuffle(&mut order);
            for &peer in &order {
                let Some(visits) = &mut seen[peer] else {
                    continue;
                };
                match visit(peer, round) {
                    Ok(outcome) => visits.push(outcome),
                    Err(error) if leader == Some(names[peer]) => {
                        return Err(error.context(names[peer].to_owned()));
                    }
                    Err(error) => {
                        eprintln!("left out: {}: {error:#}", names[peer]);
                        self.failed += 1;
                        seen[peer] = None;
                    }
                }
            }
        }
        let whole = names.iter().zip(seen);
        Ok(whole
            .filter_map(|(&name, seen)| Some((name, seen?)))
            .collect())
    }

    /// Runs a case: visits all peers, prints a table, and writes a row for each peer, with the
    /// `case`, the peer, and the `columns`. A visit returns its samples.
    ///
    /// # Errors
    ///
    /// If the `leader` fails, or a row cannot be written.
    pub fn compare<'a>(
        &mut self,
        title: &str,
        case: &[(&str, Value)],
        names: &[&'a str],
        leader: &str,
        columns: &[Column],
        visit: impl FnMut(usize, usize) -> Result<Vec<f64>>,
    ) -> Result<Vec<Figures<'a>>> {
        let seen = self.take_turns(names, Some(leader), visit)?;
        let figures = Figures::of(seen, leader);
        self.show(title, &figures, leader);
        for it in &figures {
            let mut row = case.to_vec();
            row.push(("peer", it.name.into()));
            row.extend(columns.iter().map(|(name, figure)| (*name, figure(it))));
            self.output.cells(&row)?;
        }
        Ok(figures)
    }

    /// Prints a table of all peers' figures.
    pub fn show(&self, title: &str, figures: &[Figures<'_>], leader: &str) {
        let to = format!("ratio to {leader}");
        let header = [title, "median", "p10", "p90", "least", &to];
        let mut rows = table(header.map(str::to_owned).into());
        for it in figures {
            let Summary { median, p10, p90 } = it.all;
            let mut cells = vec![it.name.to_owned()];
            cells.extend([median, p10, p90, it.least].map(figure));
            cells.push(spread(it.ratio));
            rows.add_row(cells);
        }
        self.output.say(&format!("\n{rows}"));
    }

    /// Prints the rest of the output. The status is 1 if peers failed.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn end(self) -> Result<ExitCode> {
        self.output.end()?;
        Ok(match self.failed {
            0 => ExitCode::SUCCESS,
            failed => {
                eprintln!("peers that failed and were left out: {failed}");
                ExitCode::FAILURE
            }
        })
    }
}

/// The results of a peer's visits.
pub struct Figures<'a> {
    pub name: &'a str,
    /// Over all samples of all rounds.
    pub all: Summary,
    pub least: f64,
    /// The ratio to the leader's median in the same round, over the rounds.
    pub ratio: Summary,
    pub samples: usize,
    pub rounds: usize,
}

impl<'a> Figures<'a> {
    /// Summarises the samples of each peer's visits, also as ratios to the leader's.
    pub fn of(seen: Vec<(&'a str, Vec<Vec<f64>>)>, leader: &str) -> Vec<Self> {
        let series = |(name, rounds)| (name, Series { rounds });
        let seen: Vec<(&str, Series)> = seen.into_iter().map(series).collect();
        let leads = seen.iter().find(|(name, _)| *name == leader);
        let leads = leads.map_or_else(Series::default, |(_, series)| series.clone());
        let figures = |(name, series): &(&'a str, Series)| {
            let all = series.pooled();
            Self {
                name,
                all: Summary::of(&all),
                least: least(all.iter().copied()),
                ratio: Summary::of(&series.ratios_to(&leads)),
                samples: all.len(),
                rounds: series.rounds.len(),
            }
        };
        seen.iter().map(figures).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_take_turns_until_they_fail() {
        let options = Options {
            quick: false,
            rounds: None,
            format: Format::Json,
            out: std::env::temp_dir(),
        };
        let name = format!("peers-contest-{}", std::process::id());
        let mut contest = options.begin(&name, 4, "").unwrap();
        let visit = |peer, round| match (peer, round) {
            (1, 2) => bail!("it fell"),
            _ => Ok((peer, round)),
        };
        let names = ["first", "second", "third"];
        let seen = contest.take_turns(&names, Some("first"), visit).unwrap();
        let rounds = |peer| (0..4).map(|round| (peer, round)).collect::<Vec<_>>();
        assert_eq!(seen, [("first", rounds(0)), ("third", rounds(2))]);
        assert_eq!(contest.failed, 1);
        let failed = contest.take_turns(&names, Some("second"), visit);
        assert_eq!(format!("{:#}", failed.unwrap_err()), "second: it fell");
        std::fs::remove_file(options.out.join(name).with_extension("csv")).unwrap();
    }

    #[test]
    fn ratios_are_to_the_leader_in_the_same_round() {
        let seen = vec![
            ("own", vec![vec![1.0], vec![10.0]]),
            ("other", vec![vec![2.0, 2.0], vec![20.0]]),
        ];
        let figures = Figures::of(seen, "own");
        assert_eq!(figures[0].ratio.median, 1.0);
        assert_eq!(figures[1].ratio.median, 2.0);
        assert_eq!((figures[1].samples, figures[1].rounds), (3, 2));
        assert_eq!(figures[1].least, 2.0);
    }
}
