//! The command line of every binary.

use crate::calls::Calls;
use crate::programs::{self, Failure};
use crate::runtime::Runtime;
use std::io::Write;
use std::process::exit;

/// The default numbers of steady calls and of calls after a gap.
const STEADY: usize = 20;
const GAPS: usize = 5;

/// The greatest number of threads and of calls.
const MOST: usize = 4_096;

/// Runs the program that the arguments name, and ends the process.
pub fn run_program<R: Runtime>() -> ! {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (status, told) = match run::<R>(&arguments) {
        Ok(calls) => (0, format!("{}right\n", calls.lines())),
        Err(failure) => {
            let (status, told) = match failure {
                Failure::Wrong(told) => (1, told),
                Failure::Arguments(told) => (2, told),
                Failure::Lacks(told) => (3, format!("the runtime has no {told}")),
            };
            (status, format!("{told}\n"))
        }
    };
    let mut out = std::io::stdout();
    let written = out.write_all(told.as_bytes()).and_then(|()| out.flush());
    // Threads of the pool may still wait, so the process ends without destructors.
    exit(if written.is_ok() { status } else { 1 })
}

fn run<R: Runtime>(arguments: &[String]) -> Result<Calls, Failure> {
    let [program, threads, rest @ ..] = arguments else {
        return Err(Failure::Arguments(format!(
            "expected PROGRAM THREADS [STEADY [GAPS]]; PROGRAM is one of {}",
            programs::NAMES.join(", ")
        )));
    };
    let number = |name: &str, text: &str, least: usize| match text.parse() {
        Ok(number) if (least..=MOST).contains(&number) => Ok(number),
        _ => Err(Failure::Arguments(format!(
            "{name} {text}: expected {least} to {MOST}"
        ))),
    };
    let threads = number("THREADS", threads, 1)?;
    let (steady, gaps) = match rest {
        [] => (STEADY, GAPS),
        [steady] => (number("STEADY", steady, 1)?, GAPS),
        [steady, gaps] => (number("STEADY", steady, 1)?, number("GAPS", gaps, 0)?),
        _ => return Err(Failure::Arguments("expected at most four arguments".into())),
    };
    let mut calls = Calls::new(steady, gaps);
    programs::run::<R>(program, threads, &mut calls)?;
    Ok(calls)
}
