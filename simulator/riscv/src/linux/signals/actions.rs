//! The process's handlers, and the signals that wait.

use crate::linux::errno::{EINVAL, Value};
use crate::linux::signal::{CHILD, LAST, Pending, Sent, Signal, UNSTOPPABLE};
use crate::linux::task::Task;
use crate::linux::threads::Threads;
use crate::memory::Space;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Default)]
pub(super) struct Action {
    pub(super) handler: u64,
    pub(super) flags: u64,
    pub(super) mask: u64,
}

/// The process's handlers, and its own signals.
#[derive(Default)]
pub(crate) struct Signals {
    pub(super) actions: BTreeMap<u64, Action>,
    /// Signals of the process that no thread took when they were sent.
    pub(super) pending: Pending,
    /// How often a thread was given a signal, or a timer that was set: each looks whether it is
    /// the one.
    pub(crate) sent: u64,
    /// Signals that are, or were, read from files: their readers are woken.
    pub(super) watched: u64,
}

pub(super) const DEFAULT: u64 = 0;
pub(super) const IGNORE: u64 = 1;
const RESTARTS: u64 = 0x1000_0000;
/// `SA_NOCLDWAIT`.
const FORGETS_CHILDREN: u64 = 2;

impl Signals {
    /// Another program has no handlers yet, and ignores what this one ignores.
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
            let is_ignored = handler == IGNORE || handler == DEFAULT && !Signal(number).kills();
            if is_ignored {
                // A signal that is ignored does not wait, for no thread.
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

    /// Whether calls are made again that a signal's handler interrupts; `None` if it has none.
    pub(crate) fn restarts(&self, signal: Signal) -> Option<bool> {
        let action = self.actions.get(&signal.0)?;
        (action.handler > IGNORE).then_some(action.flags & RESTARTS != 0)
    }

    /// A copy of the handlers for another process, which has no signals yet.
    pub(crate) fn fork(&self) -> Self {
        Self {
            actions: self.actions.clone(),
            ..Self::default()
        }
    }

    /// Signals are read from a file (`signalfd`).
    pub(crate) fn watch(&mut self, set: u64) {
        self.watched |= set;
    }

    /// Signals that wait for a thread, a bit each.
    pub(crate) fn pending_of(&self, threads: &Threads, thread: u32) -> u64 {
        let own = threads.get(thread).map_or(0, |own| own.pending.bits());
        own | self.pending.bits()
    }

    /// Whether the process ignores its children: a child is gone when it ends.
    pub(crate) fn forgets_children(&self) -> bool {
        let action = self.actions.get(&CHILD.0);
        action.is_some_and(|it| it.handler == IGNORE || it.flags & FORGETS_CHILDREN != 0)
    }

    /// Whether a signal without a handler does nothing.
    pub(crate) fn ignores(&self, signal: Signal) -> bool {
        let action = self.actions.get(&signal.0);
        !signal.kills() || action.is_some_and(|action| action.handler == IGNORE)
    }

    /// Whether a signal waits that the task would take.
    pub(crate) fn is_sent(&self, threads: &Threads, task: &Task) -> bool {
        self.is_sent_of(threads, task.number, !task.mask)
    }

    /// Whether a signal of a set waits for a thread.
    pub(crate) fn is_sent_of(&self, threads: &Threads, thread: u32, set: u64) -> bool {
        let own = threads.get(thread);
        own.is_some_and(|own| own.pending.bits() & set != 0) || self.pending.bits() & set != 0
    }

    /// The next signal that the task takes: the one with the least number.
    #[inline]
    pub(crate) fn next(&mut self, threads: &mut Threads, task: &Task) -> Option<Sent> {
        self.next_of(threads, task.number, !task.mask)
    }

    /// The waiting signal of a set that a thread takes: the least number first.
    pub(crate) fn next_of(&mut self, threads: &mut Threads, thread: u32, set: u64) -> Option<Sent> {
        let own = &mut threads.get_mut(thread)?.pending;
        own.take(set).or_else(|| self.pending.take(set))
    }

    /// `rt_sigpending`.
    pub(crate) fn tell_pending(
        &self,
        space: &mut Space,
        threads: &Threads,
        task: &Task,
        to: u64,
    ) -> Value {
        let own = threads.get(task.number);
        let pending = own.map_or(0, |own| own.pending.bits()) | self.pending.bits();
        space.write_u64(to, pending & task.mask)?;
        Ok(0)
    }
}
