//! Random instructions in qemu-user and in the simulator: equal registers, flags and memory.
//!
//! For each sequence of random instructions, a program sets all registers to random values, executes the sequence and
//! stores all registers. Without `qemu-riscv64`, the test is skipped with a message.
//! `MANYCORE_SCHEDULES=20` runs twenty times as many sequences.

use super::beside::{Beside, has_qemu};
use super::{cases, elf, i_type, s_type};
use crate::isa::{Instruction, Kind, decode};
use fastrand::Rng;
use manycore_chip::config::Config;

/// Sequences in a program, and instructions in a sequence.
const SEQUENCES: usize = 1_024;
const LENGTH: usize = 16;
/// The addresses of the code, of the registers' values, and of pages for loads and stores. At its end, a sequence
/// writes its registers over the values.
const CODE: u64 = 0x10_0000;
const VALUES: u64 = 0x100_0000;
const PLAY: u64 = 0x200_0000;
/// The registers that point to the values (`CURSOR`), and to the middle of the pages.
const CURSOR: u8 = 8;
const SPARE: u8 = 9;
/// Bytes of the values of all integer and floating-point registers. The place of `x0` has the value of `fcsr`.
const SET: u64 = 512;

const LOAD: u32 = 0x03;
const LOAD_FLOAT: u32 = 0x07;
const STORE: u32 = 0x23;
const STORE_FLOAT: u32 = 0x27;
const SYSTEM: u32 = 0x73;
const FCSR: i32 = 3;

/// A random word that may be an instruction without a branch.
fn candidate(rng: &mut Rng) -> u32 {
    if rng.u8(..4) == 0 {
        return u32::from(rng.u16(..));
    }
    const OPCODES: [u32; 16] = [
        0x13, 0x1B, 0x33, 0x3B, 0x33, 0x3B, 0x53, 0x53, 0x53, 0x43, 0x47, 0x4B, 0x4F, 0x37, 0x2F,
        SYSTEM,
    ];
    const FUNCTIONS: [u32; 7] = [0, 1, 0x20, 0x04, 0x05, 0x10, 0x30];
    let opcode = [LOAD, LOAD_FLOAT, STORE, STORE_FLOAT];
    let opcode = match rng.u8(..6) {
        0 => opcode[rng.usize(..4)],
        _ => OPCODES[rng.usize(..OPCODES.len())],
    };
    let mut word = rng.u32(..) & !0x7F | opcode;
    match opcode {
        0x13 | 0x1B | 0x33 | 0x3B if rng.bool() => {
            word = word & 0x01FF_FFFF | FUNCTIONS[rng.usize(..7)] << 25;
        }
        // Conversions have a small second operand.
        0x53 if rng.bool() => word = word & !(31 << 20) | rng.u32(..4) << 20,
        0x53 => word &= !(1 << 26),
        LOAD | LOAD_FLOAT | STORE | STORE_FLOAT | 0x2F => {
            word = word & !(31 << 15) | u32::from(SPARE) << 15;
        }
        SYSTEM => word = word & 0x000F_FFFF | 1 << 20,
        _ => {}
    }
    word
}

/// Whether a sequence may contain the instruction. It must not branch, access other memory than the pages, change
/// `CURSOR` or `SPARE`, or read a clock.
fn is_tame(i: Instruction) -> bool {
    use Kind::*;
    let memory = i.is_load() || matches!(i.kind, Sb | Sh | Sw | Sd | Flw | Fld | Fsw | Fsd);
    let amo = i.kind as u8 >= AmoswapW as u8
        && i.kind as u8 <= AmomaxuD as u8
        && !matches!(i.kind, LrD | ScD);
    let csr = i.kind as u8 >= Csrrw as u8 && i.kind as u8 <= Csrrci as u8;
    let branch = i.kind as u8 >= Beq as u8 && i.kind as u8 <= Bgeu as u8;
    let float = i.kind as u8 >= FmaddS as u8
        && i.kind as u8 <= FcvtDS as u8
        && !matches!(i.kind, Fld | Fsd);
    let writes_float = float
        && !matches!(
            i.kind,
            FcvtWS
                | FcvtWuS
                | FcvtLS
                | FcvtLuS
                | FmvXW
                | FeqS
                | FltS
                | FleS
                | FclassS
                | FcvtWD
                | FcvtWuD
                | FcvtLD
                | FcvtLuD
                | FmvXD
                | FeqD
                | FltD
                | FleD
                | FclassD
        );
    let keeps = writes_float
        || matches!(i.kind, Flw | Fld | Fsw | Fsd)
        || !matches!(i.rd, CURSOR | SPARE)
        || matches!(i.kind, Sb | Sh | Sw | Sd);
    // qemu 7.2 counts more than 32 zeros in a word of zeros.
    let known_wrong = i.kind == Ctzw;
    let unordered = matches!(i.kind, Auipc | Jal | Jalr | LrW | LrD | ScW | ScD);
    let control =
        known_wrong || branch || unordered || i.ends_block() || matches!(i.kind, Fence | Pause);
    let mode = !float || !matches!(i.rounding, 5 | 6);
    let at_spare = !(memory || amo) || i.rs1 == SPARE;
    let known_csr = !csr || i.imm == 1;
    keeps && !control && mode && at_spare && known_csr
}

