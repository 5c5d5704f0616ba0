//! Floating-point instructions that do not access memory.

use super::Hart;
use crate::float::convert::{self, Integer};
use crate::float::{DOUBLE, Format, Rounding, SINGLE, host};
use crate::isa::{Instruction, Kind};

const BOX: u64 = 0xFFFF_FFFF_0000_0000;

/// The bits of a single in a register. If the upper half is not all ones, the single is the NaN.
fn single(register: u64) -> u64 {
    if register & BOX == BOX {
        register & !BOX
    } else {
        SINGLE.nan()
    }
}

const WORD: Integer = Integer {
    bits: 32,
    signed: true,
};
const WORD_UNSIGNED: Integer = Integer {
    bits: 32,
    signed: false,
};
const LONG: Integer = Integer {
    bits: 64,
    signed: true,
};
const LONG_UNSIGNED: Integer = Integer {
    bits: 64,
    signed: false,
};

/// A result, and the kind of register that it goes to.
enum Result {
    Single(u64),
    Double(u64),
    Integer(u64),
}
use Result::{Double, Integer as Int, Single};

/// Executes a floating-point instruction. Returns `None` if its rounding mode is reserved.
pub(super) fn execute(hart: &mut Hart, instruction: Instruction) -> Option<()> {
    use Kind::*;
    let i = instruction;
    let [ra, rb, rc] = [i.rs1, i.rs2, i.rs3].map(|register| hart.f[register as usize & 31]);
    let [sa, sb, sc] = [ra, rb, rc].map(single);
    let x = hart.get(i.rs1);
    let flags = &mut hart.fflags;
    // In instructions that do not round, the field of the mode has another meaning. These instructions do not use
    // `mode`.
    let mode = Rounding::new(i.rounding, hart.frm);
    let (ns, nd) = (SINGLE.sign(), DOUBLE.sign());
    let result = match i.kind {
        FmaddS => Single(host::multiply_add::<f32>(sa, sb, sc, mode?, flags)),
        FmsubS => Single(host::multiply_add::<f32>(sa, sb, sc ^ ns, mode?, flags)),
        FnmsubS => Single(host::multiply_add::<f32>(sa ^ ns, sb, sc, mode?, flags)),
        FnmaddS => Single(host::multiply_add::<f32>(
            sa ^ ns,
            sb,
            sc ^ ns,
            mode?,
            flags,
        )),
        FaddS => Single(host::add::<f32>(sa, sb, mode?, flags)),
        FsubS => Single(host::add::<f32>(sa, sb ^ ns, mode?, flags)),
        FmulS => Single(host::multiply::<f32>(sa, sb, mode?, flags)),
        FdivS => Single(host::divide::<f32>(sa, sb, mode?, flags)),
        FsqrtS => Single(host::square_root::<f32>(sa, mode?, flags)),
        FsgnjS => Single(sa & !ns | sb & ns),
        FsgnjnS => Single(sa & !ns | !sb & ns),
        FsgnjxS => Single(sa ^ sb & ns),
        FminS => Single(convert::extreme(SINGLE, sa, sb, false, flags)),
        FmaxS => Single(convert::extreme(SINGLE, sa, sb, true, flags)),
        FcvtWS => Int(convert::to_integer(SINGLE, sa, WORD, mode?, flags)),
        FcvtWuS => Int(convert::to_integer(SINGLE, sa, WORD_UNSIGNED, mode?, flags)),
        FcvtLS => Int(convert::to_integer(SINGLE, sa, LONG, mode?, flags)),
        FcvtLuS => Int(convert::to_integer(SINGLE, sa, LONG_UNSIGNED, mode?, flags)),
        FcvtSW => Single(from(SINGLE, x as i32 as u64, true, mode?, flags)),
        FcvtSWu => Single(from(SINGLE, u64::from(x as u32), false, mode?, flags)),
        FcvtSL => Single(from(SINGLE, x, true, mode?, flags)),
        FcvtSLu => Single(from(SINGLE, x, false, mode?, flags)),
        FmvXW => Int(ra as i32 as u64),
        FmvWX => Single(u64::from(x as u32)),
        FeqS => Int(convert::equal(SINGLE, sa, sb, flags).into()),
        FltS => Int(convert::less(SINGLE, sa, sb, false, flags).into()),
        FleS => Int(convert::less(SINGLE, sa, sb, true, flags).into()),
        FclassS => Int(convert::class(SINGLE, sa)),
        FmaddD => Double(host::multiply_add::<f64>(ra, rb, rc, mode?, flags)),
        FmsubD => Double(host::multiply_add::<f64>(ra, rb, rc ^ nd, mode?, flags)),
        FnmsubD => Double(host::multiply_add::<f64>(ra ^ nd, rb, rc, mode?, flags)),
        FnmaddD => Double(host::multiply_add::<f64>(
            ra ^ nd,
            rb,
            rc ^ nd,
            mode?,
            flags,
        )),
        FaddD => Double(host::add::<f64>(ra, rb, mode?, flags)),
        FsubD => Double(host::add::<f64>(ra, rb ^ nd, mode?, flags)),
        FmulD => Double(host::multiply::<f64>(ra, rb, mode?, flags)),
        FdivD => Double(host::divide::<f64>(ra, rb, mode?, flags)),
        FsqrtD => Double(host::square_root::<f64>(ra, mode?, flags)),
        FsgnjD => Double(ra & !nd | rb & nd),
        FsgnjnD => Double(ra & !nd | !rb & nd),
        FsgnjxD => Double(ra ^ rb & nd),
        FminD => Double(convert::extreme(DOUBLE, ra, rb, false, flags)),
        FmaxD => Double(convert::extreme(DOUBLE, ra, rb, true, flags)),
        FcvtWD => Int(convert::to_integer(DOUBLE, ra, WORD, mode?, flags)),
        FcvtWuD => Int(convert::to_integer(DOUBLE, ra, WORD_UNSIGNED, mode?, flags)),
        FcvtLD => Int(convert::to_integer(DOUBLE, ra, LONG, mode?, flags)),
        FcvtLuD => Int(convert::to_integer(DOUBLE, ra, LONG_UNSIGNED, mode?, flags)),
        FcvtDW => Double(from(DOUBLE, x as i32 as u64, true, mode?, flags)),
        FcvtDWu => Double(from(DOUBLE, u64::from(x as u32), false, mode?, flags)),
        FcvtDL => Double(from(DOUBLE, x, true, mode?, flags)),
        FcvtDLu => Double(from(DOUBLE, x, false, mode?, flags)),
        FmvXD => Int(ra),
        FmvDX => Double(x),
        FeqD => Int(convert::equal(DOUBLE, ra, rb, flags).into()),
        FltD => Int(convert::less(DOUBLE, ra, rb, false, flags).into()),
        FleD => Int(convert::less(DOUBLE, ra, rb, true, flags).into()),
        FclassD => Int(convert::class(DOUBLE, ra)),
        FcvtSD => Single(convert::between(DOUBLE, SINGLE, ra, mode?, flags)),
        FcvtDS => Double(convert::between(SINGLE, DOUBLE, sa, mode?, flags)),
        _ => return None,
    };
    match result {
        Single(bits) => hart.f[i.rd as usize & 31] = BOX | bits,
        Double(bits) => hart.f[i.rd as usize & 31] = bits,
        Int(value) => hart.set(i.rd, value),
    }
    Some(())
}

fn from(format: Format, value: u64, signed: bool, mode: Rounding, flags: &mut u8) -> u64 {
    convert::from_integer(format, value, signed, mode, flags)
}
