//! A program in execution, composed of what owns its parts.

use super::errno::{Errno, Value};
use super::files::Files;
use super::memory::Memory;
use super::names::{Names, short};
use super::random::Random;
use super::signal::{Sent, Signal};
use super::signals::{Signals, Timers};
use super::task::{Task, TaskState};
use super::threads::{Thread, Threads};
use crate::hart::Code;
use crate::isa::Mix;
use crate::outcome::ProcessCounts;
use std::collections::BTreeMap;

/// A program in execution.
pub(crate) struct Process {
    pub(super) number: u32,
    pub(super) parent: u32,
    pub(super) group: u32,
    pub(super) session: u32,
    /// After `vfork`, the place in the table of the process that lends its memory.
    pub(super) lender: Option<usize>,
    /// Threads that have not ended on the machine.
    pub(super) tasks: u32,
    /// The thread that goes on while the others end when they are resumed: it runs another program.
    pub(super) survivor: Option<u32>,
    /// The main thread has ended, and waits for the others.
    pub(super) lingers: bool,
    /// It has exited, and its threads end when they are resumed.
    pub(super) is_over: bool,
    pub(crate) memory: Memory,
    pub(super) code: Code,
    /// Instructions of programs that the process ran before its last one, by kind.
    pub(super) mix: Mix,
    /// When it began, in nanoseconds; and the threads that it has had.
    pub(super) began: u64,
    pub(super) made: u32,
    pub(crate) names: Names,
    pub(super) files: Files,
    pub(super) signals: Signals,
    pub(super) timers: Timers,
    pub(crate) threads: Threads,
    pub(super) random: Random,
    /// The soft limit of the stack, for the program that it runs next.
    pub(super) stack_limit: u64,
    pub(super) command: Command,
    /// The exit status, once there is one.
    pub(crate) status: Option<i32>,
    /// Why the program could not go on.
    pub(crate) failure: Option<String>,
    /// The signal that killed the program.
    pub(super) killed_by: Option<u64>,
    /// The same, for its user.
    pub(crate) message: Option<String>,
    /// Calls that the program asked for, that are not there, and that it may miss; each with the place of the first.
    pub(crate) absent: BTreeMap<String, String>,
    /// Instructions of all tasks.
    pub(crate) retired: u64,
}

/// The program's file, and what it was given.
#[derive(Clone)]
pub(super) struct Command {
    pub(super) executable: String,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<String>,
}

/// Parts of memory, each an address and a length, unless none has a byte: then a file is not asked.
fn unless_empty(parts: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    match parts.iter().all(|(_, length)| *length == 0) {
        true => Vec::new(),
        false => parts,
    }
}

impl Process {
    /// The name of a thread: its own, or its program's.
    pub(super) fn name_of(&self, number: u32) -> &str {
        let own = self.threads.get(number).and_then(|it| it.name.as_deref());
        let program = self.command.executable.rsplit('/').next();
        own.or(program).unwrap_or_default()
    }

    /// The process ends with this status, unless it has one.
    pub(super) fn exit(&mut self, status: i32) -> TaskState {
        self.status.get_or_insert(status);
        self.memory.write_back();
        TaskState::Exited
    }

    /// A signal ends it.
    pub(super) fn die(&mut self, signal: Signal, what: &str) -> TaskState {
        self.killed_by.get_or_insert(signal.0);
        self.message = Some(short(format!("killed by {}: {what}", signal.name())));
        self.exit(128 + signal.0 as i32)
    }

    /// Makes the task run the handler; `false` without a handler. An ignored signal counts as
    /// handled.
    pub(super) fn deliver(&mut self, task: &mut Task, sent: Sent) -> bool {
        let (space, threads) = (&mut self.memory.space, &mut self.threads);
        self.signals.deliver(space, threads, task, sent)
    }

    /// Makes the task run the handler of a signal that its own instruction raised; `false` if the
    /// signal kills: without a handler, and while it is ignored or blocked.
    pub(super) fn deliver_fault(&mut self, task: &mut Task, sent: Sent) -> bool {
        let is_taken = task.mask & sent.signal.bit() == 0 && !self.signals.ignores(sent.signal);
        is_taken && self.deliver(task, sent)
    }

    /// The task's timers that are due send their signals.
    pub(super) fn expire_timers(&mut self, task: &Task, now: u64) {
        let (signals, threads) = (&mut self.signals, &mut self.threads);
        self.timers.expire(signals, threads, task.number, now);
    }

