//! A program in execution: its memory, files, signals and threads.

use super::errno::{Errno, Value};
use super::files::Files;
use super::memory::Memory;
use super::names::{Names, short};
use super::random::Random;
use super::signal::{Sent, Signal};
use super::signals::{Signals, Timers};
use super::task::{Task, TaskState};
use super::threads::{FIRST, Thread, Threads};
use super::words::STREAMS;
use super::world::World;
use crate::hart::Code;
use crate::isa::Mix;
use crate::outcome::ProcessCounts;
use std::collections::BTreeMap;

pub(crate) struct Process {
    pub(super) number: u32,
    pub(super) parent: u32,
    pub(super) group: u32,
    pub(super) session: u32,
    /// Whether no member of the group has a parent in another group of the session ([`System::note_orphaned_groups`]).
    ///
    /// [`System::note_orphaned_groups`]: super::system::System::note_orphaned_groups
    pub(super) is_in_orphaned_group: bool,
    /// After `vfork`, the place in the process table of the process that lends its memory.
    pub(super) lender: Option<usize>,
    /// The number of threads that have not ended on the machine.
    pub(super) tasks: u32,
    /// The thread that runs another program (`execve`). The other threads end when they are resumed.
    pub(super) survivor: Option<u32>,
    /// Whether the main thread has ended and waits for the other threads.
    pub(super) lingers: bool,
    /// Whether the process has exited. Its threads end when they are resumed.
    pub(super) is_over: bool,
    pub(crate) memory: Memory,
    pub(super) code: Code,
    /// Instructions, by kind, of the programs before the latest `execve`.
    pub(super) mix: Mix,
    /// `began` is the time when the process began, in nanoseconds. `made` is the number of threads that it has had.
    pub(super) began: u64,
    pub(super) made: u32,
    pub(crate) names: Names,
    pub(super) files: Files,
    pub(super) signals: Signals,
    pub(super) timers: Timers,
    pub(crate) threads: Threads,
    pub(super) random: Random,
    /// The soft limit of the stack in bytes, for the next program (`execve`).
    pub(super) stack_limit: u64,
    pub(super) command: Command,
    /// The exit status, if the process has exited.
    pub(crate) status: Option<i32>,
    /// Why the simulator cannot continue the program.
    pub(crate) failure: Option<String>,
    /// The signal that killed the program.
    pub(super) killed_by: Option<u64>,
    /// A message about that signal, for the run's user.
    pub(crate) message: Option<String>,
    /// Unsupported system calls that the program made and may need, each with the place of its first call.
    pub(crate) absent: BTreeMap<String, String>,
    /// Executed instructions of all tasks.
    pub(crate) retired: u64,
    /// The processor time in nanoseconds of the threads that have ended, and of the children that were waited for.
    pub(super) used: u64,
    pub(super) used_by_children: u64,
    /// The largest processor time, in nanoseconds, that a call has returned. Later calls return at least this time.
    pub(super) reported: u64,
    /// The nice value and the policy, which all threads of the process have. Neither has an effect.
    pub(super) nice: i64,
    pub(super) policy: u64,
    /// Limits without an effect, by resource: the soft one and the hard one.
    pub(super) limits: BTreeMap<u64, [u64; 2]>,
    /// The signal that the process gets when its parent ends (`PR_SET_PDEATHSIG`), or 0.
    pub(super) death_signal: u64,
    /// Whether the process becomes the parent of its descendants without a parent (`PR_SET_CHILD_SUBREAPER`).
    pub(super) is_reaper: bool,
}

#[derive(Clone)]
pub(super) struct Command {
    pub(super) executable: String,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<String>,
}

/// Returns these parts of memory (an address and a length each), or no parts if all are empty. Without parts, a call
/// does not access its file.
fn unless_empty(parts: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    match parts.iter().all(|(_, length)| *length == 0) {
        true => Vec::new(),
        false => parts,
    }
}

impl Process {
    /// The name of a thread. If the thread has no name, the name of its program.
    pub(super) fn name_of(&self, number: u32) -> &str {
        let own = self.threads.get(number).and_then(|it| it.name.as_deref());
        let program = self.command.executable.rsplit('/').next();
        own.or(program).unwrap_or_default()
    }

    /// Ends the process with this status, unless it has a status.
    pub(super) fn exit(&mut self, status: i32) -> TaskState {
        self.status.get_or_insert(status);
        if self.number == FIRST {
            // The run ends. The pages of another process are written when no process maps them any more.
            self.memory.write_back();
        }
        TaskState::Exited
    }

    /// Ends the process by a signal.
    pub(super) fn die(&mut self, signal: Signal, what: &str) -> TaskState {
        self.killed_by.get_or_insert(signal.0);
        self.message = Some(short(format!("killed by {}: {what}", signal.name())));
        self.exit(128 + signal.0 as i32)
    }

    /// Stops the process if that is what the signal does. Returns whether it is. In an orphaned group, only SIGSTOP has
    /// an effect.
    pub(super) fn stops(&mut self, signal: Signal) -> bool {
        let stops = self.signals.is_stopped_by(signal);
        if stops && (!self.is_in_orphaned_group || signal.is_unstoppable()) {
            self.signals.stop.begin(signal);
        }
        stops
    }

