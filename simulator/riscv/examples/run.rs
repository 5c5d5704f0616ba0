//! Runs a RISC-V program on a preset and prints its speed:
//! `run [--on PRESET|-] [--root FOLDER] [--env NAME=VALUE] PROGRAM ARGUMENTS`; `-` is no machine.

use manycore_chip::config::Config;
use manycore_riscv::Program;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut preset, mut environment) = ("atac-64".to_owned(), Vec::new());
    let mut root = "/usr/riscv64-linux-gnu".to_owned();
    let file = loop {
        let argument = arguments
            .next()
            .ok_or("expected a program, and its arguments")?;
        let mut value = || {
            arguments
                .next()
                .ok_or(format!("{argument}: expected a value"))
        };
        match &*argument {
            "--on" => preset = value()?,
            "--root" => root = value()?,
            "--env" => environment.push(value()?),
            _ => break argument,
        }
    };
    let program = arguments.fold(Program::new(file), Program::argument);
    let program = environment.into_iter().fold(program, Program::environment);
    let program = program.root(root);
    let start = Instant::now();
    let outcome = match &*preset {
        "-" => program.run_functionally(4)?,
        preset => program.run(&Config::preset(preset)?)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    if let Some(message) = outcome.message {
        eprintln!("{message}");
    }
    let rate = outcome.instructions as f64 / seconds / 1e6;
    eprintln!(
        "instructions {}, {rate:.1} million a second",
        outcome.instructions
    );
    if let Some(timing) = outcome.timing {
        let statistics = timing.run.statistics;
        eprintln!("cycles       {}", statistics.cycles);
        eprintln!("hash         {:016x}", statistics.hash);
    }
    std::process::exit(outcome.status)
}
