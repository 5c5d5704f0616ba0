//! Canneal, natively: how long it takes, how short the wires get, and how often its ranks
//! meet.
//!
//! ```sh
//! cargo run --release -p manycore-programs --example canneal -- simsmall --ranks 2
//! cargo run --release -p manycore-programs --example canneal -- some.nets --loops 2
//! ```
//!
//! A netlist that is read is annealed as PARSEC's `simsmall` is.

mod timing;

use manycore::Native;
use manycore_programs::spmd::Program;
use manycore_programs::spmd::canneal::{Canneal, CannealInput, Netlist};
use std::process::ExitCode;

fn main() -> ExitCode {
    timing::main("canneal", "simsmall", |size| {
        let program = match size.parse::<CannealInput>() {
            Ok(input) => Canneal::<Native>::of(input),
            Err(_) if size.contains('.') => {
                let netlist = Netlist::open(size).map_err(|error| error.to_string())?;
                Canneal::new(netlist, CannealInput::SimSmall.schedule(), 1)
            }
            Err(error) => return Err(format!("{error}, or the name of a `.nets` file")),
        };
        Ok(Box::new(program) as Box<dyn Program>)
    })
}
