//! A program's start: its segments, its dynamic loader, its stack.

use super::files::{Files, Streams};
use super::memory::{MAPPINGS, Memory};
use super::names::Names;
use super::process::{Command, Process};
use super::random::Random;
use super::signals::{Signals, Timers};
use super::system::System;
use super::task::Task;
use super::threads::{FIRST, Thread, Threads};
use super::users::USER;
use crate::elf::Elf;
use crate::error::RunError;
use crate::hart::{Code, Hart};
use crate::isa::Mix;
use crate::memory::{Content, END, Fault, PAGE, Physical, Region, right};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A relocatable program's first address, and the end of the main thread's stack.
const PROGRAM: u64 = 0x2A_0000_0000;
const STACK_END: u64 = 0x3F_F000_0000;
const LEAST_STACK: u64 = 1 << 17;
/// Bytes of the main thread's stack, unless the program sets a limit.
pub(super) const STACK: u64 = 8 << 20;

/// Keys of the auxiliary vector (`AT_PHDR` and so on), which follows the environment on the stack.
mod auxiliary {
    pub(super) const END: u64 = 0;
    pub(super) const HEADERS: u64 = 3;
    pub(super) const HEADER_SIZE: u64 = 4;
    pub(super) const HEADER_COUNT: u64 = 5;
    pub(super) const PAGE_SIZE: u64 = 6;
    pub(super) const LOADER_BASE: u64 = 7;
    pub(super) const FLAGS: u64 = 8;
    pub(super) const ENTRY: u64 = 9;
    pub(super) const USER: u64 = 11;
    pub(super) const EFFECTIVE_USER: u64 = 12;
    pub(super) const GROUP: u64 = 13;
    pub(super) const EFFECTIVE_GROUP: u64 = 14;
    pub(super) const HARDWARE: u64 = 16;
    pub(super) const CLOCK_TICKS: u64 = 17;
    pub(super) const SECURE: u64 = 23;
    pub(super) const RANDOM: u64 = 25;
    pub(super) const FILE_NAME: u64 = 31;
}

/// The files, arguments and streams of a program at its start.
pub(crate) struct Start {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<String>,
    pub(crate) root: Option<PathBuf>,
    pub(crate) folder: PathBuf,
    pub(crate) memory: u64,
    pub(crate) seed: u64,
    /// Whether to count instructions by kind, and to note the code that asks for each block of the heap.
    pub(crate) counts: bool,
    /// The number of cores that the main thread may run on. `None` means all cores.
    pub(crate) cpus: Option<u32>,
    pub(crate) streams: Streams,
}

/// Loads a program. Returns a system with the program's process, and the program's main thread.
pub(crate) fn load(start: Start) -> Result<(System, Task), RunError> {
    let name = start.program.display().to_string();
    let mut files = Files::new(FIRST, start.root, start.folder, start.streams);
    let image = Image::read(&files, &name, &start.program)?;
    let cores = 0..start.cpus.unwrap_or(0) as usize;
    let file = std::fs::canonicalize(&start.program);
    files.program = file.unwrap_or(start.program);
    let executable = files.program.display().to_string();
    let mut process = Process {
        number: FIRST,
        parent: 1,
        group: FIRST,
        session: FIRST,
        is_in_orphaned_group: true,
        lender: None,
        tasks: 1,
        survivor: None,
        lingers: false,
        is_over: false,
        memory: Memory::new(Physical::new(start.memory)),
        code: Code::new(start.counts),
        mix: Mix::default(),
        began: 0,
        made: 1,
        names: Names::default(),
        files,
        signals: Signals::default(),
        timers: Timers::default(),
        threads: Threads::new(FIRST, Thread::new(0, 0, cores.collect())),
        random: Random::new(start.seed),
        stack_limit: STACK,
        command: Command {
            executable,
            arguments: [name].into_iter().chain(start.arguments).collect(),
            environment: start.environment,
        },
        status: None,
        failure: None,
        killed_by: None,
        message: None,
        absent: BTreeMap::new(),
        retired: 0,
        used: 0,
        used_by_children: 0,
        reported: 0,
        nice: 0,
        policy: 0,
        limits: BTreeMap::new(),
        death_signal: 0,
        is_reaper: false,
    };
    let hart = begin(&mut process, &image)?;
    Ok((System::new(process), Task::new(hart, FIRST)))
}

/// The files of a program and of its dynamic loader.
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
                    what: "does not exist".into(),
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

