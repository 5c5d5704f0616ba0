//! Signals, as far as threads send them to each other, timers send them and faults raise them.
//!
//! A thread takes a signal between two blocks of instructions, or when it leaves the kernel. A
//! signal ends its wait in a spin loop, and in the kernel (`waits`). A thread that computes needs
//! no more than to look when it is resumed: the machine suspends it before others send anything.

use super::errno::{EFAULT, EINVAL, ENOMEM, EPERM, ESRCH, Value};
use super::task::{Outcome, Task};
use super::{Process, World};
use std::collections::BTreeMap;

/// A signal's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signal(pub(crate) u64);

pub(super) const ILLEGAL: Signal = Signal(4);
pub(super) const TRAP: Signal = Signal(5);
pub(super) const BUS: Signal = Signal(7);
pub(super) const SEGMENT: Signal = Signal(11);
pub(super) const PIPE: Signal = Signal(13);

/// Names of the signals from 1 on; those of real time have none.
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

impl Signal {
    pub(super) fn name(self) -> String {
        let at = (self.0 as usize).wrapping_sub(1);
        match NAMES.get(at) {
            Some(name) => format!("SIG{name}"),
            None => format!("SIG{}", self.0),
        }
    }

    /// Whether it ends the process if there is no handler.
    pub(super) fn kills(self) -> bool {
        // SIGCHLD, SIGCONT, SIGURG, SIGWINCH.
        !matches!(self.0, 17 | 18 | 23 | 28)
    }

    pub(super) fn bit(self) -> u64 {
        1 << (self.0 - 1)
    }

    /// Whether each one that is sent arrives; of others a second one is lost while the first waits.
    pub(super) fn is_queued(self) -> bool {
        self.0 >= 32
    }
}

/// A signal on its way to a thread, and what `siginfo` tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) signal: Signal,
    /// By what it was sent.
    pub(super) code: i32,
    /// The words at 16 and 24: the sender, the timer or the address of a fault; and a value.
    pub(super) words: [u64; 2],
}

/// `si_code`: by `kill`, by a timer, by `tgkill`, by the hart's own instruction.
const BY_KILL: i32 = 0;
pub(super) const BY_TIMER: i32 = -2;
const BY_THREAD: i32 = -6;
pub(super) const BY_FAULT: i32 = 1;
/// Of a fault: what is there may not be used so.
pub(super) const BY_RIGHTS: i32 = 2;
/// By the kernel itself.
pub(super) const BY_KERNEL: i32 = 0x80;

impl Sent {
    /// What `siginfo` has.
    pub(super) fn info(&self) -> [u8; INFO as usize] {
        let words = [
            self.signal.0,
            u64::from(self.code as u32),
            self.words[0],
            self.words[1],
        ];
        let mut bytes = [0; INFO as usize];
        bytes[..32].copy_from_slice(&words.map(u64::to_le_bytes).concat());
        bytes
    }

    /// What the hart's own instruction raised, at an address.
    pub(super) fn fault(signal: Signal, address: u64) -> Self {
        Self {
            signal,
            code: BY_FAULT,
            words: [address, 0],
        }
    }
}

/// The stack that handlers may have of their own, as `sigaltstack` has it: address, flags, size.
pub(super) type Alternate = [u64; 3];

/// No such stack.
pub(super) const NO_ALTERNATE: Alternate = [0, STACK_OFF, 0];
const STACK_IN_USE: u64 = 1;
const STACK_OFF: u64 = 2;
const LEAST_STACK: u64 = 2_048;

#[derive(Clone, Copy)]
struct Action {
    handler: u64,
    flags: u64,
    mask: u64,
}

/// What the process does with signals.
#[derive(Default)]
pub(super) struct Signals {
    actions: BTreeMap<u64, Action>,
    /// Those of the process that no thread took when they were sent.
    pub(super) pending: Vec<Sent>,
    /// How often a thread was given a signal, or a timer that was set: each looks whether it is
    /// the one.
    pub(super) sent: u64,
}

const IGNORE: u64 = 1;
const RESTARTS: u64 = 0x1000_0000;
const NO_DEFER: u64 = 0x4000_0000;
const ON_ALTERNATE: u64 = 0x0800_0000;
/// Bytes of the frame: siginfo, ucontext with 32 + 32 registers and fcsr.
const INFO: u64 = 128;
/// From the frame's start: where its `ucontext` has the alternate stack, the signal mask and the
/// registers.
const STACK: u64 = INFO + 16;
const MASK: u64 = INFO + 40;
const REGISTERS: u64 = INFO + 176;
const FLOATS: u64 = REGISTERS + 256;
const FRAME: u64 = FLOATS + 32 * 8 + 16;

