//! `execve`: the process goes on with another program.

use super::errno::{E2BIG, EACCES, ELOOP, ENOEXEC, Errno};
use super::load::Image;
use super::signals::NO_ALTERNATE;
use super::task::{Outcome, Task};
use super::{Process, Thread};
use crate::elf::Symbols;
use crate::memory::END;
use crate::source::Sources;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The most bytes of one argument, and of all.
const LONGEST: u64 = 1 << 17;
const ROOM: usize = 1 << 21;
/// The most scripts that name each other as what runs them.
const SCRIPTS: usize = 4;

/// What is to be run: the path as the program has it, where the host has it, and the arguments.
struct Wanted {
    path: PathBuf,
    host: PathBuf,
    arguments: Vec<String>,
}

impl Process {
    pub(super) fn execute(&mut self, task: &mut Task) -> Outcome {
        if self.threads.len() > 1 {
            let call = task.hart.pc.wrapping_sub(4);
            let place = self.describe_place(call, task.hart.x[1]);
            self.failure.get_or_insert(format!(
                "the program starts another one (execve) at {place} while it has {} threads; one \
                 is supported",
                self.threads.len()
            ));
            return Outcome::Exit(1);
        }
        let [path, arguments, environment, ..] = task.arguments();
        let found = self.path(path).and_then(|path| {
            let arguments = self.list(arguments)?;
            let environment = self.list(environment)?;
            let wanted = self.program_of(path, arguments)?;
            let name = wanted.path.display().to_string();
            let image = Image::read(&self.files, &name, &wanted.host).map_err(|_| ENOEXEC)?;
            Ok((wanted, environment, image))
        });
        match found {
            Ok((wanted, environment, image)) => {
                self.become_program(task, wanted, environment, &image)
            }
            Err(errno) => Outcome::Fail(errno),
        }
    }

    /// Nothing of the program until now is left but its files, its number, its mask of signals, and
    /// what it ignores.
    fn become_program(
        &mut self,
        task: &mut Task,
        wanted: Wanted,
        environment: Vec<String>,
        image: &Image,
    ) -> Outcome {
        self.write_back();
        self.space.unmap(0, END);
        self.symbols = Symbols::default();
        self.sources = Sources::default();
        self.files.close_for_exec();
        self.signals.reset();
        self.timers.keep_interval();
        if let Some(thread) = self.threads.get_mut(&task.number) {
            *thread = Thread {
                robust: 0,
                cores: std::mem::take(&mut thread.cores),
                pending: std::mem::take(&mut thread.pending),
                ..*thread
            };
        }
        self.arguments = wanted.arguments;
        self.environment = environment;
        let executable = wanted.host.canonicalize().unwrap_or(wanted.host);
        self.executable = executable.display().to_string();
        match self.begin(image) {
            Ok(mut hart) => {
                hart.retired = task.hart.retired;
                task.hart = hart;
                (task.clear, task.alternate) = (0, NO_ALTERNATE);
                Outcome::Restored
            }
            Err(error) => {
                self.failure.get_or_insert(error.to_string());
                Outcome::Exit(1)
            }
        }
    }

    /// A list of texts that ends with a null pointer.
    fn list(&mut self, address: u64) -> Result<Vec<String>, Errno> {
        let mut list = Vec::new();
        let mut room = ROOM;
        if address == 0 {
            return Ok(list);
        }
        loop {
            let at = self
                .space
                .read_u64(address.wrapping_add(8 * list.len() as u64))?;
            if at == 0 {
                return Ok(list);
            }
            let text = self.space.read_text(at, LONGEST)?.ok_or(E2BIG)?;
            room = room.checked_sub(text.len() + 9).ok_or(E2BIG)?;
            list.push(String::from_utf8_lossy(&text).into());
        }
    }

    /// The program that a file is, or that runs it if it is a script.
    fn program_of(&self, path: PathBuf, arguments: Vec<String>) -> Result<Wanted, Errno> {
        let (mut path, mut arguments) = (path, arguments);
        for _ in 0..=SCRIPTS {
            let host = self.files.host_path(&path, true)?;
            let data = host.metadata()?;
            if !data.is_file() || data.permissions().mode() & 0o111 == 0 {
                return Err(EACCES);
            }
            let Some(runner) = runner(&host)? else {
                return Ok(Wanted {
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
}

/// The first line of a script: a program, and at most one argument.
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
