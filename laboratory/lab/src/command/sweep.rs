//! `manycore study NAME --sweep KEY=A,B` and `--orders N`: one study at every point of a grid, in one table.
//!
//! A point is the study with one value for each swept key. The orders of events (seeds of random delays:
//! `study/order.rs`) are the values of one more key. Measurements go to a journal, a file with a line for each point. A
//! process that is killed loses only the current point, and the same command continues with that point. With
//! `--shard I/N` a process measures only every Nth point. `manycore merge` makes the table from the journals of all
//! shards.

use super::intervals::{self, Rows};
use super::sweep_points::SweepPoints;
use super::versus::Versus;
use crate::cli::{Format, StudyArgs};
use crate::failure::bad_input;
use crate::measure::journal::{self, Journal, Measurer};
use crate::report::columns;
use crate::report::files::OutFolder;
use crate::shard::Shard;
use crate::study::Findings;
use crate::study::compared::{Compared, Sentence};
use crate::study::{self, order};
use crate::world::World;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The most points of a sweep.
const MOST_POINTS: usize = 100_000;

/// The key of the orders of events.
const ORDER: &str = "order";
/// The key of the seeds.
const SEED: &str = "seed";

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
    /// Those flags of the command that all points have in common.
    asked: Value,
    keys: Vec<String>,
    /// The values of each point, in the order of the keys.
    points: Vec<Vec<String>>,
    /// The rows with which all other rows are compared.
    #[serde(default)]
    versus: Option<Versus>,
    /// The hash of everything that decides what the points measure, including the files that flags name.
    #[serde(default)]
    questions: String,
}

/// The measurements at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) number: usize,
    /// The hash of all simulations of the point, or `None` if the point was measured natively.
    hash: Option<String>,
    csv: String,
    /// The times that the study's sentence (its finding in words) compares.
    #[serde(default)]
    compared: Option<Compared>,
}

impl Point {
    pub(super) fn of(number: usize, findings: &Findings) -> Self {
        Self {
            number,
            hash: findings.meta["hash"].as_str().map(str::to_owned),
            csv: findings.csv.clone(),
            compared: findings.compared.clone(),
        }
    }
}

/// The measured points, by their numbers.
pub(super) type Points = BTreeMap<usize, Point>;

