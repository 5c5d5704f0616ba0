//! Random sequences of system calls, each from a clean start.

use super::program::{ARENA, Arg, NOTES, Op, SKIPS, Same, Step};
use super::{files, memory, signals};
use fastrand::Rng;

/// The number of random steps of a sequence, without the steps that clean up and read all memory.
const LENGTH: usize = 40;
/// The number of pages in the arena.
pub(super) const PAGES: u64 = 16;
pub(super) const PAGE: u64 = 4096;
/// The number of slots for addresses, and the first slot for timers.
pub(super) const ADDRESSES: u8 = 3;
pub(super) const TIMER: u8 = 4;
/// The length of a mapping that the system places.
pub(super) const CHOSEN: u64 = 16 * PAGE;
pub(super) const PROCESS: u8 = 6;
pub(super) const THREAD: u8 = 7;
/// The slot of the second thread's number, or of the first thread's number if there is no second thread.
pub(super) const SECOND: u8 = 8;
/// Files that a sequence closes at its start.
pub(super) const FILES: std::ops::Range<u64> = 3..12;
/// `SIGSEGV` and `SIGBUS`. Random calls never change their handlers.
const FAULTS: [u64; 2] = [11, 7];
pub(super) const SET_UP: &str = "set up";
/// Signals that random calls use.
pub(super) const SIGNALS: [u64; 7] = [10, 12, 13, 14, 40, 41, 42];

/// The number of groups of calls: about memory, about files, and about signals, timers and futexes.
const PARTS: u8 = 3;

pub(super) fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.usize(..all.len())]
}

impl Op {
    /// A call with these arguments. Both systems must return the same result.
    pub(super) fn call(name: &'static str, number: u64, args: &[Arg]) -> Self {
        Self {
            name,
            step: Step::Call(number),
            args: args.to_vec(),
            same: Same::Exactly,
            slot: None,
            blob: Vec::new(),
        }
    }

    pub(super) fn load(at: Arg) -> Self {
        Self {
            step: Step::Load,
            ..Self::call("load", 0, &[at])
        }
    }

    pub(super) fn store(at: Arg, value: u64) -> Self {
        Self {
            step: Step::Store,
            ..Self::call("store", 0, &[at, Arg::Is(value)])
        }
    }

    pub(super) fn same(self, same: Same) -> Self {
        Self { same, ..self }
    }

    pub(super) fn slot(self, slot: u8) -> Self {
        Self {
            slot: Some(slot),
            ..self
        }
    }

    /// Sets the words that the call reads or writes. They must be the same afterwards.
    pub(super) fn words(self, words: &[u64]) -> Self {
        let blob = words.iter().map(|&word| (word, Same::Exactly)).collect();
        Self { blob, ..self }
    }

    /// Sets the comparison of the word `at`.
    pub(super) fn word(mut self, at: usize, same: Same) -> Self {
        self.blob[at].1 = same;
        self
    }
}

/// `rt_sigaction` with flags and a mask. Linux reads the mask from the third word, and qemu reads it from the fourth.
pub(super) fn action(signal: u64, handler: u64, flags: u64, mask: u64) -> Op {
    let args = [signal, 0, 0, 8].map(Arg::Is);
    let mut op = Op::call("rt_sigaction", 134, &args).words(&[handler, flags, mask, mask]);
    op.args[1] = Arg::Blob(0);
    op
}

/// `SA_SIGINFO`; `SA_NODEFER`.
pub(super) const WITH_INFO: u64 = 4;
const NO_DEFER: u64 = 0x4000_0000;

/// Sets the mask of signals.
fn set_mask(name: &'static str, mask: u64) -> Op {
    let args = [Arg::Is(2), Arg::Blob(0), Arg::Is(0), Arg::Is(8)];
    Op::call(name, 135, &args).words(&[mask])
}

