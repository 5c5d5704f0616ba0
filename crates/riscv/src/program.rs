//! A program to be run: on a simulated machine, or on none.

use crate::error::RunError;
use crate::functional::Functional;
use crate::linux::{Process, Start, load};
use crate::timed::{Shared, TimedTask};
use manycore_chip::config::Config;
use manycore_chip::guest::GuestMachine;
use manycore_chip::{HotLine, Run};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A program and what it is given.
///
/// ```no_run
/// use manycore_chip::config::Config;
/// use manycore_riscv::Program;
///
/// let machine = Config::preset("atac-64")?;
/// let outcome = Program::new("hello").argument("world").run(&machine)?;
/// println!("status {}, {} instructions", outcome.status, outcome.instructions);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Program {
    start: Start,
    limit: u64,
    segments: usize,
}

/// What a program's run was.
#[derive(Debug)]
pub struct Outcome {
    /// The exit status; 128 and the signal's number if one killed the program.
    pub status: i32,
    /// What killed the program, if a signal did.
    pub message: Option<String>,
    /// Instructions of all threads.
    pub instructions: u64,
    /// What the machine did; `None` without one.
    pub timing: Option<Timing>,
}

/// A run on a simulated machine.
#[derive(Debug)]
pub struct Timing {
    /// Cycles, the hash, where the cycles went; the lines by simulated address.
    pub run: Run<()>,
    /// The lines that were fought over, by symbol.
    pub hot: Vec<HotSymbol>,
    /// The clock at each mark of a region of interest, in the order of the marks.
    pub marks: Vec<u64>,
}

/// A cache line that was fought over, and what is in it.
#[derive(Clone, Debug)]
pub struct HotSymbol {
    /// The address that the program sees, with its symbol or what is mapped there.
    pub place: String,
    /// What happened to the line.
    pub line: HotLine,
}

impl Program {
    /// The program in the file `program`, which finds the files of this process's folder, and
    /// whose output is this process's.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            start: Start {
                program: program.into(),
                arguments: Vec::new(),
                environment: Vec::new(),
                root: None,
                folder: std::env::current_dir().unwrap_or_else(|_| "/".into()),
                memory: 4 << 30,
                seed: 1,
                cpus: None,
                output: Box::new(std::io::stdout()),
                error: Box::new(std::io::stderr()),
            },
            limit: u64::MAX,
            segments: 0,
        }
    }

    /// One more argument.
    #[must_use]
    pub fn argument(mut self, text: impl Into<String>) -> Self {
        self.start.arguments.push(text.into());
        self
    }

    /// One more `NAME=VALUE` of the environment, which is empty at first.
    #[must_use]
    pub fn environment(mut self, text: impl Into<String>) -> Self {
        self.start.environment.push(text.into());
        self
    }

    /// The folder under which absolute paths are looked up before the host's own.
    #[must_use]
    pub fn root(mut self, folder: impl AsRef<Path>) -> Self {
        self.start.root = Some(folder.as_ref().to_owned());
        self
    }

    /// The most bytes of memory that the program may use (4 GiB).
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.start.memory = bytes;
        self
    }

    /// What decides the program's random numbers and its stack's place (1).
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.start.seed = seed;
        self
    }

    /// Only the machine's first so many cores are the program's, as under a mask that `taskset`
    /// sets; all if it has fewer.
    #[must_use]
    pub fn cpus(mut self, count: u32) -> Self {
        self.start.cpus = Some(count);
        self
    }

    /// Where standard output and standard error go.
    #[must_use]
    pub fn streams(mut self, output: impl Write + 'static, error: impl Write + 'static) -> Self {
        self.start.output = Box::new(output);
        self.start.error = Box::new(error);
        self
    }

    /// Ends the run with an error if it is not done in so many cycles.
    #[must_use]
    pub fn limit(mut self, cycles: u64) -> Self {
        self.limit = cycles;
        self
    }

    /// Keeps a timeline of up to `segments` segments.
    #[must_use]
    pub fn timeline(mut self, segments: usize) -> Self {
        self.segments = segments;
        self
    }

    /// Runs the program without timing, as on a machine of `cores` cores.
    ///
    /// # Errors
    ///
    /// A file that is no program, what is not supported, or a deadlock.
    pub fn run_functionally(self, cores: u32) -> Result<Outcome, RunError> {
        let (mut process, main) = load(self.start)?;
        Functional::new(cores).run(&mut process, main)?;
        outcome(&mut process, None)
    }

    /// Runs the program on `machine`.
    ///
    /// # Errors
    ///
    /// A file that is no program, what is not supported, a deadlock, or the limit on cycles.
    pub fn run(mut self, machine: &Config) -> Result<Outcome, RunError> {
        self.start.cpus = self.start.cpus.map(|cpus| cpus.min(machine.cores));
        let (process, main) = load(self.start)?;
        let shared = Shared::new(process, machine.cores);
        let main: TimedTask = TimedTask::new(main, Rc::clone(&shared));
        let machine = GuestMachine::new(machine)
            .limit(self.limit)
            .timeline(self.segments);
        let run = machine.run(Box::new(main))?;
        let mut process = shared.process.borrow_mut();
        let lines = &run.statistics.report.lines;
        let hot = lines
            .iter()
            .map(|line| hot_symbol(&process, line))
            .collect();
        let marks = process.region.iter().map(|&(clock, _)| clock).collect();
        outcome(&mut process, Some(Timing { run, hot, marks }))
    }
}

fn hot_symbol(process: &Process, line: &HotLine) -> HotSymbol {
    let place = match process.space.virtual_of(line.address) {
        Some(address) => process.describe_line(address),
        None => "memory that the program gave back".into(),
    };
    HotSymbol {
        place,
        line: line.clone(),
    }
}

fn outcome(process: &mut Process, timing: Option<Timing>) -> Result<Outcome, RunError> {
    if let Some(failure) = process.failure.take() {
        return Err(RunError::Unsupported(failure));
    }
    Ok(Outcome {
        status: process.status.unwrap_or(0),
        message: process.message.take(),
        instructions: process.retired,
        timing,
    })
}
