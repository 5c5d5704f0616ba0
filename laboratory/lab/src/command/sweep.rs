//! `manycore study NAME --sweep KEY=A,B`: one study at every point of a grid, in one table.
//!
//! A point is the study with one value of each swept key. Measurements go to a journal, a line a
//! point: a process that is killed loses the current point, and the same command continues with it.
//! With `--shard I/N` a process measures every Nth point only; `manycore merge` makes the table
//! from the journals of all shards.

use super::intervals::{self, Rows};
use super::shard::Shard;
use crate::cli::{Format, StudyArgs};
use crate::failure::bad_input;
use crate::measure::journal::{self, Journal, Measurer};
use crate::report::columns;
use crate::report::files::OutFolder;
use crate::world::World;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The most points of a sweep.
const MOST_POINTS: usize = 100_000;

/// A line of a sweep's journal. The first line is the grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Record {
    Grid(Grid),
    Point(Point),
}

/// The grid of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Grid {
    study: String,
    /// The flags that all points have in common.
    asked: Value,
    keys: Vec<String>,
    /// The values of each point, in the order of the keys.
    points: Vec<Vec<String>>,
}

/// The measurements at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) number: usize,
    /// The hash of all simulations of the point; none if the point was measured natively.
    hash: Option<String>,
    csv: String,
}

/// Points by their numbers.
pub(super) type Points = BTreeMap<usize, Point>;

/// Measures the points that are not in the journal yet.
pub(super) fn run(args: &StudyArgs) -> anyhow::Result<()> {
    if args.instruments.stats || args.instruments.timeline.is_some() {
        return Err(bad_input(
            "--sweep: --stats and --timeline work for single runs; expected neither of them",
        ));
    }
    let grid = Grid::new(args)?;
    let mut plans = Vec::new();
    let mut measurer = Measurer::simulated();
    // All are checked before the first is measured.
    for values in &grid.points {
        let (study, request) = super::study::request(&grid.at(args, values)?)?;
        if matches!(request.world, World::Native) {
            measurer = Measurer::native();
        }
        plans.push(study.plan(&request)?);
    }
    let out = OutFolder::prepare(&args.effort.out)?;
    let name = format!("{}.journal", grid.file()?);
    let (mut journal, records) = Journal::open(out.path(&name), &measurer, args.fresh)?;
    if records.is_empty() {
        journal.append(&Record::Grid(grid.clone()))?;
    }
    let mut points = Points::new();
    for record in records {
        if let Record::Point(point) = record {
            points.insert(point.number, point);
        }
    }
    let shard = args.shard.unwrap_or(Shard { index: 1, all: 1 });
    for number in (shard.index - 1..grid.points.len()).step_by(shard.all) {
        if points.contains_key(&number) {
            continue;
        }
        eprintln!(
            "manycore: sweep, point {} of {}: {}",
            number + 1,
            grid.points.len(),
            grid.name(number)
        );
        let findings = plans[number].measure(&out)?;
        let point = Point {
            number,
            hash: findings.meta["hash"].as_str().map(str::to_owned),
            csv: findings.csv,
        };
        journal.append(&Record::Point(point.clone()))?;
        findings.journal.remove()?;
        points.insert(number, point);
    }
    if points.len() < grid.points.len() {
        return super::print(&format!(
            "{} of {} points are in {}; `manycore merge` makes a table of all shards' journals",
            points.len(),
            grid.points.len(),
            journal.path().display()
        ));
    }
    grid.finish(&points, &measurer, &out, args.format)
}

impl Grid {
    fn new(args: &StudyArgs) -> anyhow::Result<Self> {
        let mut keys: Vec<String> = Vec::new();
        let mut points = vec![Vec::new()];
        for sweep in &args.sweep {
            let wrong = |what: &str| bad_input(format!("--sweep {sweep}: {what}"));
            let (key, values) = sweep
                .split_once('=')
                .ok_or_else(|| wrong("expected KEY=A,B,..."))?;
            let key = key.trim();
            let is_set = |pair: &String| pair.split('=').next().map(str::trim) == Some(key);
            if keys.iter().any(|other| other == key) || args.set.iter().any(is_set) {
                return Err(wrong("this key has its values already; expected another"));
            }
            let values: Vec<&str> = values.split(',').map(str::trim).collect();
            let twice = (1..values.len()).any(|at| values[..at].contains(&values[at]));
            if twice || values.contains(&"") {
                return Err(wrong("expected values that differ, and none that is empty"));
            }
            if points.len() * values.len() > MOST_POINTS {
                return Err(wrong(&format!(
                    "more than {MOST_POINTS} points; expected fewer"
                )));
            }
            keys.push(key.to_owned());
            let each = points.iter().flat_map(|point: &Vec<String>| {
                let with = |value: &&str| [&point[..], &[(*value).to_owned()]].concat();
                values.iter().map(with).collect::<Vec<_>>()
            });
            points = each.collect();
        }
        Ok(Self {
            study: args.name.clone(),
            asked: json!({
                "on": args.on,
                "set": args.set,
                "threads": args.threads,
                "cores": args.cores,
                "only": args.only,
                "full": args.effort.full,
                "seed": args.effort.seed,
            }),
            keys,
            points,
        })
    }

