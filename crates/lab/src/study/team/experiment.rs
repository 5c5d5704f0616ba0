//! From a question about teams to a study's findings.

use super::measure::{Measured, measure};
use super::point::Point;
use super::setup::Setup;
use crate::measure::journal;
use crate::report::csv;
use crate::report::files::OutFolder;
use crate::report::host::Origin;
use crate::report::section::{Block, Section};
use crate::study::{Findings, Plan};
use serde::Serialize;
use serde_json::{Value, json};

/// What decides the points to be measured. Its hash names the journal.
pub(in crate::study) trait Question: Serialize {
    /// An observation: a line of the CSV file.
    type Row: Serialize;

    fn setup(&self) -> &Setup;

    fn points(&self) -> Vec<Point>;

    fn answer(&self, measured: &Measured) -> Answer<Self::Row>;
}

/// What was found.
pub(in crate::study) struct Answer<R> {
    pub(in crate::study) title: &'static str,
    pub(in crate::study) blocks: Vec<Block>,
    pub(in crate::study) summary: String,
    pub(in crate::study) rows: Vec<R>,
    pub(in crate::study) svg: String,
}

/// A question, ready to be measured.
pub(in crate::study) struct Experiment<Q> {
    pub(in crate::study) question: Q,
    /// Forget what the journal holds.
    pub(in crate::study) fresh: bool,
}

impl<Q: Question> Plan for Experiment<Q> {
    fn measure(&self, out: &OutFolder) -> anyhow::Result<Findings> {
        let setup = self.question.setup();
        let hash = journal::hash(&self.question)?;
        let points = self.question.points();
        let (measured, journal) = measure(setup, &points, &hash, self.fresh, out)?;
        let mut answer = self.question.answer(&measured);
        let mut meta = json!({
            "study": setup.study,
            "config": self.question,
            "config_hash": hash,
            "seed": setup.seed,
            "seconds": measured.seconds,
        });
        if setup.machines.is_host() {
            meta["origin"] = json!(Origin::native());
        } else {
            let hash = measured.hash()?;
            meta["origin"] = json!(Origin::simulated());
            meta["hashes"] = hashes(&measured);
            answer.summary += &format!("hash of all simulations: {hash}\n");
            meta["hash"] = json!(hash);
        }
        Ok(Findings {
            section: Section {
                title: answer.title.into(),
                blocks: answer.blocks,
            },
            summary: answer.summary,
            csv: csv::text(&answer.rows)?,
            more: Vec::new(),
            svg: answer.svg,
            json: json!({ "study": setup.study, "meta": meta, "rows": answer.rows }),
            meta,
            journal,
        })
    }
}

/// The fingerprint of each simulation.
fn hashes(measured: &Measured) -> Value {
    let all = measured.all.iter();
    let one = all.map(|summary| (summary.point.to_string(), summary.hash.clone().into()));
    one.collect::<serde_json::Map<_, _>>().into()
}
