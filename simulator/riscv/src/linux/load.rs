//! A program's start: its segments, its loader, its stack.

use super::files::{Files, Sink};
use super::memory::MAPPINGS;
use super::signals::Signals;
use super::timers::Timers;
use super::{PROCESS, Process, Task, Thread};
use crate::elf::{Elf, Symbols};
use crate::error::RunError;
use crate::hart::{Code, Hart};
use crate::memory::{Content, PAGE, Region, Space, right};
use crate::source::Sources;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A relocatable program's first address, and the end of the main thread's stack.
const PROGRAM: u64 = 0x2A_0000_0000;
const STACK_END: u64 = 0x3F_F000_0000;
const STACK: u64 = 8 << 20;

/// What a program begins with.
pub(crate) struct Start {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<String>,
    pub(crate) root: Option<PathBuf>,
    pub(crate) folder: PathBuf,
    pub(crate) memory: u64,
    pub(crate) seed: u64,
    /// How many cores the main thread may run on; all if it is not said.
    pub(crate) cpus: Option<u32>,
    pub(crate) output: Sink,
    pub(crate) error: Sink,
}

/// Loads a program: its process, and its main thread.
pub(crate) fn load(start: Start) -> Result<(Process, Task), RunError> {
    let name = start.program.display().to_string();
    let files = Files::new(start.root, start.folder, start.output, start.error);
    let image = Image::read(&files, &name, &start.program)?;
    let cores = 0..start.cpus.unwrap_or(0) as usize;
    let mut process = Process {
        space: Space::new(start.memory),
        code: Code::new(),
        symbols: Symbols::default(),
        sources: Sources::default(),
        files,
        shared: Vec::new(),
        signals: Signals::default(),
        timers: Timers::default(),
        threads: [(PROCESS, Thread::new(0, 0, cores.collect()))].into(),
        next_thread: PROCESS + 1,
        heap: (0, 0),
        random: start.seed,
        arguments: [name.clone()].into_iter().chain(start.arguments).collect(),
        environment: start.environment,
        executable: std::fs::canonicalize(&start.program)
            .map_or_else(|_| name.clone(), |path| path.display().to_string()),
        status: None,
        failure: None,
        message: None,
        retired: 0,
    };
    let hart = process.begin(&image)?;
    Ok((process, Task::new(hart, PROCESS)))
}

/// The file of a program, and that of its loader.
pub(super) struct Image {
    name: String,
    elf: Elf,
    loader: Option<(String, Elf)>,
}

impl Image {
    /// Reads the program in the host's file `path`.
    pub(super) fn read(files: &Files, name: &str, path: &Path) -> Result<Self, RunError> {
        let elf = read(name, path)?;
        let loader = elf
            .interpreter
            .clone()
            .map(|wanted| -> Result<_, RunError> {
                let host = files.host_path(Path::new(&wanted), true);
                let host = host.map_err(|_| RunError::Program {
                    file: wanted.clone(),
                    what: "is not there".into(),
                });
                let loader = host.and_then(|host| read(&wanted, &host));
                let loader = loader.map_err(|error| RunError::Program {
                file: name.into(),
                what: format!(
                    "its dynamic loader cannot be read ({error}); give the folder that has it and \
                     the libraries, such as --root /usr/riscv64-linux-gnu, or link with -static"
                ),
            })?;
                Ok((wanted, loader))
            });
        Ok(Self {
            name: name.into(),
            elf,
            loader: loader.transpose()?,
        })
    }
}

fn read(name: &str, path: &Path) -> Result<Elf, RunError> {
    let wrong = |error: std::io::Error| RunError::Program {
        file: name.into(),
        what: format!("cannot be read: {error}; expected a RISC-V Linux program"),
    };
    Elf::new(name, std::fs::read(path).map_err(wrong)?)
}

