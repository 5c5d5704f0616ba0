//! Turns system calls into a program that records the effects of each call.
//!
//! Each call has a record: its number and arguments, its result, the end of the handlers' log, and a few words that the
//! call may read or write. At its end, the program writes all records and the log.

use super::super::{elf, i_type, s_type};
use super::thread;

const CODE: u64 = 0x10_0000;
const RECORDS: u64 = 0x200_0000;
/// The log of the signal handlers. Its first word is the address of the next entry.
const LOG: u64 = 0x600_0000;
const LOG_BYTES: u64 = 0x2_0000;
const SLOTS: u64 = LOG + LOG_BYTES;
/// A second stack for handlers, which consists of whole pages.
pub(super) const STACK: u64 = SLOTS + 0x1000;
/// The end of the second thread's stack.
const THREAD_STACK: u64 = STACK + 0x8000;
/// Pages at fixed addresses. Random calls map them.
pub(super) const ARENA: u64 = 0x2000_0000;
/// The number of words in a record, and the indices of its parts.
pub(super) const WORDS: usize = 32;
pub(super) const RESULT: usize = 7;
pub(super) const LOGGED: usize = 8;
pub(super) const BLOB: usize = 9;
/// The two handlers. The first writes to the log, and the second skips the instruction that faulted.
pub(super) const NOTES: u64 = CODE + 4;
pub(super) const SKIPS: u64 = NOTES + 4 * NOTE_LENGTH as u64;
const NOTE_LENGTH: usize = 11;

pub(super) const T0: u32 = 5;
const T1: u32 = 6;
const T2: u32 = 7;
const T6: u32 = 31;
pub(super) const RECORD: u32 = 8;
pub(super) const SLOT: u32 = 18;
pub(super) const CONTROL: u32 = 19;
pub(super) const A0: u32 = 10;
pub(super) const A7: u32 = 17;
pub(super) const ECALL: u32 = 0x73;
const RET: u32 = 0x8067;
/// Offsets in a `ucontext`: the mask, and the registers from `pc` on.
const MASK: i32 = 40;
const REGISTERS: i32 = 176;

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arg {
    Is(u64),
    /// The value of a slot (the result of an earlier call) plus this number.
    Slot(u8, u64),
    /// The address of a word of the call's own record.
    Blob(usize),
}

/// How two results or two words are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Same {
    Exactly,
    /// The same error, or the same address. If the system chose the addresses, only their places in a page must be the
    /// same.
    Address,
    /// Like `Address`, but `EBADF` and `EINVAL` are equal: qemu may check the file and the flags in another order.
    Mapping,
    /// The same error, or any two numbers that the systems chose.
    Number,
    /// The same value, with two exceptions. qemu may check the buffer before it finds another error or the file's end.
    /// qemu may treat a bad part of a vector as an empty part.
    Buffer,
    /// Like `Buffer`, but qemu may also check a vector before the file and the place in it.
    Vector,
    /// Both are zero, or neither is zero.
    Sign,
    Never,
}

/// The kind of a step.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Call(u64),
    Load,
    Store,
    /// A second thread does the steps until `End`, while the first thread waits.
    Begin,
    End,
}

/// A step of a sequence.
#[derive(Clone, Debug)]
pub(super) struct Op {
    pub(super) name: &'static str,
    pub(super) step: Step,
    pub(super) args: Vec<Arg>,
    pub(super) same: Same,
    /// The slot that keeps the result.
    pub(super) slot: Option<u8>,
    /// The record's own words before the call, and how they are compared after it.
    pub(super) blob: Vec<(u64, Same)>,
}

pub(super) fn ld(rd: u32, rs1: u32, at: i32) -> u32 {
    i_type(0x03, rd, 3, rs1, at)
}

pub(super) fn sd(rs1: u32, rs2: u32, at: i32) -> u32 {
    s_type(0x23, 3, rs1, rs2, at as u32)
}

pub(super) fn addi(rd: u32, rs1: u32, imm: i32) -> u32 {
    i_type(0x13, rd, 0, rs1, imm)
}

fn add(rd: u32, rs1: u32, rs2: u32) -> u32 {
    rs2 << 20 | rs1 << 15 | rd << 7 | 0x33
}

pub(super) fn lui(rd: u32, value: u64) -> u32 {
    assert!(value.is_multiple_of(4096) && value < 1 << 31);
    value as u32 | rd << 7 | 0x37
}

/// The code of the two handlers.
fn handlers() -> Vec<u32> {
    let mut code = vec![
        ld(T0, CONTROL, 0),
        sd(T0, A0, 0),
        i_type(0x03, T1, 2, A0 + 1, 8),
        sd(T0, T1, 8),
        ld(T2, A0 + 1, 24),
        sd(T0, T2, 16),
        ld(T1, A0 + 2, MASK),
        sd(T0, T1, 24),
        addi(T0, T0, 32),
        sd(CONTROL, T0, 0),
        RET,
    ];
    assert_eq!(code.len(), NOTE_LENGTH);
    code.extend([
        ld(T0, A0 + 2, REGISTERS),
        addi(T0, T0, 4),
        sd(A0 + 2, T0, REGISTERS),
        // The result of a load or store that faults is a mark plus the signal's number and code.
        i_type(0x03, T1, 2, A0 + 1, 8),
        lui(T2, 0x0FA1_7000),
        add(T1, T1, T2),
        add(T1, T1, A0),
        sd(A0 + 2, T1, REGISTERS + 8 * T6 as i32),
        RET,
    ]);
    code
}

