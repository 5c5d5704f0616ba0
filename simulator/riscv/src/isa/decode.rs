//! Instruction words of 32 bits.

use super::compressed;
use super::instruction::{Instruction, Kind, SINK};
use Kind::*;

/// Decodes the instruction in `word`. A compressed instruction is in the lower half. Returns `None` for an unknown
/// instruction.
pub(crate) fn decode(word: u32) -> Option<Instruction> {
    if word & 3 == 3 {
        full(word)
    } else {
        let inner = compressed::decode(word as u16)?;
        Some(Instruction { length: 2, ..inner })
    }
}

/// `count` bits of `word` from `low` on.
const fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

/// The index that a write to an integer register uses: [`SINK`] for `x0`.
pub(super) const fn written(register: u8) -> u8 {
    if register == 0 { SINK } else { register }
}

fn full(word: u32) -> Option<Instruction> {
    let (rd, rs1, rs2) = (
        bits(word, 7, 5) as u8,
        bits(word, 15, 5) as u8,
        bits(word, 20, 5) as u8,
    );
    let (funct3, funct7) = (bits(word, 12, 3), bits(word, 25, 7));
    let immediate_i = word as i32 >> 20;
    let immediate_s = (word as i32 >> 25 << 5) | i32::from(rd);
    let immediate_u = (word & 0xFFFF_F000) as i32;
    let to = written(rd);
    let with = |kind, imm| Some(Instruction::new(kind, to, rs1, rs2, imm));
    match bits(word, 2, 5) {
        0b01101 => with(Lui, immediate_u),
        0b00101 => with(Auipc, immediate_u),
        0b11011 => with(Jal, immediate_j(word)),
        0b11001 if funct3 == 0 => with(Jalr, immediate_i),
        0b11000 => {
            let kind = pick(
                funct3,
                [
                    Some(Beq),
                    Some(Bne),
                    None,
                    None,
                    Some(Blt),
                    Some(Bge),
                    Some(Bltu),
                    Some(Bgeu),
                ],
            )?;
            with(kind, immediate_b(word))
        }
        0b00000 => {
            let kind = pick(
                funct3,
                [
                    Some(Lb),
                    Some(Lh),
                    Some(Lw),
                    Some(Ld),
                    Some(Lbu),
                    Some(Lhu),
                    Some(Lwu),
                    None,
                ],
            )?;
            with(kind, immediate_i)
        }
        0b01000 => {
            let kind = pick(
                funct3,
                [
                    Some(Sb),
                    Some(Sh),
                    Some(Sw),
                    Some(Sd),
                    None,
                    None,
                    None,
                    None,
                ],
            )?;
            with(kind, immediate_s)
        }
        0b00100 => immediate_operation(word, funct3).and_then(|(kind, imm)| with(kind, imm)),
        0b00110 => immediate_operation_32(word, funct3).and_then(|(kind, imm)| with(kind, imm)),
        0b01100 => with(operation(funct7, funct3)?, 0),
        0b01110 => with(operation_32(funct7, funct3, rs2)?, 0),
        // A `fence` with this predecessor set is the hint `pause`.
        0b00011 if funct3 == 0 && word == 0x0100_000F => with(Pause, 0),
        0b00011 if funct3 == 0 => with(Fence, 0),
        0b00011 if funct3 == 1 => with(FenceI, 0),
        0b11100 => system(word, funct3).and_then(|(kind, imm)| with(kind, imm)),
        0b01011 => with(atomic(funct7 >> 2, funct3, rs2)?, 0),
        0b00001 => {
            let kind = pick(
                funct3,
                [None, None, Some(Flw), Some(Fld), None, None, None, None],
            )?;
            Some(Instruction::new(kind, rd, rs1, 0, immediate_i))
        }
        0b01001 => {
            let kind = pick(
                funct3,
                [None, None, Some(Fsw), Some(Fsd), None, None, None, None],
            )?;
            Some(Instruction::new(kind, 0, rs1, rs2, immediate_s))
        }
        0b10000..=0b10011 => fused(word, rd, rs1, rs2),
        0b10100 => float(word, rd, rs1, rs2),
        0b00010 => with(Custom0, (funct7 << 3 | funct3) as i32),
        0b11110 if word & 0x01FF_FF80 == 0 => with(M5, funct7 as i32),
        _ => None,
    }
}

fn pick(funct3: u32, kinds: [Option<Kind>; 8]) -> Option<Kind> {
    kinds[funct3 as usize]
}

fn immediate_b(word: u32) -> i32 {
    let low = bits(word, 8, 4) << 1 | bits(word, 25, 6) << 5 | bits(word, 7, 1) << 11;
    (word as i32 >> 31 << 12) | low as i32
}

