//! Instructions that access memory: the operation of each instruction, and the use of its answer.

use super::{Hart, Machine, Reservation, Stop};
use crate::isa::{Instruction, Kind};
use crate::memory::{Place, Space, right};
use manycore_chip::guest::{Answer, Operation, Rmw, Width};

/// After this number of failed conditional stores in a row, the next conditional store needs no copy of the line.
/// Otherwise threads that write at a steady pace could take the line away for ever. Real machines hold the line for a
/// pair of `lr` and `sc` that fails too often.
const FAILURES: u32 = 64;

/// The width of an instruction's access.
#[inline(always)]
pub(super) fn width(kind: Kind) -> Width {
    use Kind::*;
    match kind {
        Lb | Lbu | Sb => Width::One,
        Lh | Lhu | Sh => Width::Two,
        Ld | Sd | Fld | Fsd => Width::Eight,
        _ if kind as u8 >= LrD as u8 && kind as u8 <= AmomaxuD as u8 => Width::Eight,
        _ => Width::Four,
    }
}

/// The value that a load writes to its register.
#[inline(always)]
pub(super) fn extend(kind: Kind, value: u64) -> u64 {
    use Kind::*;
    match kind {
        Lb => value as i8 as u64,
        Lh => value as i16 as u64,
        Ld | Lbu | Lhu | Lwu => value,
        _ => match width(kind) {
            Width::Four => value as i32 as u64,
            _ => value,
        },
    }
}

/// The operation of an atomic instruction other than `lr` and `sc`.
fn read_modify_write(kind: Kind, value: u64) -> Operation {
    use Kind::*;
    match kind {
        AmoswapW | AmoswapD => Operation::Swap(value),
        AmoaddW | AmoaddD => Operation::Add(value),
        AmoxorW | AmoxorD => Operation::Xor(value),
        AmoandW | AmoandD => Operation::And(value),
        AmoorW | AmoorD => Operation::Or(value),
        AmominW | AmominD => Operation::Min(value),
        AmomaxW | AmomaxD => Operation::Max(value),
        AmominuW | AmominuD => Operation::MinUnsigned(value),
        _ => Operation::MaxUnsigned(value),
    }
}

/// The bits of `value` that an atomic access of this width uses.
fn mask(width: Width, value: u64) -> u64 {
    match width {
        Width::Four => value & 0xFFFF_FFFF,
        _ => value,
    }
}

/// Makes a load or a store at `address`, at once or after a wait of the hart (see [`Answer`]).
#[inline(always)]
pub(super) fn reach<M: Machine>(
    hart: &mut Hart,
    space: &mut Space,
    machine: &mut M,
    address: u64,
    width: Width,
    operation: Operation,
) -> Result<Answer, Stop> {
    if !address.is_multiple_of(width.bytes()) {
        return misaligned(hart, space, machine, address, width, operation);
    }
    let wanted = match operation {
        Operation::Load => right::READ,
        _ => right::WRITE,
    };
    let place = hart
        .translations
        .place(space, address, wanted)
        .map_err(Stop::Fault)?;
    Ok(machine.access(place, width, operation))
}

/// Like [`reach`], for an address that is no multiple of the width. The lines are fetched one after another. The bytes
/// are read or written when the last line has arrived.
#[cold]
#[inline(never)]
fn misaligned<M: Machine>(
    hart: &mut Hart,
    space: &mut Space,
    machine: &mut M,
    address: u64,
    width: Width,
    operation: Operation,
) -> Result<Answer, Stop> {
    let (wanted, touch) = match operation {
        Operation::Load => (right::READ, Operation::TouchRead),
        _ => (right::WRITE, Operation::TouchWrite),
    };
    let mut place = |address| {
        hart.translations
            .place(space, address, wanted)
            .map_err(Stop::Fault)
    };
    let last = address.wrapping_add(width.bytes() - 1);
    let (first, second) = (place(address)?, place(last)?);
    let lines = [address, last].map(|address| address / machine.line());
    if lines[0] != lines[1] && !hart.split {
        match machine.access(second, Width::One, touch) {
            Answer::Done(_) => hart.split = true,
            Answer::Wait => {
                hart.split = true;
                return Ok(Answer::Again);
            }
            Answer::Again => return Ok(Answer::Again),
        }
    }
    Ok(match machine.access(first, Width::One, touch) {
        Answer::Done(_) => {
            hart.split = false;
            Answer::Done(move_bytes(space, address, width, operation)?)
        }
        other => other,
    })
}

