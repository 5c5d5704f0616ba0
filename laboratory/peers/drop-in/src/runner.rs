//! The command of a binary that runs programs.

use crate::{Kind, Program};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Without an argument lists the programs' names, and sets up none. With a name and a time in ms runs that program
/// for so long, three times at least, and prints the median in ns.
pub fn main_with(kinds: &[Kind]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => (kinds.iter().flat_map(|kind| kind.names)).for_each(|name| println!("{name}")),
        [name, time] => {
            let Ok(time @ 1..=600_000) = time.parse() else {
                eprintln!("expected a time in ms, 1 to 600000; found {time}");
                return ExitCode::from(2);
            };
            let Some(program) = kinds.iter().find_map(|kind| kind.program(name)) else {
                eprintln!("expected a program's name, as listed without arguments; found {name}");
                return ExitCode::from(2);
            };
            println!("{}", median(&program, Duration::from_millis(time)));
        }
        _ => {
            eprintln!("expected NAME TIME-IN-MS, or nothing for the names");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// The median run's nanoseconds. The first run is not counted.
fn median(program: &Program, time: Duration) -> u128 {
    program.run();
    let start = Instant::now();
    let mut runs = Vec::new();
    while runs.len() < 3 || start.elapsed() < time {
        runs.push(program.run());
    }
    runs.sort_unstable();
    runs[runs.len() / 2].as_nanos()
}