fn immediate_j(word: u32) -> i32 {
    let low = bits(word, 21, 10) << 1 | bits(word, 20, 1) << 11 | bits(word, 12, 8) << 12;
    (word as i32 >> 31 << 20) | low as i32
}

fn immediate_operation(word: u32, funct3: u32) -> Option<(Kind, i32)> {
    let imm = word as i32 >> 20;
    let shift = bits(word, 20, 6) as i32;
    Some(match (funct3, bits(word, 26, 6)) {
        (0, _) => (Addi, imm),
        (2, _) => (Slti, imm),
        (3, _) => (Sltiu, imm),
        (4, _) => (Xori, imm),
        (6, _) => (Ori, imm),
        (7, _) => (Andi, imm),
        (1, 0) => (Slli, shift),
        (5, 0) => (Srli, shift),
        (5, 0b01_0000) => (Srai, shift),
        (5, 0b01_1000) => (Rori, shift),
        (1, 0b01_1000) => match shift {
            0 => (Clz, 0),
            1 => (Ctz, 0),
            2 => (Cpop, 0),
            4 => (SextB, 0),
            5 => (SextH, 0),
            _ => return None,
        },
        (5, 0b01_1010) if shift == 0b11_1000 => (Rev8, 0),
        (5, 0b00_1010) if shift == 0b00_0111 => (OrcB, 0),
        _ => return None,
    })
}

fn immediate_operation_32(word: u32, funct3: u32) -> Option<(Kind, i32)> {
    let shift = bits(word, 20, 5) as i32;
    Some(match (funct3, bits(word, 25, 7)) {
        (0, _) => (Addiw, word as i32 >> 20),
        (1, 0) => (Slliw, shift),
        (5, 0) => (Srliw, shift),
        (5, 0b010_0000) => (Sraiw, shift),
        (5, 0b011_0000) => (Roriw, shift),
        (1, 0b011_0000) => match shift {
            0 => (Clzw, 0),
            1 => (Ctzw, 0),
            2 => (Cpopw, 0),
            _ => return None,
        },
        (1, 0b000_0100 | 0b000_0101) => (SlliUw, bits(word, 20, 6) as i32),
        _ => return None,
    })
}

fn operation(funct7: u32, funct3: u32) -> Option<Kind> {
    Some(match (funct7, funct3) {
        (0, _) => [Add, Sll, Slt, Sltu, Xor, Srl, Or, And][funct3 as usize],
        (1, _) => [Mul, Mulh, Mulhsu, Mulhu, Div, Divu, Rem, Remu][funct3 as usize],
        (0b010_0000, 0) => Sub,
        (0b010_0000, 5) => Sra,
        (0b010_0000, 4) => Xnor,
        (0b010_0000, 6) => Orn,
        (0b010_0000, 7) => Andn,
        (0b001_0000, 2) => Sh1add,
        (0b001_0000, 4) => Sh2add,
        (0b001_0000, 6) => Sh3add,
        (0b000_0101, 4) => Min,
        (0b000_0101, 5) => Minu,
        (0b000_0101, 6) => Max,
        (0b000_0101, 7) => Maxu,
        (0b011_0000, 1) => Rol,
        (0b011_0000, 5) => Ror,
        _ => return None,
    })
}

fn operation_32(funct7: u32, funct3: u32, rs2: u8) -> Option<Kind> {
    Some(match (funct7, funct3) {
        (0, 0) => Addw,
        (0, 1) => Sllw,
        (0, 5) => Srlw,
        (0b010_0000, 0) => Subw,
        (0b010_0000, 5) => Sraw,
        (1, 0) => Mulw,
        (1, 4) => Divw,
        (1, 5) => Divuw,
        (1, 6) => Remw,
        (1, 7) => Remuw,
        (0b000_0100, 0) => AddUw,
        (0b000_0100, 4) if rs2 == 0 => ZextH,
        (0b001_0000, 2) => Sh1addUw,
        (0b001_0000, 4) => Sh2addUw,
        (0b001_0000, 6) => Sh3addUw,
        (0b011_0000, 1) => Rolw,
        (0b011_0000, 5) => Rorw,
        _ => return None,
    })
}

fn system(word: u32, funct3: u32) -> Option<(Kind, i32)> {
    let csr = (word >> 20) as i32;
    Some(match (funct3, word) {
        (0, 0x0000_0073) => (Ecall, 0),
        (0, 0x0010_0073) => (Ebreak, 0),
        (0, 0x00D0_0073) => (WrsNto, 0),
        (0, 0x01D0_0073) => (WrsSto, 0),
        (1, _) => (Csrrw, csr),
        (2, _) => (Csrrs, csr),
        (3, _) => (Csrrc, csr),
        (5, _) => (Csrrwi, csr),
        (6, _) => (Csrrsi, csr),
        (7, _) => (Csrrci, csr),
        _ => return None,
    })
}

