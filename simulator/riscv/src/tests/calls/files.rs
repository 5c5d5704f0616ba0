//! Files and pipes: calls that move bytes from and to memory.

use super::draw::{FILES, PAGE, one_of};
use super::memory::address;
use super::program::{Arg, Op, Same};
use fastrand::Rng;

const NONBLOCK: u64 = 0o4000;
const CLOEXEC: u64 = 0o2_000_000;

fn file(rng: &mut Rng) -> u64 {
    match rng.u8(..16) {
        0 => one_of(rng, &[!0, 99, 1 << 32 | 4]),
        _ => rng.u64(FILES.start..FILES.start + 5),
    }
}

fn length(rng: &mut Rng) -> u64 {
    match rng.u8(..10) {
        0 => 0,
        1 => rng.u64(..3 * PAGE),
        _ => rng.u64(..200),
    }
}

fn offset(rng: &mut Rng) -> u64 {
    match rng.u8(..12) {
        0 => one_of(rng, &[!0, 1 << 63, 100 * PAGE]),
        1..6 => rng.u64(..100),
        _ => rng.u64(..3 * PAGE),
    }
}

/// A buffer in the call's own words or in the arena.
fn buffer(rng: &mut Rng) -> (Arg, u64) {
    match rng.bool() {
        true => (Arg::Blob(rng.usize(..4)), rng.u64(..60)),
        // The buffer stays within a page, because qemu checks the whole buffer before it begins.
        false => {
            let at = match address(rng) {
                Arg::Is(at) => Arg::Is(at / PAGE * PAGE + rng.u64(..PAGE / 2)),
                Arg::Slot(slot, at) => Arg::Slot(slot, at / PAGE * PAGE + rng.u64(..PAGE / 2)),
                own => own,
            };
            (at, length(rng) % (PAGE / 2))
        }
    }
}

fn random_words(rng: &mut Rng) -> Vec<u64> {
    (0..12).map(|_| rng.u64(..)).collect()
}

/// `readv`, `writev`, `preadv` and `pwritev`.
fn parts(rng: &mut Rng) -> Op {
    let (name, number) = one_of(
        rng,
        &[
            ("readv", 65),
            ("writev", 66),
            ("preadv", 69),
            ("pwritev", 70),
        ],
    );
    let count = match rng.u8(..12) {
        0 => one_of(rng, &[0, 1025, !0]),
        _ => rng.u64(1..4),
    };
    let mut words = Vec::new();
    for _ in 0..3 {
        let at = match address(rng) {
            Arg::Is(at) => at,
            _ => 0,
        };
        words.extend([at / PAGE * PAGE, length(rng) % PAGE]);
    }
    if rng.u8(..16) == 0 {
        words[1] = !0;
    }
    let args = [
        Arg::Is(file(rng)),
        Arg::Blob(0),
        Arg::Is(count),
        Arg::Is(offset(rng)),
        Arg::Is(0),
    ];
    Op::call(name, number, &args)
        .words(&words)
        .same(Same::Vector)
}

fn make(rng: &mut Rng) -> Op {
    match rng.u8(..8) {
        0..4 => {
            // The name is "a". The flag is MFD_CLOEXEC.
            let args = [Arg::Blob(0), Arg::Is(rng.u64(..2))];
            Op::call("memfd_create", 279, &args).words(&[0x61])
        }
        4..6 => {
            let args = [Arg::Blob(0), Arg::Is(NONBLOCK | one_of(rng, &[0, CLOEXEC]))];
            Op::call("pipe2", 59, &args).words(&[0])
        }
        6 => {
            let flags = NONBLOCK | one_of(rng, &[0, 1]);
            Op::call("eventfd2", 19, &[rng.u64(..5), flags].map(Arg::Is))
        }
        _ => {
            let args = [Arg::Is(1), Arg::Is(1 | NONBLOCK), Arg::Is(0), Arg::Blob(0)];
            Op::call("socketpair", 199, &args).words(&[0])
        }
    }
}