    /// Reads an open file into parts of memory, from where it is read next or from `place`.
    pub(super) fn read(&mut self, number: u64, parts: &[(u64, u64)], place: Option<u64>) -> Value {
        let (files, random) = (&mut self.files, &mut self.random);
        self.memory.read_file(files, random, number, parts, place)
    }

    /// The parts of an `iovec` for a file that may be read; none if they have no bytes.
    pub(super) fn parts_to_read(
        &mut self,
        number: u64,
        [address, count]: [u64; 2],
        place: Option<u64>,
    ) -> Result<Vec<(u64, u64)>, Errno> {
        self.files.may_read(number, place)?;
        self.memory.vectors(address, count).map(unless_empty)
    }

    /// The same for a file that may be written.
    pub(super) fn parts_to_write(
        &mut self,
        number: u64,
        [address, count]: [u64; 2],
        place: Option<u64>,
    ) -> Result<Vec<(u64, u64)>, Errno> {
        self.files.may_write(number, place)?;
        self.memory.vectors(address, count).map(unless_empty)
    }

    /// Reads an open file into the parts of an `iovec`.
    pub(super) fn read_parts(&mut self, number: u64, at: [u64; 2], place: Option<u64>) -> Value {
        let parts = self.parts_to_read(number, at, place)?;
        self.read(number, &parts, place)
    }

    /// Writes parts of memory to an open file, where it is written next or at `place`.
    pub(super) fn write(&mut self, number: u64, parts: &[(u64, u64)], place: Option<u64>) -> Value {
        self.memory
            .write_file(&mut self.files, number, parts, place)
    }

    /// Writes the parts of an `iovec` to an open file.
    pub(super) fn write_parts(&mut self, number: u64, at: [u64; 2], place: Option<u64>) -> Value {
        let parts = self.parts_to_write(number, at, place)?;
        self.write(number, &parts, place)
    }

    /// A copy of the process, with this number and without threads. A child with a lender has no
    /// memory; another child has a copy of the memory. `None` if there is no room for the copy.
    pub(super) fn fork(&mut self, number: u32, lender: Option<usize>) -> Option<Self> {
        let memory = match lender {
            Some(_) => Memory::new(self.memory.space.physical().clone()),
            None => self.memory.fork()?,
        };
        Some(Self {
            number,
            parent: self.number,
            group: self.group,
            session: self.session,
            lender,
            tasks: 1,
            survivor: None,
            lingers: false,
            is_over: false,
            memory,
            code: Code::new(self.code.counts()),
            mix: Mix::default(),
            began: 0,
            made: 1,
            names: self.names.clone(),
            files: self.files.fork(number),
            signals: self.signals.fork(),
            timers: Timers::default(),
            threads: Threads::new(number, Thread::new(0, 0, Vec::new())),
            random: Random::new(self.random.bits()),
            stack_limit: self.stack_limit,
            command: self.command.clone(),
            status: None,
            failure: None,
            killed_by: None,
            message: None,
            absent: BTreeMap::new(),
            retired: 0,
        })
    }

    /// Its counts until now.
    pub(super) fn counts(&self, ended: Option<u64>) -> ProcessCounts {
        ProcessCounts {
            number: self.number,
            parent: self.parent,
            program: self.command.executable.clone(),
            threads: self.made,
            instructions: self.retired,
            mix: self.code.mix().map(|mut mix| {
                mix += self.mix;
                mix
            }),
            began: self.began,
            ended,
            status: self.status,
        }
    }

    /// The process's name in a message.
    pub(super) fn title(&self) -> String {
        let file = self.command.executable.rsplit('/').next();
        format!("{} ({})", self.number, file.unwrap_or_default())
    }

    /// The word at a physical address, if it is of this process's memory, for a message.
    pub(super) fn find_word(&self, physical: u64) -> Option<String> {
        let space = &self.memory.space;
        let address = space.virtual_of(physical)?;
        Some(self.names.describe(space, address))
    }

    /// The place of a task, for a message.
    pub(crate) fn describe_here(&self, task: &Task) -> String {
        self.describe_place(task, task.hart.pc)
    }

    /// A task asks for a call that is not there; a line at the end names it.
    pub(super) fn miss(&mut self, task: &Task, name: &str) {
        if !self.absent.contains_key(name) {
            let place = self.describe_call(task);
            self.absent.insert(name.to_owned(), place);
        }
    }

    /// The place of the system call that a task makes.
    pub(super) fn describe_call(&self, task: &Task) -> String {
        self.describe_place(task, task.hart.pc.wrapping_sub(4))
    }

    fn describe_place(&self, task: &Task, pc: u64) -> String {
        let space = &self.memory.space;
        self.names.describe_place(space, pc, task.hart.x[1])
    }
}
