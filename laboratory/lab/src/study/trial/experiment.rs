//! The steps from a question to a study's findings.

use crate::measure::journal::{self, Journal, Measurer};
use crate::report::files::OutFolder;
use crate::report::host::Origin;
use crate::report::section::{Block, Captioned, Section};
use crate::report::table::Table;
use crate::report::{columns, csv};
use crate::study::compared::{Compared, SentenceOf};
use crate::study::settings::Key;
use crate::study::{Comparison, Findings, Plan, Request, Study};
use crate::world::World;
use manycore_figure::Figure;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The settings that decide what is measured. Their hash names the journal (the file of measurements).
pub(in crate::study) trait Question: Serialize + Sync {
    /// The measurements.
    type Measured: Fingerprints;

    /// A line of the CSV file.
    type Row: Serialize;

    /// Takes the measurements that the journal does not hold yet.
    fn measure(&self, session: &Session<'_>) -> anyhow::Result<(Self::Measured, Journal)>;

    fn answer(&self, measured: &Self::Measured) -> anyhow::Result<Answer<Self::Row>>;

    /// Measures the times that the study's sentence (its finding in words) compares. By default, measures everything.
    fn compare(&self, session: &Session<'_>) -> anyhow::Result<Comparison> {
        let (measured, journal) = self.measure(session)?;
        Ok(Comparison {
            compared: self.answer(&measured)?.extra.compared,
            hash: measured.hash()?,
            journal,
        })
    }
}

/// The fixed text of a study.
#[derive(Clone, Copy, Debug)]
pub(in crate::study) struct Text {
    pub(in crate::study) title: &'static str,
    /// The section's first paragraph. A reader understands it without other pages.
    pub(in crate::study) lead: &'static str,
    /// Paragraphs before the tables: how the study measures.
    pub(in crate::study) how: &'static [&'static str],
}

/// The time and the fingerprints (hashes) of all measurements together.
pub(in crate::study) trait Fingerprints {
    /// The seconds that the measurements took.
    fn seconds(&self) -> f64;

    /// One fingerprint of all simulations.
    fn hash(&self) -> anyhow::Result<String>;

    /// The fingerprint of each simulation, by its name.
    fn hashes(&self) -> Map<String, Value>;
}

/// The place for a question's measurements.
#[derive(Clone, Copy, Debug)]
pub(in crate::study) struct Session<'a> {
    pub(super) study: &'static str,
    pub(super) is_simulated: bool,
    /// The prefix of the names of the results' files.
    file: &'a str,
    /// The hash of the question.
    hash: &'a str,
    /// Whether to discard what the journal holds.
    fresh: bool,
    out: &'a OutFolder,
}

impl Session<'_> {
    /// Opens the journal. Also returns the records in it.
    pub(super) fn journal<R: DeserializeOwned>(&self) -> anyhow::Result<(Journal, Vec<R>)> {
        let name = format!("{}.{}.journal", self.file, self.hash);
        let measurer = match self.is_simulated {
            true => Measurer::simulated(),
            false => Measurer::native(),
        };
        Journal::open(self.out.path(&name), &measurer, self.fresh)
    }
}

/// The answer to a question.
pub(in crate::study) struct Answer<R> {
    /// The message of the first figure is the study's finding.
    pub(in crate::study) figures: Vec<Captioned>,
    pub(in crate::study) blocks: Vec<Block>,
    pub(in crate::study) rows: Vec<R>,
    pub(in crate::study) extra: Extra,
}

impl<R> Answer<R> {
    /// An answer with one figure and its caption, tables, and rows.
    pub(in crate::study) fn new(
        figure: Figure,
        caption: &str,
        tables: Vec<Table>,
        rows: Vec<R>,
    ) -> Self {
        Self {
            figures: Captioned::new(figure, caption).into_iter().collect(),
            blocks: tables.into_iter().map(Block::Table).collect(),
            rows,
            extra: Extra::default(),
        }
    }
}