impl Signals {
    /// Another program has no handlers yet, and ignores what this one ignores.
    pub(super) fn reset(&mut self) {
        self.actions.retain(|_, action| action.handler == IGNORE);
    }
}

impl Process {
    pub(super) fn set_action(&mut self, number: u64, new: u64, old: u64) -> Value {
        if !(1..=64).contains(&number) {
            return Err(EINVAL);
        }
        let zero = Action {
            handler: 0,
            flags: 0,
            mask: 0,
        };
        let now = self.signals.actions.get(&number).copied().unwrap_or(zero);
        if new != 0 {
            let mut words = [0; 3];
            for (at, word) in (0..).zip(&mut words) {
                *word = self.space.read_u64(new.wrapping_add(8 * at))?;
            }
            let [handler, flags, mask] = words;
            self.signals.actions.insert(
                number,
                Action {
                    handler,
                    flags,
                    mask,
                },
            );
        }
        if old != 0 {
            for (at, word) in (0..).zip([now.handler, now.flags, now.mask]) {
                self.space.write_u64(old.wrapping_add(8 * at), word)?;
            }
        }
        Ok(0)
    }

    pub(super) fn set_mask(&mut self, task: &mut Task, how: u64, new: u64, old: u64) -> Value {
        let before = task.mask;
        if new != 0 {
            let set = self.space.read_u64(new)?;
            let mask = match how {
                0 => before | set,
                1 => before & !set,
                2 => set,
                _ => return Err(EINVAL),
            };
            self.replace_mask(task, mask);
            task.hart.alarm = 0;
        }
        if old != 0 {
            self.space.write_u64(old, before)?;
        }
        Ok(0)
    }

    /// A task takes other signals from now on; its mask until now.
    pub(super) fn replace_mask(&mut self, task: &mut Task, mask: u64) -> u64 {
        if let Some(thread) = self.threads.get_mut(&task.number) {
            thread.mask = mask;
        }
        std::mem::replace(&mut task.mask, mask)
    }

    /// The thread that takes a signal of the process: the main thread, or else the first one that
    /// does not refuse it, or waits for it.
    pub(super) fn taker(&self, signal: Signal) -> Option<u32> {
        let takes = |number: &u32| {
            let thread = self.threads.get(number);
            thread.is_some_and(|thread| (!thread.mask | thread.waits_for) & signal.bit() != 0)
        };
        let main = super::PROCESS;
        if takes(&main) {
            return Some(main);
        }
        self.threads.keys().copied().find(takes)
    }

    /// `kill`: to the process, which is alone in its group. There is no other one.
    pub(super) fn kill<W: World>(&mut self, world: &mut W, process: u64, number: u64) -> Value {
        let own = super::PROCESS as i32;
        match process as i32 {
            0 => {}
            process if process == own || process == -own => {}
            1 => return Err(EPERM),
            _ => return Err(ESRCH),
        }
        self.send_to_process(world, number, BY_KILL, 0)
    }

    /// `tkill`, `tgkill`.
    pub(super) fn send<W: World>(&mut self, world: &mut W, thread: u64, number: u64) -> Value {
        self.send_by(world, thread as u32, number, BY_THREAD, 0)
    }

    /// `rt_sigqueueinfo`, `rt_tgsigqueueinfo`: with a value, to the process or to a thread.
    pub(super) fn queue<W: World>(
        &mut self,
        world: &mut W,
        thread: Option<u32>,
        number: u64,
        info: u64,
    ) -> Value {
        let code = self.space.read_u32(info.wrapping_add(8))? as i32;
        let value = self.space.read_u64(info.wrapping_add(24))?;
        // What the kernel sends has codes from 0 on.
        if code >= 0 {
            return Err(EPERM);
        }
        match thread {
            Some(thread) => self.send_by(world, thread, number, code, value),
            None => self.send_to_process(world, number, code, value),
        }
    }

    fn send_to_process<W: World>(
        &mut self,
        world: &mut W,
        number: u64,
        code: i32,
        value: u64,
    ) -> Value {
        if number > 64 {
            return Err(EINVAL);
        }
        if number == 0 {
            return Ok(0);
        }
        match self.taker(Signal(number)) {
            Some(thread) => self.send_by(world, thread, number, code, value),
            None => {
                receive(&mut self.signals.pending, sent_by(number, code, value));
                Ok(0)
            }
        }
    }

