//! The results of a program's run.

use crate::isa::Mix;
use crate::linux::System;
use crate::region::Region;
use manycore_chip::{HotLine, Run};
use std::collections::BTreeMap;

/// The results of a program's run.
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
    /// The signal, if one killed the first process; and the processes that still ran when the first one ended.
    pub message: Option<String>,
    /// Instructions of all threads of all processes.
    pub instructions: u64,
    /// Names of calls that the simulator does not have, and without which the program may do less,
    /// each with its first place. They returned an error, mostly `ENOSYS`.
    pub absent: BTreeMap<String, String>,
    /// The counts of each process, in the order of their numbers; none unless they were asked for
    /// ([`Program::counts`](crate::Program::counts)).
    pub processes: Vec<ProcessCounts>,
    /// The machine's results; `None` without a machine, or if nothing was timed.
    pub timing: Option<Timing>,
}

/// The counts of a process.
///
/// ```
/// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
/// use manycore_riscv::{Class, Program};
/// use std::io::sink;
///
/// let program = Program::new(hello.path()).counts().streams(sink(), sink());
/// let outcome = program.run_functionally(1)?;
/// let [process] = &outcome.processes[..] else { panic!("`hello` makes no other process") };
/// let mix = process.mix.expect("it was asked for");
/// assert_eq!((process.instructions, mix.sum()), (9, 9));
/// // `write` and `exit`.
/// assert_eq!(mix[Class::System], 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessCounts {
    /// Its number.
    pub number: u32,
    /// The number of the process that made it, or 1.
    pub parent: u32,
    /// The file of the last program that it ran.
    pub program: String,
    /// The threads that it has had.
    pub threads: u32,
    /// Instructions of all its threads.
    pub instructions: u64,
    /// `instructions` by kind. Here, instructions of a child that runs on its parent's memory (`vfork`) count
    /// as the parent's.
    pub mix: Option<Mix>,
    /// When it began, in nanoseconds of the run.
    pub began: u64,
    /// When it ended; `None` if the run ended first.
    pub ended: Option<u64>,
    /// Its exit status, if it has exited; 128 and the signal's number if one killed it.
    pub status: Option<i32>,
}

impl Outcome {
    /// Instructions of all processes by kind, if they were asked for.
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// let program = Program::new(hello.path()).counts().streams(sink(), sink());
    /// let outcome = program.run_functionally(1)?;
    /// assert_eq!(outcome.mix().expect("it was asked for").sum(), outcome.instructions);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn mix(&self) -> Option<Mix> {
        let mixes = self.processes.iter().filter_map(|process| process.mix);
        mixes.reduce(|mut sum, mix| {
            sum += mix;
            sum
        })
    }
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
    /// The cycles, where they went, and the run's hash. Cache lines have simulated addresses here.
    pub run: Run<()>,
    /// The lines that were fought over, by symbol.
    pub hot: Vec<HotSymbol>,
    /// The regions of interest that the program marked, in the order of their ends.
    pub regions: Vec<Region>,
    /// The number of each thread and its instructions, in the order of the numbers. They include the
    /// instructions before the machine's time began.
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
    /// The events of the line.
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
            processes: system.counts(),
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