    /// Ends the sleeps that a new stop ends, whether or not the sleepers take the signal.
    pub(super) fn end_sleeps_by_stop<W: World>(&mut self, world: &mut W) {
        if std::mem::take(&mut self.signals.stop.is_new) {
            for thread in self.threads.end_sleeps_by_stop() {
                self.signals.make_look(&self.threads, world, thread);
            }
        }
    }

    /// Makes the task run the signal's handler. Returns `false` if there is no handler, or no room on a stack for the
    /// handler's frame. An ignored signal counts as handled.
    pub(super) fn deliver(&mut self, task: &mut Task, sent: Sent) -> bool {
        let (space, threads) = (&mut self.memory.space, &mut self.threads);
        self.signals.deliver(space, threads, task, sent)
    }

    /// Makes the task run the handler of a signal that its own instruction raised. Returns `false` if the signal must
    /// kill, since it has no handler, or is ignored or blocked.
    pub(super) fn deliver_fault(&mut self, task: &mut Task, sent: Sent) -> bool {
        let is_taken = task.mask & sent.signal.bit() == 0 && !self.signals.ignores(sent.signal);
        is_taken && self.deliver(task, sent)
    }

    /// Sends the signals of the task's timers that are due. The caller must be in the order of simulated time.
    pub(super) fn expire_timers<W: World>(&mut self, task: &Task, world: &mut W) {
        let (signals, threads) = (&mut self.signals, &mut self.threads);
        self.timers.expire(signals, threads, task.number, world);
        self.ring(world);
    }

    /// Wakes the readers of a `signalfd` if a timer has sent one of its signals.
    pub(super) fn ring<W: World>(&mut self, world: &mut W) {
        if std::mem::take(&mut self.signals.rings) {
            world.futex_wake(STREAMS, u32::MAX);
        }
    }

    /// Whether [`find_takers`](Self::find_takers) has something to do.
    pub(super) fn must_find_takers(&mut self) -> bool {
        let threads = &mut self.threads;
        if threads.narrowed {
            threads.narrowed = !self.is_over && (threads.has_blocked() || self.timers.has_any());
        }
        threads.narrowed
    }

    /// After a thread has ended or takes fewer signals, makes other threads take the signals of the process.
    pub(super) fn find_takers<W: World>(&mut self, task: &Task, world: &mut W) {
        debug_assert!(self.threads.narrowed);
        let (signals, threads) = (&mut self.signals, &mut self.threads);
        signals.give_again(threads, world);
        self.timers
            .watch_again(signals, threads, world, task.number);
    }

    /// Reads an open file into parts of memory, from `place`, or from the file's position if `place` is `None`.
    pub(super) fn read(&mut self, number: u64, parts: &[(u64, u64)], place: Option<u64>) -> Value {
        let (files, random) = (&mut self.files, &mut self.random);
        self.memory.read_file(files, random, number, parts, place)
    }

    /// Returns the parts of an `iovec`, or none if all are empty. Fails if the file may not be read.
    pub(super) fn parts_to_read(
        &mut self,
        number: u64,
        [address, count]: [u64; 2],
        place: Option<u64>,
    ) -> Result<Vec<(u64, u64)>, Errno> {
        self.files.may_read(number, place)?;
        self.memory.vectors(address, count).map(unless_empty)
    }

    /// Like [`parts_to_read`](Self::parts_to_read), for a file to write.
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

    /// Writes parts of memory to an open file, at `place`, or at the file's position if `place` is `None`.
    pub(super) fn write(&mut self, number: u64, parts: &[(u64, u64)], place: Option<u64>) -> Value {
        self.memory
            .write_file(&mut self.files, number, parts, place)
    }

    /// Writes the parts of an `iovec` to an open file.
    pub(super) fn write_parts(&mut self, number: u64, at: [u64; 2], place: Option<u64>) -> Value {
        let parts = self.parts_to_write(number, at, place)?;
        self.write(number, &parts, place)
    }

    /// A copy of the process with another number and without threads. A child that borrows no memory (`lender`) gets a
    /// copy of the memory. Returns `None` if there is no room for that copy.
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
            is_in_orphaned_group: self.is_in_orphaned_group,
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
            used: 0,
            used_by_children: 0,
            reported: 0,
            nice: self.nice,
            policy: self.policy,
            limits: self.limits.clone(),
            death_signal: 0,
            is_reaper: false,
        })
    }

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

    /// Describes the word at a physical address, if it is in this process's memory.
    pub(super) fn find_word(&self, physical: u64) -> Option<String> {
        let space = &self.memory.space;
        let address = space.virtual_of(physical)?;
        Some(self.names.describe(space, address))
    }

    /// Describes the place of a task.
    pub(crate) fn describe_here(&self, task: &Task) -> String {
        self.describe_place(task, task.hart.pc)
    }

    /// Notes an unsupported call. A line at the run's end names all such calls.
    pub(super) fn miss(&mut self, task: &Task, name: &str) {
        if !self.absent.contains_key(name) {
            let place = self.describe_call(task);
            self.absent.insert(name.to_owned(), place);
        }
    }

    /// Describes the place of a task's system call.
    pub(super) fn describe_call(&self, task: &Task) -> String {
        self.describe_place(task, task.hart.pc.wrapping_sub(4))
    }

    fn describe_place(&self, task: &Task, pc: u64) -> String {
        let space = &self.memory.space;
        self.names.describe_place(space, pc, task.hart.x[1])
    }
}
