//! A study's result in one sentence: the times that the sentence compares, and the findings that their intervals
//! support.
//!
//! Samples with the same index are a pair: they come from the same order of events (a seed of random delays:
//! `order.rs`) or, in native runs, from the same round.

use super::unit::Unit;
use crate::measure::ratio::{Ratio, Side};
use crate::measure::statistics::{geometric_mean, median};
use crate::report::words::{fixed, more_or_less};
use serde::{Deserialize, Serialize};

/// Makes the sentence of a study from its times.
pub(crate) type SentenceOf = fn(&Compared) -> Sentence;

/// A finding in words, and the ratios that support it. Each ratio has the bound that the sentence compares it with.
pub(crate) struct Sentence {
    pub(crate) text: String,
    pub(crate) ratios: Vec<(Ratio, f64)>,
}

/// All times of one sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Compared {
    /// The sentence's first words, such as "On 64 cores".
    pub(super) place: String,
    pub(super) unit: Unit,
    pub(super) is_simulated: bool,
    pub(super) cells: Vec<ComparedCell>,
}

/// The times of alternatives that do the same work, by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ComparedCell {
    pub(super) name: String,
    times: Vec<(String, Vec<f64>)>,
}

impl Sentence {
    /// Whether more samples would hardly change the sentence.
    pub(crate) fn is_decided(&self) -> bool {
        let mut ratios = self.ratios.iter();
        ratios.all(|(ratio, bound)| ratio.is_narrow(*bound))
    }
}

impl Compared {
    pub(super) fn new(place: String, unit: Unit, is_simulated: bool) -> Self {
        Self {
            place,
            unit,
            is_simulated,
            cells: Vec::new(),
        }
    }

    /// Adds a cell. Leaves out names without samples.
    pub(super) fn add(
        &mut self,
        name: impl Into<String>,
        times: impl Iterator<Item = (String, Vec<f64>)>,
    ) {
        let is_known = |time: &(String, Vec<f64>)| {
            !time.1.is_empty() && time.1.iter().all(|&time| time.is_finite() && time > 0.0)
        };
        self.cells.push(ComparedCell {
            name: name.into(),
            times: times.filter(is_known).collect(),
        });
    }

    /// Joins the comparisons of several orders of events. Returns `None` if there is no order.
    pub(crate) fn joined(orders: impl IntoIterator<Item = Self>) -> Option<Self> {
        orders.into_iter().reduce(|mut all, order| {
            let cells = all.cells.iter_mut().zip(order.cells);
            for (cell, other) in cells {
                // A time that is missing in one order has no pair, so it is left out.
                cell.times.retain_mut(|(name, times)| {
                    let more = other.times(name);
                    times.extend(more.into_iter().flatten());
                    more.is_some()
                });
            }
            all
        })
    }

    /// Each sample, with its cell and name.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &str, f64)> {
        self.cells.iter().flat_map(|cell| {
            let times = cell.times.iter();
            times.flat_map(|(name, times)| times.iter().map(|&time| (&*cell.name, &**name, time)))
        })
    }

    /// The number of samples of the alternative with the fewest samples.
    fn samples(&self) -> usize {
        let times = self.cells.iter().flat_map(|cell| &cell.times);
        times.map(|time| time.1.len()).min().unwrap_or(0)
    }

    /// The end of a sentence, which states its number of samples.
    pub(super) fn ground(&self) -> String {
        match (self.samples(), self.is_simulated) {
            (0, _) => String::new(),
            (1, true) => " (one order of events)".into(),
            (1, false) => " (one run)".into(),
            (count, true) => format!(" (95% intervals of {count} orders)"),
            (count, false) => format!(" (95% intervals of {count} rounds)"),
        }
    }

    /// The time of `thing` divided by the time of `base`, as a geometric mean over the cells that have both.
    pub(super) fn mean_ratio(&self, thing: &str, base: &str) -> Option<Ratio> {
        self.chosen_ratio(thing, base, 1)
    }

    /// As [`mean_ratio`](Self::mean_ratio), if one of the two was chosen as the best of `candidates`.
    pub(super) fn chosen_ratio(&self, thing: &str, base: &str, candidates: usize) -> Option<Ratio> {
        let cells = self.cells.iter();
        let logs: Vec<Vec<f64>> = cells.filter_map(|cell| cell.logs(thing, base)).collect();
        let count = logs.iter().map(Vec::len).min()?;
        let mean = |at| logs.iter().map(|logs| logs[at]).sum::<f64>() / logs.len() as f64;
        Ratio::of_chosen(&(0..count).map(mean).collect::<Vec<_>>(), candidates)
    }

    /// All names, by first occurrence in the cells.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for (name, _) in self.cells.iter().flat_map(|cell| &cell.times) {
            if !names.contains(&&**name) {
                names.push(&**name);
            }
        }
        names
    }
}

