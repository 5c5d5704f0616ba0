//! From a question to a study's findings.

use super::Trial;
use super::measure::{Measured, measure};
use super::setup::Setup;
use crate::measure::journal;
use crate::report::csv;
use crate::report::files::OutFolder;
use crate::report::host::Origin;
use crate::report::section::{Block, Section};
use crate::study::settings::Key;
use crate::study::{Findings, Plan, Request, Study};
use serde::Serialize;
use serde_json::{Value, json};

/// What decides which trials are run. Its hash names the journal.
pub(in crate::study) trait Question: Serialize {
    type Trial: Trial;

    /// An observation: a line of the CSV file.
    type Row: Serialize;

    fn setup(&self) -> &Setup;

    fn trials(&self) -> Vec<Self::Trial>;

    fn answer(&self, measured: &Measured<Self::Trial>) -> Answer<Self::Row>;
}

/// What was found.
pub(in crate::study) struct Answer<R> {
    pub(in crate::study) title: &'static str,
    pub(in crate::study) blocks: Vec<Block>,
    pub(in crate::study) summary: String,
    pub(in crate::study) rows: Vec<R>,
    pub(in crate::study) svg: String,
    /// Further files, by what follows `NAME.` in theirs.
    pub(in crate::study) more: Vec<(&'static str, String)>,
}

/// A study that asks such questions.
#[derive(Debug)]
pub(in crate::study) struct Inquiry<Q> {
    pub(in crate::study) name: &'static str,
    pub(in crate::study) question: &'static str,
    pub(in crate::study) home: &'static str,
    pub(in crate::study) keys: &'static [Key],
    /// Checks what is asked.
    pub(in crate::study) ask: fn(&Request) -> anyhow::Result<Q>,
}

impl<Q: Question + 'static> Study for Inquiry<Q> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn question(&self) -> &'static str {
        self.question
    }

    fn home(&self) -> &'static str {
        self.home
    }

    fn keys(&self) -> &'static [Key] {
        self.keys
    }

    fn plan(&self, request: &Request) -> anyhow::Result<Box<dyn Plan>> {
        Ok(Box::new(Experiment {
            question: (self.ask)(request)?,
            fresh: request.fresh,
        }))
    }
}

/// A question, ready to be measured.
struct Experiment<Q> {
    question: Q,
    /// Forget what the journal holds.
    fresh: bool,
}

impl<Q: Question> Plan for Experiment<Q> {
    fn measure(&self, out: &OutFolder) -> anyhow::Result<Findings> {
        let setup = self.question.setup();
        let hash = journal::hash(&self.question)?;
        let trials = self.question.trials();
        let (measured, journal) = measure(setup, &trials, &hash, self.fresh, out)?;
        let mut answer = self.question.answer(&measured);
        let mut meta = json!({
            "study": setup.study,
            "config": self.question,
            "config_hash": hash,
            "seed": setup.seed,
            "seconds": measured.0.iter().map(|runs| runs.seconds).sum::<f64>(),
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
            more: answer.more,
            svg: answer.svg,
            json: json!({ "study": setup.study, "meta": meta, "rows": answer.rows }),
            meta,
            journal,
        })
    }
}

/// The fingerprint of each simulation.
fn hashes<T: Trial>(measured: &Measured<T>) -> Value {
    let all = measured.0.iter();
    let one = all.map(|runs| (runs.trial.to_string(), runs.hash.clone().into()));
    one.collect::<serde_json::Map<_, _>>().into()
}
