//! Sequences of system calls, with the results of Linux. If qemu is installed, the test checks that qemu gives the same
//! results.

use super::super::beside::{Beside, has_qemu};
use super::program::{ARENA, Arg, BLOB, Op, RESULT, WORDS, program, words};

/// The address of the call's own words.
const OWN: i64 = i64::MIN;
/// Memory that each sequence has mapped.
const ROOM: i64 = ARENA as i64;
const ROOM_BYTES: i64 = 0x20_0000;

const EAGAIN: i64 = -11;
const EACCES: i64 = -13;
const EINVAL: i64 = -22;
const ELOOP: i64 = -40;

/// `EPOLLIN`, `EPOLLOUT`, `EPOLLET`.
const IN: u64 = 1;
const OUT: u64 = 4;
const EDGE: u64 = 1 << 31;

/// The numbers of calls.
const READ: u64 = 63;
const WRITE: u64 = 64;
const CLOSE: u64 = 57;
const SOCKET: u64 = 198;
const CONNECT: u64 = 203;
const ACCEPT: u64 = 242;
const EPOLL: u64 = 20;
const EPOLL_CTL: u64 = 21;
const EPOLL_WAIT: u64 = 22;
const MMAP: u64 = 222;
const OPEN: u64 = 56;

/// Calls, and what each call returns and leaves in its own words under Linux.
struct Sequence {
    what: &'static str,
    ops: Vec<Op>,
    gives: Vec<Option<i64>>,
    leaves: Vec<(usize, usize, u64)>,
    in_qemu: bool,
}

fn sequence(what: &'static str) -> Sequence {
    let empty = Sequence {
        what,
        ops: Vec::new(),
        gives: Vec::new(),
        leaves: Vec::new(),
        in_qemu: true,
    };
    let closed = (3..20).fold(empty, |it, number| it.call(CLOSE, &[number], None));
    closed.call(MMAP, &[ROOM, ROOM_BYTES, 3, 0x32, -1, 0], ROOM)
}

impl Sequence {
    /// A call, and what it returns, unless that may differ.
    fn call(mut self, number: u64, args: &[i64], gives: impl Into<Option<i64>>) -> Self {
        let args = args.iter().map(|&arg| match arg.wrapping_sub(OWN) {
            offset @ 0..256 => Arg::Blob(offset as usize / 8),
            _ => Arg::Is(arg as u64),
        });
        let args: Vec<Arg> = args.collect();
        self.ops.push(Op::call(self.what, number, &args));
        self.gives.push(gives.into());
        self
    }

    /// Sets the last call's own words.
    fn with(mut self, words: &[u64]) -> Self {
        let last = self.ops.pop().expect("a call");
        self.ops.push(last.words(words));
        self
    }

    /// Expects `value` in word number `word` of the last call's own words.
    fn leaves(mut self, word: usize, value: u64) -> Self {
        self.leaves.push((self.ops.len() - 1, word, value));
        self
    }

    /// Adds file `number` to group `group`.
    fn watch(self, group: i64, number: i64, events: u64) -> Self {
        let added = self.call(EPOLL_CTL, &[group, 1, number, OWN], 0);
        added.with(&[events, 7])
    }

    /// Waits for a group for at most `time` milliseconds, and expects a report of `events`.
    fn reports(self, group: i64, time: i64, events: u64) -> Self {
        let count = i64::from(events != 0);
        let waited = self.call(EPOLL_WAIT, &[group, OWN, 4, time, 0, 8], count);
        waited.with(&[0, 0]).leaves(0, events)
    }

    fn check(self) {
        let beside = Beside::new();
        let program = program(&self.ops);
        let (_, ours) = beside.ours(&program, None);
        self.agrees("the simulator", &words(&ours));
        if self.in_qemu && has_qemu() {
            self.agrees("qemu", &words(&beside.qemu(&program)));
        }
    }

    fn agrees(&self, system: &str, words: &[u64]) {
        let text = |at: usize| {
            let calls = self
                .ops
                .iter()
                .enumerate()
                .skip(18)
                .take(at.saturating_sub(17));
            let calls = calls.map(|(at, op)| {
                format!(
                    "\n{:?}{:x?} = {}",
                    op.step,
                    op.args,
                    words[at * WORDS + RESULT] as i64
                )
            });
            format!("{}, in {system}:{}", self.what, calls.collect::<String>())
        };
        for (at, gives) in self.gives.iter().enumerate() {
            let result = words[at * WORDS + RESULT] as i64;
            assert!(
                gives.is_none_or(|gives| gives == result),
                "{}: not {gives:?}",
                text(at)
            );
        }
        for &(at, word, value) in &self.leaves {
            let left = words[at * WORDS + BLOB + word];
            assert!(
                left == value,
                "{}: word {word} is {left:#x}, not {value:#x}",
                text(at)
            );
        }
    }
}

