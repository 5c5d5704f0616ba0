//! The laboratory of manycore: the command `manycore`.
//!
//! `manycore machine` measures the cost of this machine's atomics and wake-ups, `manycore study NAME` answers one
//! question about parallel loops and writes its numbers and figure, `manycore model` fits and judges block-size models,
//! and `manycore report` puts the machine and all studies on one page.

mod cli;
mod command;
mod failure;
#[cfg(test)]
mod fuzz;
mod input;
mod instrument;
mod machine;
mod measure;
mod model;
mod report;
mod shard;
mod streams;
mod study;
mod threads;
mod world;

use clap::error::ErrorKind;
use std::process::ExitCode;

fn main() -> ExitCode {
    let outcome = match cli::Cli::from_process() {
        Ok(cli) => command::run(cli.command),
        Err(shown)
            if matches!(
                shown.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            ) =>
        {
            command::print(&shown.render().to_string()).map(|()| ExitCode::SUCCESS)
        }
        Err(usage) => Err(failure::bad_input(cli::one_line(&usage))),
    };
    match outcome {
        Ok(status) => status,
        Err(error) => failure::report(&error),
    }
}