impl Process {
    /// Maps a program where nothing is, with the arguments and the environment that the process
    /// has; the hart that begins it.
    pub(super) fn begin(&mut self, image: &Image) -> Result<Hart, RunError> {
        let Image { name, elf, loader } = image;
        let base = if elf.relocatable { PROGRAM } else { 0 };
        self.map(elf, base, name)?;
        let end = (base + elf.end()).next_multiple_of(PAGE) + (self.random_bits() % 256) * PAGE;
        self.heap = (end, end);
        let mut entry = base.wrapping_add(elf.entry);
        let mut loader_base = 0;
        if let Some((name, loader)) = loader {
            loader_base = self
                .space
                .free_below(MAPPINGS, loader.end())
                .unwrap_or(PROGRAM * 2);
            loader_base = loader_base / PAGE * PAGE;
            self.map(loader, loader_base, name)?;
            entry = loader_base.wrapping_add(loader.entry);
        }
        let mut hart = Hart::new(entry);
        hart.x[2] = self
            .stack(elf, base, loader_base)
            .map_err(|_| RunError::Program {
                file: name.clone(),
                what: "its arguments and environment do not fit its stack of 8 MiB".into(),
            })?;
        Ok(hart)
    }

    /// Maps the segments of a file at `base`.
    fn map(&mut self, elf: &Elf, base: u64, name: &str) -> Result<(), RunError> {
        let label: Rc<str> = name.into();
        for segment in &elf.segments {
            let first = base + segment.address;
            let start = first / PAGE * PAGE;
            let end = (first + segment.in_memory).next_multiple_of(PAGE);
            if end > crate::memory::END || start < PAGE {
                let what = "its segments lie outside of the 256 GiB of user memory".into();
                return Err(RunError::Program {
                    file: name.into(),
                    what,
                });
            }
            let from = segment.offset as usize;
            let bytes = elf.bytes[from..from + segment.in_file as usize].into();
            let content = Content::File { bytes, at: first };
            let rights = segment.rights;
            self.space.map(
                start,
                Region {
                    end,
                    rights,
                    content,
                    name: Rc::clone(&label),
                },
            );
        }
        self.symbols.add(&elf.bytes, base);
        self.sources.add(&elf.bytes, base);
        Ok(())
    }

    /// Makes the main thread's stack; its pointer.
    fn stack(&mut self, elf: &Elf, base: u64, loader: u64) -> Result<u64, crate::memory::Fault> {
        let rights = right::READ | right::WRITE;
        let region = Region {
            end: STACK_END,
            rights,
            content: Content::Zero,
            name: "[stack]".into(),
        };
        self.space.map(STACK_END - STACK, region);
        let mut at = STACK_END - 16 - self.random_bits() % 256 * 16;
        let mut push = |space: &mut Space, bytes: &[u8]| {
            at -= bytes.len() as u64 + 1;
            space.write(at, bytes).map(|()| at)
        };
        let text =
            |process: &mut Self, push: &mut dyn FnMut(&mut Space, &[u8]) -> _, list: &[String]| {
                let each = list
                    .iter()
                    .map(|text| push(&mut process.space, text.as_bytes()));
                each.collect::<Result<Vec<u64>, _>>()
            };
        let (arguments, environment) = (self.arguments.clone(), self.environment.clone());
        let name = push(&mut self.space, self.executable.clone().as_bytes())?;
        let environment = text(self, &mut push, &environment)?;
        let arguments = text(self, &mut push, &arguments)?;
        let random = [self.random_bits(), self.random_bits()]
            .map(u64::to_le_bytes)
            .concat();
        let random = push(&mut self.space, &random)?;
        let count = arguments.len() as u64;
        let mut words = vec![count];
        words.extend(arguments);
        words.push(0);
        words.extend(environment);
        words.push(0);
        // I, M, A, F, D, C of the hardware's letters.
        let letters = [8u64, 12, 0, 5, 3, 2]
            .iter()
            .fold(0, |all, letter| all | 1 << letter);
        for (key, value) in [
            (3, base.wrapping_add(elf.headers.address)),
            (4, elf.headers.size),
            (5, elf.headers.count),
            (6, PAGE),
            (7, loader),
            (8, 0),
            (9, base.wrapping_add(elf.entry)),
            (11, 1_000),
            (12, 1_000),
            (13, 1_000),
            (14, 1_000),
            (16, letters),
            (17, 100),
            (23, 0),
            (25, random),
            (31, name),
            (0, 0),
        ] {
            words.extend([key, value]);
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let pointer = (at - bytes.len() as u64) & !15;
        self.space.write(pointer, &bytes)?;
        Ok(pointer)
    }
}
