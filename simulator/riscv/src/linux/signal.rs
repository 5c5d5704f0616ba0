//! Signals, their `siginfo`, and lists of pending signals.

use super::users::USER;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Signal(pub(super) u64);

pub(super) const ILLEGAL: Signal = Signal(4);
pub(super) const TRAP: Signal = Signal(5);
pub(super) const BUS: Signal = Signal(7);
pub(super) const SEGMENT: Signal = Signal(11);
pub(super) const PIPE: Signal = Signal(13);
pub(super) const ALARM: Signal = Signal(14);
pub(super) const VIRTUAL: Signal = Signal(26);
pub(super) const PROFILE: Signal = Signal(27);
pub(super) const KILL: Signal = Signal(9);
const STOP: Signal = Signal(19);
/// The signals that stop a process, of which only the first cannot be handled: SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU.
const STOPS: std::ops::RangeInclusive<u64> = 19..=22;
/// The signals that a thread cannot block, one bit for each signal.
pub(super) const UNSTOPPABLE: u64 = 1 << 8 | 1 << 18;
pub(super) const HANG_UP: Signal = Signal(1);
pub(super) const CHILD: Signal = Signal(17);
pub(super) const CONTINUE: Signal = Signal(18);
/// The signals that let a stopped process go on, SIGKILL and SIGCONT, one bit for each signal.
pub(super) const CONTINUING: u64 = 1 << 8 | 1 << 17;
const URGENT: Signal = Signal(23);
const WINDOW: Signal = Signal(28);
/// The signal with the greatest number.
pub(super) const LAST: u64 = 64;
const REAL_TIME: u64 = 32;

/// Names of the signals from 1 on. Real-time signals have no name.
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

impl Signal {
    pub(super) fn name(self) -> String {
        let at = (self.0 as usize).wrapping_sub(1);
        match NAMES.get(at) {
            Some(name) => format!("SIG{name}"),
            None => format!("SIG{}", self.0),
        }
    }

    /// Whether the signal stops the process if it has no handler.
    pub(super) fn stops(self) -> bool {
        STOPS.contains(&self.0)
    }

    /// The signals that stop a process.
    pub(super) fn stopping() -> impl Iterator<Item = Self> {
        STOPS.map(Self)
    }

    /// Whether the signal, once taken, has no effect if it has no handler.
    pub(super) fn is_harmless(self) -> bool {
        matches!(self, CHILD | CONTINUE | URGENT | WINDOW)
    }

    /// Whether the signal can be neither handled nor blocked.
    pub(super) fn is_unstoppable(self) -> bool {
        matches!(self, KILL | STOP)
    }

    pub(super) fn bit(self) -> u64 {
        1 << (self.0 - 1)
    }

    /// Whether a second such signal is kept while the first is pending.
    pub(super) fn is_queued(self) -> bool {
        self.0 >= REAL_TIME
    }
}

/// A signal on its way to a thread, with its `siginfo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) signal: Signal,
    /// The signal's source, as in `si_code`.
    pub(super) code: i32,
    /// The words at 16 and 24 in `siginfo`. The first is the sender, the timer or the address of the fault, and the
    /// second is a value.
    pub(super) words: [u64; 2],
}

/// Values of `si_code`: the signal is from `kill`, from a timer, from `tgkill`, or from the hart's own instruction.
pub(super) const BY_KILL: i32 = 0;
pub(super) const BY_TIMER: i32 = -2;
pub(super) const BY_THREAD: i32 = -6;
pub(super) const BY_FAULT: i32 = 1;
/// The fault's cause: the rights of the page forbid the access.
pub(super) const BY_RIGHTS: i32 = 2;
/// The address of the bus error is behind the end of the mapped file.
pub(super) const BY_NO_FILE: i32 = 2;
/// The child has exited, or a signal has killed it.
pub(super) const BY_EXIT: i32 = 1;
pub(super) const BY_DEATH: i32 = 2;
/// A signal has stopped the child, or the child goes on.
pub(super) const BY_STOP: i32 = 5;
pub(super) const BY_CONTINUE: i32 = 6;
/// The kernel itself sends the signal.
pub(super) const BY_KERNEL: i32 = 0x80;

