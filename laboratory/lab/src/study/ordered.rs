//! Measures, under several orders of events (seeds of random delays: `order.rs`), the times that a study's sentence
//! (its finding in words) compares.

use super::compared::{Compared, SentenceOf};
use super::order::{self, Orders};
use super::{Comparison, Findings, Plan, Request, Study};
use crate::measure::journal::{self, Journal};
use crate::measure::side_by_side;
use crate::report::files::OutFolder;
use crate::report::{columns, csv};
use crate::world::World;
use serde::Serialize;
use serde_json::json;

/// With fewer orders no finding counts as decided.
pub(crate) const FEWEST: usize = 3;

/// The comparison of a study's sentence: one plan for each order.
pub(crate) struct Ordered {
    sentence: SentenceOf,
    plans: Vec<(u64, Box<dyn Plan>)>,
    /// Whether to stop as soon as the orders decide the sentence.
    until: bool,
}

/// A line of `NAME.orders.csv`: one time.
#[derive(Serialize)]
struct OrderedTime<'a> {
    order: u64,
    /// Times with the same cell are times of the same work.
    cell: &'a str,
    name: &'a str,
    time: f64,
    unit: &'static str,
}

impl Ordered {
    /// Returns `None` if the study's sentence compares no times, or if there is only one order. This host and a machine
    /// with perturbation 0 have one order.
    pub(crate) fn new(
        study: &dyn Study,
        request: &Request,
        orders: Orders,
    ) -> anyhow::Result<Option<Self>> {
        let (Some(sentence), World::Simulated(machine)) = (study.sentence(), &request.world) else {
            return Ok(None);
        };
        let mut plans = Vec::new();
        for order in orders.first..=orders.last {
            let Some(machine) = order::config(machine, order) else {
                return Ok(None);
            };
            let world = World::Simulated(Box::new(machine));
            let request = Request {
                world,
                ..request.clone()
            };
            plans.push((order, study.plan(&request)?));
        }
        Ok(Some(Self {
            sentence,
            plans,
            until: orders.until,
        }))
    }

    /// Measures, and puts the sentence over all orders into the figure and the summary. The tables and the figure's
    /// numbers come from the machine without perturbation. The hash of all simulations then covers the orders too.
    /// Returns the journals.
    pub(crate) fn measure(
        &self,
        findings: &mut Findings,
        out: &OutFolder,
    ) -> anyhow::Result<Vec<Journal>> {
        let (mut journals, mut hashes, mut done) = (Vec::new(), Vec::new(), Vec::new());
        let host = side_by_side::host()?;
        let at_once = if self.until {
            host.threads()
        } else {
            self.plans.len()
        };
        let mut is_decided = false;
        for some in self.plans.chunks(at_once.max(1)) {
            let found = side_by_side::side_by_side(host, some.len(), |at| some[at].1.compare(out));
            for ((order, _), found) in some.iter().zip(found) {
                // Orders count one by one. So neither the host's number of threads, nor a later order that fails,
                // changes how many orders are enough.
                let Comparison {
                    compared,
                    hash,
                    journal,
                } = match found {
                    Err(_) if is_decided => continue,
                    found => found?,
                };
                journals.push(journal);
                if is_decided {
                    continue;
                }
                hashes.push(hash);
                if let Some(compared) = compared {
                    done.push((*order, compared));
                    is_decided = self.until && done.len() >= FEWEST && self.sentence_of(&done).1;
                }
            }
            if is_decided {
                break;
            }
        }
        findings.meta["hash"] = journal::hash(&(&findings.meta["hash"], &hashes))?.into();
        // A table without a row would have no header.
        if done
            .iter()
            .all(|(_, compared)| compared.all().next().is_none())
        {
            return Ok(journals);
        }
        let table = table(&done)?;
        findings.meta["orders"] = json!({
            "orders": done.iter().map(|(order, _)| order).collect::<Vec<_>>(),
            "hash": journal::hash(&hashes)?,
        });
        findings.meta["columns"]["orders.csv"] = columns::units(&table)?.into();
        findings.more.push(("orders.csv", table));
        if let Some(shown) = findings.section.figures.first_mut() {
            shown.figure.message = self.sentence_of(&done).0;
        }
        Ok(journals)
    }