    /// The arguments that a user would type for one point.
    fn at(&self, args: &StudyArgs, values: &[String]) -> anyhow::Result<StudyArgs> {
        let mut at = args.clone();
        for (key, value) in self.keys.iter().zip(values) {
            match key.as_str() {
                "on" => at.on = Some(value.clone()),
                "seed" => {
                    at.effort.seed = value.parse().map_err(|_| {
                        bad_input(format!("--sweep seed={value}: expected a whole number"))
                    })?;
                }
                _ => at.set.push(format!("{key}={value}")),
            }
        }
        Ok(at)
    }

    /// A point, for people.
    pub(super) fn name(&self, number: usize) -> String {
        let values = self.points.get(number).into_iter().flatten();
        let pairs = self.keys.iter().zip(values);
        let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={value}")).collect();
        pairs.join(", ")
    }

    /// The beginning of the names of its journal, and of the tables that no other sweep replaces.
    fn file(&self) -> anyhow::Result<String> {
        Ok(format!(
            "{}.sweep-{}",
            self.study,
            &journal::hash(self)?[..8]
        ))
    }

    /// Writes the tables of all points, which `measurer` measured, and prints the first or where
    /// they are.
    pub(super) fn finish(
        &self,
        points: &Points,
        measurer: &Measurer,
        out: &OutFolder,
        format: Format,
    ) -> anyhow::Result<()> {
        let missing: Vec<usize> = (0..self.points.len())
            .filter(|number| !points.contains_key(number))
            .collect();
        if let Some(&first) = missing.first() {
            return Err(bad_input(format!(
                "{} of {} points are missing, the first {}; expected the journals of all \
                 shards",
                missing.len(),
                self.points.len(),
                self.name(first)
            )));
        }
        let hashes: Vec<&str> = points
            .values()
            .filter_map(|point| point.hash.as_deref())
            .collect();
        let hash = journal::hash(&hashes)?;
        let table = self.table(points)?;
        let seeds = self.over_seeds(points);
        let mut columns = json!({ "csv": columns::units(&table)? });
        let mut files = vec![("csv", table.clone())];
        if let Ok(Some(seeds)) = &seeds {
            columns["seeds.csv"] = columns::units(seeds)?.into();
            files.push(("seeds.csv", seeds.clone()));
        }
        let meta = json!({
            "study": self.study,
            "asked": self.asked,
            "keys": self.keys,
            "points": self.points,
            "hash": hash,
            "measured_by": measurer,
            "columns": columns,
            "origin": measurer.origin(),
        });
        files.push(("meta.json", serde_json::to_string_pretty(&meta)? + "\n"));
        let kept = self.file()?;
        let mut told = format!("{} points; hash of all simulations: {hash}", points.len());
        for (ending, contents) in files {
            let kept = out.write(&format!("{kept}.{ending}"), &contents)?;
            let latest = out.write(&format!("{}.sweep.{ending}", self.study), &contents)?;
            let what = match ending {
                "seeds.csv" => ": means over the seeds, and their 95% intervals",
                _ => "",
            };
            let (kept, latest) = (kept.display(), latest.display());
            told += &format!("\nwrote {kept}, and the same as {latest}{what}");
        }
        if let Err(why) = &seeds {
            told += &format!("\n{why}");
        }
        super::print(&match format {
            Format::Csv => table,
            Format::Json => serde_json::to_string_pretty(&json!({
                "study": self.study,
                "asked": self.asked,
                "keys": self.keys,
                "points": self.points,
                "hash": hash,
                "csv": table,
                "seeds_csv": seeds.ok().flatten(),
            }))?,
            Format::Table => told,
        })
    }

    /// The table of [`intervals`]; none if only one seed is swept.
    fn over_seeds(&self, points: &Points) -> anyhow::Result<Option<String>> {
        let Some(seed) = self.keys.iter().position(|key| key == "seed") else {
            return Ok(None);
        };
        if (self.points.iter()).all(|values| values[seed] == self.points[0][seed]) {
            return Ok(None);
        }
        let mut header = Vec::new();
        let mut runs = Vec::new();
        for (values, point) in self.points.iter().zip(points.values()) {
            let mut reader = csv::Reader::from_reader(point.csv.as_bytes());
            header = reader.headers()?.iter().map(str::to_owned).collect();
            let mut point = values.clone();
            point.remove(seed);
            let rows = reader.deserialize().collect::<Result<_, _>>()?;
            runs.push(Rows { point, rows });
        }
        let keys = self.keys.iter().map(String::as_str);
        let keys: Vec<&str> = keys.filter(|&key| key != "seed").collect();
        Ok(Some(intervals::table(&keys, &header, &runs)?))
    }

    /// The study's rows at all points, behind the swept keys.
    fn table(&self, points: &Points) -> anyhow::Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut header = None;
        for (values, point) in self.points.iter().zip(points.values()) {
            let mut reader = csv::Reader::from_reader(point.csv.as_bytes());
            let columns = reader.headers()?.clone();
            if header.is_none() {
                let keys = self.keys.iter().map(|key| format!("sweep.{key}"));
                writer.write_record(keys.chain(columns.iter().map(str::to_owned)))?;
                header = Some(columns.clone());
            }
            anyhow::ensure!(
                header.as_ref() == Some(&columns),
                "the columns at {} differ from those at {}",
                self.name(point.number),
                self.name(0)
            );
            for row in reader.records() {
                let row = row?;
                writer.write_record(values.iter().map(String::as_str).chain(row.iter()))?;
            }
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }
}
