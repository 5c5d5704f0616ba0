//! A handler's frame on the stack: how a task begins to run a handler, and how it returns.

use super::actions::{DEFAULT, IGNORE, Signals};
use crate::linux::errno::{EFAULT, EINVAL, ENOMEM, EPERM, Value};
use crate::linux::signal::{INFO, Sent};
use crate::linux::task::{NO_ALTERNATE, Outcome, STACK_OFF, Task};
use crate::linux::threads::Threads;
use crate::memory::{Content, PAGE, Region, Space, right};

/// `SA_RESETHAND`: the handler runs once, and is then removed.
const ONCE: u64 = 0x8000_0000;
const NO_DEFER: u64 = 0x4000_0000;
const ON_ALTERNATE: u64 = 0x0800_0000;
/// Offsets in the frame: alternate stack, signal mask, integer and floating-point registers.
const STACK: u64 = INFO + 16;
const MASK: u64 = INFO + 40;
const REGISTERS: u64 = INFO + 176;
const FLOATS: u64 = REGISTERS + 256;
/// Bytes of the frame: `siginfo`, and a `ucontext` with 32 + 32 registers and `fcsr`.
const FRAME: u64 = FLOATS + 32 * 8 + 16;

const STACK_IN_USE: u64 = 1;
const LEAST_STACK: u64 = 2_048;
/// `SS_AUTODISARM`, which has no effect here.
const DISARMS: u32 = 1 << 31;

/// The return address of handlers.
const TRAMPOLINE: u64 = 0x3F_FFFF_0000;

impl Signals {
    /// Makes the task run the signal's handler. Returns `false` if there is no handler or no room on the stack. Returns
    /// `true` for an ignored signal.
    pub(crate) fn deliver(
        &mut self,
        space: &mut Space,
        threads: &mut Threads,
        task: &mut Task,
        sent: Sent,
    ) -> bool {
        let signal = sent.signal;
        let Some(&action) = self.actions.get(&signal.0) else {
            return false;
        };
        match action.handler {
            DEFAULT => return false,
            IGNORE => return true,
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
        if space.write(frame, &bytes).is_err() {
            return false;
        }
        if action.flags & ONCE != 0
            && let Some(action) = self.actions.get_mut(&signal.0)
        {
            action.handler = DEFAULT;
        }
        map_trampoline(space);
        hart.x[1] = TRAMPOLINE;
        hart.x[2] = frame;
        hart.x[10] = signal.0;
        hart.x[11] = frame;
        hart.x[12] = frame + INFO;
        hart.pc = action.handler & !1;
        let mut mask = task.mask | action.mask;
        if action.flags & NO_DEFER == 0 {
            mask |= signal.bit();
        }
        threads.replace_mask(task, mask);
        true
    }
}

/// Maps the return address of handlers, unless it is mapped.
fn map_trampoline(space: &mut Space) {
    if !space.is_free(TRAMPOLINE, PAGE) {
        return;
    }
    // `li a7, 139; ecall`
    let code = 0x0000_0073_08B0_0893u64.to_le_bytes();
    let content = Content::File {
        bytes: code.as_slice().into(),
        at: TRAMPOLINE,
    };
    let region = Region {
        end: TRAMPOLINE + PAGE,
        rights: right::READ | right::EXECUTE,
        content,
        name: "[vdso]".into(),
        was_written: false,
    };
    space.map(TRAMPOLINE, region);
}

/// `rt_sigreturn`: restores the registers and the mask.
pub(crate) fn return_from_signal(
    space: &mut Space,
    threads: &mut Threads,
    task: &mut Task,
) -> Outcome {
    let frame = task.hart.x[2];
    let mut bytes = vec![0; FRAME as usize];
    if space.read(frame, &mut bytes).is_err() {
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
    hart.pc = get(REGISTERS) & !1;
    let mask = get(MASK);
    task.alternate = std::array::from_fn(|at| get(STACK + 8 * at as u64));
    threads.replace_mask(task, mask);
    Outcome::Restored
}

/// `sigaltstack`.
pub(crate) fn set_alternate(space: &mut Space, task: &mut Task, new: u64, old: u64) -> Value {
    let [start, flags, size] = task.alternate;
    let in_use = task.is_on_alternate();
    if new != 0 {
        if in_use {
            return Err(EPERM);
        }
        let mut stack = [0; 3];
        for (at, word) in (0..).zip(&mut stack) {
            *word = space.read_u64(new.wrapping_add(8 * at))?;
        }
        if stack[1] as u32 & !DISARMS > 2 {
            return Err(EINVAL);
        }
        // The flags are a word of 32 bits. Only "off" is kept.
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
    if old != 0 {
        let flags = if in_use { STACK_IN_USE } else { flags };
        for (at, word) in (0..).zip([start, flags, size]) {
            space.write_u64(old.wrapping_add(8 * at), word)?;
        }
    }
    Ok(0)
}