/// The `sockaddr_un` of a name without a file, which no other process uses. It has 16 bytes.
fn name(which: u64) -> [u64; 2] {
    [1 | which << 24, u64::from(std::process::id()) | 1 << 62]
}

/// Words of a path.
fn path(path: &std::path::Path) -> Vec<u64> {
    let mut bytes = path.as_os_str().as_encoded_bytes().to_vec();
    bytes.resize((bytes.len() + 1).next_multiple_of(8), 0);
    let words = bytes
        .chunks(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight")));
    words.collect()
}

#[test]
fn each_arrival_is_an_edge() {
    let listener = name(0x61);
    let mut calls = sequence("connections to a listener")
        .call(SOCKET, &[1, 0x801, 0], 3)
        .call(200, &[3, OWN, 16], 0)
        .with(&listener)
        .call(201, &[3, 8], 0)
        .call(EPOLL, &[0], 4)
        .watch(4, 3, IN | EDGE);
    for client in [5, 7, 9] {
        calls = calls
            .call(SOCKET, &[1, 1, 0], client)
            .call(CONNECT, &[client, OWN, 16], 0)
            .with(&listener)
            .reports(4, 0, IN)
            .call(ACCEPT, &[3, 0, 0, 0], client + 1)
            .call(ACCEPT, &[3, 0, 0, 0], EAGAIN)
            .reports(4, 0, 0);
    }
    calls.check();

    let mut calls = sequence("expirations of a timer")
        .call(85, &[1, 0o4000], 3)
        .call(EPOLL, &[0], 4)
        .watch(4, 3, IN | EDGE)
        .call(86, &[3, 0, OWN, 0], 0)
        .with(&[0, 20_000_000, 0, 1_000_000]);
    for _ in 0..3 {
        calls = calls
            .reports(4, 2_000, IN)
            .reports(4, 0, 0)
            .call(READ, &[3, ROOM, 8], 8);
    }
    calls.check();

    let mut calls = sequence("signals")
        .call(135, &[0, OWN, 0, 8], 0)
        .with(&[1 << 9])
        .call(74, &[-1, OWN, 8, 0o4000], 3)
        .with(&[1 << 9])
        .call(EPOLL, &[0], 4)
        .watch(4, 3, IN | EDGE);
    for _ in 0..3 {
        calls = calls
            .call(129, &[0, 10], 0)
            .reports(4, 0, IN)
            .reports(4, 0, 0)
            .call(READ, &[3, ROOM, 128], 128)
            .reports(4, 0, 0);
    }
    // qemu does not block signals on the host.
    calls.in_qemu = false;
    calls.check();
}

#[test]
fn room_in_a_full_stream_is_an_edge() {
    let mut calls = sequence("room in a socket")
        .call(199, &[1, 0x801, 0, ROOM], 0)
        .call(EPOLL, &[0], 5)
        .watch(5, 3, IN | OUT | EDGE)
        .reports(5, 0, OUT);
    for _ in 0..2 {
        calls = calls
            .call(WRITE, &[3, ROOM, ROOM_BYTES], None)
            .call(WRITE, &[3, ROOM, ROOM_BYTES], EAGAIN)
            .reports(5, 0, 0);
        for _ in 0..64 {
            calls = calls.call(READ, &[4, ROOM, ROOM_BYTES], None);
        }
        calls = calls.reports(5, 0, OUT).reports(5, 0, 0);
    }
    calls.check();

    // The outer group reports each arrival in the inner group.
    let mut calls = sequence("a group in a group")
        .call(59, &[ROOM, 0o4000], 0)
        .call(EPOLL, &[0], 5)
        .call(EPOLL, &[0], 6)
        .watch(5, 3, IN)
        .watch(6, 5, IN | EDGE);
    for _ in 0..3 {
        calls = calls
            .call(WRITE, &[4, ROOM, 1], 1)
            .reports(6, 0, IN)
            .reports(6, 0, 0)
            .reports(5, 0, IN)
            .call(READ, &[3, ROOM, 1], 1);
    }
    calls.check();
}

#[test]
fn a_group_does_not_contain_itself() {
    let calls = sequence("a group in itself")
        .call(EPOLL, &[0], 3)
        .call(EPOLL, &[0], 4)
        .call(EPOLL_CTL, &[3, 1, 3, OWN], EINVAL)
        .with(&[IN, 0])
        .call(EPOLL_CTL, &[3, 1, 4, OWN], 0)
        .with(&[IN, 0])
        .call(EPOLL_CTL, &[4, 1, 3, OWN], ELOOP)
        .with(&[IN, 0])
        .reports(3, 0, 0)
        .reports(4, 0, 0);
    calls.check();
}

/// Bytes that a full pipe does not take stay in the file.
#[test]
fn a_transfer_to_a_full_stream_loses_nothing() {
    const SENDFILE: u64 = 71;
    const PIPE: i64 = 65_536;
    let calls = sequence("sendfile to a pipe")
        .call(59, &[ROOM, 0o4000], 0)
        .call(279, &[OWN, 0], 5)
        .with(&[0x66])
        .call(46, &[5, 3 * PIPE], 0)
        .call(SENDFILE, &[4, 5, 0, 3 * PIPE], PIPE)
        .call(62, &[5, 0, 1], PIPE)
        .call(SENDFILE, &[4, 5, 0, 3 * PIPE], EAGAIN)
        .call(62, &[5, 0, 1], PIPE)
        .call(READ, &[3, ROOM, PIPE], PIPE)
        .call(SENDFILE, &[4, 5, OWN, 3 * PIPE], PIPE)
        .with(&[PIPE as u64 / 2])
        .leaves(0, 3 * PIPE as u64 / 2)
        .call(62, &[5, 0, 1], PIPE)
        .call(285, &[5, 0, 4, 0, 8, 0], EINVAL);
    calls.check();
}

#[test]
fn a_file_that_may_not_be_read_is_not_mapped() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = path(&folder.path().join("file"));
    let calls = sequence("a file that may not be read")
        .call(OPEN, &[-100, OWN, 0o102, 0o644], 3)
        .with(&file)
        .call(WRITE, &[3, ROOM, 100], 100)
        .call(CLOSE, &[3], 0)
        .call(OPEN, &[-100, OWN, 1, 0], 3)
        .with(&file)
        .call(MMAP, &[0, 4_096, 3, 1, 3, 0], EACCES)
        .call(MMAP, &[0, 4_096, 1, 1, 3, 0], EACCES)
        .call(MMAP, &[0, 4_096, 1, 2, 3, 0], EACCES);
    calls.check();
}

