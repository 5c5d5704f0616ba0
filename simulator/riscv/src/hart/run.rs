//! The interpreter's loop.

use super::code::Code;
use super::memory::{atomic, extend, finish, reach, width};
use super::{Hart, Machine, Stop, csr, float, integer, spin};
use crate::isa::{Instruction, Kind};
use crate::memory::Space;
use manycore_chip::guest::{Answer, Operation};

/// How a block was left.
enum Left {
    /// Control continues at the hart's `pc`.
    Onward,
    /// Control went back to the block's start, after pure instructions only. The last of these instructions has this
    /// index.
    Round(usize),
    /// After `fence.i`: code may have changed.
    Refetch,
    /// The hart must wait for the access that it has asked for, or must ask again.
    Suspended,
}

/// Runs `hart` until it must stop.
pub(crate) fn run<M: Machine>(
    hart: &mut Hart,
    space: &mut Space,
    code: &mut Code,
    machine: &mut M,
) -> Stop {
    hart.translations.refresh(space);
    code.refresh(space);
    if let Some(instruction) = hart.waiting.take() {
        let reply = machine.reply();
        let before = hart.retired;
        let finished = finish(hart, space, instruction, reply);
        code.count_one(instruction.kind, hart.retired - before);
        if let Err(stop) = finished {
            return stop;
        }
    }
    spin::resume(hart, machine);
    loop {
        let at = match code.find(hart.pc, space) {
            Ok(at) => at,
            Err(stop) => return stop,
        };
        let counts = code.counts();
        if counts {
            code.look(at, hart, space);
        }
        let before = hart.retired;
        let block = code.block(at);
        let left = execute(
            hart,
            space,
            &block.instructions,
            block.start,
            block.pure,
            machine,
        );
        if counts {
            code.count(at, hart.retired - before);
        }
        match left {
            Err(stop) => return stop,
            Ok(Left::Onward) => {}
            Ok(Left::Round(last)) => {
                let body = &code.block(at).instructions[..=last];
                if spin::lap(hart, space, body, machine) {
                    return Stop::Suspended;
                }
            }
            Ok(Left::Refetch) => code.clear(),
            Ok(Left::Suspended) => return Stop::Suspended,
        }
        if machine.must_pause() {
            return Stop::Suspended;
        }
        if machine.cycles() >= hart.alarm {
            return Stop::Rung;
        }
    }
}

