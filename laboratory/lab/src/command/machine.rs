//! `manycore machine`.

use crate::cli::{Format, MachineArgs, Shape, counts};
use crate::failure::bad_input;
use crate::instrument;
use crate::machine::own::{self, PresetFile};
use crate::machine::{self, MachineOptions, MachineReport, check, simulated};
use crate::measure::progress::Spinner;
use crate::report::files::OutFolder;
use crate::world::World;
use manycore_figure::FigureForm;
use std::path::Path;

pub(crate) fn run(args: &MachineArgs) -> anyhow::Result<()> {
    if let Some(path) = &args.as_preset {
        return as_preset(path, args.quick);
    }
    if let Some(on) = &args.check {
        return compare(on, args);
    }
    let format = match args.format {
        Format::Table => Shape::Table,
        Format::Json => Shape::Json,
        Format::Csv => {
            return Err(bad_input(
                "--format csv: expected table or json, or csv with --check",
            ));
        }
    };
    let threads = counts("--threads", &args.threads)?;
    let threads: Vec<usize> = threads.into_iter().map(usize::from).collect();
    let (world, set) = World::new(&args.on, &args.set, &[])?;
    let machine = world.label();
    let asked = &args.instruments;
    instrument::ask(&world, asked.stats, asked.timeline.as_deref())?;
    match world {
        World::Simulated(config) => {
            // An unusable folder is refused before anything is simulated.
            let out = asked
                .stats
                .then(|| OutFolder::prepare(&args.out))
                .transpose()?;
            let spinner = Spinner::new("machine");
            let report = simulated::measure(&config, &threads, &mut |what| spinner.show(what))?;
            super::output::show(&report, format)?;
            let mut written = Vec::new();
            if let Some(out) = out
                && let Some((csv, figure)) =
                    instrument::counted(&format!("simulated: {}", config.name))?
            {
                // A study also writes two copies: one with the machine's name, and the latest with the command's name.
                for name in [&*format!("machine.{machine}.stats"), "machine.stats"] {
                    written.push(out.write(&format!("{name}.csv"), &csv)?);
                    for (name, contents) in FigureForm::default().files(name, &figure)? {
                        written.push(out.write(&name, contents)?);
                    }
                }
            }
            // A program may read the report from standard output.
            for path in written {
                eprintln!("wrote {}", path.display());
            }
            if let Some(line) = instrument::write_timeline()? {
                eprintln!("{line}");
            }
            Ok(())
        }
        World::Native => {
            if let Some(pair) = set.first() {
                return Err(bad_input(format!(
                    "--set {pair}: only a simulated machine can be changed; expected --on with a \
                     simulated machine"
                )));
            }
            let effort = match args.full {
                true => MachineOptions::full(),
                false => MachineOptions::quick(),
            };
            super::output::show(&measure(&MachineOptions { threads, ..effort }), format)
        }
    }
}

/// Measures this host, and writes its preset.
fn as_preset(path: &Path, quick: bool) -> anyhow::Result<()> {
    let file = PresetFile::prepare(path)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let (text, warning) = {
        let spinner = Spinner::new("machine");
        own::measure(&name, quick, &mut |what| spinner.show(what))?
    };
    if let Some(warning) = warning {
        eprintln!("manycore: {warning}");
    }
    super::print(&format!("wrote {}", file.write(&text)?.display()))
}

/// Compares a preset with this host.
fn compare(on: &str, args: &MachineArgs) -> anyhow::Result<()> {
    let World::Simulated(config) = World::new(on, &args.set, &[])?.0 else {
        return Err(bad_input("--check native: expected a preset or FILE.toml"));
    };
    let report = {
        let spinner = Spinner::new("machine");
        check::measure(&config, args.quick, &mut |what| spinner.show(what))?
    };
    match args.format {
        Format::Table => super::show(&report, Shape::Table),
        Format::Json => super::show(&report, Shape::Json),
        Format::Csv => super::print(&report.csv()?),
    }
}

/// Measures the machine while a line on the terminal names the current activity.
pub(super) fn measure(options: &MachineOptions) -> MachineReport {
    let spinner = Spinner::new("machine");
    machine::measure(options, &mut |what| spinner.show(what))
}