/// Appends the code of a step.
fn step(op: &Op, code: &mut Vec<u32>) {
    for (at, arg) in op.args.iter().enumerate() {
        let register = A0 + at as u32;
        code.push(ld(register, RECORD, 8 + 8 * at as i32));
        if let Arg::Slot(slot, _) = arg {
            code.push(ld(T0, SLOT, 8 * i32::from(*slot)));
            code.push(add(register, register, T0));
        }
    }
    let result = match op.step {
        Step::Call(_) => {
            code.extend([ld(A7, RECORD, 0), ECALL]);
            A0
        }
        Step::Load => {
            code.push(ld(T6, A0, 0));
            T6
        }
        Step::Store => {
            code.extend([addi(T6, 0, 0), sd(A0, A0 + 1, 0)]);
            T6
        }
        Step::Begin | Step::End => unreachable!("a thread's steps lie between them"),
    };
    code.push(sd(RECORD, result, 8 * RESULT as i32));
    if let Some(slot) = op.slot {
        code.push(sd(SLOT, result, 8 * i32::from(slot)));
    }
    code.extend([
        ld(T0, CONTROL, 0),
        sd(RECORD, T0, 8 * LOGGED as i32),
        addi(RECORD, RECORD, 8 * WORDS as i32),
    ]);
}

/// Returns a program that does the steps `ops`, as an ELF file.
pub(super) fn program(ops: &[Op]) -> Vec<u8> {
    let mut code = vec![0];
    code.extend(handlers());
    // A jump over the handlers.
    let over = 4 * code.len() as u32;
    code[0] = (over >> 1 & 0x3FF) << 21 | (over >> 11 & 1) << 20 | 0x6F;
    code.extend([lui(RECORD, RECORDS), lui(CONTROL, LOG), lui(SLOT, SLOTS)]);
    code.extend([addi(T0, CONTROL, 8), sd(CONTROL, T0, 0)]);
    let mut begun = None;
    for (at, op) in ops.iter().enumerate() {
        match (&op.step, begun) {
            (Step::Begin, _) => begun = Some((at, thread::begin(&mut code, THREAD_STACK))),
            (Step::End, Some((start, past))) => {
                thread::end(&mut code, past, at - start - 1);
                begun = None;
            }
            _ => step(op, &mut code),
        }
    }
    let mut records = Vec::new();
    for (at, op) in ops.iter().enumerate() {
        let place = RECORDS + (at * WORDS * 8) as u64;
        let mut words = [0; WORDS];
        if let Step::Call(number) = op.step {
            words[0] = number;
        }
        for (word, arg) in words[1..].iter_mut().zip(&op.args) {
            *word = match arg {
                Arg::Is(value) | Arg::Slot(_, value) => *value,
                Arg::Blob(word) => place + 8 * (BLOB + word) as u64,
            };
        }
        for (word, (value, _)) in words[BLOB..].iter_mut().zip(&op.blob) {
            *word = *value;
        }
        records.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
    // write(1, ...) of the records and of the log, exit(0)
    let length = records.len().next_multiple_of(4096);
    for (address, length) in [(RECORDS, length as u64), (LOG, LOG_BYTES)] {
        code.extend([lui(A0 + 1, address), lui(A0 + 2, length)]);
        code.extend([addi(A0, 0, 1), addi(A7, 0, 64), ECALL]);
    }
    code.extend([addi(A0, 0, 0), addi(A7, 0, 93), ECALL]);
    records.resize(length, 0);
    let code: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    let log = vec![0; (THREAD_STACK - LOG) as usize];
    elf(&[(CODE, 5, &code), (RECORDS, 6, &records), (LOG, 6, &log)])
}

/// Returns the words of a program's output: the records, then the handlers' log.
pub(super) fn words(output: &[u8]) -> Vec<u64> {
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    output.chunks_exact(8).map(word).collect()
}

/// Returns the log's entries, of four words each: signal, code, value, mask.
pub(super) fn log(words: &[u64], length: usize) -> &[u64] {
    &words[(length * WORDS * 8).next_multiple_of(4096) / 8 + 1..]
}

const EFAULT: i64 = 14;
const EBADF: i64 = 9;
const EINVAL: i64 = 22;
const ESPIPE: i64 = 29;

impl Same {
    /// Whether a value in the simulator counts as equal to the value in qemu.
    pub(super) fn holds(self, ours: u64, other: u64) -> bool {
        let failed = |value: u64| value as i64 >= -4095 && (value as i64) < 0;
        let fixed = |value: u64| (ARENA - 0x10_0000..ARENA + 0x100_0000).contains(&value);
        let is_refused = |value: u64| matches!(value as i64, -9 | -22);
        match self {
            Self::Exactly => ours == other,
            Self::Never => true,
            Self::Buffer => {
                let [fault_here, fault_there] = [ours, other].map(|it| it as i64 == -EFAULT);
                ours == other
                    || (failed(ours) || ours == 0) && fault_there
                    || fault_here && other == 0
            }
            Self::Vector => {
                let ours_first = [-EBADF, -ESPIPE, -EINVAL].contains(&(ours as i64));
                let is_unseen = [0, -EINVAL].contains(&(other as i64));
                ours_first && is_unseen || Self::Buffer.holds(ours, other)
            }
            Self::Sign => (ours == 0) == (other == 0),
            Self::Mapping if [ours, other].map(is_refused) == [true; 2] => true,
            _ if failed(ours) || failed(other) => ours == other,
            Self::Address | Self::Mapping if fixed(ours) || fixed(other) => ours == other,
            Self::Address | Self::Mapping => ours % 4096 == other % 4096,
            Self::Number => true,
        }
    }
}