#[test]
fn times_and_counts_may_be_large() {
    let calls = sequence("the longest time")
        .call(19, &[1, 0], 3)
        .call(73, &[OWN, 1, OWN + 8, 0, 8], 1)
        .with(&[3 | 1 << 32, i64::MAX as u64, 999_999_999]);
    calls.check();
    let calls = sequence("a counter of 32 bits")
        .call(19, &[-1, 0o4000], 3)
        .call(READ, &[3, OWN, 8], 8)
        .with(&[0])
        .leaves(0, 0xFFFF_FFFF);
    calls.check();
}

/// A timer without a signal only answers calls that ask for its time.
#[test]
fn a_timer_without_a_signal_shows_when_its_time_is_over() {
    let mut calls = sequence("a silent timer")
        .call(107, &[1, OWN, OWN + 64], 0)
        .with(&[0, 1 << 32, 0, 0, 0, 0, 0, 0, 0])
        .call(110, &[0, 0, OWN, 0], 0)
        .with(&[0, 0, 0, 1_000])
        .call(101, &[OWN, 0], 0)
        .with(&[0, 2_000_000])
        .call(108, &[0, OWN], 0)
        .with(&[9, 9, 9, 9])
        .leaves(0, 0)
        .leaves(1, 0)
        .leaves(2, 0)
        .leaves(3, 0)
        .call(111, &[0], 0);
    // qemu gives timers other numbers.
    calls.in_qemu = false;
    calls.check();
}

/// A queue for one connection has room for two.
#[test]
fn a_listener_lets_one_more_wait_than_its_queue_says() {
    let listener = name(0x62);
    let mut calls = sequence("a full queue")
        .call(SOCKET, &[1, 1, 0], 3)
        .call(200, &[3, OWN, 16], 0)
        .with(&listener)
        .call(201, &[3, 1], 0);
    for (client, gives) in [(4, 0), (5, 0), (6, EAGAIN)] {
        calls = calls
            .call(SOCKET, &[1, 0x801, 0], client)
            .call(CONNECT, &[client, OWN, 16], gives)
            .with(&listener);
    }
    calls.check();
}
