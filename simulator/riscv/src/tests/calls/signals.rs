//! Signals, masks, timers and futexes.

use super::draw::{PROCESS, SECOND, SIGNALS, THREAD, TIMER, WITH_INFO, action, one_of};
use super::memory::address;
use super::program::{Arg, NOTES, Op, STACK, Same};
use fastrand::Rng;

/// A random set of signals, one bit for each.
fn set(rng: &mut Rng) -> u64 {
    let some = SIGNALS.iter().filter(|_| rng.u8(..3) == 0);
    some.fold(0, |bits, signal| bits | 1 << (signal - 1))
}

fn signal(rng: &mut Rng) -> u64 {
    match rng.u8(..16) {
        0 => one_of(rng, &[0, 65, !0]),
        _ => one_of(rng, &SIGNALS),
    }
}

fn size(rng: &mut Rng) -> u64 {
    if rng.u8(..16) == 0 { 4 } else { 8 }
}

fn send(rng: &mut Rng) -> Op {
    let signal = Arg::Is(signal(rng));
    let thread = Arg::Slot(one_of(rng, &[THREAD, SECOND]), 0);
    match rng.u8(..4) {
        0 => Op::call("kill", 129, &[Arg::Slot(PROCESS, 0), signal]),
        1 => Op::call("tkill", 130, &[thread, signal]),
        2 => {
            let args = [Arg::Slot(PROCESS, 0), thread, signal];
            Op::call("tgkill", 131, &args)
        }
        _ => {
            // SI_QUEUE with a value
            let value = rng.u64(..1000);
            let words = [0, -1_i32 as u32 as u64, 0, value];
            let args = [Arg::Slot(PROCESS, 0), signal, Arg::Blob(0)];
            Op::call("rt_sigqueueinfo", 138, &args).words(&words)
        }
    }
}

fn mask(rng: &mut Rng) -> Op {
    let how = match rng.u8(..12) {
        0 => one_of(rng, &[3, !0]),
        _ => rng.u64(..3),
    };
    let new = if rng.u8(..6) == 0 {
        Arg::Is(0)
    } else {
        Arg::Blob(0)
    };
    let args = [Arg::Is(how), new, Arg::Blob(1), Arg::Is(size(rng))];
    Op::call("rt_sigprocmask", 135, &args).words(&[set(rng), 7])
}

/// An `rt_sigtimedwait` that does not wait, because its time is 0 or invalid.
fn take(rng: &mut Rng) -> Op {
    let nanoseconds = if rng.u8(..12) == 0 { 1 << 30 } else { 0 };
    let words = [set(rng), 0, nanoseconds, 7, 7, 7, 7];
    let args = [Arg::Blob(0), Arg::Blob(3), Arg::Blob(1), Arg::Is(size(rng))];
    let op = Op::call("rt_sigtimedwait", 137, &args).words(&words);
    // The system chooses the sender's number.
    op.word(5, Same::Never).word(6, Same::Never)
}

fn new_action(rng: &mut Rng) -> Op {
    let signal = signal(rng);
    let signal = if rng.u8(..16) == 0 {
        one_of(rng, &[9, 19])
    } else {
        signal
    };
    let handler = one_of(rng, &[NOTES, NOTES, NOTES, 1]);
    // SA_RESTART, SA_NODEFER, SA_ONSTACK
    let flags = [0x1000_0000, 0x4000_0000, 0x0800_0000];
    let flags = flags.into_iter().filter(|_| rng.bool()).sum::<u64>();
    let mut op = action(signal, handler, WITH_INFO | flags, set(rng));
    if rng.u8(..3) == 0 {
        // The call then only reads the old action.
        op.args[1] = Arg::Is(0);
    }
    op.args[2] = Arg::Blob(4);
    op.args[3] = Arg::Is(size(rng));
    op.blob.extend([(7, Same::Exactly); 3]);
    op.blob.push((7, Same::Never));
    op
}

fn alternate(rng: &mut Rng) -> Op {
    let size = one_of(rng, &[0x4000, 0x4000, 0x1000, 100]);
    let flags = one_of(rng, &[0, 0, 2, 1, 4]);
    let new = if rng.u8(..4) == 0 {
        Arg::Is(0)
    } else {
        Arg::Blob(0)
    };
    let args = [new, Arg::Blob(3)];
    let op = Op::call("sigaltstack", 132, &args).words(&[STACK, flags, size, 7, 7, 7]);
    // Half of the word with the flags is padding.
    op.word(4, Same::Never)
}