fn control(rng: &mut Rng) -> Op {
    const DUPLICATE: u64 = 0;
    const GET_FLAGS: u64 = 3;
    const SET_FLAGS: u64 = 4;
    let (command, value) = match rng.u8(..6) {
        0 => (one_of(rng, &[DUPLICATE, 1030]), rng.u64(3..9)),
        1 => (1, 0),
        2 => (2, rng.u64(..2)),
        3 => (SET_FLAGS, NONBLOCK | one_of(rng, &[0, 0o2000])),
        _ => (GET_FLAGS, 0),
    };
    Op::call("fcntl", 25, &[file(rng), command, value].map(Arg::Is))
}

/// Asks for events of two files, without waiting for them.
fn poll(rng: &mut Rng) -> Op {
    let mut one = || file(rng) & 0xFFFF_FFFF | (rng.u64(..64) & 5) << 32;
    let words = [one(), one(), 0, 0];
    let args = [
        Arg::Blob(0),
        Arg::Is(2),
        Arg::Blob(2),
        Arg::Is(0),
        Arg::Is(8),
    ];
    Op::call("ppoll", 73, &args).words(&words)
}

/// `splice` and `tee`.
fn splice(rng: &mut Rng) -> Op {
    let (from, to, length) = (file(rng), file(rng), length(rng));
    let flags = if rng.u8(..16) == 0 { 16 } else { rng.u64(..8) };
    if rng.u8(..4) == 0 {
        return Op::call("tee", 77, &[from, to, length, flags].map(Arg::Is));
    }
    let words = [offset(rng), offset(rng)];
    let mut place = |word| match rng.bool() {
        true => Arg::Blob(word),
        false => Arg::Is(0),
    };
    let [from_at, to_at] = [place(0), place(1)];
    let args = [
        Arg::Is(from),
        from_at,
        Arg::Is(to),
        to_at,
        Arg::Is(length),
        Arg::Is(flags),
    ];
    Op::call("splice", 76, &args).words(&words)
}

pub(super) fn draw(rng: &mut Rng, ops: &mut Vec<Op>) {
    let words = random_words(rng);
    ops.push(match rng.u8(..28) {
        0..4 => make(rng),
        4..11 => {
            let (name, number) = one_of(rng, &[("read", 63), ("write", 64), ("write", 64)]);
            let (at, length) = buffer(rng);
            Op::call(name, number, &[Arg::Is(file(rng)), at, Arg::Is(length)])
                .words(&words)
                .same(Same::Buffer)
        }
        11..15 => {
            let (name, number) = one_of(rng, &[("pread64", 67), ("pwrite64", 68)]);
            let (at, length) = buffer(rng);
            let args = [
                Arg::Is(file(rng)),
                at,
                Arg::Is(length),
                Arg::Is(offset(rng)),
            ];
            Op::call(name, number, &args)
                .words(&words)
                .same(Same::Buffer)
        }
        15..18 => parts(rng),
        18 => {
            let args = [file(rng), offset(rng), one_of(rng, &[0, 1, 2, 9])];
            Op::call("lseek", 62, &args.map(Arg::Is))
        }
        19 => Op::call("ftruncate", 46, &[file(rng), offset(rng)].map(Arg::Is)),
        20 => Op::call("close", 57, &[Arg::Is(file(rng))]),
        21 => control(rng),
        22 => match rng.bool() {
            true => Op::call("dup", 23, &[Arg::Is(file(rng))]),
            false => {
                let flags = one_of(rng, &[0, CLOEXEC, 1]);
                let to = rng.u64(FILES.start..FILES.start + 5);
                Op::call("dup3", 24, &[file(rng), to, flags].map(Arg::Is))
            }
        },
        23 => poll(rng),
        26..28 => splice(rng),
        24 => {
            // FIONREAD
            let args = [Arg::Is(file(rng)), Arg::Is(0x541B), Arg::Blob(0)];
            Op::call("ioctl", 29, &args).words(&[0])
        }
        _ => {
            // Only the result is compared.
            let args = [Arg::Is(file(rng)), Arg::Blob(0)];
            let mut op = Op::call("fstat", 80, &args).words(&[0; 15]);
            for word in 0..15 {
                op = op.word(word, Same::Never);
            }
            op
        }
    });
}
