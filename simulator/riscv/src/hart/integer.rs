//! The results of integer instructions between registers, as functions of their operands.

use crate::isa::Kind;

/// Extends a result of 32 bits by its sign.
#[inline(always)]
fn word(value: u32) -> u64 {
    value as i32 as u64
}

/// The result of `kind` for `a` and `b`. If the instruction has an immediate, `b` is the immediate. Returns `None` for
/// instructions of other kinds. If `kind` is constant, the compiler keeps only the expression for this kind.
#[inline(always)]
pub(super) fn compute(kind: Kind, a: u64, b: u64) -> Option<u64> {
    use Kind::*;
    let (sa, sb) = (a as i64, b as i64);
    let (wa, wb) = (a as u32, b as u32);
    Some(match kind {
        Addi | Add => a.wrapping_add(b),
        Sub => a.wrapping_sub(b),
        Slti | Slt => (sa < sb).into(),
        Sltiu | Sltu => (a < b).into(),
        Xori | Xor => a ^ b,
        Ori | Or => a | b,
        Andi | And => a & b,
        Slli | Sll => a.wrapping_shl(wb),
        Srli | Srl => a.wrapping_shr(wb),
        Srai | Sra => sa.wrapping_shr(wb) as u64,
        Addiw | Addw => word(wa.wrapping_add(wb)),
        Subw => word(wa.wrapping_sub(wb)),
        Slliw | Sllw => word(wa.wrapping_shl(wb)),
        Srliw | Srlw => word(wa.wrapping_shr(wb)),
        Sraiw | Sraw => (wa as i32).wrapping_shr(wb) as u64,
        Mul => a.wrapping_mul(b),
        Mulh => ((i128::from(sa) * i128::from(sb)) >> 64) as u64,
        Mulhsu => ((i128::from(sa) * i128::from(b)) >> 64) as u64,
        Mulhu => ((u128::from(a) * u128::from(b)) >> 64) as u64,
        // A division by zero gives a quotient of all ones, and the dividend as the remainder. The only possible
        // overflow wraps.
        Div => {
            if b == 0 {
                u64::MAX
            } else {
                sa.wrapping_div(sb) as u64
            }
        }
        Divu => a.checked_div(b).unwrap_or(u64::MAX),
        Rem => {
            if b == 0 {
                a
            } else {
                sa.wrapping_rem(sb) as u64
            }
        }
        Remu => a.checked_rem(b).unwrap_or(a),
        Mulw => word(wa.wrapping_mul(wb)),
        Divw => {
            if wb == 0 {
                u64::MAX
            } else {
                (wa as i32).wrapping_div(wb as i32) as u64
            }
        }
        Divuw => word(wa.checked_div(wb).unwrap_or(u32::MAX)),
        Remw => {
            if wb == 0 {
                word(wa)
            } else {
                (wa as i32).wrapping_rem(wb as i32) as u64
            }
        }
        Remuw => word(wa.checked_rem(wb).unwrap_or(wa)),
        AddUw => u64::from(wa).wrapping_add(b),
        Sh1add => (a << 1).wrapping_add(b),
        Sh2add => (a << 2).wrapping_add(b),
        Sh3add => (a << 3).wrapping_add(b),
        Sh1addUw => (u64::from(wa) << 1).wrapping_add(b),
        Sh2addUw => (u64::from(wa) << 2).wrapping_add(b),
        Sh3addUw => (u64::from(wa) << 3).wrapping_add(b),
        SlliUw => u64::from(wa).wrapping_shl(wb),
        Andn => a & !b,
        Orn => a | !b,
        Xnor => !(a ^ b),
        Clz => a.leading_zeros().into(),
        Ctz => a.trailing_zeros().into(),
        Cpop => a.count_ones().into(),
        Clzw => wa.leading_zeros().into(),
        Ctzw => wa.trailing_zeros().into(),
        Cpopw => wa.count_ones().into(),
        Max => sa.max(sb) as u64,
        Maxu => a.max(b),
        Min => sa.min(sb) as u64,
        Minu => a.min(b),
        SextB => a as i8 as u64,
        SextH => a as i16 as u64,
        ZextH => a & 0xFFFF,
        Rol => a.rotate_left(wb & 63),
        Ror | Rori => a.rotate_right(wb & 63),
        Rolw => word(wa.rotate_left(wb & 31)),
        Rorw | Roriw => word(wa.rotate_right(wb & 31)),
        OrcB => a
            .to_le_bytes()
            .map(|byte| if byte == 0 { 0u8 } else { 0xFF })
            .into_iter()
            .rev()
            .fold(0, |all, byte| all << 8 | u64::from(byte)),
        Rev8 => a.swap_bytes(),
        _ => return None,
    })
}

/// Whether a branch is taken.
#[inline(always)]
pub(super) fn is_taken(kind: Kind, a: u64, b: u64) -> bool {
    use Kind::*;
    match kind {
        Beq => a == b,
        Bne => a != b,
        Blt => (a as i64) < b as i64,
        Bge => a as i64 >= b as i64,
        Bltu => a < b,
        _ => a >= b,
    }
}