    /// Sends a signal to a thread; 0 only asks whether it is there.
    fn send_by<W: World>(
        &mut self,
        world: &mut W,
        thread: u32,
        number: u64,
        code: i32,
        value: u64,
    ) -> Value {
        if number > 64 {
            return Err(EINVAL);
        }
        let sent = sent_by(number, code, value);
        let receiver = self.threads.get_mut(&thread).ok_or(ESRCH)?;
        if number != 0 {
            receive(&mut receiver.pending, sent);
            if self.ends_sleep(thread, sent.signal) {
                self.make_look(world, thread);
            } else {
                self.signals.sent += 1;
            }
        }
        Ok(0)
    }

    /// A thread has something to look for: a signal, or a timer.
    pub(super) fn make_look<W: World>(&mut self, world: &mut W, thread: u32) {
        self.signals.sent += 1;
        if let Some(thread) = self.threads.get(&thread) {
            world.disturb(thread.handle);
        }
    }

    /// Whether a signal waits that the task would take.
    pub(super) fn is_sent(&self, task: &Task) -> bool {
        self.is_sent_of(task.number, !task.mask)
    }

    /// Whether one of some signals waits for a thread.
    pub(super) fn is_sent_of(&self, thread: u32, set: u64) -> bool {
        let thread = self.threads.get(&thread);
        let own = thread.is_some_and(|thread| bits(&thread.pending) & set != 0);
        own || bits(&self.signals.pending) & set != 0
    }

    /// Whether calls are made again that a signal's handler interrupts; `None` if it has none.
    pub(super) fn restarts(&self, signal: Signal) -> Option<bool> {
        let action = self.signals.actions.get(&signal.0)?;
        (action.handler > IGNORE).then_some(action.flags & RESTARTS != 0)
    }

    /// Whether a signal without a handler does nothing.
    pub(super) fn ignores(&self, signal: Signal) -> bool {
        let action = self.signals.actions.get(&signal.0);
        !signal.kills() || action.is_some_and(|action| action.handler == IGNORE)
    }

    /// The next signal that the task takes: the one with the least number.
    #[inline]
    pub(super) fn next_signal(&mut self, task: &Task) -> Option<Sent> {
        self.next_signal_of(task.number, !task.mask)
    }

    /// Of some signals that wait for a thread, the one with the least number.
    pub(super) fn next_signal_of(&mut self, thread: u32, set: u64) -> Option<Sent> {
        let own = &mut self.threads.get_mut(&thread)?.pending;
        [own, &mut self.signals.pending]
            .into_iter()
            .find_map(|pending| {
                if pending.is_empty() {
                    return None;
                }
                let open = pending.iter().enumerate();
                let open = open.filter(|(_, sent)| sent.signal.bit() & set != 0);
                let (at, _) = open.min_by_key(|(at, sent)| (sent.signal.0, *at))?;
                Some(pending.remove(at))
            })
    }

    /// `sigaltstack`.
    pub(super) fn set_alternate(&mut self, task: &mut Task, new: u64, old: u64) -> Value {
        let [start, flags, size] = task.alternate;
        let in_use = task.is_on_alternate();
        if old != 0 {
            let flags = if in_use { STACK_IN_USE } else { flags };
            for (at, word) in (0..).zip([start, flags, size]) {
                self.space.write_u64(old.wrapping_add(8 * at), word)?;
            }
        }
        if new != 0 {
            if in_use {
                return Err(EPERM);
            }
            let mut stack = [0; 3];
            for (at, word) in (0..).zip(&mut stack) {
                *word = self.space.read_u64(new.wrapping_add(8 * at))?;
            }
            // Flags are a word of 32 bits; nothing but "off" is kept.
            let off = stack[1] as u32 as u64 & STACK_OFF != 0;
            if !off && stack[2] < LEAST_STACK {
                return Err(ENOMEM);
            }
            task.alternate = if off {
                NO_ALTERNATE
            } else {
                [stack[0], 0, stack[2]]
            };
        }
        Ok(0)
    }

