//! `manycore report`: the machine and every study on one page.

use crate::cli::ReportArgs;
use crate::failure::{BadInput, bad_input};
use crate::machine::{MachineOptions, figure, simulated};
use crate::measure::journal::{self, Journal, Measurer};
use crate::measure::progress::Spinner;
use crate::report::files::OutFolder;
use crate::report::host::Origin;
use crate::report::page;
use crate::report::section::{Block, Captioned, Section};
use crate::report::table::Table;
use crate::study::order::Orders;
use crate::study::ordered::Ordered;
use crate::study::settings::Settings;
use crate::study::{self, Plan, Request, STUDIES, Study};
use crate::world::World;
use manycore_figure::{Figure, FigureForm};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::path::PathBuf;

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<()> {
    let form = FigureForm::parse(&args.effort.figure)?;
    let world = World::new(args.on.as_deref().unwrap_or("native"), &[], &[])?.0;
    let mut plans = Vec::new();
    let mut left_out = Vec::new();
    for study in STUDIES {
        if !args.effort.full && !study.is_brief() {
            let name = study.name();
            left_out.push(format!(
                "The study {name} takes minutes and was left out. To run it: manycore study {name}."
            ));
            continue;
        }
        match plan(study, args) {
            Ok((plan, ordered)) => plans.push((study, plan, ordered)),
            // A machine may lack something that a study needs.
            Err(error) if error.is::<BadInput>() => {
                let why = error.to_string();
                let why = why.strip_prefix("--on: ").unwrap_or(&why);
                // A reader of the page does not need the other values of the flag.
                let why = why.split("; expected").next().unwrap_or(why);
                left_out.push(format!("The study {} was left out: {why}.", study.name()));
            }
            Err(error) => return Err(error),
        }
    }
    if plans.is_empty() {
        return Err(bad_input(left_out.join(" ")));
    }
    if args.orders.is_some() && plans.iter().all(|plan| plan.2.is_none()) {
        return Err(bad_input(
            "--orders: no study of this report can run under several orders; expected a simulated \
            machine with random delays (perturb)",
        ));
    }
    let out = OutFolder::prepare(&args.effort.out)?;
    let mut to_come: Vec<&'static str> = plans.iter().map(|plan| plan.0.name()).collect();
    let write = |sections: &[Section], to_come: &[&'static str]| -> anyhow::Result<PathBuf> {
        let page = page::Page {
            title: "manycore: what parallel programs cost",
            byline: &byline(),
            is_simulated: matches!(world, World::Simulated(_)),
            notes: &left_out,
            sections,
            to_come,
        };
        let page = page.render();
        out.write(&format!("report.{}.html", world.label()), &page)?;
        out.write("report.html", &page)
    };
    // If this process ends early, the next process finds the measurements in this journal (a file of measurements).
    let (measured, journal) = machine(&world, &out, args)?;
    let mut journals: Vec<Journal> = journal.into_iter().collect();
    let (section, picture) = describe(measured, world.place());
    let mut sections = vec![section];
    let path = write(&sections, &to_come)?;
    let notes: String = left_out.iter().map(|note| format!("{note}\n")).collect();
    super::output::print(&format!(
        "{picture}\n{notes}The report is {}. Each study adds its section to it\n",
        path.display()
    ))?;
    for (study, plan, ordered) in plans {
        let mut findings = plan.measure(&out)?;
        if let Some(ordered) = ordered {
            journals.extend(ordered.measure(&mut findings, &out)?);
        }
        study::write(study, &mut findings, &form, &out)?;
        let summary = findings.summary();
        sections.push(findings.section);
        journals.push(findings.journal);
        to_come.remove(0);
        write(&sections, &to_come)?;
        super::output::print(&format!("\n{}\n{summary}", study.name()))?;
    }
    for journal in journals {
        journal.remove()?;
    }
    super::output::print(&format!("\nThe report is {}\n", path.display()))
}

/// Returns the place and time at which the page was made.
fn byline() -> String {
    let origin = Origin::native();
    format!(
        "Made on {}, {}; {}; manycore {} built by {}; {}.",
        origin.cpu,
        origin.host,
        origin.kernel,
        origin.versions.manycore,
        origin.versions.rustc,
        origin.finished
    )
}

/// Seconds for each native study in a quick report.
const BRIEF_SECONDS: u64 = 8;

