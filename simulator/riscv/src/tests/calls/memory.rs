//! Memory: mappings, rights, advice.

use super::draw::{ADDRESSES, CHOSEN, FILES, PAGE, PAGES, one_of};
use super::program::{ARENA, Arg, Op, Same};
use fastrand::Rng;

/// A random address in the arena, or in a mapping that the system has placed. Most of these addresses are the first
/// address of a page.
pub(super) fn address(rng: &mut Rng) -> Arg {
    let odd = if rng.u8(..12) == 0 {
        rng.u64(..PAGE)
    } else {
        0
    };
    match rng.u8(..12) {
        0..2 => Arg::Slot(rng.u8(..ADDRESSES), PAGE * rng.u64(..4) + odd),
        2 if rng.u8(..4) == 0 => Arg::Is(one_of(rng, &[0, PAGE])),
        _ => Arg::Is(ARENA + PAGE * rng.u64(..PAGES) + odd),
    }
}

/// A random length, which is never so long that qemu would unmap its own memory.
fn length(rng: &mut Rng) -> u64 {
    match rng.u8(..16) {
        0 => 0,
        2 => rng.u64(..5 * PAGE),
        _ => PAGE * rng.u64(1..5),
    }
}

fn rights(rng: &mut Rng) -> u64 {
    // The right to execute is left out. qemu does not pass this right to the host, so the host merges mappings that
    // differ only in this right.
    one_of(rng, &[0, 1, 3, 3, 3, 3, 3])
}

const SHARED: u64 = 1;
const PRIVATE: u64 = 2;
const FIXED: u64 = 0x10;
const ANONYMOUS: u64 = 0x20;
const POPULATE: u64 = 0x8000;

/// A random address in the arena. Addresses that the system has chosen are left out, since qemu itself may use such
/// memory once it is unmapped.
fn fixed(rng: &mut Rng) -> Arg {
    match address(rng) {
        Arg::Slot(_, at) => Arg::Is(ARENA + at / PAGE * PAGE),
        // Leaves out page 0, because qemu takes its address for a null pointer in its own buffers.
        Arg::Is(at) => Arg::Is((at / PAGE).max(16) * PAGE),
        own @ Arg::Blob(_) => own,
    }
}

fn map(rng: &mut Rng) -> Op {
    let kind = one_of(rng, &[PRIVATE, PRIVATE, PRIVATE, SHARED, SHARED]);
    let kind = if rng.u8(..32) == 0 { 0 } else { kind };
    let place = one_of(rng, &[FIXED, FIXED, FIXED, FIXED, 0]);
    // `MAP_NORESERVE` is left out: Linux does not merge such memory with its neighbours, so `mremap` fails at the
    // border.
    let more = one_of(rng, &[0, 0, 0, POPULATE]);
    let is_file = rng.u8(..4) == 0;
    let (source, file) = match is_file {
        true => (0, rng.u64(FILES)),
        false => (ANONYMOUS, !0),
    };
    let offset = match rng.u8(..12) {
        0 => rng.u64(..PAGE),
        1..5 if is_file => PAGE * rng.u64(..3),
        _ => 0,
    };
    let at = match place {
        // The system chooses the address.
        0 => Arg::Is(0),
        _ => fixed(rng),
    };
    let length = match place {
        0 => CHOSEN,
        _ => length(rng),
    };
    let flags = kind | place | more | source;
    let rest = [length, rights(rng), flags, file, offset];
    let args = [&[at][..], &rest.map(Arg::Is)].concat();
    let op = Op::call("mmap", 222, &args).same(Same::Mapping);
    match place {
        0 => op.slot(rng.u8(..ADDRESSES)),
        _ => op,
    }
}

fn remap(rng: &mut Rng) -> Op {
    // `MREMAP_MAYMOVE` alone is left out for growth: qemu always moves the mapping, and Linux grows it in place if
    // there is room.
    const MOVES_TO: u64 = 2;
    const KEEPS: u64 = 4;
    let flags = one_of(rng, &[0, 0, 3, 3, 3, MOVES_TO, KEEPS]);
    let to = match flags & MOVES_TO {
        0 => Arg::Is(0),
        _ => fixed(rng),
    };
    let (old, new) = (length(rng), length(rng));
    let new = if rng.bool() { new } else { old };
    // Since version 6.17, Linux moves several mappings in one call if they do not grow.
    let stays = flags & MOVES_TO != 0 && old.div_ceil(PAGE) >= new.div_ceil(PAGE);
    let most = if stays { PAGE } else { u64::MAX };
    // Lengths are whole pages, since a last page that is not whole faults under qemu.
    let (old, new) = (old.min(most), new.min(most).next_multiple_of(PAGE));
    let args = [
        fixed(rng),
        Arg::Is(old.max(1)),
        Arg::Is(new.max(1)),
        Arg::Is(flags),
        to,
    ];
    Op::call("mremap", 216, &args).same(Same::Address)
}

pub(super) fn draw(rng: &mut Rng, ops: &mut Vec<Op>) {
    let with = |name, number, rng: &mut Rng, rest: &[u64]| {
        let mut args = vec![address(rng), Arg::Is(length(rng))];
        args.extend(rest.iter().map(|&arg| Arg::Is(arg)));
        Op::call(name, number, &args)
    };
    ops.push(match rng.u8(..20) {
        0..5 => map(rng),
        5 => Op::call("munmap", 215, &[fixed(rng), Arg::Is(length(rng))]),
        6..8 => {
            // In the arena, the range has at most one page. If a range has a hole, qemu changes nothing, and its own
            // record of the rights then differs from the host's.
            let at = address(rng);
            let length = match at {
                Arg::Slot(..) => PAGE * rng.u64(1..5),
                _ => rng.u64(1..=PAGE),
            };
            let rest = [length, rights(rng)].map(Arg::Is);
            Op::call("mprotect", 226, &[at, rest[0], rest[1]])
        }
        8..10 => {
            // The results are not compared: if a part of the range is not mapped, qemu does nothing and returns 0.
            let advice = one_of(rng, &[0, 1, 2, 3, 4, 4, 4, 4]);
            let rest = [PAGE, advice].map(Arg::Is);
            let args = [address(rng), rest[0], rest[1]];
            Op::call("madvise", 233, &args).same(Same::Never)
        }
        10 => {
            let flags = rng.u64(..9);
            with("msync", 227, rng, &[flags])
        }
        11..14 => remap(rng),
        14..17 => Op::store(address(rng), rng.u64(..)),
        _ => Op::load(address(rng)),
    });
}