/// Appends the code of one sequence.
fn sequence(rng: &mut Rng, code: &mut Vec<u8>) {
    let mut word = |word: u32| code.extend(word.to_le_bytes());
    let (cursor, spare) = (u32::from(CURSOR), u32::from(SPARE));
    // Loads fcsr, then all registers.
    word(i_type(LOAD, 5, 3, cursor, 0));
    word(i_type(SYSTEM, 0, 1, 5, FCSR));
    for register in 0..32 {
        word(i_type(
            LOAD_FLOAT,
            register,
            3,
            cursor,
            256 + 8 * register as i32,
        ));
    }
    for register in (1..32).filter(|&register| register != cursor && register != spare) {
        word(i_type(LOAD, register, 3, cursor, 8 * register as i32));
    }
    let mut length = 0;
    while length < LENGTH {
        let bits = candidate(rng);
        if decode(bits).is_some_and(is_tame) {
            let bytes = bits.to_le_bytes();
            code.extend(&bytes[..if bits & 3 == 3 { 4 } else { 2 }]);
            length += 1;
        }
    }
    let mut word = |word: u32| code.extend(word.to_le_bytes());
    for register in (1..32).filter(|&register| register != cursor) {
        word(s_type(STORE, 3, cursor, register, 8 * register));
    }
    for register in 0..32 {
        word(s_type(STORE_FLOAT, 3, cursor, register, 256 + 8 * register));
    }
    word(i_type(SYSTEM, 5, 2, 0, FCSR));
    word(s_type(STORE, 3, cursor, 5, 0));
    word(i_type(0x13, cursor, 0, cursor, SET as i32));
}

/// A random value for a register. Boxed singles, small numbers and powers of two appear often.
fn value(rng: &mut Rng) -> u64 {
    match rng.u8(..6) {
        0 => rng.u64(..) | !0 << 32,
        1 => (rng.i64(-20..20)) as u64,
        2 => f64::from(rng.i32(-1_000..1_000)).to_bits(),
        3 => u64::from(f32::from_bits(rng.u32(..)).to_bits()) | !0 << 32,
        4 => 1 << rng.u32(..64),
        _ => rng.u64(..),
    }
}

/// Returns a random program as an ELF file.
fn program(rng: &mut Rng) -> Vec<u8> {
    let mut code = Vec::new();
    let mut word = |word: u32| code.extend(word.to_le_bytes());
    word(VALUES as u32 | u32::from(CURSOR) << 7 | 0x37);
    word((PLAY as u32 + 4096) | u32::from(SPARE) << 7 | 0x37);
    for _ in 0..SEQUENCES {
        sequence(rng, &mut code);
    }
    let mut word = |word: u32| code.extend(word.to_le_bytes());
    // write(1, values, ...), write(1, play, 8192), exit(0)
    for (address, length) in [(VALUES, SET * SEQUENCES as u64), (PLAY, 8192)] {
        word(address as u32 | 11 << 7 | 0x37);
        word(length as u32 & 0xFFFF_F000 | 12 << 7 | 0x37);
        word(i_type(0x13, 10, 0, 0, 1));
        word(i_type(0x13, 17, 0, 0, 64));
        word(SYSTEM);
    }
    word(i_type(0x13, 10, 0, 0, 0));
    word(i_type(0x13, 17, 0, 0, 93));
    word(SYSTEM);
    let mut values = Vec::new();
    for _ in 0..SEQUENCES {
        let mode = rng.u64(..5);
        values.extend((mode << 5 | rng.u64(..32)).to_le_bytes());
        (1..64).for_each(|_| values.extend(value(rng).to_le_bytes()));
    }
    let play: Vec<u8> = (0..8192).map(|_| rng.u8(..)).collect();
    elf(&[(CODE, 7, &code), (VALUES, 6, &values), (PLAY, 6, &play)])
}

#[test]
fn random_instructions_do_what_qemu_does() {
    if !has_qemu() {
        return;
    }
    let seed = std::env::var("MANYCORE_SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    let mut rng = Rng::with_seed(seed.unwrap_or(7));
    let beside = Beside::new();
    let machine = Config::preset("atac-64").expect("the preset is there");
    for round in 0..cases(5_000).div_ceil(SEQUENCES) {
        let text = program(&mut rng);
        let qemu = beside.qemu(&text);
        let machine = (round % 16 == 0).then_some(&machine);
        let (_, output) = beside.ours(&text, machine);
        assert_eq!(output.len(), qemu.len());
        let pairs = output.chunks(8).zip(qemu.chunks(8)).enumerate();
        let wrong = pairs.into_iter().find(|(_, (a, b))| a != b);
        if let Some((at, (ours, theirs))) = wrong {
            let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
            let (sequence, register) = (at / 64, at % 64);
            let (ours, theirs) = (word(ours), word(theirs));
            let kept = std::env::temp_dir().join("manycore-differential");
            std::fs::write(&kept, &text).expect("room for a program");
            panic!(
                "round {round}, sequence {sequence}, register {register}: {ours:#x}, qemu \
                 {theirs:#x}; the program is {}",
                kept.display()
            );
        }
    }
}
