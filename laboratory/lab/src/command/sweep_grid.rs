//! The grid of a sweep: its points, and the records of its journal.

use super::versus::Versus;
use crate::cli::StudyArgs;
use crate::failure::bad_input;
use crate::measure::journal;
use crate::study::Findings;
use crate::study::compared::Compared;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The most points of a sweep.
const MOST_POINTS: usize = 100_000;

/// The key of the orders of events.
pub(super) const ORDER: &str = "order";
/// The key of the seeds.
pub(super) const SEED: &str = "seed";

/// A line of a sweep's journal. The first line is the grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Record {
    Grid(Grid),
    Point(Point),
}

/// The grid of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Grid {
    pub(super) study: String,
    /// Those flags of the command that all points have in common.
    pub(super) asked: Value,
    pub(super) keys: Vec<String>,
    /// The values of each point, in the order of the keys.
    pub(super) points: Vec<Vec<String>>,
    /// The rows with which all other rows are compared.
    #[serde(default)]
    pub(super) versus: Option<Versus>,
    /// The hash of everything that decides what the points measure, including the files that flags name.
    #[serde(default)]
    pub(super) questions: String,
}

/// The measurements at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) number: usize,
    /// The hash of all simulations of the point, or `None` if the point was measured natively.
    pub(super) hash: Option<String>,
    pub(super) csv: String,
    /// The times that the study's sentence (its finding in words) compares.
    #[serde(default)]
    pub(super) compared: Option<Compared>,
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

impl Grid {
    pub(super) fn new(args: &StudyArgs) -> anyhow::Result<Self> {
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
            super::study::refuse_seed(args)?;
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
    pub(super) fn at(&self, args: &StudyArgs, values: &[String]) -> anyhow::Result<StudyArgs> {
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
    pub(super) fn order(&self, values: &[String]) -> Option<u64> {
        let at = self.keys.iter().position(|key| key == ORDER)?;
        values[at].parse().ok()
    }

    /// Refuses two points that ask the same question. They would have one journal of the study.
    pub(super) fn refuse_equal(&self, questions: &[String]) -> anyhow::Result<()> {
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
}