/// Maps a program into the process's empty memory, with the arguments and the environment of the
/// process. Returns the hart that begins the program.
pub(super) fn begin(process: &mut Process, image: &Image) -> Result<Hart, RunError> {
    let Image { name, elf, loader } = image;
    let base = if elf.relocatable { PROGRAM } else { 0 };
    map(process, elf, base, name)?;
    let end = (base + elf.end()).next_multiple_of(PAGE) + (process.random.bits() % 256) * PAGE;
    process.memory.begin_heap(end);
    let mut entry = base.wrapping_add(elf.entry);
    let mut loader_base = 0;
    if let Some((name, loader)) = loader {
        loader_base = process
            .memory
            .space
            .free_below(MAPPINGS, loader.end())
            .unwrap_or(PROGRAM * 2);
        loader_base = loader_base / PAGE * PAGE;
        map(process, loader, loader_base, name)?;
        entry = loader_base.wrapping_add(loader.entry);
    }
    // As in hardware, the lowest bit of the start address is ignored.
    let mut hart = Hart::new(entry & !1);
    hart.x[2] = stack(process, elf, base, loader_base).map_err(|_| RunError::Program {
        file: name.clone(),
        what: format!(
            "its arguments and environment do not fit its stack of {} KiB",
            process.stack_limit >> 10
        ),
    })?;
    Ok(hart)
}

/// Maps the segments of a file at `base`.
fn map(process: &mut Process, elf: &Elf, base: u64, name: &str) -> Result<(), RunError> {
    let label: Rc<str> = name.into();
    for segment in &elf.segments {
        let first = base + segment.address;
        let start = first / PAGE * PAGE;
        let end = (first + segment.in_memory).next_multiple_of(PAGE);
        if end > END || start < PAGE {
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
        process.memory.space.map(
            start,
            Region {
                end,
                rights,
                content,
                name: Rc::clone(&label),
                was_written: false,
            },
        );
    }
    process.names.add(&elf.bytes, base);
    Ok(())
}

/// Makes the main thread's stack. Returns the stack pointer.
fn stack(process: &mut Process, elf: &Elf, base: u64, loader: u64) -> Result<u64, Fault> {
    let rights = right::READ | right::WRITE;
    let region = Region {
        end: STACK_END,
        rights,
        content: Content::Zero,
        name: "[stack]".into(),
        was_written: false,
    };
    // If the limit is larger than the room, the stack fills the room.
    let length = process.stack_limit;
    let length = length.clamp(LEAST_STACK, STACK_END - MAPPINGS - PAGE);
    let length = length.next_multiple_of(PAGE);
    process.memory.space.map(STACK_END - length, region);
    let Process {
        memory,
        random,
        command,
        ..
    } = process;
    let mut at = STACK_END - 16 - random.bits() % 256 * 16;
    let mut push = |bytes: &[u8]| {
        at -= bytes.len() as u64 + 1;
        memory.space.write(at, bytes).map(|()| at)
    };
    let name = push(command.executable.as_bytes())?;
    let mut texts = |list: &[String]| -> Result<Vec<u64>, Fault> {
        list.iter().map(|text| push(text.as_bytes())).collect()
    };
    let environment = texts(&command.environment)?;
    let arguments = texts(&command.arguments)?;
    let random = [random.bits(), random.bits()].map(u64::to_le_bytes);
    let random = push(&random.concat())?;
    let count = arguments.len() as u64;
    let mut words = vec![count];
    words.extend(arguments);
    words.push(0);
    words.extend(environment);
    words.push(0);
    // Bits of `AT_HWCAP`: the extensions I, M, A, F, D and C.
    let letters = [8u64, 12, 0, 5, 3, 2]
        .iter()
        .fold(0, |all, letter| all | 1 << letter);
    for (key, value) in [
        (auxiliary::HEADERS, base.wrapping_add(elf.headers.address)),
        (auxiliary::HEADER_SIZE, elf.headers.size),
        (auxiliary::HEADER_COUNT, elf.headers.count),
        (auxiliary::PAGE_SIZE, PAGE),
        (auxiliary::LOADER_BASE, loader),
        (auxiliary::FLAGS, 0),
        (auxiliary::ENTRY, base.wrapping_add(elf.entry)),
        (auxiliary::USER, USER.into()),
        (auxiliary::EFFECTIVE_USER, USER.into()),
        (auxiliary::GROUP, USER.into()),
        (auxiliary::EFFECTIVE_GROUP, USER.into()),
        (auxiliary::HARDWARE, letters),
        (auxiliary::CLOCK_TICKS, 100),
        (auxiliary::SECURE, 0),
        (auxiliary::RANDOM, random),
        (auxiliary::FILE_NAME, name),
        (auxiliary::END, 0),
    ] {
        words.extend([key, value]);
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let pointer = (at - bytes.len() as u64) & !15;
    memory.space.write(pointer, &bytes)?;
    Ok(pointer)
}
