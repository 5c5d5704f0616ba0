//! What a program's run leaves behind.

use crate::linux::System;
use crate::region::Region;
use manycore_chip::{HotLine, Run};

/// What a program's run was.
///
/// ```
/// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
/// use manycore_riscv::Program;
/// use std::io::sink;
///
/// let outcome = Program::new(hello.path()).streams(sink(), sink()).run_functionally(1)?;
/// assert_eq!((outcome.status, outcome.message, outcome.instructions), (7, None, 9));
/// assert!(outcome.timing.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Outcome {
    /// The first process's exit status; 128 and the signal's number if one killed it.
    pub status: i32,
    /// What killed the first process, if a signal did; and the processes that still ran then.
    pub message: Option<String>,
    /// Instructions of all threads of all processes.
    pub instructions: u64,
    /// System calls that the program asked for, that are not there, and that it may miss, by name.
    /// They returned `ENOSYS`.
    pub absent: Vec<&'static str>,
    /// What the machine did; `None` without one, or if nothing was timed.
    pub timing: Option<Timing>,
}

/// A run on a simulated machine.
///
/// ```
/// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
/// use manycore_chip::config::Config;
/// use manycore_riscv::Program;
/// use std::io::sink;
///
/// let machine = Config::preset("dahu")?;
/// let program = Program::new(hello.path()).streams(sink(), sink());
/// let outcome = program.run(&machine)?;
/// let timing = outcome.timing.expect("it is timed");
/// println!("{} cycles", timing.run.statistics.cycles);
/// for region in &timing.regions {
///     println!("region {:?}: {} cycles", region.work, region.to - region.from);
/// }
/// for hot in timing.hot.iter().take(3) {
///     println!("{}: {} changes of owner", hot.place, hot.line.transfers);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Timing {
    /// Cycles, the hash, where the cycles went; the lines by simulated address.
    pub run: Run<()>,
    /// The lines that were fought over, by symbol.
    pub hot: Vec<HotSymbol>,
    /// The regions of interest that the program marked, in the order of their ends.
    pub regions: Vec<Region>,
    /// Instructions by thread, with those before the machine's time began, in the order of their
    /// numbers.
    pub threads: Vec<(u32, u64)>,
    /// Instructions that were executed before the machine's time began
    /// ([`Program::fast_forward`](crate::Program::fast_forward)).
    pub forwarded: u64,
}

/// A cache line that was fought over, and what is in it: [`Timing`] has an example.
#[derive(Clone, Debug)]
pub struct HotSymbol {
    /// The address that the program sees, with its symbol or what is mapped there.
    pub place: String,
    /// What happened to the line.
    pub line: HotLine,
}

impl Outcome {
    /// The work of all processes until now.
    pub(crate) fn of(system: &mut System, timing: Option<Timing>) -> Self {
        Self {
            status: system.first().status.unwrap_or(0),
            message: system.take_message(),
            instructions: system.retired(),
            absent: system.absent(),
            timing,
        }
    }
}

pub(crate) fn hot_symbol(system: &System, line: &HotLine) -> HotSymbol {
    let place = system.describe_line(line.address);
    let place = place.unwrap_or_else(|| "memory that the program gave back".into());
    HotSymbol {
        place,
        line: line.clone(),
    }
}
