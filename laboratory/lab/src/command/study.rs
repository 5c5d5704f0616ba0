//! `manycore study NAME`.

use crate::cli::{Format, StudyArgs, counts};
use crate::failure::bad_input;
use crate::instrument;
use crate::report::files::OutFolder;
use crate::study::settings::Settings;
use crate::study::{self, Request, Study, order};
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
        orders: None,
        fresh: args.fresh,
    };
    Ok((study, request))
}

/// Whether the study is measured once. Otherwise the command sweeps it. A study that has intervals of its own runs the
/// orders within one measurement. But `--orders until:N`, `--versus` and `--shard` need a sweep.
pub(crate) fn is_single(args: &StudyArgs) -> anyhow::Result<bool> {
    Ok(match args.orders {
        _ if !args.sweep.is_empty() => false,
        None => true,
        Some(orders) => {
            let is_swept = orders.until || args.versus.is_some() || args.shard.is_some();
            !is_swept && study::find(&args.name)?.has_intervals()
        }
    })
}

/// With `--orders`, refuses that `--set` or `--sweep` sets the seed of the machine's perturbation (random delays): each
/// order sets this seed itself.
pub(crate) fn refuse_seed(args: &StudyArgs) -> anyhow::Result<()> {
    let pairs = args.set.iter().chain(&args.sweep);
    let mut keys = pairs.filter_map(|pair| pair.split('=').next());
    match args.orders.is_some() && keys.any(|key| key.trim() == order::SEED) {
        true => Err(bad_input(format!(
            "--orders: each order sets {0}; expected no {0} in --set or --sweep",
            order::SEED
        ))),
        false => Ok(()),
    }
}

/// Refuses counters and timelines for several points or orders. Both list simulations by name, and a simulation's name
/// contains neither the point nor the order.
pub(super) fn refuse_instruments(args: &StudyArgs) -> anyhow::Result<()> {
    let asked = &args.instruments;
    let is_repeated = args.orders.is_some() || !args.sweep.is_empty();
    match is_repeated && (asked.stats || asked.timeline.is_some()) {
        true => Err(bad_input(
            "--stats and --timeline: they work only for a single run; expected neither of them \
            with --sweep or --orders",
        )),
        false => Ok(()),
    }
}

pub(crate) fn run(args: &StudyArgs) -> anyhow::Result<()> {
    if args.shard.is_some() {
        return Err(bad_input(
            "--shard: a study without --sweep and --orders has only one point; expected --sweep \
            or --orders",
        ));
    }
    refuse_seed(args)?;
    refuse_instruments(args)?;
    let (study, mut request) = request(args)?;
    request.orders = args.orders;
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
            if let Some(message) = timeline {
                let _ = writeln!(text, "{message}");
            }
            text
        }
    })
}