/// Wraps the steps of a second thread. The first thread takes no signals meanwhile.
fn thread(steps: Vec<Op>) -> Vec<Op> {
    let mark = |step| Op {
        step,
        ..Op::call(SET_UP, 0, &[])
    };
    let mut ops = vec![set_mask(SET_UP, !0), mark(Step::Begin)];
    ops.push(Op::call(SET_UP, 178, &[]).same(Same::Number).slot(SECOND));
    ops.push(set_mask(SET_UP, 0));
    ops.extend(steps);
    ops.push(mark(Step::End));
    // Linux clears the thread's number before it forgets the thread. Until then a signal finds the thread.
    ops.push(Op::call(SET_UP, 178, &[]).same(Same::Number).slot(SECOND));
    ops.push(set_mask(SET_UP, 0));
    ops
}

/// Removes the leftovers of earlier sequences.
fn clean() -> Vec<Op> {
    let is = |args: &[u64]| args.iter().map(|&arg| Arg::Is(arg)).collect::<Vec<_>>();
    let mut ops = vec![
        Op::call("munmap", 215, &is(&[ARENA - PAGE, (PAGES + 16) * PAGE])),
        Op::call(SET_UP, 172, &[]).same(Same::Number).slot(PROCESS),
        Op::call(SET_UP, 178, &[]).same(Same::Number).slot(THREAD),
        Op::call(SET_UP, 178, &[]).same(Same::Number).slot(SECOND),
        Op::call("sigaltstack", 132, &[Arg::Blob(0), Arg::Is(0)]).words(&[0, 2, 0]),
    ];
    for slot in [0, 1, 2, TIMER, TIMER + 1] {
        ops.push(Op::call(SET_UP, 57, &is(&[99])).slot(slot));
    }
    ops.extend(FILES.map(|file| Op::call(SET_UP, 57, &is(&[file])).same(Same::Never)));
    for signal in SIGNALS {
        // Ignoring a signal drops the signal if it is pending.
        ops.push(action(signal, 1, WITH_INFO, 0));
        ops.push(Op {
            name: SET_UP,
            ..action(signal, NOTES, WITH_INFO, 0)
        });
    }
    ops.extend(FAULTS.map(|signal| Op {
        name: SET_UP,
        ..action(signal, SKIPS, WITH_INFO | NO_DEFER, 0)
    }));
    ops.push(set_mask("rt_sigprocmask", 0));
    ops
}

/// A random sequence of calls.
pub(super) fn sequence(rng: &mut Rng) -> Vec<Op> {
    let mut ops = clean();
    // A sequence draws most calls from one group.
    let most = rng.u8(..PARTS);
    let some = |rng: &mut Rng, ops: &mut Vec<Op>, count: usize| {
        for _ in 0..count {
            match if rng.u8(..4) == 0 {
                rng.u8(..PARTS)
            } else {
                most
            } {
                0 => memory::draw(rng, ops),
                1 => files::draw(rng, ops),
                _ => signals::draw(rng, ops),
            }
        }
    };
    if rng.bool() {
        // Another thread does half of the steps.
        let before = rng.usize(..LENGTH / 2);
        some(rng, &mut ops, before);
        let mut steps = Vec::new();
        some(rng, &mut steps, LENGTH / 2);
        ops.extend(thread(steps));
        some(rng, &mut ops, LENGTH / 2 - before);
    } else {
        some(rng, &mut ops, LENGTH);
    }
    ops.extend((0..PAGES).map(|page| Op::load(Arg::Is(ARENA + PAGE * page + 8 * rng.u64(..8)))));
    for slot in 0..ADDRESSES {
        ops.push(Op::load(Arg::Slot(slot, 8)));
    }
    for slot in 0..ADDRESSES {
        let args = [Arg::Slot(slot, 0), Arg::Is(CHOSEN)];
        ops.push(Op::call("munmap", 215, &args));
    }
    for timer in [TIMER, TIMER + 1] {
        ops.push(Op::call("timer_delete", 111, &[Arg::Slot(timer, 0)]));
    }
    ops
}