impl Sent {
    /// The bytes of `siginfo`.
    pub(super) fn info(&self) -> [u8; INFO as usize] {
        let words = [
            self.signal.0,
            u64::from(self.code as u32),
            self.words[0],
            self.words[1],
        ];
        let mut bytes = [0; INFO as usize];
        bytes[..32].copy_from_slice(&words.map(u64::to_le_bytes).concat());
        bytes
    }

    /// A signal that a process sends, with a value.
    pub(super) fn by_process(number: u64, code: i32, sender: u32, value: u64) -> Self {
        Self {
            signal: Signal(number),
            code,
            words: [u64::from(sender) | u64::from(USER) << 32, value],
        }
    }

    /// A signal that the hart's own instruction raised, at an address.
    pub(super) fn fault(signal: Signal, address: u64) -> Self {
        Self {
            signal,
            code: BY_FAULT,
            words: [address, 0],
        }
    }
}

/// The size of `siginfo` in bytes.
pub(super) const INFO: u64 = 128;

/// Pending signals, in the order of sending, each with a number that grows in this order.
#[derive(Default)]
pub(super) struct Pending(Vec<(u64, Sent)>);

impl Pending {
    /// Adds a signal, behind those with the same or a smaller number. Drops a standard signal that is pending already.
    pub(super) fn receive(&mut self, (number, sent): (u64, Sent)) {
        if sent.signal.is_queued() || !self.has(sent.signal) {
            let at = self.0.partition_point(|(other, _)| *other <= number);
            self.0.insert(at, (number, sent));
        }
    }

    pub(super) fn has(&self, signal: Signal) -> bool {
        self.0.iter().any(|(_, sent)| sent.signal == signal)
    }

    /// The pending signals, one bit for each signal.
    pub(super) fn bits(&self) -> u64 {
        let sent = self.0.iter().map(|(_, sent)| sent);
        sent.fold(0, |bits, sent| bits | sent.signal.bit())
    }

    /// Removes and returns the signal of a set with the least number.
    pub(super) fn take(&mut self, set: u64) -> Option<Sent> {
        if self.0.is_empty() {
            return None;
        }
        let open = self.0.iter().enumerate();
        let open = open.filter(|(_, (_, sent))| sent.signal.bit() & set != 0);
        let (at, _) = open.min_by_key(|(at, (_, sent))| (sent.signal.0, *at))?;
        Some(self.0.remove(at).1)
    }

    /// Removes and returns the signals of a set and their numbers, in the order of sending.
    pub(super) fn take_all(&mut self, set: u64) -> Vec<(u64, Sent)> {
        let all = std::mem::take(&mut self.0).into_iter();
        let (taken, kept) = all.partition(|(_, sent)| sent.signal.bit() & set != 0);
        self.0 = kept;
        taken
    }

    /// Removes the signals of this number.
    pub(super) fn forget(&mut self, signal: Signal) {
        self.0.retain(|(_, sent)| sent.signal != signal);
    }

    /// Whether a signal of this timer is pending.
    pub(super) fn has_timer(&self, number: u32) -> bool {
        let mut sent = self.0.iter();
        sent.any(|(_, sent)| sent.code == BY_TIMER && sent.words[0] as u32 == number)
    }
}

#[cfg(test)]
mod tests {
    use super::{BY_KILL, Pending, REAL_TIME, Sent};

    /// Signals that a thread gives back go before those that were sent later.
    #[test]
    fn signals_keep_the_order_of_sending() {
        let sent = |value| Sent::by_process(REAL_TIME + 2, BY_KILL, 1_000, value);
        let [mut own, mut others] = [Pending::default(), Pending::default()];
        for value in [1, 2, 4] {
            own.receive((value, sent(value)));
        }
        others.receive((3, sent(3)));
        others.receive((5, sent(5)));
        for back in own.take_all(u64::MAX) {
            others.receive(back);
        }
        let order: Vec<u64> = std::iter::from_fn(|| others.take(u64::MAX))
            .map(|sent| sent.words[1])
            .collect();
        assert_eq!(order, [1, 2, 3, 4, 5]);
    }
}
