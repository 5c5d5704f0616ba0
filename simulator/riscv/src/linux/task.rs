//! A thread of the program: a hart, and what the kernel keeps of it.

use super::errno::{ETIMEDOUT, Errno};
use super::signals::{self, Alternate, NO_ALTERNATE, Sent, Signal};
use super::world::{Entry, Wake};
use super::{Process, World};
use crate::hart::{Hart, Stop, run};
use crate::isa::EXTENSIONS;
use crate::memory::right;

/// A thread.
pub(crate) struct Task {
    pub(crate) hart: Hart,
    pub(super) number: u32,
    /// A word that is zeroed, and woken, when the thread ends.
    pub(super) clear: u64,
    /// Signals that it does not take now.
    pub(super) mask: u64,
    /// Where its handlers run that ask for a stack of their own.
    pub(super) alternate: Alternate,
    /// What [`Signals::sent`](super::signals::Signals::sent) was when it last looked for signals.
    seen: u64,
    pub(super) phase: Phase,
    /// When the wait ends that it begins again, in nanoseconds.
    pub(super) until: Option<u64>,
    /// When the wait ends that it is in.
    pub(super) deadline: Option<u64>,
    /// A timer ends that wait sooner.
    pub(super) has_timer: bool,
    /// The mask that it has again after `rt_sigsuspend`.
    pub(super) suspended: Option<u64>,
}

/// Where a task is between two resumptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Runs,
    /// In a system call that has entered the kernel.
    Called,
    /// Asleep on a futex.
    Sleeps,
    /// Asleep for a time.
    Naps,
    /// Asleep until the system call can be made again.
    Awaits,
    /// On its way to a core that it may run on.
    Moves,
    /// The main thread has ended with this status, and waits for the others.
    Lingers(i32),
}

/// What became of a task that was resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskState {
    Suspended,
    Ended,
    Exited,
}

/// What a system call does to its task.
pub(super) enum Outcome {
    Return(u64),
    Fail(Errno),
    /// The registers are as they should be.
    Restored,
    /// Suspend, and return 0.
    Yield,
    /// Return 0 on a core that the thread may run on.
    Move,
    /// Asleep on a futex: suspend.
    Sleep,
    /// Asleep for a time: suspend.
    Nap,
    /// Asleep: suspend, and make the call again.
    Await,
    /// A signal came before the sleep.
    Interrupted,
    /// The thread ends.
    End,
    /// The process ends.
    Exit(i32),
}

impl From<Result<u64, Errno>> for Outcome {
    fn from(value: Result<u64, Errno>) -> Self {
        match value {
            Ok(value) => Self::Return(value),
            Err(errno) => Self::Fail(errno),
        }
    }
}

