//! The subcommands. Each has a file.

mod figure;
mod intervals;
mod list;
mod machine;
mod manual;
mod merge;
mod model;
mod new_program;
mod output;
mod report;
mod run;
mod run_orders;
mod run_stats;
pub(crate) mod study;
mod sweep;
mod sweep_grid;
mod sweep_points;
mod sweep_tables;
mod versus;

use crate::cli::{Command, PresetsArgs};
pub(crate) use output::print;
use output::show;
use std::process::ExitCode;

/// Runs a command. If the command ran a program, returns the exit status of the program.
pub(crate) fn run(command: Command) -> anyhow::Result<ExitCode> {
    let done = match command {
        Command::Run(args) => return run::run(args),
        Command::Machine(args) => machine::run(&args),
        Command::Study(args) if study::is_single(&args)? => study::run(&args),
        Command::Study(args) => sweep::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Figure(args) => figure::run(&args),
        Command::Model(command) => model::run(&command),
        Command::Report(args) => report::run(&args),
        Command::Presets(PresetsArgs {
            toml: Some(name), ..
        }) => print(list::preset_toml(&name)?),
        Command::Presets(args) if args.errors => show(&list::Errors::of(&args.names)?, args.format),
        Command::Presets(args) => show(&list::Presets::all()?, args.format),
        Command::Studies(args) => show(&list::Studies::all(), args.format),
        Command::NewProgram(args) => new_program::run(&args),
        Command::Completions(args) => manual::completions(args.shell),
        Command::Man(args) => manual::write(&args.out),
    };
    done.map(|()| ExitCode::SUCCESS)
}
