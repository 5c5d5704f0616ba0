//! Random system calls in qemu-user and in the simulator: equal results, errors, signals and memory.
//!
//! Without `qemu-riscv64`, the test is skipped with a message. `MANYCORE_FUZZ` is the number of programs. Each program
//! has [`SEQUENCES`] sequences. `MANYCORE_FUZZ=12..13` repeats program 12. The programs avoid the intended differences,
//! which `docs/guests.md` lists.

mod draw;
mod files;
mod memory;
mod program;
mod sequence;
mod sequences;
mod signals;
mod thread;

#[path = "../../../../chip/tests/machine/support/fuzz.rs"]
#[expect(dead_code, reason = "damaged text is other tests'")]
mod harness;

use super::beside::{Beside, has_qemu};
use program::{BLOB, LOGGED, Op, RESULT, WORDS, log, program, words};
use std::fmt::Write;

/// The number of sequences in a program.
const SEQUENCES: usize = 16;
/// Programs in the tests of each change: some hundreds of sequences.
const QUICK: u64 = 24;

/// The most runs in the search for a shorter program that still differs.
const MOST_TRIES: usize = 200;

#[test]
fn random_calls_do_what_qemu_does() {
    if has_qemu() {
        harness::run(
            "tests::calls::random_calls_do_what_qemu_does",
            QUICK,
            |rng| {
                let sequences: Vec<Vec<Op>> = (0..SEQUENCES).map(|_| draw::sequence(rng)).collect();
                compare(&sequences)
            },
        );
    }
}

/// Runs all sequences one after the other, in both systems.
fn compare(sequences: &[Vec<Op>]) -> &'static str {
    let beside = Beside::new();
    let whole = sequences.concat();
    if beside.run(&program(&whole)).is_none() {
        // qemu has waited for ever for memory that it takes to be mapped. The other sequences end.
        for (which, sequence) in sequences.iter().enumerate() {
            if first_difference(&beside, sequence).is_some() {
                show(&beside, which, sequence);
            }
        }
        return "programs with a sequence that qemu does not end";
    }
    if let Some((at, _)) = first_difference(&beside, &whole) {
        let mut ends = sequences.iter().scan(0, |end, sequence| {
            *end += sequence.len();
            Some(*end)
        });
        let which = ends.position(|end| at < end).unwrap_or_default();
        let alone = &sequences[which];
        match first_difference(&beside, alone) {
            Some(_) => show(&beside, which, alone),
            // The difference needs the state that an earlier sequence has left.
            None => show(&beside, which, &whole),
        }
    }
    "programs of system calls"
}

/// Shortens the steps while the systems still differ, and panics with the remaining steps.
fn show(beside: &Beside, which: usize, ops: &[Op]) -> ! {
    let ops = shrink(beside, ops);
    let (_, text) = first_difference(beside, &ops).expect("it differs");
    panic!("sequence {which}: {text}");
}

/// The first step with a difference between qemu and the simulator, and a text of all steps up to that step.
fn first_difference(beside: &Beside, ops: &[Op]) -> Option<(usize, String)> {
    let (ours, theirs) = beside.run(&program(ops))?;
    let (ours, theirs) = (words(&ours), words(&theirs));
    let size = ops.len() * WORDS;
    if ours.len() < size || theirs.len() < size {
        let lengths = (ours.len(), theirs.len());
        let text = format!("one was stopped: {lengths:?} words of {size}: {ops:#?}");
        return Some((0, text));
    }
    let [our_log, their_log] = [&ours, &theirs].map(|words| log(words, ops.len()));
    let mut logged = 0;
    let mut text = String::new();
    for (at, op) in ops.iter().enumerate() {
        let base = at * WORDS;
        let [ours, theirs] = [&ours, &theirs].map(|words| &words[base..base + WORDS]);
        let mut equal = op.same.holds(ours[RESULT], theirs[RESULT]);
        equal &= ours[LOGGED] == theirs[LOGGED];
        for (word, (_, same)) in op.blob.iter().enumerate() {
            equal &= same.holds(ours[BLOB + word], theirs[BLOB + word]);
        }
        // The number of entries that the log has after this step.
        let entries = (ours[LOGGED] as usize % 0x2_0000 - 8) / 8;
        let [own, other] = [our_log, their_log].map(|log| signals_of(&log[logged..entries]));
        equal &= own == other;
        if op.name != draw::SET_UP {
            let _ = write!(text, "\n{at:>3} {} {:x?}", op.name, op.args);
            if !op.blob.is_empty() {
                let given = op.blob.iter().map(|(word, _)| word);
                let _ = write!(text, " {:x?}", given.collect::<Vec<_>>());
            }
            let _ = write!(text, " = {:#x}", theirs[RESULT]);
        }
        if !equal {
            let (mine, its) = (&ours[RESULT..], &theirs[RESULT..]);
            let _ = write!(text, "\nours {mine:x?}\nqemu {its:x?}");
            let _ = write!(text, "\nsignals: ours {own:x?}, qemu {other:x?}");
            return Some((at, text));
        }
        logged = entries;
    }
    None
}

/// Returns the entries of the handlers' log. Only a signal of a timer or a queue has a value.
fn signals_of(entries: &[u64]) -> Vec<[u64; 4]> {
    let entries = entries.chunks_exact(4).map(|entry| {
        let [signal, code, value, mask] = [entry[0], entry[1], entry[2], entry[3]];
        let value = if matches!(code as i32, -1 | -2) {
            value
        } else {
            0
        };
        [signal, code, value, mask]
    });
    entries.collect()
}

/// Returns fewer steps, for which qemu and the simulator still differ.
fn shrink(beside: &Beside, ops: &[Op]) -> Vec<Op> {
    let mut ops = ops.to_vec();
    let mut part = ops.len() / 2;
    let mut tries = 0;
    while part > 0 {
        let mut at = 0;
        while at < ops.len() && tries < MOST_TRIES {
            tries += 1;
            let mut fewer = ops.clone();
            let cut = fewer.drain(at..(at + part).min(ops.len()));
            // Set-up steps stay. Without handlers, signals would kill the program. Without the program's number, they
            // would kill other programs.
            let kept: Vec<Op> = cut.filter(|op| op.name == draw::SET_UP).collect();
            if kept.len() == part {
                at += part;
                continue;
            }
            fewer.splice(at..at, kept);
            match first_difference(beside, &fewer) {
                Some(_) => ops = fewer,
                None => at += part,
            }
        }
        part /= 2;
    }
    ops
}
