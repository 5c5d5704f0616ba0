//! Instruction words of 16 bits: each is a short form of an instruction of 32 bits.

use super::decode::written;
use super::instruction::{Instruction, Kind, SINK};
use Kind::*;

/// `count` bits of `word` from `low` on.
const fn bits(word: u16, low: u32, count: u32) -> i32 {
    (word >> low) as i32 & ((1 << count) - 1)
}

/// The lowest `count` bits of `value` as a signed number.
const fn signed(value: i32, count: u32) -> i32 {
    value << (32 - count) >> (32 - count)
}

/// A register from 8 to 15, encoded in three bits.
const fn near(word: u16, low: u32) -> u8 {
    bits(word, low, 3) as u8 + 8
}

const STACK_POINTER: u8 = 2;
const RETURN_ADDRESS: u8 = 1;

/// Decodes a compressed instruction. The caller sets its length.
pub(super) fn decode(word: u16) -> Option<Instruction> {
    let new = Instruction::new;
    match (word & 3, word >> 13) {
        (0, 0) => {
            let imm = bits(word, 6, 1) << 2
                | bits(word, 5, 1) << 3
                | bits(word, 11, 2) << 4
                | bits(word, 7, 4) << 6;
            (imm != 0).then(|| new(Addi, near(word, 2), STACK_POINTER, 0, imm))
        }
        (0, 1) => Some(new(
            Fld,
            near(word, 2),
            near(word, 7),
            0,
            double_offset(word),
        )),
        (0, 2) => Some(new(Lw, near(word, 2), near(word, 7), 0, word_offset(word))),
        (0, 3) => Some(new(
            Ld,
            near(word, 2),
            near(word, 7),
            0,
            double_offset(word),
        )),
        (0, 5) => Some(new(
            Fsd,
            0,
            near(word, 7),
            near(word, 2),
            double_offset(word),
        )),
        (0, 6) => Some(new(Sw, 0, near(word, 7), near(word, 2), word_offset(word))),
        (0, 7) => Some(new(
            Sd,
            0,
            near(word, 7),
            near(word, 2),
            double_offset(word),
        )),
        (1, _) => quadrant_1(word),
        (2, _) => quadrant_2(word),
        _ => None,
    }
}

fn word_offset(word: u16) -> i32 {
    bits(word, 6, 1) << 2 | bits(word, 10, 3) << 3 | bits(word, 5, 1) << 6
}

fn double_offset(word: u16) -> i32 {
    bits(word, 10, 3) << 3 | bits(word, 5, 2) << 6
}

fn quadrant_1(word: u16) -> Option<Instruction> {
    let new = Instruction::new;
    let rd = bits(word, 7, 5) as u8;
    let imm = signed(bits(word, 2, 5) | bits(word, 12, 1) << 5, 6);
    Some(match word >> 13 {
        0 => new(Addi, written(rd), rd, 0, imm),
        1 if rd != 0 => new(Addiw, rd, rd, 0, imm),
        2 => new(Addi, written(rd), 0, 0, imm),
        3 if rd == STACK_POINTER && imm != 0 => {
            let imm = bits(word, 6, 1) << 4
                | bits(word, 2, 1) << 5
                | bits(word, 5, 1) << 6
                | bits(word, 3, 2) << 7
                | bits(word, 12, 1) << 9;
            new(Addi, STACK_POINTER, STACK_POINTER, 0, signed(imm, 10))
        }
        3 if imm != 0 => new(Lui, written(rd), 0, 0, imm << 12),
        4 => return arithmetic(word, imm),
        5 => new(Jal, SINK, 0, 0, jump_offset(word)),
        6 => new(Beq, SINK, near(word, 7), 0, branch_offset(word)),
        7 => new(Bne, SINK, near(word, 7), 0, branch_offset(word)),
        _ => return None,
    })
}

fn arithmetic(word: u16, imm: i32) -> Option<Instruction> {
    let (rd, rs2) = (near(word, 7), near(word, 2));
    let shift = imm & 63;
    let with = |kind, imm| Instruction::new(kind, rd, rd, rs2, imm);
    Some(
        match (bits(word, 10, 2), bits(word, 12, 1), bits(word, 5, 2)) {
            (0, ..) => with(Srli, shift),
            (1, ..) => with(Srai, shift),
            (2, ..) => with(Andi, imm),
            (_, 0, 0) => with(Sub, 0),
            (_, 0, 1) => with(Xor, 0),
            (_, 0, 2) => with(Or, 0),
            (_, 0, _) => with(And, 0),
            (_, _, 0) => with(Subw, 0),
            (_, _, 1) => with(Addw, 0),
            _ => return None,
        },
    )
}

fn jump_offset(word: u16) -> i32 {
    let imm = bits(word, 3, 3) << 1
        | bits(word, 11, 1) << 4
        | bits(word, 2, 1) << 5
        | bits(word, 7, 1) << 6
        | bits(word, 6, 1) << 7
        | bits(word, 9, 2) << 8
        | bits(word, 8, 1) << 10
        | bits(word, 12, 1) << 11;
    signed(imm, 12)
}

fn branch_offset(word: u16) -> i32 {
    let imm = bits(word, 3, 2) << 1
        | bits(word, 10, 2) << 3
        | bits(word, 2, 1) << 5
        | bits(word, 5, 2) << 6
        | bits(word, 12, 1) << 8;
    signed(imm, 9)
}

fn quadrant_2(word: u16) -> Option<Instruction> {
    let new = Instruction::new;
    let (rd, rs2) = (bits(word, 7, 5) as u8, bits(word, 2, 5) as u8);
    let shift = bits(word, 2, 5) | bits(word, 12, 1) << 5;
    let double_load = bits(word, 5, 2) << 3 | bits(word, 12, 1) << 5 | bits(word, 2, 3) << 6;
    let word_load = bits(word, 4, 3) << 2 | bits(word, 12, 1) << 5 | bits(word, 2, 2) << 6;
    let double_store = bits(word, 10, 3) << 3 | bits(word, 7, 3) << 6;
    let word_store = bits(word, 9, 4) << 2 | bits(word, 7, 2) << 6;
    let stack = STACK_POINTER;
    Some(match (word >> 13, bits(word, 12, 1)) {
        (0, _) => new(Slli, written(rd), rd, 0, shift),
        (1, _) => new(Fld, rd, stack, 0, double_load),
        (2, _) if rd != 0 => new(Lw, rd, stack, 0, word_load),
        (3, _) if rd != 0 => new(Ld, rd, stack, 0, double_load),
        (4, 0) if rs2 != 0 => new(Add, written(rd), 0, rs2, 0),
        (4, 0) if rd != 0 => new(Jalr, SINK, rd, 0, 0),
        (4, 1) if rs2 != 0 => new(Add, written(rd), rd, rs2, 0),
        (4, 1) if rd != 0 => new(Jalr, RETURN_ADDRESS, rd, 0, 0),
        (4, 1) => new(Ebreak, SINK, 0, 0, 0),
        (5, _) => new(Fsd, 0, stack, rs2, double_store),
        (6, _) => new(Sw, 0, stack, rs2, word_store),
        (7, _) => new(Sd, 0, stack, rs2, double_store),
        _ => return None,
    })
}
