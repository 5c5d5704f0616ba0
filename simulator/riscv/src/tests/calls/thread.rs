//! A second thread, which does some of the steps while the first thread waits. So the results do not depend on the
//! threads' speed.

use super::super::guest::branch;
use super::super::i_type;
use super::program::{A0, A7, CONTROL, ECALL, LOGGED, RECORD, SLOT, T0, WORDS, addi, ld, lui, sd};

/// The offset, behind the slots, of the thread's number. The number becomes 0 at the thread's end.
const NUMBER: i32 = 128;
/// `CLONE_VM`, `_FS`, `_FILES`, `_SIGHAND`, `_THREAD`, `_SYSVSEM`, `_PARENT_SETTID`, `_CHILD_CLEARTID`.
const FLAGS: u64 = 0x35_0F00;
const CLONE: i32 = 220;
const FUTEX: i32 = 98;
const EXIT: i32 = 93;
const RECORD_BYTES: i32 = 8 * WORDS as i32;

/// A jump over `offset` bytes.
fn jump(offset: i32) -> u32 {
    let imm = offset as u32;
    let bits = |from: u32, count: u32| imm >> from & ((1 << count) - 1);
    bits(20, 1) << 31 | bits(1, 10) << 21 | bits(11, 1) << 20 | bits(12, 8) << 12 | 0x6F
}

/// Completes the record of the step itself.
fn done(code: &mut Vec<u32>) {
    code.extend([
        ld(T0, CONTROL, 0),
        sd(RECORD, T0, 8 * LOGGED as i32),
        addi(RECORD, RECORD, RECORD_BYTES),
    ]);
}

/// Begins the thread, with a stack that ends at `stack`. Returns the index of the jump by which the first thread skips
/// these steps.
pub(super) fn begin(code: &mut Vec<u32>, stack: u64) -> usize {
    done(code);
    code.extend([lui(A0, FLAGS + 0x100), addi(A0, A0, -0x100)]);
    code.extend([lui(A0 + 1, stack), addi(A0 + 2, SLOT, NUMBER)]);
    code.extend([addi(A0 + 3, 0, 0), addi(A0 + 4, SLOT, NUMBER)]);
    code.extend([addi(A7, 0, CLONE), ECALL]);
    code.extend([branch(0, A0, 8), 0]);
    code.len() - 1
}

/// Ends the thread. The first thread waits for the end, and skips `steps` records.
pub(super) fn end(code: &mut Vec<u32>, past: usize, steps: usize) {
    code.extend([addi(A0, 0, 0), addi(A7, 0, EXIT), ECALL]);
    code[past] = jump(4 * (code.len() - past) as i32);
    let around = [
        addi(A0, SLOT, NUMBER),
        addi(A0 + 1, 0, 0),
        addi(A0 + 2, T0, 0),
        addi(A0 + 3, 0, 0),
        addi(A7, 0, FUTEX),
        ECALL,
    ];
    let length = 4 * (around.len() as i32 + 2);
    code.push(i_type(0x03, T0, 2, SLOT, NUMBER));
    code.push(branch(0, T0, length));
    code.extend(around);
    code.push(jump(-length));
    code.extend((0..steps).map(|_| addi(RECORD, RECORD, RECORD_BYTES)));
    done(code);
}
