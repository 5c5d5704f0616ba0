//! `execve`, `execveat`: the process runs another program.

use crate::hart::Code;
use crate::linux::errno::{E2BIG, EACCES, EINVAL, ELOOP, ENOEXEC, Errno};
use crate::linux::files::{EMPTY_PATH, Files, NO_FOLLOW, Open, open_number, read_path};
use crate::linux::load::{self, Image};
use crate::linux::memory::Memory;
use crate::linux::names::Names;
use crate::linux::process::Command;
use crate::linux::system::System;
use crate::linux::task::{NO_ALTERNATE, Outcome, Task};
use crate::linux::words;
use crate::linux::world::World;
use crate::memory::Space;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The most bytes of one argument, and of all arguments.
const LONGEST: u64 = 1 << 17;
const ROOM: usize = 1 << 21;
/// The most scripts in a chain of scripts that run each other.
const SCRIPTS: usize = 4;

/// The new program: its path for the guest, a path by which the host opens it, the path that `/proc/self/exe` shows,
/// and its arguments.
struct Wanted {
    path: PathBuf,
    host: PathBuf,
    file: PathBuf,
    arguments: Vec<String>,
}

/// `execve`, `execveat`.
pub(super) fn execute<W: World>(
    system: &mut System,
    task: &mut Task,
    world: &mut W,
    [folder, path, arguments, environment, flags]: [u64; 5],
) -> Outcome {
    if flags & 0xFFFF_FFFF & !(EMPTY_PATH | NO_FOLLOW) != 0 {
        return Outcome::Fail(EINVAL);
    }
    let process = system.of(task);
    let threads = process.threads.count();
    if threads > 1 && process.lingers {
        let place = process.describe_call(task);
        process.failure.get_or_insert(format!(
            "a thread starts another program (execve) at {place} after the main thread has ended; \
             a program that still has its main thread is supported"
        ));
        return Outcome::Exit(1);
    }
    let (files, memory) = (&process.files, &mut process.memory);
    let found = path_of(files, &mut memory.space, [folder, path, flags]).and_then(|path| {
        let arguments = list(&mut memory.space, arguments)?;
        let environment = list(&mut memory.space, environment)?;
        let wanted = program_of(files, memory, path, arguments)?;
        // The mappings of an open file have the file's name, not its number.
        let name = match open_number(&wanted.path) {
            Some(_) => &wanted.file,
            None => &wanted.path,
        };
        let name = name.display().to_string();
        let image = Image::read(files, &name, &wanted.host).map_err(|_| ENOEXEC)?;
        Ok((wanted, environment, image))
    });
    match found {
        // Another thread may still access the old memory, so the other threads end first.
        Ok(_) if threads > 1 => Outcome::Outlive,
        Ok((wanted, environment, image)) => {
            let number = process.number;
            let outcome = become_program(system, task, world, (wanted, environment), &image);
            // `execve` may close ends of streams, and returns memory that a parent lent. So it wakes all threads that
            // wait for either.
            if system.all().count() > 1 {
                world.futex_wake(words::STREAMS, u32::MAX);
                world.futex_wake(words::children(number), u32::MAX);
            }
            outcome
        }
        Err(errno) => Outcome::Fail(errno),
    }
}

/// The path of the program: the path at an address, or `/dev/fd` with the number of an open file.
fn path_of(
    files: &Files,
    space: &mut Space,
    [folder, address, flags]: [u64; 3],
) -> Result<PathBuf, Errno> {
    if flags & EMPTY_PATH != 0 && read_path(space, address)?.as_os_str().is_empty() {
        return match files.get_place(folder)? {
            Open::File { .. } => Ok(format!("/dev/fd/{}", folder as u32).into()),
            _ => Err(EACCES),
        };
    }
    let stays = flags & NO_FOLLOW != 0;
    let path = files.path_at(space, [folder, address], !stays)?;
    let is_link = stays && files.host_path(&path, false)?.is_symlink();
    match is_link {
        true => Err(ELOOP),
        false => Ok(path),
    }
}

