//! `manycore completions` and `manycore man`: shell completions and manual pages, generated from the flags.

use crate::cli::Cli;
use crate::failure::bad_input;
use crate::study::STUDIES;
use clap::builder::PossibleValuesParser;
use clap_complete::{Shell, generate};
use manycore_chip::config::preset_names;
use std::path::Path;

/// Prints the script that completes commands, flags, studies and presets.
pub(super) fn completions(shell: Shell) -> anyhow::Result<()> {
    let mut script = Vec::new();
    generate(
        shell,
        &mut with_names(Cli::explained()),
        "manycore",
        &mut script,
    );
    super::output::print(&String::from_utf8(script)?)
}

/// Returns the command with the names of studies and presets as values. Parsing does not use these names: a machine may
/// be a file, and unknown names have their own errors.
fn with_names(command: clap::Command) -> clap::Command {
    let studies = || PossibleValuesParser::new(STUDIES.map(|study| study.name()));
    let worlds = || PossibleValuesParser::new(["native"].into_iter().chain(preset_names()));
    let on = |command: clap::Command| {
        command.mut_arg("on", |arg| {
            arg.value_parser(worlds()).hide_possible_values(true)
        })
    };
    let presets = |command: clap::Command| {
        command.mut_arg("names", |arg| {
            arg.value_parser(PossibleValuesParser::new(preset_names()))
                .hide_possible_values(true)
        })
    };
    command
        .mut_subcommand("machine", on)
        .mut_subcommand("presets", presets)
        .mut_subcommand("report", on)
        .mut_subcommand("run", |run| {
            run.mut_arg("on", |arg| {
                arg.value_parser(PossibleValuesParser::new(preset_names()))
                    .hide_possible_values(true)
            })
        })
        .mut_subcommand("study", |study| {
            on(study).mut_arg("name", |arg| arg.value_parser(studies()))
        })
        .mut_subcommand("model", |model| model.mut_subcommand("predict", on))
}

/// Writes `manycore.1`, `manycore-study.1` and so on into `folder`, and prints how to read them.
pub(super) fn write(folder: &Path) -> anyhow::Result<()> {
    let wrong = |error: std::io::Error| {
        bad_input(format!(
            "--out {}: {error}; expected a folder to which this user can write, or which this \
            user can make",
            folder.display()
        ))
    };
    std::fs::create_dir_all(folder).map_err(wrong)?;
    let command = Cli::explained().disable_help_subcommand(true);
    clap_mangen::generate_to(command, folder).map_err(wrong)?;
    let page = folder.join("manycore.1");
    super::output::print(&format!(
        "written: {}; read it with `man -l`",
        page.display()
    ))
}
