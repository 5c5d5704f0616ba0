//! `manycore study NAME`.

use crate::cli::{Format, StudyArgs, counts};
use crate::failure::bad_input;
use crate::instrument;
use crate::report::files::OutFolder;
use crate::study::settings::Settings;
use crate::study::{self, Request, Study};
use crate::world::World;
use manycore_figure::FigureForm;
use std::fmt::Write as _;

/// Reads the request and its study from the arguments. Changes no file.
pub(crate) fn request(args: &StudyArgs) -> anyhow::Result<(&'static dyn Study, Request)> {
    let study = study::find(&args.name)?;
    let (world, settings) = World::new(
        args.on.as_deref().unwrap_or(study.home_with(&args.set)),
        &args.set,
        study.keys(),
    )?;
    let request = Request {
        world,
        settings: Settings::parse(&settings, study.keys())?,
        threads: counts("--threads", &args.threads)?,
        cores: counts("--cores", &args.cores)?,
        only: args.only.clone(),
        full: args.effort.full,
        seed: args.effort.seed,
        fresh: args.fresh,
    };
    Ok((study, request))
}

pub(crate) fn run(args: &StudyArgs) -> anyhow::Result<()> {
    if args.shard.is_some() {
        return Err(bad_input(
            "--shard: a study without --sweep and --orders has only one point; expected --sweep \
            or --orders",
        ));
    }
    let (study, mut request) = request(args)?;
    let asked = &args.instruments;
    // Earlier measurements have no counters.
    request.fresh |= instrument::ask(&request.world, asked.stats, asked.timeline.as_deref())?;
    let plan = study.plan(&request)?;
    let form = FigureForm::parse(&args.effort.figure)?;
    let out = OutFolder::prepare(&args.effort.out)?;
    let (findings, paths) = study::run(study, &*plan, &form, &out)?;
    findings.journal.remove()?;
    let timeline = instrument::write_timeline()?;
    super::output::print(&match args.format {
        Format::Csv => findings.csv,
        Format::Json => serde_json::to_string_pretty(&findings.json)?,
        Format::Table => {
            let mut text = findings.section.to_text();
            let _ = writeln!(text, "\n{}", findings.summary());
            for [kept, latest] in paths {
                let (kept, latest) = (kept.display(), latest.display());
                let _ = writeln!(text, "wrote {kept}, and a copy as {latest}");
            }
            if let Some(told) = timeline {
                let _ = writeln!(text, "{told}");
            }
            text
        }
    })
}