/// Measures the points that are not in the journal yet.
pub(super) fn run(args: &StudyArgs) -> anyhow::Result<()> {
    if args.instruments.stats || args.instruments.timeline.is_some() {
        return Err(bad_input(
            "--stats and --timeline: they work only for a single run; expected neither of them \
            with --sweep or --orders",
        ));
    }
    let mut grid = Grid::new(args)?;
    let until = args.orders.is_some_and(|orders| orders.until);
    if until && args.shard.is_some() {
        return Err(bad_input(
            "--orders until:N: the number of orders depends on the results of all points; \
            expected no --shard",
        ));
    }
    let mut plans = Vec::new();
    let mut is_native = false;
    // All points are checked before the first is measured.
    for values in &grid.points {
        let at = grid.at(args, values)?;
        let home = study::find(&at.name)?.home_with(&at.set);
        if args.orders.is_some() && at.on.as_deref().unwrap_or(home) == "native" {
            return Err(bad_input(
                "--orders: only a simulated run can be repeated under another order; expected a \
                simulated machine, --on PRESET",
            ));
        }
        let (study, mut request) = super::study::request(&at)?;
        if let (Some(order), World::Simulated(machine)) = (grid.order(values), &request.world) {
            request.world = World::Simulated(Box::new(order::required(machine, order)?));
        }
        is_native |= matches!(request.world, World::Native);
        plans.push(study.plan(&request)?);
    }
    let questions = plans.iter().map(|plan| plan.question_hash());
    let questions = questions.collect::<anyhow::Result<Vec<_>>>()?;
    grid.refuse_equal(&questions)?;
    grid.questions = journal::hash(&questions)?;
    let measurer = match is_native {
        true => Measurer::native(),
        false => Measurer::simulated(),
    };
    let out = OutFolder::prepare(&args.effort.out)?;
    let file = grid.file()?;
    let name = format!("{file}.journal");
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
    let measured = SweepPoints {
        grid: &grid,
        plans: &plans,
        shard: args.shard.unwrap_or(Shard { index: 1, all: 1 }),
        is_native,
        until,
        out: &out,
    };
    let end = measured.measure(&mut points, &mut journal)?;
    grid = grid.until(end);
    points.retain(|&number, _| number < end);
    if points.len() < grid.points.len() {
        return super::output::print(&format!(
            "{} of {} points are in {}; `manycore merge` makes a table from the journals of all \
            shards",
            points.len(),
            grid.points.len(),
            journal.path().display()
        ));
    }
    grid.finish(&file, &points, &measurer, &out, args.format)?;
    // `merge` reads the journals of shards.
    match args.shard {
        Some(_) => Ok(()),
        None => journal.remove(),
    }
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
            if key == ORDER {
                return Err(wrong("orders cannot be swept; expected --orders N"));
            }
            if keys.iter().any(|other| other == key) || args.set.iter().any(is_set) {
                return Err(wrong("this key has values already; expected another key"));
            }
            let values: Vec<&str> = values.split(',').map(str::trim).collect();
            let twice = (1..values.len()).any(|at| values[..at].contains(&values[at]));
            if twice || values.contains(&"") {
                return Err(wrong("expected values that differ and are not empty"));
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
        if let Some(orders) = args.orders {
            let until = orders.until;
            let orders = orders.first..=orders.last;
            let set = args.set.iter().chain(&args.sweep);
            let mut set = set.filter_map(|pair| pair.split('=').next());
            if set.any(|key| key.trim() == order::SEED) {
                return Err(bad_input(format!(
                    "--orders: each order sets {0}; expected no {0} in --set or --sweep",
                    order::SEED
                )));
            }
            if args.name == "peers" {
                return Err(bad_input(
                    "--orders: the study peers has a setting for the orders; expected --set \
                    orders=N",
                ));
            }
            if points.len() * orders.clone().count() > MOST_POINTS {
                return Err(bad_input(format!(
                    "--orders: more than {MOST_POINTS} points; expected fewer"
                )));
            }
            if until {
                // The order is the first key, so that all points of one order come before the next order.
                keys.insert(0, ORDER.to_owned());
                let each = |order: u64| {
                    let with = |point: &Vec<String>| [&[order.to_string()], &point[..]].concat();
                    points.iter().map(with).collect::<Vec<_>>()
                };
                points = orders.flat_map(each).collect();
            } else {
                keys.push(ORDER.to_owned());
                let each = |point: Vec<String>| {
                    let with = |order: u64| [&point[..], &[order.to_string()]].concat();
                    orders.clone().map(with).collect::<Vec<_>>()
                };
                points = points.into_iter().flat_map(each).collect();
            }
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
            versus: args.versus.as_deref().map(Versus::parse).transpose()?,
            questions: String::new(),
        })
    }

    /// Returns the arguments that a user would type for one point, without its order.
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
                ORDER => {}
                _ => at.set.push(format!("{key}={value}")),
            }
        }
        Ok(at)
    }

    /// The order of events of one point.
    fn order(&self, values: &[String]) -> Option<u64> {
        let at = self.keys.iter().position(|key| key == ORDER)?;
        values[at].parse().ok()
    }

    /// Refuses two points that ask the same question. They would have one journal of the study.
    fn refuse_equal(&self, questions: &[String]) -> anyhow::Result<()> {
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for (number, question) in questions.iter().enumerate() {
            if let Some(other) = known.insert(question, number) {
                return Err(bad_input(format!(
                    "the points {} and {} measure the same; expected values that differ",
                    self.name(other),
                    self.name(number)
                )));
            }
        }
        Ok(())
    }

    /// The number of points.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns the grid with only its points before number `end`.
    pub(super) fn until(&self, end: usize) -> Self {
        let mut grid = self.clone();
        grid.points.truncate(end);
        grid
    }

    /// The number of points that have the first point's order.
    pub(super) fn points_of_an_order(&self) -> usize {
        let place = self.keys.iter().position(|key| key == ORDER);
        let order = |point: &Vec<String>| place.map(|at| point[at].clone());
        let first = self.points.first().map(order);
        let same = self
            .points
            .iter()
            .filter(|point| Some(order(point)) == first);
        same.count()
    }

    /// Returns the name of a point in messages.
    pub(super) fn name(&self, number: usize) -> String {
        let values = self.points.get(number).into_iter().flatten();
        let pairs = self.keys.iter().zip(values);
        let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={value}")).collect();
        pairs.join(", ")
    }

    /// Returns the prefix of the name of the journal, and of the names of the tables that no other sweep replaces.
    pub(super) fn file(&self) -> anyhow::Result<String> {
        Ok(format!(
            "{}.sweep-{}",
            self.study,
            &journal::hash(self)?[..8]
        ))
    }

    /// Writes the tables of all points, which `measurer` measured. Prints the first table, or the paths of all tables.
    pub(super) fn finish(
        &self,
        kept: &str,
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
                "{} of {} points are missing, the first of them {}; expected the journals of all \
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
        let means = self.means(points);
        let ratios = self.ratios(points)?;
        let mut columns = json!({ "csv": columns::units(&table)? });
        let mut files = vec![("csv", table.clone())];
        if let Ok(Some((ending, means))) = &means {
            columns[*ending] = columns::units(means)?.into();
            files.push((ending, means.clone()));
        }
        if let Some(ratios) = &ratios {
            let ratios = ratios.to_csv()?;
            columns["ratios.csv"] = columns::units(&ratios)?.into();
            files.push(("ratios.csv", ratios));
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
        let mut told = format!("{} points; hash of all simulations: {hash}", points.len());
        for (ending, contents) in files {
            let kept = out.write(&format!("{kept}.{ending}"), &contents)?;
            let latest = out.write(&format!("{}.sweep.{ending}", self.study), &contents)?;
            let what = match ending {
                "seeds.csv" => ": means over the seeds, and their 95% intervals",
                "orders.csv" => ": means over the orders, and their 95% intervals",
                _ => "",
            };
            let (kept, latest) = (kept.display(), latest.display());
            told += &format!("\nwrote {kept}, and a copy as {latest}{what}");
        }
        let sentences = self.sentences(points)?;
        for (at, sentence) in &sentences {
            told += &format!("\n{at}{}", sentence.text);
        }
        if let Err(why) = &means {
            told += &format!("\n{why}");
        }
        if let Some(ratios) = &ratios {
            told = format!("{}\n{told}", ratios.to_text());
        }
        super::output::print(&match format {
            Format::Csv => table,
            Format::Json => serde_json::to_string_pretty(&json!({
                "study": self.study,
                "asked": self.asked,
                "keys": self.keys,
                "points": self.points,
                "hash": hash,
                "csv": table,
                "sentences": sentences.iter().map(|(at, one)| format!("{at}{}", one.text)).collect::<Vec<_>>(),
                "means_csv": means.ok().flatten().map(|(_, means)| means),
                "ratios_csv": ratios.map(|ratios| ratios.to_csv()).transpose()?,
            }))?,
            Format::Table => told,
        })
    }

    /// Returns the key that distinguishes samples of one point: the orders, or the seeds. Returns `None` if each
    /// point has one sample.
    fn samples(&self) -> Option<usize> {
        let place = |name: &str| self.keys.iter().position(|key| key == name);
        let key = place(ORDER).or_else(|| place(SEED))?;
        let first = &self.points[0][key];
        (self.points.iter().any(|values| values[key] != *first)).then_some(key)
    }

    /// Returns the header, and the rows of each point without the column of the key `sample`.
    fn rows(&self, points: &Points, sample: usize) -> anyhow::Result<(Vec<String>, Vec<Rows>)> {
        let mut header = Vec::new();
        let mut runs = Vec::new();
        for (values, point) in self.points.iter().zip(points.values()) {
            let mut reader = csv::Reader::from_reader(point.csv.as_bytes());
            header = reader.headers()?.iter().map(str::to_owned).collect();
            let mut point = values.clone();
            point.remove(sample);
            let rows = reader.deserialize().collect::<Result<_, _>>()?;
            runs.push(Rows { point, rows });
        }
        Ok((header, runs))
    }

    /// Returns all keys except the key number `sample`.
    fn keys_but(&self, sample: usize) -> Vec<&str> {
        let keys = self.keys.iter().enumerate();
        keys.filter(|&(at, _)| at != sample)
            .map(|(_, key)| key.as_str())
            .collect()
    }

    /// Returns the table of [`intervals`], and the ending of its file. Returns `None` if each point has one sample.
    fn means(&self, points: &Points) -> anyhow::Result<Option<(&'static str, String)>> {
        let Some(sample) = self.samples() else {
            return Ok(None);
        };
        let (ending, count) = match self.keys[sample] == ORDER {
            true => ("orders.csv", "orders"),
            false => ("seeds.csv", "seeds"),
        };
        let (header, runs) = self.rows(points, sample)?;
        let table = intervals::table(&self.keys_but(sample), count, &header, &runs)?;
        Ok(Some((ending, table)))
    }

    /// Returns the study's sentence at each point, over all orders. Without orders, returns an empty list.
    fn sentences(&self, points: &Points) -> anyhow::Result<Vec<(String, Sentence)>> {
        let place = self.keys.iter().position(|key| key == ORDER);
        let (Some(sample), Some(sentence)) = (place, study::find(&self.study)?.sentence()) else {
            return Ok(Vec::new());
        };
        let mut all: Vec<(String, Vec<Compared>)> = Vec::new();
        for (number, point) in points {
            let values = self.keys.iter().zip(&self.points[*number]).enumerate();
            let others = values.filter(|&(at, _)| at != sample);
            let at: String = others
                .map(|(_, (key, value))| format!("{key}={value}: "))
                .collect();
            let compared = point.compared.clone();
            match all.iter_mut().find(|(other, _)| *other == at) {
                Some((_, same)) => same.extend(compared),
                None => all.push((at, compared.into_iter().collect())),
            }
        }
        let said = all
            .into_iter()
            .filter_map(|(at, orders)| Some((at, sentence(&Compared::joined(orders)?))));
        Ok(said.collect())
    }

    /// Whether more orders would not change a finding.
    pub(super) fn is_decided(&self, points: &Points) -> anyhow::Result<bool> {
        if let Some(ratios) = self.ratios(points)? {
            return Ok(ratios.are_decided());
        }
        let sentences = self.sentences(points)?;
        Ok(!sentences.is_empty() && sentences.iter().all(|(_, sentence)| sentence.is_decided()))
    }

    /// Computes the ratios that the user requests with `--versus`.
    fn ratios(&self, points: &Points) -> anyhow::Result<Option<super::versus::Ratios>> {
        let (Some(versus), Some(sample)) = (&self.versus, self.samples()) else {
            return Ok(None);
        };
        let (header, runs) = self.rows(points, sample)?;
        versus
            .ratios(&self.keys_but(sample), &header, &runs)
            .map(Some)
    }

    /// Returns the table of the study's rows at all points. The swept keys are the first columns.
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
