//! The control and status registers of user programs.

use super::{Hart, Machine};
use crate::isa::{Instruction, Kind};

const FFLAGS: i32 = 1;
const FRM: i32 = 2;
const FCSR: i32 = 3;
const CYCLE: i32 = 0xC00;
const TIME: i32 = 0xC01;
const INSTRET: i32 = 0xC02;

/// Executes an instruction of Zicsr. Returns `None` if the register does not exist or is read-only and would be
/// written.
pub(super) fn execute(
    hart: &mut Hart,
    machine: &impl Machine,
    instruction: Instruction,
) -> Option<()> {
    use Kind::*;
    let csr = instruction.imm;
    let old = match csr {
        FFLAGS => hart.fflags.into(),
        FRM => hart.frm.into(),
        FCSR => u64::from(hart.frm << 5 | hart.fflags),
        CYCLE => machine.cycles(),
        TIME => machine.nanoseconds(),
        INSTRET => hart.retired,
        _ => return None,
    };
    let operand = match instruction.kind {
        Csrrw | Csrrs | Csrrc => hart.get(instruction.rs1),
        _ => instruction.rs1.into(),
    };
    let new = match instruction.kind {
        Csrrw | Csrrwi => Some(operand),
        _ if instruction.rs1 == 0 => None,
        Csrrs | Csrrsi => Some(old | operand),
        _ => Some(old & !operand),
    };
    if let Some(new) = new {
        match csr {
            FFLAGS => hart.fflags = new as u8 & 31,
            FRM => hart.frm = new as u8 & 7,
            FCSR => {
                hart.fflags = new as u8 & 31;
                hart.frm = (new >> 5) as u8 & 7;
            }
            // Read-only.
            _ => return None,
        }
    }
    hart.set(instruction.rd, old);
    Some(())
}
