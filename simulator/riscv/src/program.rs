//! A program to be run, on a simulated machine or without timing.

use crate::error::{RunError, ended};
use crate::functional::{Functional, Resumed};
use crate::linux::{Start, Streams, load};
use crate::outcome::{Outcome, Timing, hot_symbol};
use crate::region::Moment;
use crate::timed::{Shared, TimedTask};
use manycore_chip::Simulation;
use manycore_chip::config::Topology;
use manycore_chip::guest::Warmth;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A program, its arguments, and its other settings.
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
    fast_forward: Option<u64>,
    limit: u64,
    stop: Option<fn() -> bool>,
}

impl Program {
    /// The program in the file `program`. The program begins in this process's folder, and uses this process's standard
    /// input and output.
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_riscv::Program;
    ///
    /// let outcome = Program::new(hello.path()).run_functionally(1)?;
    /// // The program's own status.
    /// assert_eq!(outcome.status, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
                counts: false,
                cpus: None,
                streams: Streams {
                    input: Box::new(std::io::stdin()),
                    output: Box::new(std::io::stdout()),
                    error: Box::new(std::io::stderr()),
                },
            },
            fast_forward: None,
            limit: u64::MAX,
            stop: None,
        }
    }

    /// Adds an argument.
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// let program = Program::new(hello.path()).argument("--verbose").argument("8");
    /// assert_eq!(program.streams(sink(), sink()).run_functionally(1)?.status, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn argument(mut self, text: impl Into<String>) -> Self {
        self.start.arguments.push(text.into());
        self
    }

    /// Adds a `NAME=VALUE` to the environment, which is empty at first.
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// let program = Program::new(hello.path()).environment("OMP_NUM_THREADS=6");
    /// assert_eq!(program.streams(sink(), sink()).run_functionally(1)?.status, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn environment(mut self, text: impl Into<String>) -> Self {
        self.start.environment.push(text.into());
        self
    }

    /// Sets a folder under which absolute paths are looked up before the host's own paths. The program never sees the
    /// host's settings, libraries and most devices (`/etc`, `/lib`, `/usr/lib`, most of `/dev`).
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// // A dynamically linked program finds its loader and its libraries there.
    /// let program = Program::new(hello.path()).root("/usr/riscv64-linux-gnu");
    /// assert_eq!(program.streams(sink(), sink()).run_functionally(1)?.status, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn root(mut self, folder: impl AsRef<Path>) -> Self {
        self.start.root = Some(folder.as_ref().to_owned());
        self
    }

    /// Limits the bytes of memory that the program may use (default: 4 GiB).
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// // This is less than a page for its code and a page for its stack.
    /// let program = Program::new(hello.path()).memory(4096).streams(sink(), sink());
    /// assert!(program.run_functionally(1).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.start.memory = bytes;
        self
    }

    /// Sets the seed of the program's random numbers and of its stack's address (default: 1).
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_chip::config::Config;
    /// use manycore_riscv::{Program, RunError};
    /// use std::io::sink;
    ///
    /// let machine = Config::preset("atac-64")?;
    /// let hash = |seed| {
    ///     let program = Program::new(hello.path()).seed(seed).streams(sink(), sink());
    ///     let outcome = program.run(&machine)?;
    ///     Ok::<_, RunError>(outcome.timing.expect("it is timed").run.statistics.hash)
    /// };
    /// assert_eq!(hash(1)?, hash(1)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.start.seed = seed;
        self
    }

    /// Counts instructions by kind for each process, and notes which code asked for each block of the heap. The report
    /// of contended cache lines then names that code. The run takes a little longer, and its results are the same.
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// let program = Program::new(hello.path()).counts().streams(sink(), sink());
    /// assert_eq!(program.run_functionally(1)?.processes.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn counts(mut self) -> Self {
        self.start.counts = true;
        self
    }

    /// Gives the program only the machine's first `count` cores, as a mask of `taskset` does. If the machine has fewer
    /// cores, the program gets all of them.
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// // `sched_getaffinity` returns two cores.
    /// let program = Program::new(hello.path()).cpus(2).streams(sink(), sink());
    /// assert_eq!(program.run_functionally(64)?.status, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn cpus(mut self, count: u32) -> Self {
        self.start.cpus = Some(count);
        self
    }

    /// Sets the streams for standard output and standard error.
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// let program = Program::new(hello.path()).streams(sink(), sink());
    /// assert_eq!(program.run_functionally(1)?.status, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn streams(mut self, output: impl Write + 'static, error: impl Write + 'static) -> Self {
        self.start.streams.output = Box::new(output);
        self.start.streams.error = Box::new(error);
        self
    }

    /// Sets the stream for standard input. Without this call, the program reads this process's standard input.
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// let program = Program::new(hello.path()).input(&b"three lines"[..]);
    /// assert_eq!(program.streams(sink(), sink()).run_functionally(1)?.status, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn input(mut self, input: impl Read + 'static) -> Self {
        self.start.streams.input = Box::new(input);
        self
    }

    /// Makes [`run`](Self::run) execute the program without timing at first: until the first region of interest begins,
    /// until the first instruction of ATAC's network, or for at most this number of `instructions`. The simulation then
    /// continues from cycle 0 with all threads, and the caches contain what earlier accesses left there. If the program
    /// ends earlier, its outcome has no timing.
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_chip::config::Config;
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// let machine = Config::preset("atac-64")?;
    /// let program = Program::new(hello.path()).fast_forward(4).streams(sink(), sink());
    /// let outcome = program.run(&machine)?;
    /// // The limit is in a block that ends with the sixth instruction, the first system call.
    /// assert_eq!(outcome.timing.expect("it is timed").forwarded, 6);
    /// // This program begins no region of interest.
    /// let program = Program::new(hello.path()).fast_forward(u64::MAX).streams(sink(), sink());
    /// let outcome = program.run(&machine)?;
    /// assert!(outcome.timing.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fast_forward(mut self, instructions: u64) -> Self {
        self.fast_forward = Some(instructions);
        self
    }

    /// Limits the instructions that [`run_functionally`](Self::run_functionally) executes (default: no limit). While
    /// all threads sleep, each nanosecond counts as an instruction. The block of instructions that reaches the limit is
    /// executed to its end. A machine has its own limit, in cycles ([`Simulation::limit`]).
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// let program = Program::new(hello.path()).limit(0).streams(sink(), sink());
    /// let error = program.run_functionally(1).unwrap_err();
    /// assert!(error.to_string().contains("still ran after"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn limit(mut self, instructions: u64) -> Self {
        self.limit = instructions;
        self
    }

    /// Calls `stop` often ([`Simulation::stop_when`]). If `stop` returns `true`, the run ends as at a limit.
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// let program = Program::new(hello.path()).stop_when(|| true).streams(sink(), sink());
    /// let error = program.run_functionally(1).unwrap_err();
    /// assert!(error.to_string().contains("still ran after 0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn stop_when(mut self, stop: fn() -> bool) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Runs the program without timing. The program sees a machine of `cores` equal cores in one package.
    ///
    /// # Errors
    ///
    /// Fails if the file is no program, if the program does something unsupported, on a deadlock, or at the limit.
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// let outcome = Program::new(hello.path()).streams(sink(), sink()).run_functionally(64)?;
    /// assert_eq!((outcome.status, outcome.instructions), (7, 9));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_functionally(mut self, cores: u32) -> Result<Outcome, RunError> {
        self.start.cpus = self.start.cpus.map(|cpus| cpus.min(cores));
        let (mut system, main) = load(self.start)?;
        let machine = Functional::new(Topology::flat(cores))
            .limit(self.limit)
            .stop_when(self.stop);
        let stopped = machine.run_alone(&mut system, main).err();
        ended(&mut system, None, stopped)
    }

    /// Runs the program on a machine (`&Config`), or in a [`Simulation`] of the machine, which may have a limit on
    /// cycles, a timeline, counters or samples.
    ///
    /// # Errors
    ///
    /// Fails if the file is no program, if the program does something unsupported, on a deadlock, or at the limit on
    /// cycles.
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_chip::{Simulation, config::Config};
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// let machine = Config::preset("dahu")?;
    /// let program = Program::new(hello.path()).streams(sink(), sink());
    /// let outcome = program.run(&machine)?;
    /// let timing = outcome.timing.expect("it is timed");
    /// assert!(timing.run.statistics.cycles > outcome.instructions);
    ///
    /// let simulation = Simulation::new(&machine).limit(10);
    /// let program = Program::new(hello.path()).streams(sink(), sink());
    /// let error = program.run(simulation).unwrap_err();
    /// assert!(error.to_string().contains("still ran after 10 cycles"));
    ///
    /// let simulation = Simulation::new(&machine).timeline(1_000).counters();
    /// let program = Program::new(hello.path()).streams(sink(), sink());
    /// let run = program.run(simulation)?.timing.expect("it is timed").run;
    /// let mut json = Vec::new();
    /// run.write_timeline(&mut json)?;
    /// assert!(String::from_utf8(json)?.contains("main"));
    /// assert!(run.statistics.counters.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(mut self, on: impl Into<Simulation>) -> Result<Outcome, RunError> {
        let mut simulation = on.into();
        if let Some(stop) = self.stop {
            simulation = simulation.stop_when(stop);
        }
        let machine = simulation.machine();
        self.start.cpus = self.start.cpus.map(|cpus| cpus.min(machine.cores));
        let (mut system, main) = load(self.start)?;
        let mut threads = vec![Resumed::new(main)];
        let (mut before, mut warmth) = (0, None);
        if let Some(instructions) = self.fast_forward {
            let forwarder = Functional::new(machine.topology())
                .stop_when(self.stop)
                .warming(Warmth::new(machine)?);
            let (main, megahertz) = (threads.remove(0).task, machine.ghz * 1_000.0);
            match forwarder.forward(&mut system, main, instructions, megahertz) {
                Ok(Some(handover)) => {
                    (threads, before) = (handover.threads, handover.clock);
                    warmth = handover.warmth;
                }
                Ok(None) => return ended(&mut system, None, None),
                Err(why) => return ended(&mut system, None, Some(why)),
            }
        }
        let forwarded = system.retired();
        let main = threads.remove(0);
        let shared = Shared::new(system, threads, before, machine.topology());
        let main = TimedTask::resumed(main, Rc::clone(&shared));
        let (run, stopped) = simulation.run_warm_guest_until_stopped(Box::new(main), warmth)?;
        let mut system = shared.system.borrow_mut();
        let stopped = stopped.map(|error| {
            let error = error.naming(|thread, physical| system.describe_wait(thread, physical));
            error.to_string()
        });
        let report = &run.statistics.report;
        let hot = report.lines.iter();
        let hot = hot.map(|line| hot_symbol(&system, line)).collect();
        let end = Moment {
            clock: report.end,
            spent: report.total,
            cores: run
                .statistics
                .counters
                .as_ref()
                .map(|all| all.cores.clone()),
        };
        let mut threads = shared.executed.take();
        threads.sort_unstable();
        let regions = shared.regions.take().finish(end);
        let timing = Timing {
            run,
            hot,
            regions,
            threads,
            forwarded,
        };
        ended(&mut system, Some(timing), stopped)
    }
}
