//! Barnes, natively: how long it takes, whether its answer is right, and how often its
//! ranks meet.
//!
//! ```sh
//! cargo run --release -p manycore-programs --example barnes -- base --ranks 2
//! cargo run --release -p manycore-programs --example barnes -- 100000 --loops 2
//! ```

mod timing;

use manycore::Native;
use manycore_programs::spmd::Program;
use manycore_programs::spmd::barnes::{Barnes, BarnesInput, BarnesProblem};
use std::process::ExitCode;

fn main() -> ExitCode {
    timing::main("barnes", "base", |size| {
        let problem = match (size.parse::<usize>(), size.parse::<BarnesInput>()) {
            (Ok(bodies), _) => BarnesProblem::new(bodies).map_err(|error| error.to_string())?,
            (_, Ok(input)) => input.problem(),
            (_, Err(error)) => return Err(format!("{error}, or a number of bodies")),
        };
        Ok(Box::new(Barnes::<Native>::new(problem)) as Box<dyn Program>)
    })
}
