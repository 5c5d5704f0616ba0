//! A sequence of system calls with the results of Linux, to check here and in qemu.

use super::super::beside::{Beside, has_qemu};
use super::program::{ARENA, Arg, BLOB, Op, RESULT, WORDS, program, words};

/// The address of the call's own words.
pub(super) const OWN: i64 = i64::MIN;
/// Memory that each sequence has mapped.
pub(super) const ROOM: i64 = ARENA as i64;
pub(super) const ROOM_BYTES: i64 = 0x20_0000;

/// The numbers of calls.
pub(super) const CLOSE: u64 = 57;
pub(super) const EPOLL_CTL: u64 = 21;
pub(super) const EPOLL_WAIT: u64 = 22;
pub(super) const MMAP: u64 = 222;

/// Calls, and what each call returns and leaves in its own words under Linux.
pub(super) struct Sequence {
    what: &'static str,
    ops: Vec<Op>,
    gives: Vec<Option<i64>>,
    leaves: Vec<(usize, usize, u64)>,
    pub(super) in_qemu: bool,
}

pub(super) fn sequence(what: &'static str) -> Sequence {
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
    pub(super) fn call(mut self, number: u64, args: &[i64], gives: impl Into<Option<i64>>) -> Self {
        let args = args.iter().map(|&arg| match arg.wrapping_sub(OWN) {
            offset @ 0..256 => Arg::Blob(offset as usize / 8),
            _ => Arg::Is(arg as u64),
        });
        let args: Vec<Arg> = args.collect();
        self.ops.push(Op::call(self.what, number, &args));
        self.gives.push(gives.into());
        self
    }

    /// A read of the word at an address, and its value.
    pub(super) fn load(mut self, at: i64, gives: u64) -> Self {
        self.ops.push(Op::load(Arg::Is(at as u64)));
        self.gives.push(Some(gives as i64));
        self
    }

    pub(super) fn store(mut self, at: i64, value: u64) -> Self {
        self.ops.push(Op::store(Arg::Is(at as u64), value));
        self.gives.push(Some(0));
        self
    }

    /// Sets the last call's own words.
    pub(super) fn with(mut self, words: &[u64]) -> Self {
        let last = self.ops.pop().expect("a call");
        self.ops.push(last.words(words));
        self
    }

    /// Expects `value` in word number `word` of the last call's own words.
    pub(super) fn leaves(mut self, word: usize, value: u64) -> Self {
        self.leaves.push((self.ops.len() - 1, word, value));
        self
    }

    /// Adds file `number` to group `group`.
    pub(super) fn watch(self, group: i64, number: i64, events: u64) -> Self {
        let added = self.call(EPOLL_CTL, &[group, 1, number, OWN], 0);
        added.with(&[events, 7])
    }

    /// Waits for a group for at most `time` milliseconds, and expects a report of `events`.
    pub(super) fn reports(self, group: i64, time: i64, events: u64) -> Self {
        let count = i64::from(events != 0);
        let waited = self.call(EPOLL_WAIT, &[group, OWN, 4, time, 0, 8], count);
        waited.with(&[0, 0]).leaves(0, events)
    }

    pub(super) fn check(self) {
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