fn atomic(funct5: u32, funct3: u32, rs2: u8) -> Option<Kind> {
    let kinds = match funct5 {
        0b00010 if rs2 == 0 => [LrW, LrD],
        0b00011 => [ScW, ScD],
        0b00001 => [AmoswapW, AmoswapD],
        0b00000 => [AmoaddW, AmoaddD],
        0b00100 => [AmoxorW, AmoxorD],
        0b01100 => [AmoandW, AmoandD],
        0b01000 => [AmoorW, AmoorD],
        0b10000 => [AmominW, AmominD],
        0b10100 => [AmomaxW, AmomaxD],
        0b11000 => [AmominuW, AmominuD],
        0b11100 => [AmomaxuW, AmomaxuD],
        _ => return None,
    };
    match funct3 {
        2 => Some(kinds[0]),
        3 => Some(kinds[1]),
        _ => None,
    }
}

/// The kind for single or double precision, by the two format bits.
fn sized(word: u32, single: Kind, double: Kind) -> Option<Kind> {
    match bits(word, 25, 2) {
        0 => Some(single),
        1 => Some(double),
        _ => None,
    }
}

fn fused(word: u32, rd: u8, rs1: u8, rs2: u8) -> Option<Instruction> {
    let kind = match bits(word, 2, 2) {
        0 => sized(word, FmaddS, FmaddD),
        1 => sized(word, FmsubS, FmsubD),
        2 => sized(word, FnmsubS, FnmsubD),
        _ => sized(word, FnmaddS, FnmaddD),
    }?;
    Some(Instruction {
        rs3: bits(word, 27, 5) as u8,
        rounding: bits(word, 12, 3) as u8,
        ..Instruction::new(kind, rd, rs1, rs2, 0)
    })
}

fn float(word: u32, rd: u8, rs1: u8, rs2: u8) -> Option<Instruction> {
    let funct3 = bits(word, 12, 3);
    let kind = match (bits(word, 27, 5), funct3, rs2) {
        (0b00000, ..) => sized(word, FaddS, FaddD),
        (0b00001, ..) => sized(word, FsubS, FsubD),
        (0b00010, ..) => sized(word, FmulS, FmulD),
        (0b00011, ..) => sized(word, FdivS, FdivD),
        (0b01011, _, 0) => sized(word, FsqrtS, FsqrtD),
        (0b00100, 0, _) => sized(word, FsgnjS, FsgnjD),
        (0b00100, 1, _) => sized(word, FsgnjnS, FsgnjnD),
        (0b00100, 2, _) => sized(word, FsgnjxS, FsgnjxD),
        (0b00101, 0, _) => sized(word, FminS, FminD),
        (0b00101, 1, _) => sized(word, FmaxS, FmaxD),
        (0b01000, _, 1) if bits(word, 25, 2) == 0 => Some(FcvtSD),
        (0b01000, _, 0) if bits(word, 25, 2) == 1 => Some(FcvtDS),
        (0b10100, 2, _) => sized(word, FeqS, FeqD),
        (0b10100, 1, _) => sized(word, FltS, FltD),
        (0b10100, 0, _) => sized(word, FleS, FleD),
        (0b11000, _, 0) => sized(word, FcvtWS, FcvtWD),
        (0b11000, _, 1) => sized(word, FcvtWuS, FcvtWuD),
        (0b11000, _, 2) => sized(word, FcvtLS, FcvtLD),
        (0b11000, _, 3) => sized(word, FcvtLuS, FcvtLuD),
        (0b11010, _, 0) => sized(word, FcvtSW, FcvtDW),
        (0b11010, _, 1) => sized(word, FcvtSWu, FcvtDWu),
        (0b11010, _, 2) => sized(word, FcvtSL, FcvtDL),
        (0b11010, _, 3) => sized(word, FcvtSLu, FcvtDLu),
        (0b11100, 0, 0) => sized(word, FmvXW, FmvXD),
        (0b11100, 1, 0) => sized(word, FclassS, FclassD),
        (0b11110, 0, 0) => sized(word, FmvWX, FmvDX),
        _ => None,
    }?;
    let integer = matches!(bits(word, 27, 5), 0b10100 | 0b11000 | 0b11100);
    let to = if integer { written(rd) } else { rd };
    Some(Instruction {
        rounding: funct3 as u8,
        ..Instruction::new(kind, to, rs1, rs2, 0)
    })
}
