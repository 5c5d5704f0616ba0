//! `manycore study NAME`.

use crate::cli::{Format, StudyArgs};
use crate::report::files::OutFolder;
use crate::study::settings::Settings;
use crate::study::{self, Request};
use crate::world::World;
use std::fmt::Write as _;

pub(crate) fn run(args: &StudyArgs) -> anyhow::Result<()> {
    let study = study::find(&args.name)?;
    let (world, settings) = World::new(
        args.on.as_deref().unwrap_or(study.home()),
        &args.set,
        study.keys(),
    )?;
    let request = Request {
        world,
        settings: Settings::parse(&settings, study.keys())?,
        threads: args.threads.clone(),
        cores: args.cores.clone(),
        only: args.only.clone(),
        full: args.effort.full,
        seed: args.effort.seed,
        fresh: args.fresh,
    };
    let plan = study.plan(&request)?;
    let out = OutFolder::prepare(&args.effort.out)?;
    let (findings, paths) = study::run(study, &*plan, &out)?;
    super::print(&match args.format {
        Format::Csv => findings.csv,
        Format::Json => serde_json::to_string_pretty(&findings.json)?,
        Format::Table => {
            let mut text = findings.section.to_text();
            let _ = writeln!(text, "\n{}", findings.summary);
            for path in paths {
                let _ = writeln!(text, "wrote {}", path.display());
            }
            text
        }
    })
}
