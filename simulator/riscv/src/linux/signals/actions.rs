//! The process's signal handlers, and its pending signals.

use super::stop::Stop;
use crate::linux::errno::{EINVAL, Value};
use crate::linux::signal::{CHILD, LAST, Pending, Sent, Signal, UNSTOPPABLE};
use crate::linux::task::Task;
use crate::linux::threads::{Thread, Threads};
use crate::memory::Space;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Default)]
pub(super) struct Action {
    pub(super) handler: u64,
    pub(super) flags: u64,
    pub(super) mask: u64,
}

/// The process's signal handlers and its own signals.
#[derive(Default)]
pub(crate) struct Signals {
    pub(super) actions: BTreeMap<u64, Action>,
    /// Signals to the process that no thread takes.
    pub(super) pending: Pending,
    /// Counts the signals sent to threads and the timers set. When this count has changed, each thread looks for
    /// signals to take.
    pub(crate) sent: u64,
    /// The signals that a `signalfd` reads or once read. Such a signal wakes the readers.
    pub(crate) watched: u64,
    /// Whether a timer has sent such a signal, and the readers do not know of it yet.
    pub(crate) rings: bool,
    /// The number of signals that the process and its threads have ever got.
    pub(crate) arrived: u64,
    pub(crate) stop: Stop,
}

pub(super) const DEFAULT: u64 = 0;
pub(super) const IGNORE: u64 = 1;
const RESTARTS: u64 = 0x1000_0000;
/// `SA_NOCLDWAIT`.
const FORGETS_CHILDREN: u64 = 2;
/// `SA_NOCLDSTOP`.
const HEARS_NO_STOPS: u64 = 1;

impl Signals {
    /// Prepares for another program: removes all handlers, and keeps the ignored signals.
    pub(crate) fn reset(&mut self) {
        self.actions.retain(|_, action| action.handler == IGNORE);
    }

    pub(crate) fn set_action(
        &mut self,
        space: &mut Space,
        threads: &mut Threads,
        number: u64,
        [new, old]: [u64; 2],
    ) -> Value {
        let is_refused = new != 0 && Signal(number).is_unstoppable();
        if !(1..=LAST).contains(&number) || is_refused {
            return Err(EINVAL);
        }
        let now = self.actions.get(&number).copied().unwrap_or_default();
        if new != 0 {
            let mut words = [0; 3];
            for (at, word) in (0..).zip(&mut words) {
                *word = space.read_u64(new.wrapping_add(8 * at))?;
            }
            let [handler, flags, mask] = words;
            self.actions.insert(
                number,
                Action {
                    handler,
                    flags,
                    mask: mask & !UNSTOPPABLE,
                },
            );
            let is_ignored =
                handler == IGNORE || handler == DEFAULT && Signal(number).is_harmless();
            if is_ignored {
                // An ignored signal is no longer pending, neither in the process nor in a thread.
                self.pending.forget(Signal(number));
                threads.forget(Signal(number));
            }
        }
        if old != 0 {
            for (at, word) in (0..).zip([now.handler, now.flags, now.mask]) {
                space.write_u64(old.wrapping_add(8 * at), word)?;
            }
        }
        Ok(0)
    }

    /// Whether a call that the signal's handler interrupts is made again. Returns `None` if there is no handler.
    pub(crate) fn restarts(&self, signal: Signal) -> Option<bool> {
        let action = self.actions.get(&signal.0)?;
        (action.handler > IGNORE).then_some(action.flags & RESTARTS != 0)
    }

    /// Returns a copy for another process, which has the same handlers and the same files. The copy has no pending
    /// signals.
    pub(crate) fn fork(&self) -> Self {
        Self {
            actions: self.actions.clone(),
            watched: self.watched,
            arrived: self.arrived,
            ..Self::default()
        }
    }