/// Makes a timer, sets a timer to a distant time, or asks for the time left.
fn timer(rng: &mut Rng) -> Op {
    let slot = TIMER + rng.u8(..2);
    let far = one_of(rng, &[0, 0, 1_000, 1 << 30]);
    let timer = Arg::Slot(slot, 0);
    match rng.u8(..6) {
        0..2 => {
            let clock = one_of(rng, &[0, 1, 1, 77]);
            let how = one_of(rng, &[0, 0, 1, 9]);
            let signal = one_of(rng, &[10, 40, 0, 65]);
            let args = [Arg::Is(clock), Arg::Blob(0), Arg::Blob(2)];
            let op = Op::call("timer_create", 107, &args);
            op.words(&[rng.u64(..100), how << 32 | signal, 0])
                .word(2, Same::Never)
        }
        2 => {
            let words = [far, 5, far, one_of(rng, &[0, 1 << 31]), 7, 7, 7, 7];
            let args = [timer, Arg::Is(0), Arg::Blob(0), Arg::Blob(4)];
            let op = Op::call("timer_settime", 110, &args).words(&words);
            op.word(6, Same::Never).word(7, Same::Never)
        }
        3 => {
            let op = Op::call("timer_gettime", 108, &[timer, Arg::Blob(0)]).words(&[7; 4]);
            op.word(2, Same::Never).word(3, Same::Never)
        }
        4 => Op::call("timer_getoverrun", 109, &[timer]),
        _ => Op::call("timer_delete", 111, &[timer]),
    }
}

/// `setitimer` and `getitimer` with distant times.
fn interval(rng: &mut Rng) -> Op {
    let which = if rng.u8(..12) == 0 { 9 } else { 0 };
    let far = one_of(rng, &[0, 1_000]);
    let wrong = if rng.u8(..8) == 0 { 1_000_000 } else { 3 };
    match rng.bool() {
        true => {
            let args = [Arg::Is(which), Arg::Blob(0), Arg::Blob(4)];
            let op = Op::call("setitimer", 103, &args);
            let op = op.words(&[far, wrong, far, 0, 7, 7, 7, 7]);
            op.word(6, Same::Never).word(7, Same::Never)
        }
        false => {
            let op = Op::call("getitimer", 102, &[Arg::Is(which), Arg::Blob(0)]);
            op.words(&[7; 4]).word(2, Same::Never).word(3, Same::Never)
        }
    }
}

/// A `futex` call by a lone thread. Each wait ends when its time is over.
fn futex(rng: &mut Rng) -> Op {
    const PRIVATE: u64 = 128;
    let operation = one_of(rng, &[0, 0, 1, 1, 3, 4, 5, 9, 10, 6, 7, 8, 99]);
    let operation = operation | if rng.bool() { PRIVATE } else { 0 };
    // The system chooses the number of a lock's owner.
    let is_lock = (6..9).contains(&(operation & 127));
    let at = match rng.u8(..3) {
        0 if !is_lock => address(rng),
        _ => Arg::Blob(0),
    };
    let value = rng.u64(..2);
    let time = match operation & 127 {
        0 => Arg::Blob(1),
        // A point of time long ago.
        9 => Arg::Blob(1),
        6 => Arg::Is(0),
        _ => Arg::Is(rng.u64(..3)),
    };
    let second = if rng.u8(..4) == 0 {
        address(rng)
    } else {
        Arg::Blob(3)
    };
    let third = match operation & 127 {
        // FUTEX_WAKE_OP: operations and comparisons.
        5 => rng.u64(..5) << 28 | rng.u64(..6) << 24 | rng.u64(..9) << 12 | rng.u64(..9),
        4 => rng.u64(..2),
        9 | 10 => one_of(rng, &[!0 >> 32, 1, 0]),
        _ => 0,
    };
    let nanoseconds = one_of(rng, &[0, 1_000, 1_000_000_000]);
    let args = [
        at,
        Arg::Is(operation),
        Arg::Is(value),
        time,
        second,
        Arg::Is(third),
    ];
    // A lock is free before the call.
    let word = match operation & 127 {
        6..9 => 0,
        _ => rng.u64(..2),
    };
    let op = Op::call("futex", 98, &args).words(&[word, 0, nanoseconds, rng.u64(..8)]);
    match operation & 127 {
        6..9 => op.word(0, Same::Sign),
        _ => op,
    }
}

fn nap(rng: &mut Rng) -> Op {
    let nanoseconds = one_of(rng, &[0, 1, 1_000, 1_000_000_000, !0]);
    let clock = one_of(rng, &[0, 1, 1, 77]);
    let args = [Arg::Is(clock), Arg::Is(0), Arg::Blob(0), Arg::Blob(2)];
    Op::call("clock_nanosleep", 115, &args).words(&[0, nanoseconds, 7, 7])
}

pub(super) fn draw(rng: &mut Rng, ops: &mut Vec<Op>) {
    ops.push(match rng.u8(..24) {
        0..4 => send(rng),
        4..7 => mask(rng),
        7 => {
            let args = [Arg::Blob(0), Arg::Is(size(rng))];
            Op::call("rt_sigpending", 136, &args).words(&[7])
        }
        8..11 => take(rng),
        11..13 => new_action(rng),
        13 => alternate(rng),
        14..17 => timer(rng),
        17 => interval(rng),
        18 => nap(rng),
        _ => futex(rng),
    });
}
