//! `manycore report`: the machine and every study on one page.

use crate::cli::ReportArgs;
use crate::machine::MachineOptions;
use crate::measure::journal::{self, Journal, Measurer};
use crate::report::files::OutFolder;
use crate::report::host::Origin;
use crate::report::page;
use crate::report::section::{Block, Section};
use crate::study::settings::Settings;
use crate::study::{self, Request, STUDIES};
use crate::world::World;
use serde::{Deserialize, Serialize};

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<()> {
    let mut plans = Vec::new();
    for study in STUDIES {
        let request = Request {
            world: World::new(study.home(), &[], &[])?.0,
            settings: Settings::default(),
            threads: Vec::new(),
            cores: Vec::new(),
            only: Vec::new(),
            full: args.effort.full,
            seed: args.effort.seed,
            fresh: args.fresh,
        };
        plans.push((study, study.plan(&request)?));
    }
    let out = OutFolder::prepare(&args.effort.out)?;
    // Whatever ends this process, the next one finds here what was measured.
    let mut journals = Vec::new();
    let (measured, journal) = machine(&out, args)?;
    journals.push(journal);
    let (section, mut summary) = describe(measured);
    let mut sections = vec![section];
    for (study, plan) in plans {
        let (findings, _) = study::run(study, &*plan, &out)?;
        sections.push(findings.section);
        summary += &format!("\n{}\n{}", study.name(), findings.summary);
        journals.push(findings.journal);
    }
    sections.insert(0, in_short(&summary));
    let origin = Origin::native();
    let byline = format!(
        "{}, {}; {}; manycore {} built by {}; {}.",
        origin.cpu,
        origin.host,
        origin.kernel,
        origin.versions.manycore,
        origin.versions.rustc,
        origin.finished
    );
    let page = page::render("manycore on this machine", &byline, &sections);
    let path = out.write("report.html", &page)?;
    for journal in journals {
        journal.remove()?;
    }
    super::print(&format!("{summary}\nThe report: {}\n", path.display()))
}

/// What the terminal says too.
fn in_short(summary: &str) -> Section {
    Section {
        title: "In short".into(),
        blocks: vec![Block::Verbatim(summary.to_owned())],
    }
}

/// What was measured of the machine: a line of a journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct MeasuredMachine {
    picture: String,
    /// With what it charges.
    text: String,
}

/// Measures the machine, unless its journal has it already.
fn machine(out: &OutFolder, args: &ReportArgs) -> anyhow::Result<(MeasuredMachine, Journal)> {
    let options = match args.effort.full {
        true => MachineOptions::full(),
        false => MachineOptions::quick(),
    };
    let label = World::Native.label();
    let name = format!("machine.{label}.{}.journal", journal::hash(&options)?);
    let (mut journal, found) = Journal::open(out.path(&name), &Measurer::native(), args.fresh)?;
    if let Some(measured) = found.into_iter().next() {
        return Ok((measured, journal));
    }
    let report = super::machine::measure(&options);
    let measured = MeasuredMachine {
        text: report.to_string(),
        picture: report.picture,
    };
    journal.append(&measured)?;
    Ok((measured, journal))
}

/// A section, and the picture of the machine for the terminal.
fn describe(machine: MeasuredMachine) -> (Section, String) {
    let section = Section {
        title: "The machine".into(),
        blocks: vec![
            Block::Paragraph(
                "Cores that share a last-level cache form a core group; a cache line moves \
                 faster inside a group than between two. A parallel loop pays for every claim of \
                 a block with an atomic operation on a line that other cores want too, and for \
                 its launch with the time until the other threads have heard of it. These are \
                 this machine's prices, in nanoseconds: the median, and in brackets the range \
                 of the middle eight tenths of the samples."
                    .into(),
            ),
            Block::Verbatim(machine.text),
        ],
    };
    let summary = format!("machine\n{}\n", machine.picture.trim_end());
    (section, summary)
}