impl Task {
    pub(super) fn new(hart: Hart, number: u32) -> Self {
        Self {
            hart,
            number,
            clear: 0,
            mask: 0,
            alternate: NO_ALTERNATE,
            seen: 0,
            phase: Phase::Runs,
            until: None,
            deadline: None,
            has_timer: false,
            suspended: None,
        }
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Whether its stack pointer is within its alternate stack.
    pub(super) fn is_on_alternate(&self) -> bool {
        let [start, off, size] = self.alternate;
        off == 0 && self.hart.x[2].wrapping_sub(start) <= size
    }

    /// Makes the task ready to go on on another machine, on a core that it may run on. If it
    /// sleeps on this one, it makes its system call again there, and waits for what is left; if its
    /// sleep is over, by what is told, it is not.
    pub(crate) fn hand_over(&mut self, sleeps: bool, woken: Option<Wake>) {
        // The other machine's clock has another pace.
        self.hart.alarm = 0;
        let late = woken == Some(Wake::Late) && !self.has_timer;
        let called = woken == Some(Wake::Called);
        match (self.phase, sleeps) {
            (Phase::Sleeps, false) if late => self.give_late(),
            (Phase::Sleeps, false) if called => self.give(0),
            (Phase::Naps, false) if late || called => self.give(0),
            (Phase::Sleeps | Phase::Naps | Phase::Awaits, _) => self.begin_again(),
            // The main thread begins on the first core, wherever it may run.
            (Phase::Runs, _) => self.phase = Phase::Moves,
            _ => {}
        }
    }

    /// What is left of a wait that the task begins again at `now`, if its time was limited.
    pub(super) fn rest_of_wait(&mut self, now: u64) -> Option<u64> {
        self.until.take().map(|until| until.saturating_sub(now))
    }

    pub(super) fn give_late(&mut self) {
        self.give(errno(ETIMEDOUT));
    }

    pub(super) fn give(&mut self, value: u64) {
        self.hart.x[10] = value;
        self.phase = Phase::Runs;
    }

    /// Runs until the task must wait or has ended.
    pub(crate) fn resume<W: World>(&mut self, process: &mut Process, world: &mut W) -> TaskState {
        loop {
            match self.phase {
                Phase::Runs => {}
                Phase::Called => {
                    if world.must_wait() {
                        return TaskState::Suspended;
                    }
                    if let Some(state) = self.call(process, world) {
                        return state;
                    }
                    // It may not be over.
                    continue;
                }
                // Awake.
                Phase::Sleeps | Phase::Naps | Phase::Awaits => {
                    if let Some(state) = self.woken(process, world) {
                        return state;
                    }
                    continue;
                }
                Phase::Moves => {
                    let cores = process.cores_of(self.number);
                    if !cores.is_empty() && !cores.contains(&(world.core() as usize)) {
                        world.relax();
                        if world.must_wait() {
                            return TaskState::Suspended;
                        }
                        continue;
                    }
                    self.phase = Phase::Runs;
                }
                Phase::Lingers(status) => {
                    let others = process.threads.iter();
                    let mut others = others.filter(|(number, _)| **number != self.number);
                    return match others.next() {
                        Some((_, other)) if world.join(other.handle) => TaskState::Suspended,
                        Some(_) => continue,
                        None => self.exit(process, status),
                    };
                }
            }
            if let Some(state) = self.take_signals(process, world) {
                return state;
            }
            let before = self.hart.retired;
            let stop = run(&mut self.hart, &mut process.space, &mut process.code, world);
            process.retired += self.hart.retired - before;
            if let Some(state) = self.stopped(stop, process, world) {
                return state;
            }
        }
    }

    fn stopped<W: World>(
        &mut self,
        stop: Stop,
        process: &mut Process,
        world: &mut W,
    ) -> Option<TaskState> {
        match stop {
            Stop::Suspended => return Some(TaskState::Suspended),
            Stop::Rung => {}
            Stop::SystemCall => {
                world.enter(entry(&self.hart.x));
                // The kernel's way out loses what `lr` reserved.
                self.hart.lose_reservation();
                self.phase = Phase::Called;
            }
            Stop::Custom(instruction) => return self.custom(instruction, process, world),
            Stop::Breakpoint => {
                let sent = Sent::fault(signals::TRAP, self.hart.pc);
                return self.fault(process, sent, "ebreak".into());
            }
            Stop::Misaligned(address) => {
                let what = format!("an atomic access to {address:#x}, which is not aligned");
                return self.fault(process, Sent::fault(signals::BUS, address), what);
            }
            Stop::Illegal(word) => {
                let what = format!(
                    "the bits {word:#010x} are no instruction that this machine has \
                     ({EXTENSIONS}; compile with -march=rv64gc)"
                );
                let sent = Sent::fault(signals::ILLEGAL, self.hart.pc);
                return self.fault(process, sent, what);
            }
            Stop::Fault(fault) if fault.exhausted => {
                process.failure = Some(format!(
                    "the program uses more than the {} MiB of memory that --memory gives it",
                    process.space.resident() >> 20
                ));
                return Some(TaskState::Exited);
            }
            Stop::Fault(fault) => {
                let way = match fault.wanted {
                    right::READ => "a read of",
                    right::WRITE => "a write to",
                    _ => "a jump to",
                };
                let why = if fault.mapped {
                    "which its rights forbid"
                } else {
                    "where nothing is"
                };
                let what = format!("{way} {:#x}, {why}", fault.address);
                let sent = Sent {
                    code: if fault.mapped {
                        signals::BY_RIGHTS
                    } else {
                        signals::BY_FAULT
                    },
                    ..Sent::fault(signals::SEGMENT, fault.address)
                };
                return self.fault(process, sent, what);
            }
        }
        None
    }

    /// A signal that the hart's own instruction raised.
    pub(super) fn fault(
        &mut self,
        process: &mut Process,
        sent: Sent,
        what: String,
    ) -> Option<TaskState> {
        if process.deliver(self, sent) {
            return None;
        }
        let place = process.describe_place(self.hart.pc, self.hart.x[1]);
        Some(self.die(process, sent.signal, format!("{what}, at {place}")))
    }

    pub(super) fn die(&mut self, process: &mut Process, signal: Signal, what: String) -> TaskState {
        process.message = Some(format!("killed by {}: {what}", signal.name()));
        self.exit(process, 128 + signal.0 as i32)
    }

    pub(super) fn exit(&mut self, process: &mut Process, status: i32) -> TaskState {
        process.status.get_or_insert(status);
        process.write_back();
        TaskState::Exited
    }

    fn call<W: World>(&mut self, process: &mut Process, world: &mut W) -> Option<TaskState> {
        match process.call(self, world) {
            Outcome::Return(value) => self.give(value),
            Outcome::Fail(number) => self.give(errno(number)),
            Outcome::Restored => self.phase = Phase::Runs,
            Outcome::Yield => {
                self.give(0);
                return Some(TaskState::Suspended);
            }
            Outcome::Move => {
                self.give(0);
                self.phase = Phase::Moves;
            }
            Outcome::Sleep => {
                self.phase = Phase::Sleeps;
                return Some(TaskState::Suspended);
            }
            Outcome::Nap => {
                self.phase = Phase::Naps;
                return Some(TaskState::Suspended);
            }
            Outcome::Await => {
                self.phase = Phase::Awaits;
                return Some(TaskState::Suspended);
            }
            Outcome::Interrupted => return self.interrupt(process, world),
            Outcome::Exit(status) => return Some(self.exit(process, status)),
            Outcome::End if self.number == super::PROCESS => {
                self.phase = Phase::Lingers((self.hart.x[10] & 0xFF) as i32);
            }
            Outcome::End => return Some(TaskState::Ended),
        }
        None
    }

    /// Takes the signals that were sent to the task, and sets its alarm to its next timer. There
    /// are none, and no timer is over, if nothing was sent since the last look and the alarm's
    /// time has not come: what else gives the task a signal to take sets the alarm to 0.
    #[inline]
    fn take_signals<W: World>(
        &mut self,
        process: &mut Process,
        world: &mut W,
    ) -> Option<TaskState> {
        let sent = process.signals.sent;
        if self.seen == sent && world.cycles() < self.hart.alarm {
            return None;
        }
        self.seen = sent;
        self.look_for_signals(process, world)
    }

    #[cold]
    #[inline(never)]
    fn look_for_signals<W: World>(
        &mut self,
        process: &mut Process,
        world: &mut W,
    ) -> Option<TaskState> {
        process.expire_timers(self.number, world.nanoseconds());
        // A handler begins between two instructions.
        while self.hart.is_between_instructions() {
            let Some(sent) = process.next_signal(self) else {
                break;
            };
            if !process.deliver(self, sent) && sent.signal.kills() {
                return Some(self.die(process, sent.signal, "sent by the program".into()));
            }
        }
        self.hart.alarm = if process.is_sent(self) {
            0
        } else {
            let due = process.next_timer_of(self.number, u64::MAX);
            due.map_or(u64::MAX, |time| world.cycles_at(time))
        };
        None
    }

    /// The registers that a system call's arguments are in.
    pub(super) fn arguments(&self) -> [u64; 6] {
        std::array::from_fn(|at| self.hart.x[10 + at])
    }
}

pub(super) fn errno(number: Errno) -> u64 {
    -i64::from(number.0) as u64
}

fn entry(x: &[u64; 64]) -> Entry {
    const CLONE: u64 = 220;
    const FUTEX: u64 = 98;
    match x[17] {
        CLONE => Entry::Spawn,
        // To wait, with or without a mask.
        FUTEX if matches!(x[11] & 0x7F, 0 | 9) => Entry::Wait,
        _ => Entry::Plain,
    }
}