/// Executes a block from its start. Afterwards the hart's `pc` is the address of the next instruction.
#[inline]
fn execute<M: Machine>(
    hart: &mut Hart,
    space: &mut Space,
    instructions: &[Instruction],
    start: u64,
    pure: usize,
    machine: &mut M,
) -> Result<Left, Stop> {
    use Kind::*;
    let mut pc = start;
    // The index of the first instruction that was not reported to the machine.
    let mut untold = 0;
    for (at, &i) in instructions.iter().enumerate() {
        // Reports the instructions before this one to the machine.
        macro_rules! tell {
            ($until:expr) => {
                let count = $until - untold;
                if count > 0 {
                    hart.retired += count as u64;
                    machine.work(count as u32);
                }
                #[allow(unused_assignments)]
                {
                    untold = $until;
                }
            };
        }
        macro_rules! stop {
            ($stop:expr) => {{
                tell!(at);
                hart.pc = pc;
                return Err($stop);
            }};
        }
        macro_rules! leave {
            ($target:expr, $left:expr) => {{
                let target = $target;
                tell!(at + 1);
                hart.pc = target;
                return Ok($left);
            }};
        }
        macro_rules! immediate {
            ($kind:ident) => {
                if let Some(value) = integer::compute($kind, hart.get(i.rs1), i.imm as u64) {
                    hart.set(i.rd, value);
                }
            };
        }
        macro_rules! register {
            ($kind:ident) => {
                if let Some(value) = integer::compute($kind, hart.get(i.rs1), hart.get(i.rs2)) {
                    hart.set(i.rd, value);
                }
            };
        }
        macro_rules! branch {
            ($kind:ident) => {
                if integer::is_taken($kind, hart.get(i.rs1), hart.get(i.rs2)) {
                    let target = pc.wrapping_add(i.imm as u64);
                    let round = target == start && at < pure;
                    leave!(target, if round { Left::Round(at) } else { Left::Onward });
                }
            };
        }
        // The value of an access that was made. If the access was not made, the hart suspends or stops at the access.
        macro_rules! answered {
            ($asked:expr) => {
                match $asked {
                    Ok(Answer::Done(value)) => {
                        hart.retired += 1;
                        untold = at + 1;
                        value
                    }
                    Ok(Answer::Wait) => {
                        hart.waiting = Some(i);
                        hart.pc = pc;
                        return Ok(Left::Suspended);
                    }
                    Ok(Answer::Again) => {
                        hart.pc = pc;
                        return Ok(Left::Suspended);
                    }
                    Err(stop) => {
                        hart.pc = pc;
                        return Err(stop);
                    }
                }
            };
        }
        macro_rules! access {
            ($kind:ident, $operation:expr) => {{
                tell!(at);
                let address = hart.get(i.rs1).wrapping_add(i.imm as u64);
                answered!(reach(
                    hart,
                    space,
                    machine,
                    address,
                    width($kind),
                    $operation
                ))
            }};
        }
        macro_rules! load {
            ($kind:ident) => {{
                let value = access!($kind, Operation::Load);
                hart.set(i.rd, extend($kind, value));
            }};
        }
        macro_rules! store {
            ($kind:ident, $value:expr) => {{
                let value = $value;
                access!($kind, Operation::Store(value));
            }};
        }
        match i.kind {
            Lui => hart.set(i.rd, i.imm as u64),
            Auipc => hart.set(i.rd, pc.wrapping_add(i.imm as u64)),
            Jal => {
                hart.set(i.rd, pc.wrapping_add(i.length.into()));
                let target = pc.wrapping_add(i.imm as u64);
                let round = target == start && at < pure;
                leave!(target, if round { Left::Round(at) } else { Left::Onward });
            }
            Jalr => {
                let target = hart.get(i.rs1).wrapping_add(i.imm as u64) & !1;
                hart.set(i.rd, pc.wrapping_add(i.length.into()));
                leave!(target, Left::Onward);
            }
            Addi => immediate!(Addi),
            Slti => immediate!(Slti),
            Sltiu => immediate!(Sltiu),
            Xori => immediate!(Xori),
            Ori => immediate!(Ori),
            Andi => immediate!(Andi),
            Slli => immediate!(Slli),
            Srli => immediate!(Srli),
            Srai => immediate!(Srai),
            Addiw => immediate!(Addiw),
            Slliw => immediate!(Slliw),
            Srliw => immediate!(Srliw),
            Sraiw => immediate!(Sraiw),
            SlliUw => immediate!(SlliUw),
            Rori => immediate!(Rori),
            Roriw => immediate!(Roriw),
            Clz => immediate!(Clz),
            Ctz => immediate!(Ctz),
            Cpop => immediate!(Cpop),
            Clzw => immediate!(Clzw),
            Ctzw => immediate!(Ctzw),
            Cpopw => immediate!(Cpopw),
            SextB => immediate!(SextB),
            SextH => immediate!(SextH),
            ZextH => immediate!(ZextH),
            OrcB => immediate!(OrcB),
            Rev8 => immediate!(Rev8),
            Add => register!(Add),
            Sub => register!(Sub),
            Sll => register!(Sll),
            Slt => register!(Slt),
            Sltu => register!(Sltu),
            Xor => register!(Xor),
            Srl => register!(Srl),
            Sra => register!(Sra),
            Or => register!(Or),
            And => register!(And),
            Addw => register!(Addw),
            Subw => register!(Subw),
            Sllw => register!(Sllw),
            Srlw => register!(Srlw),
            Sraw => register!(Sraw),
            Mul => register!(Mul),
            Mulh => register!(Mulh),
            Mulhsu => register!(Mulhsu),
            Mulhu => register!(Mulhu),
            Div => register!(Div),
            Divu => register!(Divu),
            Rem => register!(Rem),
            Remu => register!(Remu),
            Mulw => register!(Mulw),
            Divw => register!(Divw),
            Divuw => register!(Divuw),
            Remw => register!(Remw),
            Remuw => register!(Remuw),
            AddUw => register!(AddUw),
            Sh1add => register!(Sh1add),
            Sh2add => register!(Sh2add),
            Sh3add => register!(Sh3add),
            Sh1addUw => register!(Sh1addUw),
            Sh2addUw => register!(Sh2addUw),
            Sh3addUw => register!(Sh3addUw),
            Andn => register!(Andn),
            Orn => register!(Orn),
            Xnor => register!(Xnor),
            Max => register!(Max),
            Maxu => register!(Maxu),
            Min => register!(Min),
            Minu => register!(Minu),
            Rol => register!(Rol),
            Ror => register!(Ror),
            Rolw => register!(Rolw),
            Rorw => register!(Rorw),
            Beq => branch!(Beq),
            Bne => branch!(Bne),
            Blt => branch!(Blt),
            Bge => branch!(Bge),
            Bltu => branch!(Bltu),
            Bgeu => branch!(Bgeu),
            Lb => load!(Lb),
            Lh => load!(Lh),
            Lw => load!(Lw),
            Ld => load!(Ld),
            Lbu => load!(Lbu),
            Lhu => load!(Lhu),
            Lwu => load!(Lwu),
            Sb => store!(Sb, hart.get(i.rs2)),
            Sh => store!(Sh, hart.get(i.rs2)),
            Sw => store!(Sw, hart.get(i.rs2)),
            Sd => store!(Sd, hart.get(i.rs2)),
            Flw => {
                let value = access!(Flw, Operation::Load);
                hart.f[i.rd as usize & 31] = value | !0 << 32;
            }
            Fld => hart.f[i.rd as usize & 31] = access!(Fld, Operation::Load),
            Fsw => store!(Fsw, hart.f[i.rs2 as usize & 31]),
            Fsd => store!(Fsd, hart.f[i.rs2 as usize & 31]),
            // The machine keeps all accesses of a hart in order.
            Fence => {}
            FenceI => leave!(pc.wrapping_add(4), Left::Refetch),
            Ecall => {
                tell!(at + 1);
                hart.pc = pc.wrapping_add(4);
                return Err(Stop::SystemCall);
            }
            Ebreak => stop!(Stop::Breakpoint),
            Csrrw | Csrrs | Csrrc | Csrrwi | Csrrsi | Csrrci => {
                tell!(at);
                if csr::execute(hart, machine, i).is_none() {
                    stop!(Stop::Illegal(read_word(space, pc)));
                }
            }
            Pause => {
                tell!(at);
                machine.relax();
                hart.retired += 1;
                untold = at + 1;
            }
            WrsNto | WrsSto => {
                tell!(at + 1);
                hart.pc = pc.wrapping_add(4);
                let cycles = (i.kind == WrsSto).then_some(spin::SHORT);
                if spin::wait_on_reservation(hart, machine, cycles) {
                    return Ok(Left::Suspended);
                }
                return Ok(Left::Onward);
            }
            Custom0 | M5 => stop!(Stop::Custom(i)),
            Next => {
                tell!(at);
                hart.pc = pc;
                return Ok(Left::Onward);
            }
            kind if kind as u8 >= LrW as u8 && kind as u8 <= AmomaxuD as u8 => {
                tell!(at);
                answered!(atomic(hart, space, machine, i));
            }
            _ => {
                if float::execute(hart, i).is_none() {
                    stop!(Stop::Illegal(read_word(space, pc)));
                }
            }
        }
        pc = pc.wrapping_add(i.length.into());
    }
    unreachable!("a block ends with an instruction that leaves it")
}

/// The bits of the instruction at `pc`, for an error message.
#[cold]
fn read_word(space: &mut Space, pc: u64) -> u32 {
    let mut bytes = [0; 4];
    // The instruction was read before, so this read does not fail.
    let _ = space.read_code(pc, &mut bytes);
    u32::from_le_bytes(bytes)
}