    /// Returns the sentence over these orders, and whether more orders would hardly change it.
    fn sentence_of(&self, done: &[(u64, Compared)]) -> (String, bool) {
        let orders = done.iter().map(|(_, compared)| compared.clone());
        match Compared::joined(orders) {
            Some(all) => {
                let sentence = (self.sentence)(&all);
                let is_decided = sentence.is_decided();
                (sentence.text, is_decided)
            }
            None => (String::new(), false),
        }
    }
}

fn table(done: &[(u64, Compared)]) -> anyhow::Result<String> {
    let rows = done.iter().flat_map(|(order, compared)| {
        let unit = compared.unit.name();
        compared.all().map(move |(cell, name, time)| OrderedTime {
            order: *order,
            cell,
            name,
            time,
            unit,
        })
    });
    csv::text(&rows.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::find;
    use crate::study::settings::Settings;
    use std::collections::BTreeSet;
    use std::num::NonZeroUsize;

    fn request(set: &[&str], machine: &[&str]) -> (&'static dyn Study, Request) {
        let study = find("barrier").unwrap();
        let pairs: Vec<String> = set.iter().map(|&pair| pair.into()).collect();
        let mut config = manycore_chip::config::Config::preset("atac-64").unwrap();
        machine.iter().for_each(|pair| config.set(pair).unwrap());
        let (world, settings) = (
            World::Simulated(Box::new(config)),
            Settings::parse(&pairs, study.keys()).unwrap(),
        );
        let request = Request {
            cores: vec![NonZeroUsize::new(4).unwrap()],
            only: ["sense", "mcs", "channel"].map(String::from).into(),
            ..Request::plain(world, settings)
        };
        (study, request)
    }

    #[test]
    fn the_sentence_compares_all_orders_and_the_rest_stays() {
        let (study, request) = request(&["episodes=5", "beside=none"], &[]);
        let home = tempfile::tempdir().unwrap();
        let out = OutFolder::prepare(home.path()).unwrap();
        let plan = study.plan(&request).unwrap();
        let before = plan.measure(&out).unwrap();
        assert!(before.summary().contains("(one order of events)"));
        let under = |orders: &str| {
            let ordered = Ordered::new(study, &request, orders.parse().unwrap()).unwrap();
            let mut findings = plan.measure(&out).unwrap();
            let journals = ordered.unwrap().measure(&mut findings, &out).unwrap();
            (findings, journals)
        };
        let (after, journals) = under("3");
        assert!(after.summary().contains("(95% intervals of 3 orders)"));
        assert_eq!(after.csv, before.csv);
        // The hash is of the simulations of all orders.
        let hashes = [&before, &after, &under("2").0].map(|findings| {
            let summary = findings.summary();
            let hash = findings.meta["hash"].as_str().unwrap().to_owned();
            assert!(summary.contains(&hash), "{summary}");
            hash
        });
        assert_eq!(BTreeSet::from(hashes).len(), 3);
        let (ending, table) = &after.more[0];
        assert_eq!(*ending, "orders.csv");
        // Three barriers under three orders, on the compared number of cores only.
        assert_eq!(table.lines().count(), 1 + 3 * 3, "{table}");
        assert!(
            table
                .lines()
                .any(|row| row.starts_with("3,through memory,mcs,")),
            "{table}"
        );
        // Runs in the journals are not measured again.
        assert_eq!(journals.len(), 3);
        let again = under("3").0.meta;
        for name in ["orders", "hash"] {
            assert_eq!(again[name], after.meta[name]);
        }
        let until = under("until:40").0.meta;
        let count = until["orders"]["orders"].as_array().unwrap().len();
        assert!((FEWEST..40).contains(&count), "{count}");
    }

    #[test]
    fn a_machine_without_perturbation_has_one_order() {
        let (study, request) = request(&[], &["perturb=0"]);
        let ordered = Ordered::new(study, &request, "3".parse().unwrap());
        assert!(ordered.unwrap().is_none());
    }
}