/// Replaces the program of a process. Its files, number, signal mask, ignored signals and interval timer remain.
fn become_program<W: World>(
    system: &mut System,
    task: &mut Task,
    world: &W,
    (wanted, environment): (Wanted, Vec<String>),
    image: &Image,
) -> Outcome {
    // The process returns borrowed memory (`vfork`).
    system.exchange_memory(task.slot);
    let process = system.of(task);
    process.lender = None;
    let physical = process.memory.space.physical().clone();
    process.memory = Memory::new(physical);
    if let Some(mix) = process.code.mix() {
        process.mix += mix;
    }
    process.code = Code::new(process.code.counts());
    process.names = Names::default();
    process.files.close_for_exec();
    process.signals.reset();
    let threads = [task.number, process.number];
    process
        .timers
        .keep_intervals(threads, world.own_nanoseconds());
    // The calling thread becomes the main thread.
    process.survivor = None;
    process.threads.rename_main(task.number);
    task.number = process.number;
    if let Some(thread) = process.threads.get_mut(task.number) {
        (thread.robust, thread.name) = (0, None);
    }
    process.command = Command {
        executable: wanted.file.display().to_string(),
        arguments: wanted.arguments,
        environment,
    };
    process.files.program = wanted.file;
    match load::begin(process, image) {
        Ok(mut hart) => {
            hart.retired = task.hart.retired;
            task.hart = hart;
            (task.clear, task.alternate) = (0, NO_ALTERNATE);
            Outcome::Restored
        }
        Err(error) => {
            process.failure.get_or_insert(error.to_string());
            Outcome::Exit(1)
        }
    }
}

/// Reads a list of texts up to a null pointer.
fn list(space: &mut Space, address: u64) -> Result<Vec<String>, Errno> {
    let mut list = Vec::new();
    let mut room = ROOM;
    if address == 0 {
        return Ok(list);
    }
    loop {
        let at = space.read_u64(address.wrapping_add(8 * list.len() as u64))?;
        if at == 0 {
            return Ok(list);
        }
        let text = space.read_text(at, LONGEST)?.ok_or(E2BIG)?;
        room = room.checked_sub(text.len() + 9).ok_or(E2BIG)?;
        list.push(String::from_utf8_lossy(&text).into());
    }
}

/// Finds the program to run: the file itself, or the program that a script names.
fn program_of(
    files: &Files,
    memory: &Memory,
    mut path: PathBuf,
    mut arguments: Vec<String>,
) -> Result<Wanted, Errno> {
    for _ in 0..=SCRIPTS {
        let host = files.host_path(&path, true)?;
        let data = host.metadata()?;
        if !data.is_file() || data.permissions().mode() & 0o111 == 0 {
            return Err(EACCES);
        }
        memory.before_reading_path(&host);
        let Some(runner) = runner(&host)? else {
            // An open file may have no name any more.
            let title = || open_number(&path).and_then(|number| files.title(number));
            let file = host.canonicalize().ok().or_else(title);
            return Ok(Wanted {
                file: file.unwrap_or_else(|| host.clone()),
                path,
                host,
                arguments,
            });
        };
        let script = path.display().to_string();
        let rest = arguments.into_iter().skip(1);
        arguments = runner.into_iter().chain([script]).chain(rest).collect();
        path = arguments[0].clone().into();
    }
    Err(ELOOP)
}

/// Returns the words of a script's first line: a program, and at most one argument.
fn runner(script: &Path) -> Result<Option<Vec<String>>, Errno> {
    let mut start = Vec::new();
    std::fs::File::open(script)?
        .take(256)
        .read_to_end(&mut start)?;
    let Some(line) = start.strip_prefix(b"#!") else {
        return Ok(None);
    };
    let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = OsStr::from_bytes(line).to_string_lossy();
    let line = line.trim();
    let (program, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    if program.is_empty() {
        return Err(ENOEXEC);
    }
    let parts = [program, argument.trim()];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    Ok(Some(parts.map(str::to_owned).collect()))
}
