//! Runs a RISC-V program without timing, or on a preset: `run [PRESET|-] PROGRAM ARGUMENTS`.

use manycore_chip::config::Config;
use manycore_riscv::Program;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(preset), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("expected a preset, or - for none, a program, and its arguments".into());
    };
    let program = arguments.fold(Program::new(file), Program::argument);
    let program = program
        .root("/usr/riscv64-linux-gnu")
        .environment("OMP_NUM_THREADS=6");
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
        "{} instructions, {rate:.1} million a second",
        outcome.instructions
    );
    if let Some(timing) = outcome.timing {
        let statistics = timing.run.statistics;
        eprintln!(
            "{} cycles, hash {:016x}",
            statistics.cycles, statistics.hash
        );
    }
    std::process::exit(outcome.status)
}
