//! Instructions of the custom opcodes: ATAC's network, marks of a region of interest, and gem5's
//! pseudo-instructions.
//!
//! gem5's instructions have the opcode 0x7b, and a function's number in the upper seven bits (in gem5's source:
//! `util/m5/src/abi/riscv`, `include/gem5/asm/generic/m5ops.h`). They use the registers of a C call.

use super::errno::EINVAL;
use super::names::short;
use super::process::Process;
use super::task::{Task, TaskState};
use super::world::{Delivered, World};
use crate::isa::{Instruction, Kind};
use crate::region::Mark;

/// The request of an instruction.
enum Asked {
    /// A function of ATAC's network, and its operands.
    Network(u32, u64, u64),
    Mark(Mark),
    Exit(i32),
    Time,
}

impl Asked {
    fn new(instruction: Instruction, x: &[u64; 64]) -> Result<Self, String> {
        if instruction.kind == Kind::M5 {
            return gem5(instruction.imm as u32, x[10], x[11]);
        }
        let [a, b] = [instruction.rs1, instruction.rs2].map(|r| x[r as usize & 63]);
        Ok(match instruction.imm as u32 >> 3 {
            BEGIN => Self::Mark(Mark::Begin(a)),
            END => Self::Mark(Mark::End(a)),
            function => Self::Network(function, a, b),
        })
    }

    /// Whether time must be simulated from this instruction on.
    fn takes_time(&self) -> bool {
        matches!(
            self,
            Self::Network(..) | Self::Mark(Mark::Begin(_) | Mark::Reset | Mark::DumpReset)
        )
    }
}

/// The custom-0 functions that mark regions of interest.
const BEGIN: u32 = 64;
const END: u32 = 65;

/// The numbers of gem5's functions.
mod m5 {
    pub(super) const RPNS: u32 = 0x07;
    pub(super) const EXIT: u32 = 0x21;
    pub(super) const FAIL: u32 = 0x22;
    pub(super) const RESET_STATS: u32 = 0x40;
    pub(super) const DUMP_STATS: u32 = 0x41;
    pub(super) const DUMP_RESET_STATS: u32 = 0x42;
    pub(super) const WORK_BEGIN: u32 = 0x5A;
    pub(super) const WORK_END: u32 = 0x5B;
}

/// Decodes gem5's instruction with this function. `first` and `second` are its first two operands.
fn gem5(function: u32, first: u64, second: u64) -> Result<Asked, String> {
    let asked = match function {
        m5::RPNS => return Ok(Asked::Time),
        m5::WORK_BEGIN => return Ok(Asked::Mark(Mark::Begin(first))),
        m5::WORK_END => return Ok(Asked::Mark(Mark::End(first))),
        m5::EXIT => Asked::Exit(0),
        m5::FAIL => Asked::Exit((second & 0xFF) as i32),
        m5::RESET_STATS => Asked::Mark(Mark::Reset),
        m5::DUMP_STATS => Asked::Mark(Mark::Dump),
        m5::DUMP_RESET_STATS => Asked::Mark(Mark::DumpReset),
        _ => return Err("the README does not list this function".into()),
    };
    let again = if matches!(asked, Asked::Mark(_)) {
        second
    } else {
        0
    };
    if (first, again) != (0, 0) {
        return Err("it has a delay or a period; expected 0".into());
    }
    Ok(asked)
}

/// Executes an instruction of a custom opcode. Returns a state if the task stops.
pub(super) fn execute<W: World>(
    process: &mut Process,
    task: &mut Task,
    instruction: Instruction,
    world: &mut W,
) -> Option<TaskState> {
    let asked = match Asked::new(instruction, &task.hart.x) {
        Ok(asked) => asked,
        Err(what) => {
            let place = process.describe_here(task);
            process.failure = Some(short(format!(
                "m5 instruction {:#x} at {place} is not supported: {what}",
                instruction.imm
            )));
            return Some(TaskState::Exited);
        }
    };
    if asked.takes_time() && world.hands_over() || world.must_wait() {
        return Some(TaskState::Suspended);
    }
    let hart = &mut task.hart;
    let result = match asked {
        Asked::Network(function, a, b) => match world.network(function, a, b) {
            Delivered::Value(value) => value,
            Delivered::Wait => return Some(TaskState::Suspended),
            Delivered::Nothing => EINVAL.negated(),
        },
        Asked::Mark(mark) => {
            world.mark(mark);
            0
        }
        Asked::Time => world.nanoseconds(),
        Asked::Exit(status) => {
            hart.retired += 1;
            process.retired += 1;
            process.code.count_one(instruction.kind, 1);
            return Some(process.exit(status));
        }
    };
    let to = match instruction.kind {
        // This is the register for the result of a C function.
        Kind::M5 => 10,
        _ => instruction.rd,
    };
    hart.x[to as usize & 63] = result;
    hart.pc = hart.pc.wrapping_add(instruction.length.into());
    hart.retired += 1;
    process.retired += 1;
    process.code.count_one(instruction.kind, 1);
    None
}