impl ComparedCell {
    pub(super) fn times(&self, name: &str) -> Option<&[f64]> {
        let mut all = self.times.iter();
        all.find(|time| time.0 == name).map(|time| &*time.1)
    }

    /// The geometric mean of a name's times.
    pub(super) fn middle(&self, name: &str) -> Option<f64> {
        Some(geometric_mean(self.times(name)?.iter().copied()))
    }

    /// The median of a name's times.
    pub(super) fn median(&self, name: &str) -> Option<f64> {
        Some(median(self.times(name)?.iter().copied()))
    }

    fn logs(&self, thing: &str, base: &str) -> Option<Vec<f64>> {
        let pairs = self.times(thing)?.iter().zip(self.times(base)?);
        Some(pairs.map(|(a, b)| (a / b).ln()).collect())
    }

    /// The time of `thing` divided by the time of `base`.
    pub(super) fn ratio(&self, thing: &str, base: &str) -> Option<Ratio> {
        self.chosen_ratio(thing, base, 1)
    }

    /// As [`ratio`](Self::ratio), if the cell, or one of the two names, was chosen as the best or worst of `candidates`.
    pub(super) fn chosen_ratio(&self, thing: &str, base: &str, candidates: usize) -> Option<Ratio> {
        Ratio::of_chosen(&self.logs(thing, base)?, candidates)
    }

    /// The names that `is_wanted` accepts, the fastest first.
    pub(super) fn ranked(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<&str> {
        let names = self.times.iter().map(|time| &*time.0);
        let wanted = names.filter(|name| is_wanted(name));
        let mut all: Vec<(&str, f64)> = wanted
            .filter_map(|name| Some((name, self.middle(name)?)))
            .collect();
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        all.into_iter().map(|each| each.0).collect()
    }
}

/// States the difference of a ratio from 1, if the ratio's interval shows one. Then the words have the sign, and the ends
/// of the interval have none.
pub(super) fn difference(ratio: Ratio) -> String {
    let side = ratio.side(1.0);
    let ends = ratio.interval.map(|ends| {
        let [low, high] = ends.map(|end| 100.0 * (end - 1.0));
        let [low, high] = match side {
            Side::Below => [-high, -low],
            Side::Above | Side::NotShown => [low, high],
        };
        format!(" ({} to {}%)", fixed(low, 1), fixed(high, 1))
    });
    let ends = ends.unwrap_or_default();
    match side {
        Side::NotShown => format!("no difference is shown{ends}"),
        Side::Below | Side::Above => more_or_less(ratio.mean - 1.0) + &ends,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(a: f64, b: f64) -> Compared {
        let mut compared = Compared::new("On 2 cores".into(), Unit::Cycles, true);
        let times = [("a", a), ("b", b), ("nothing", 0.0)];
        let times = times.map(|(name, time)| (name.to_owned(), vec![time]));
        compared.add("cell", times.into_iter());
        compared
    }

    #[test]
    fn orders_are_joined_and_paired() {
        let one = order(10.0, 20.0);
        assert_eq!(one.ground(), " (one order of events)");
        assert_eq!(difference(one.mean_ratio("a", "b").unwrap()), "50.0% less");
        let orders = [(10.0, 20.0), (100.0, 201.0), (30.0, 60.0)];
        let all = Compared::joined(orders.map(|(a, b)| order(a, b))).unwrap();
        assert_eq!(all.ground(), " (95% intervals of 3 orders)");
        let ratio = all.mean_ratio("a", "b").unwrap();
        assert_eq!(difference(ratio), "50.1% less (49.7 to 50.4%)");
        assert!(ratio.is_narrow(1.0));
        assert_eq!(all.cells[0].ranked(|_| true), ["a", "b"]);
    }

    #[test]
    fn a_difference_that_the_interval_does_not_show_is_not_claimed() {
        let orders = [(10.0, 20.0), (21.0, 20.0), (15.0, 14.0)];
        let all = Compared::joined(orders.map(|(a, b)| order(a, b))).unwrap();
        let text = difference(all.mean_ratio("a", "b").unwrap());
        assert!(text.starts_with("no difference is shown (-"), "{text}");
        let of = |mean, low, high| {
            let interval = Some([low, high]);
            difference(Ratio { mean, interval })
        };
        assert_eq!(
            of(1.0, 0.9999, 1.0001),
            "no difference is shown (0.0 to 0.0%)"
        );
        assert_eq!(of(0.9, 0.8, 0.9999), "10.0% less (0.0 to 20.0%)");
        assert_eq!(of(1.1, 1.0001, 1.2), "10.0% more (0.0 to 20.0%)");
    }
}