    /// The lines of `/proc/self/status` about signals: pending for the main thread and for the process, blocked by the
    /// main thread, ignored, and with handlers.
    pub(crate) fn lines(&self, threads: &Threads, main: u32) -> String {
        let all = threads.all();
        let shared = all.fold(self.pending.bits(), |bits, it| bits | it.lent.bits());
        let main = threads.get(main);
        let (own, mask) = main.map_or((0, 0), |it| (it.pending.bits(), it.mask()));
        let which = |is_wanted: fn(u64) -> bool| {
            let actions = self.actions.iter();
            let wanted = actions.filter(|(_, action)| is_wanted(action.handler));
            wanted.fold(0, |bits, (&number, _)| bits | Signal(number).bit())
        };
        let ignored = which(|handler| handler == IGNORE);
        let handled = which(|handler| handler > IGNORE);
        let lines = [
            ("SigPnd", own),
            ("ShdPnd", shared),
            ("SigBlk", mask),
            ("SigIgn", ignored),
            ("SigCgt", handled),
        ];
        lines
            .map(|(name, bits)| format!("{name}:\t{bits:016x}\n"))
            .concat()
    }

    /// Whether a signal stops the process.
    pub(crate) fn is_stopped_by(&self, signal: Signal) -> bool {
        signal.stops() && self.restarts(signal).is_none() && !self.ignores(signal)
    }

    /// Notes that a file (`signalfd`) reads these signals.
    pub(crate) fn watch(&mut self, set: u64) {
        self.watched |= set;
    }

    /// The signals that are pending for a thread, one bit for each signal.
    pub(crate) fn pending_of(&self, threads: &Threads, thread: u32) -> u64 {
        let lent = |bits, of: &Thread| bits | of.lent.bits();
        let own = threads.get(thread).map_or(0, |own| own.pending.bits());
        own | threads.all().fold(self.pending.bits(), lent)
    }

    /// Whether the process ignores its children. Nothing remains of an ignored child that ends.
    pub(crate) fn forgets_children(&self) -> bool {
        let action = self.actions.get(&CHILD.0);
        action.is_some_and(|it| it.handler == IGNORE || it.flags & FORGETS_CHILDREN != 0)
    }

    /// Whether the process gets a signal when a child is stopped or goes on.
    pub(crate) fn hears_of_stops(&self) -> bool {
        let action = self.actions.get(&CHILD.0);
        action.is_none_or(|it| it.flags & HEARS_NO_STOPS == 0)
    }

    /// Whether a signal without a handler has no effect.
    pub(crate) fn ignores(&self, signal: Signal) -> bool {
        let action = self.actions.get(&signal.0);
        signal.is_harmless() || action.is_some_and(|action| action.handler == IGNORE)
    }

    /// Whether a pending signal can be taken by the task.
    pub(crate) fn is_sent(&self, threads: &Threads, task: &Task) -> bool {
        self.is_sent_of(threads, task.number, !task.mask)
    }

    /// Whether a signal of a set is pending for a thread.
    pub(crate) fn is_sent_of(&self, threads: &Threads, thread: u32, set: u64) -> bool {
        self.takeable(threads, thread) & set != 0
    }

    /// The pending signals that a thread takes if it does not block them, one bit for each signal. Signals that another
    /// thread is to take are not among them.
    pub(crate) fn takeable(&self, threads: &Threads, thread: u32) -> u64 {
        let own = threads.get(thread);
        let own = own.map_or(0, |own| own.pending.bits() | own.lent.bits());
        own | self.pending.bits()
    }

    /// Takes the next signal that the task's mask lets through.
    #[inline]
    pub(crate) fn next(&mut self, threads: &mut Threads, task: &Task) -> Option<Sent> {
        self.next_of(threads, task.number, !task.mask)
    }

    /// Takes a pending signal of a set for a thread. The thread's own signals come before those of the process, and
    /// lower numbers come first.
    pub(crate) fn next_of(&mut self, threads: &mut Threads, thread: u32, set: u64) -> Option<Sent> {
        let own = threads.get_mut(thread)?;
        let sent = own.pending.take(set).or_else(|| own.lent.take(set));
        sent.or_else(|| self.pending.take(set))
    }

    /// `rt_sigpending`.
    pub(crate) fn tell_pending(
        &self,
        space: &mut Space,
        threads: &Threads,
        task: &Task,
        to: u64,
    ) -> Value {
        let pending = self.pending_of(threads, task.number);
        space.write_u64(to, pending & task.mask)?;
        Ok(0)
    }
}