/// Reads or writes the bytes of a misaligned access.
fn move_bytes(
    space: &mut Space,
    address: u64,
    width: Width,
    operation: Operation,
) -> Result<u64, Stop> {
    let mut bytes = [0; 8];
    let length = width.bytes() as usize;
    if let Operation::Store(value) = operation {
        space
            .write(address, &value.to_le_bytes()[..length])
            .map_err(Stop::Fault)?;
    } else {
        space
            .read(address, &mut bytes[..length])
            .map_err(Stop::Fault)?;
    }
    Ok(u64::from_le_bytes(bytes))
}

/// Makes the access of `lr`, `sc` or an AMO. The hart may have to wait for it, as in [`reach`].
pub(super) fn atomic<M: Machine>(
    hart: &mut Hart,
    space: &mut Space,
    machine: &mut M,
    instruction: Instruction,
) -> Result<Answer, Stop> {
    use Kind::{LrD, LrW, ScD, ScW};
    let (address, value) = (hart.get(instruction.rs1), hart.get(instruction.rs2));
    let width = width(instruction.kind);
    if !address.is_multiple_of(width.bytes()) {
        return Err(Stop::Misaligned(address));
    }
    let load = matches!(instruction.kind, LrW | LrD);
    let wanted = if load { right::READ } else { right::WRITE };
    let place = hart
        .translations
        .place(space, address, wanted)
        .map_err(Stop::Fault)?;
    let operation = match instruction.kind {
        LrW | LrD => Operation::LoadReserved,
        ScW | ScD => match hart.reservation {
            Some(reserved) if reserved.place.physical == place.physical => {
                hart.expected = mask(width, reserved.value);
                let rmw = Rmw::CompareExchange {
                    current: hart.expected,
                    new: mask(width, value),
                };
                if hart.failures < FAILURES {
                    Operation::Conditional(rmw)
                } else {
                    Operation::Persistent(rmw)
                }
            }
            _ => {
                // Without a reservation for this place, `sc` fails without an access.
                hart.failures += 1;
                hart.reservation = None;
                machine.drop_reservation();
                hart.set(instruction.rd, 1);
                return Ok(Answer::Done(0));
            }
        },
        kind => read_modify_write(kind, mask(width, value)),
    };
    let answer = machine.access(place, width, operation);
    if let Answer::Done(value) = answer {
        let stored = !machine.has_lost_reservation();
        finish_atomic(hart, instruction, place, value, stored);
    }
    Ok(answer)
}

/// Writes the result of an atomic instruction to its register.
fn finish_atomic(
    hart: &mut Hart,
    instruction: Instruction,
    place: Place,
    value: u64,
    stored: bool,
) {
    use Kind::{LrD, LrW, ScD, ScW};
    match instruction.kind {
        LrW | LrD => {
            hart.set(instruction.rd, extend(instruction.kind, value));
            hart.reservation = Some(Reservation { place, value });
        }
        ScW | ScD => {
            hart.reservation = None;
            let done = stored && hart.expected == value;
            hart.failures = if done { 0 } else { hart.failures + 1 };
            hart.set(instruction.rd, u64::from(!done));
        }
        kind => hart.set(instruction.rd, extend(kind, value)),
    }
}

/// Finishes an instruction that has waited for its access. The access is done now.
pub(super) fn finish(
    hart: &mut Hart,
    space: &mut Space,
    instruction: Instruction,
    (value, stored): (u64, bool),
) -> Result<(), Stop> {
    use Kind::{Fld, Flw, Fsd, Fsw, Sb, Sd, Sh, Sw};
    let kind = instruction.kind;
    let stores = matches!(kind, Sb | Sh | Sw | Sd | Fsw | Fsd);
    let offset = instruction.imm as u64;
    let address = hart.get(instruction.rs1).wrapping_add(offset);
    let width = width(kind);
    let float = matches!(kind, Flw | Fld | Fsw | Fsd);
    if stores || float || instruction.is_load() {
        let mut value = value;
        if !address.is_multiple_of(width.bytes()) {
            hart.split = false;
            let operation = match (stores, float) {
                (false, _) => Operation::Load,
                (true, false) => Operation::Store(hart.get(instruction.rs2)),
                (true, true) => Operation::Store(hart.f[instruction.rs2 as usize & 31]),
            };
            value = move_bytes(space, address, width, operation)?;
        }
        match kind {
            _ if stores => {}
            Flw => hart.f[instruction.rd as usize & 31] = value | !0 << 32,
            Fld => hart.f[instruction.rd as usize & 31] = value,
            _ => hart.set(instruction.rd, extend(kind, value)),
        }
    } else {
        let address = hart.get(instruction.rs1);
        if let Ok(place) = hart.translations.place(space, address, right::READ) {
            finish_atomic(hart, instruction, place, value, stored);
        }
    }
    if std::mem::take(&mut hart.unreserved) {
        hart.reservation = None;
    }
    hart.pc = hart.pc.wrapping_add(instruction.length.into());
    hart.retired += 1;
    Ok(())
}