/// Returns the plan of a study on its default machine, or on the machine of `--on`.
fn plan(study: &dyn Study, args: &ReportArgs) -> anyhow::Result<(Box<dyn Plan>, Option<Ordered>)> {
    let on = args.on.as_deref().unwrap_or(study.home());
    let brief = !args.effort.full && args.on.is_none();
    let set = match brief && on == "native" {
        true => vec![format!("seconds={BRIEF_SECONDS}")],
        false => Vec::new(),
    };
    let cores = study.brief_cores().iter().filter(|_| brief);
    let request = Request {
        world: World::new(on, &[], &[])?.0,
        settings: Settings::parse(&set, study.keys())?,
        threads: Vec::new(),
        cores: cores
            .filter_map(|&cores| NonZeroUsize::new(cores))
            .collect(),
        only: Vec::new(),
        full: args.effort.full,
        seed: args.effort.seed,
        orders: None,
        fresh: args.fresh,
    };
    let few = study.brief_orders();
    let brief = (brief && few > 0).then_some(Orders {
        first: 1,
        last: few,
        until: false,
    });
    let ordered = match args.orders.or(brief) {
        Some(orders) => Ordered::new(study, &request, orders)?,
        None => None,
    };
    Ok((study.plan(&request)?, ordered))
}

/// The text under the machine's figure.
const CAPTION: &str = "Medians, with bars from the 10th to the 90th percentile if they are long \
     enough to be seen. If several threads increment one counter, the time is the time of one \
     successful increment.";

/// The terms of the machine's section.
const WORDS: &str = "Cores that share a last-level cache form a core group. A cache line is the \
     smallest piece of memory that caches exchange. It moves faster inside a group than between \
     two groups. A parallel loop has two costs. For each block of iterations that a thread \
     claims, the thread needs an atomic operation (an operation that no other core can interrupt) \
     on a line that other cores want too. And the launch of the loop takes the time until the \
     other threads begin it.";

/// The text before the machine's tables.
const KEY: &str = "Atomic operations: cas is compare-and-swap, faa is fetch-and-add, tas is \
     test-and-set, swap is an exchange. States of a line: M, modified; E, exclusive; S, shared \
     with other caches; I, in no cache. Prices: claim is the time of an atomic operation on a \
     line that the core has; handoff is the additional time if another core of the group has the \
     line; crossing is the additional time if a core of another group has it; launch is the time \
     until a thread that is awake begins a loop; wake is this time for a thread that sleeps; byte \
     is the time to read one byte. The column fit says whether the simulated machine was fitted \
     to a published time.";

/// The measurements of the machine, as one line of a journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct MeasuredMachine {
    /// The picture that the terminal shows.
    picture: String,
    /// The picture of the cores that the page shows. It may be empty.
    drawing: String,
    /// The measurements, in sentences.
    remarks: Vec<String>,
    tables: Vec<Table>,
    figure: Figure,
}

/// Measures the machine, unless its journal has the measurements. A simulated machine has no journal.
fn machine(
    world: &World,
    out: &OutFolder,
    args: &ReportArgs,
) -> anyhow::Result<(MeasuredMachine, Option<Journal>)> {
    if let World::Simulated(config) = world {
        let spinner = Spinner::new("machine");
        let report = simulated::measure(config, &[], &mut |what| spinner.show(what))?;
        let measured = MeasuredMachine {
            picture: config.name.clone(),
            drawing: String::new(),
            remarks: report
                .heading()
                .into_iter()
                .chain(report.remarks())
                .collect(),
            tables: report.tables(),
            figure: figure::simulated(&report),
        };
        return Ok((measured, None));
    }
    let options = match args.effort.full {
        true => MachineOptions::full(),
        false => MachineOptions::quick(),
    };
    let label = World::Native.label();
    let name = format!("machine.{label}.{}.journal", journal::hash(&options)?);
    let (mut journal, found) = Journal::open(out.path(&name), &Measurer::native(), args.fresh)?;
    if let Some(measured) = found.into_iter().next() {
        return Ok((measured, Some(journal)));
    }
    let report = super::machine::measure(&options);
    let measured = MeasuredMachine {
        remarks: [report.heading()]
            .into_iter()
            .chain(report.notes.iter().map(|note| format!("Note: {note}.")))
            .collect(),
        tables: report.tables(),
        figure: figure::native(&report),
        drawing: report.picture.clone(),
        picture: report.picture,
    };
    journal.append(&measured)?;
    Ok((measured, Some(journal)))
}

/// Returns the machine's section, and the picture of the machine for the terminal.
fn describe(machine: MeasuredMachine, place: String) -> (Section, String) {
    let mut blocks = vec![Block::Paragraph(WORDS.into()), Block::Paragraph(KEY.into())];
    if !machine.drawing.is_empty() {
        blocks.push(Block::Verbatim(machine.drawing));
    }
    blocks.extend(machine.tables.into_iter().map(Block::Table));
    blocks.extend(machine.remarks.into_iter().map(Block::Paragraph));
    let section = Section {
        title: "The machine".into(),
        place,
        lead: "Every parallel program is made of three steps: it changes a number that other \
               cores change too, it starts a loop on several threads, and it wakes a thread that \
               sleeps. This section shows how long each step takes on the machine."
            .into(),
        figures: Captioned::new(machine.figure, CAPTION)
            .into_iter()
            .collect(),
        blocks,
        ..Section::default()
    };
    let summary = format!("machine\n{}\n", machine.picture.trim_end());
    (section, summary)
}
