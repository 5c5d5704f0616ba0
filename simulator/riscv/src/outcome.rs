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
    /// The first process's exit status, or 128 plus the signal's number if a signal killed the process.
    pub status: i32,
    /// A message that names the signal, if one killed the first process, and the processes that still ran when the
    /// first process ended.
    pub message: Option<String>,
    /// The number of instructions of all threads of all processes.
    pub instructions: u64,
    /// The system calls that the program made and that the simulator does not have, each with the place of its first
    /// call. They returned an error, mostly `ENOSYS`, and the program may have done less.
    pub absent: BTreeMap<String, String>,
    /// The counts of each process, in the order of their numbers. Empty unless
    /// [`Program::counts`](crate::Program::counts) asked for them.
    pub processes: Vec<ProcessCounts>,
    /// The machine's results. `None` if the program ran without a machine, or if nothing was timed.
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
    /// The number of the process.
    pub number: u32,
    /// The number of the process that made this process, or 1.
    pub parent: u32,
    /// The file of the last program that the process ran.
    pub program: String,
    /// The number of threads that the process had in all.
    pub threads: u32,
    /// The number of instructions of all its threads.
    pub instructions: u64,
    /// `instructions` by kind. If a child runs on its parent's memory (`vfork`), its instructions count for the parent
    /// here.
    pub mix: Option<Mix>,
    /// When the process began, in nanoseconds of the run.
    pub began: u64,
    /// When the process ended, in nanoseconds. `None` if the run ended first.
    pub ended: Option<u64>,
    /// If the process has ended, the exit status, or 128 plus the signal's number if a signal killed the process.
    pub status: Option<i32>,
}

impl Outcome {
    /// The instructions of all processes by kind, if [`Program::counts`](crate::Program::counts) asked for them.
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

/// The results of a run on a simulated machine.
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
    /// The cycles, what the cores did in them, and the run's hash. The run's cache lines have simulated physical
    /// addresses.
    pub run: Run<()>,
    /// The contended cache lines, by symbol.
    pub hot: Vec<HotSymbol>,
    /// The regions of interest that the program has marked, in the order of their ends.
    pub regions: Vec<Region>,
    /// For each thread, its number and its number of instructions, in the order of the threads' numbers. The
    /// instructions before the machine's time began are included.
    pub threads: Vec<(u32, u64)>,
    /// The number of instructions before the machine's time began
    /// ([`Program::fast_forward`](crate::Program::fast_forward)).
    pub forwarded: u64,
}

/// A contended cache line, and what is in it. [`Timing`] has an example.
#[derive(Clone, Debug)]
pub struct HotSymbol {
    /// The address that the program sees, with its symbol or the name of its mapping.
    pub place: String,
    /// The events of the line.
    pub line: HotLine,
}

impl Outcome {
    /// The results of all processes until now.
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
    let place = place.unwrap_or_else(|| "memory that the program has freed".into());
    HotSymbol {
        place,
        line: line.clone(),
    }
}
