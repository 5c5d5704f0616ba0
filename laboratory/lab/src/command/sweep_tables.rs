//! The tables of a sweep, made from its measured points.

use super::intervals::{self, Rows};
use super::sweep_grid::{Grid, ORDER, Points, SEED};
use crate::cli::Format;
use crate::failure::bad_input;
use crate::measure::journal::{self, Measurer};
use crate::report::columns;
use crate::report::files::OutFolder;
use crate::study;
use crate::study::compared::{Compared, Sentence};
use serde_json::json;

impl Grid {
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