    /// Makes the task run the handler; `false` if there is none. An ignored signal counts as
    /// handled.
    pub(super) fn deliver(&mut self, task: &mut Task, sent: Sent) -> bool {
        let signal = sent.signal;
        let Some(&action) = self.signals.actions.get(&signal.0) else {
            return false;
        };
        match action.handler {
            0 => return false,
            IGNORE => return !matches!(signal, ILLEGAL | TRAP | BUS | SEGMENT),
            _ => {}
        }
        let [start, off, size] = task.alternate;
        let moves = action.flags & ON_ALTERNATE != 0 && off == 0 && !task.is_on_alternate();
        let hart = &mut task.hart;
        let top = if moves {
            start.wrapping_add(size)
        } else {
            hart.x[2]
        };
        let Some(frame) = top.checked_sub(FRAME).map(|frame| frame & !15) else {
            return false;
        };
        let mut bytes = vec![0; FRAME as usize];
        let mut put = |at: u64, word: u64| {
            bytes[at as usize..at as usize + 8].copy_from_slice(&word.to_le_bytes());
        };
        for (at, word) in (0..).zip(task.alternate) {
            put(STACK + 8 * at, word);
        }
        put(MASK, task.suspended.take().unwrap_or(task.mask));
        put(REGISTERS, hart.pc);
        for at in 1..32 {
            put(REGISTERS + 8 * at, hart.x[at as usize]);
        }
        for at in 0..32 {
            put(FLOATS + 8 * at, hart.f[at as usize]);
        }
        put(FLOATS + 256, u64::from(hart.frm << 5 | hart.fflags));
        bytes[..INFO as usize].copy_from_slice(&sent.info());
        if self.space.write(frame, &bytes).is_err() {
            return false;
        }
        self.trampoline();
        hart.x[1] = TRAMPOLINE;
        hart.x[2] = frame;
        hart.x[10] = signal.0;
        hart.x[11] = frame;
        hart.x[12] = frame + INFO;
        hart.pc = action.handler;
        let mut mask = task.mask | action.mask;
        if action.flags & NO_DEFER == 0 {
            mask |= signal.bit();
        }
        self.replace_mask(task, mask);
        true
    }

    /// Maps the code that handlers return to, once.
    fn trampoline(&mut self) {
        use crate::memory::{Content, PAGE, Region};
        if self.space.is_free(TRAMPOLINE, PAGE) {
            // `li a7, 139; ecall`
            let code = 0x0000_0073_08B0_0893u64.to_le_bytes();
            let content = Content::File {
                bytes: code.as_slice().into(),
                at: TRAMPOLINE,
            };
            let end = TRAMPOLINE + PAGE;
            self.space.map(
                TRAMPOLINE,
                Region {
                    end,
                    rights: 5,
                    content,
                    name: "[vdso]".into(),
                },
            );
        }
    }

    pub(super) fn return_from_signal(&mut self, task: &mut Task) -> Outcome {
        let frame = task.hart.x[2];
        let mut bytes = vec![0; FRAME as usize];
        if self.space.read(frame, &mut bytes).is_err() {
            return Outcome::Fail(EFAULT);
        }
        let get = |at: u64| {
            let word = &bytes[at as usize..at as usize + 8];
            u64::from_le_bytes(word.try_into().unwrap_or_default())
        };
        let hart = &mut task.hart;
        for at in 1..32 {
            hart.x[at as usize] = get(REGISTERS + 8 * at);
        }
        for at in 0..32 {
            hart.f[at as usize] = get(FLOATS + 8 * at);
        }
        let fcsr = get(FLOATS + 256);
        (hart.fflags, hart.frm) = (fcsr as u8 & 31, (fcsr >> 5) as u8 & 7);
        hart.pc = get(REGISTERS);
        let mask = get(MASK);
        task.hart.alarm = 0;
        task.alternate = std::array::from_fn(|at| get(STACK + 8 * at as u64));
        self.replace_mask(task, mask);
        Outcome::Restored
    }
}

/// A signal arrives in a list.
pub(super) fn receive(pending: &mut Vec<Sent>, sent: Sent) {
    let is_there = pending.iter().any(|it| it.signal == sent.signal);
    if sent.signal.is_queued() || !is_there {
        pending.push(sent);
    }
}

/// A signal that the program sends.
fn sent_by(number: u64, code: i32, value: u64) -> Sent {
    Sent {
        signal: Signal(number),
        code,
        words: [u64::from(super::PROCESS) | 1_000 << 32, value],
    }
}

/// The signals of a list, a bit each.
pub(super) fn bits(pending: &[Sent]) -> u64 {
    pending
        .iter()
        .fold(0, |bits, sent| bits | sent.signal.bit())
}

/// Where handlers return to.
const TRAMPOLINE: u64 = 0x3F_FFFF_0000;