/// The parts of an answer that few studies have.
#[derive(Default)]
pub(in crate::study) struct Extra {
    /// The reason why the numbers are unreliable, if they are.
    pub(in crate::study) caution: Option<String>,
    /// The times that the study's sentence compares.
    pub(in crate::study) compared: Option<Compared>,
    /// Further files: the part of the name after `NAME.`, and the content.
    pub(in crate::study) more: Vec<(&'static str, String)>,
    /// Further values of `NAME.meta.json`.
    pub(in crate::study) meta: Vec<(&'static str, Value)>,
    /// Further values for `--format json`.
    pub(in crate::study) json: Vec<(&'static str, Value)>,
}

/// A study that makes a [`Question`] of a request.
#[derive(Debug)]
pub(in crate::study) struct Inquiry<Q> {
    pub(in crate::study) name: &'static str,
    pub(in crate::study) question: &'static str,
    pub(in crate::study) home: &'static str,
    pub(in crate::study) keys: &'static [Key],
    pub(in crate::study) text: Text,
    /// Whether the study is short enough for a quick report.
    pub(in crate::study) is_brief: bool,
    /// The number of orders of events (seeds of random delays) under which a quick report measures the times of the
    /// sentence.
    pub(in crate::study) brief_orders: u64,
    /// Whether the study's own tables and figures have intervals over orders of events.
    pub(in crate::study) has_intervals: bool,
    /// Makes the study's sentence from the times that it compares.
    pub(in crate::study) sentence: Option<SentenceOf>,
    /// Checks a request and makes its question.
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

    fn is_brief(&self) -> bool {
        self.is_brief
    }

    fn brief_orders(&self) -> u64 {
        self.brief_orders
    }

    fn has_intervals(&self) -> bool {
        self.has_intervals
    }

    fn sentence(&self) -> Option<SentenceOf> {
        self.sentence
    }

    fn plan(&self, request: &Request) -> anyhow::Result<Box<dyn Plan>> {
        Ok(Box::new(Experiment {
            question: (self.ask)(request)?,
            study: self.name,
            text: self.text,
            seed: request.seed,
            place: request.world.place(),
            is_simulated: matches!(request.world, World::Simulated(_)),
            file: format!("{}.{}", self.name, request.world.label()),
            fresh: request.fresh,
        }))
    }
}

/// A question that is ready to be measured.
struct Experiment<Q> {
    question: Q,
    study: &'static str,
    text: Text,
    seed: u64,
    /// The name of the machine, for readers.
    place: String,
    is_simulated: bool,
    /// The prefix of the names of the results' files.
    file: String,
    /// Whether to discard what the journal holds.
    fresh: bool,
}

impl<Q: Question> Experiment<Q> {
    /// The session of this question. `hash` names the journal.
    fn session<'a>(&'a self, hash: &'a str, out: &'a OutFolder) -> Session<'a> {
        Session {
            study: self.study,
            is_simulated: self.is_simulated,
            file: &self.file,
            hash,
            fresh: self.fresh,
            out,
        }
    }
}

impl<Q: Question> Plan for Experiment<Q> {
    fn question_hash(&self) -> anyhow::Result<String> {
        journal::hash(&self.question)
    }

    fn measure(&self, out: &OutFolder) -> anyhow::Result<Findings> {
        let hash = journal::hash(&self.question)?;
        let (measured, journal) = self.question.measure(&self.session(&hash, out))?;
        let answer = self.question.answer(&measured)?;
        let mut meta = json!({
            "study": self.study,
            "config": self.question,
            "config_hash": hash,
            "seed": self.seed,
            "seconds": measured.seconds(),
        });
        if self.is_simulated {
            meta["origin"] = json!(Origin::simulated());
            meta["hashes"] = measured.hashes().into();
            meta["hash"] = json!(measured.hash()?);
        } else {
            meta["origin"] = json!(Origin::native());
        }
        for (name, value) in answer.extra.meta {
            meta[name] = value;
        }
        let csv = csv::text(&answer.rows)?;
        let mut columns = json!({ "csv": columns::units(&csv)? });
        let tables = answer.extra.more.iter();
        for (ending, table) in tables.filter(|(ending, _)| ending.ends_with("csv")) {
            columns[*ending] = columns::units(table)?.into();
        }
        meta["columns"] = columns;
        let mut json = json!({ "study": self.study, "meta": meta, "rows": answer.rows });
        for (name, value) in answer.extra.json {
            json[name] = value;
        }
        let how = self.text.how.iter();
        let how = how.map(|text| Block::Paragraph((*text).into()));
        Ok(Findings {
            section: Section {
                title: self.text.title.into(),
                place: self.place.clone(),
                caution: answer.extra.caution,
                lead: self.text.lead.into(),
                figures: answer.figures,
                blocks: how.chain(answer.blocks).collect(),
                files: Vec::new(),
            },
            file: self.file.clone(),
            csv,
            compared: answer.extra.compared,
            more: answer.extra.more,
            json,
            meta,
            journal,
        })
    }

    fn compare(&self, out: &OutFolder) -> anyhow::Result<Comparison> {
        let hash = journal::hash(&self.question)?;
        self.question.compare(&self.session(&hash, out))
    }
}
