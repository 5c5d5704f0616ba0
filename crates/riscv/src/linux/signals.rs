//! Signals, as far as threads send them to each other and faults raise them.
//!
//! A signal is taken when its thread next leaves the kernel. It does not interrupt a wait.

use super::Process;
use super::errno::{EFAULT, EINVAL, ESRCH, Value};
use super::task::{Outcome, Task};
use std::collections::BTreeMap;

/// A signal's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signal(pub(crate) u64);

pub(super) const ILLEGAL: Signal = Signal(4);
pub(super) const TRAP: Signal = Signal(5);
pub(super) const BUS: Signal = Signal(7);
pub(super) const SEGMENT: Signal = Signal(11);

impl Signal {
    pub(super) fn name(self) -> String {
        let name = match self.0 {
            2 => "SIGINT",
            4 => "SIGILL",
            5 => "SIGTRAP",
            6 => "SIGABRT",
            7 => "SIGBUS",
            8 => "SIGFPE",
            9 => "SIGKILL",
            11 => "SIGSEGV",
            13 => "SIGPIPE",
            15 => "SIGTERM",
            number => return format!("signal {number}"),
        };
        name.into()
    }

    /// Whether it ends the process if there is no handler.
    pub(super) fn kills(self) -> bool {
        // SIGCHLD, SIGCONT, SIGURG, SIGWINCH.
        !matches!(self.0, 17 | 18 | 23 | 28)
    }

    fn bit(self) -> u64 {
        1 << (self.0 - 1)
    }
}

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
}

const IGNORE: u64 = 1;
const NO_DEFER: u64 = 0x4000_0000;
/// Bytes of the frame: siginfo, ucontext with 32 + 32 registers and fcsr.
const INFO: u64 = 128;
/// From the frame's start: where its `ucontext` has the signal mask and the registers.
const MASK: u64 = INFO + 40;
const REGISTERS: u64 = INFO + 176;
const FLOATS: u64 = REGISTERS + 256;
const FRAME: u64 = FLOATS + 32 * 8 + 16;

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
            task.mask = match how {
                0 => task.mask | set,
                1 => task.mask & !set,
                2 => set,
                _ => return Err(EINVAL),
            };
        }
        if old != 0 {
            self.space.write_u64(old, before)?;
        }
        Ok(0)
    }

    /// Sends a signal to a thread; 0 only asks whether it is there.
    pub(super) fn send(&mut self, thread: u32, number: u64) -> Value {
        let thread = self.threads.get_mut(&thread).ok_or(ESRCH)?;
        match number {
            0 => {}
            1..=64 => thread.pending |= Signal(number).bit(),
            _ => return Err(EINVAL),
        }
        Ok(0)
    }

    /// The next signal that the task takes.
    #[inline]
    pub(super) fn next_signal(&mut self, task: &Task) -> Option<Signal> {
        let thread = self.threads.get_mut(&task.number)?;
        let open = thread.pending & !task.mask;
        if open == 0 {
            return None;
        }
        let signal = Signal(u64::from(open.trailing_zeros()) + 1);
        thread.pending &= !signal.bit();
        Some(signal)
    }

    /// Makes the task run the handler; `false` if there is none. An ignored signal counts as
    /// handled.
    pub(super) fn deliver(&mut self, task: &mut Task, signal: Signal) -> bool {
        let Some(&action) = self.signals.actions.get(&signal.0) else {
            return false;
        };
        match action.handler {
            0 => return false,
            IGNORE => return !matches!(signal, ILLEGAL | TRAP | BUS | SEGMENT),
            _ => {}
        }
        let hart = &mut task.hart;
        let Some(frame) = hart.x[2].checked_sub(FRAME).map(|frame| frame & !15) else {
            return false;
        };
        let mut bytes = vec![0; FRAME as usize];
        let mut put = |at: u64, word: u64| {
            bytes[at as usize..at as usize + 8].copy_from_slice(&word.to_le_bytes());
        };
        put(0, signal.0);
        // The sender's code and its number: this process.
        put(8, -6i32 as u32 as u64);
        put(MASK, task.mask);
        put(REGISTERS, hart.pc);
        for at in 1..32 {
            put(REGISTERS + 8 * at, hart.x[at as usize]);
        }
        for at in 0..32 {
            put(FLOATS + 8 * at, hart.f[at as usize]);
        }
        put(FLOATS + 256, u64::from(hart.frm << 5 | hart.fflags));
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
        task.mask |= action.mask;
        if action.flags & NO_DEFER == 0 {
            task.mask |= signal.bit();
        }
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
        task.mask = get(MASK);
        Outcome::Restored
    }
}

/// Where handlers return to.
const TRAMPOLINE: u64 = 0x3F_FFFF_0000;
