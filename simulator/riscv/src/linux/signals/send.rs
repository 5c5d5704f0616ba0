//! Sends signals to a process or a thread.

use super::actions::Signals;
use crate::linux::errno::{EINVAL, ESRCH, Value};
use crate::linux::signal::{LAST, Pending, Sent};
use crate::linux::threads::Threads;
use crate::linux::words::STREAMS;
use crate::linux::world::World;

impl Signals {
    /// Sends a signal to the process. Signal 0 sends nothing.
    pub(crate) fn send_to_process<W: World>(
        &mut self,
        threads: &mut Threads,
        world: &mut W,
        sent: Sent,
    ) -> Value {
        match sent.signal.0 {
            0 => return Ok(0),
            1..=LAST => {}
            _ => return Err(EINVAL),
        }
        self.before_sending(threads, world, sent.signal);
        if sent.signal.is_queued() || !self.has(threads, |pending| pending.has(sent.signal)) {
            self.give(threads, world, (self.arrived, sent));
        }
        self.wake_watchers(world, sent);
        Ok(0)
    }

    /// Whether a list of pending signals of the process fulfils a condition: the list of those that no thread takes, or
    /// the list of a thread that is to take some.
    pub(super) fn has(&self, threads: &Threads, is_wanted: impl Fn(&Pending) -> bool) -> bool {
        is_wanted(&self.pending) || threads.all().any(|thread| is_wanted(&thread.lent))
    }

    /// Gives a signal of the process to a thread that takes it. The signal has a number for the order of sending.
    fn give<W: World>(
        &mut self,
        threads: &mut Threads,
        world: &mut W,
        (number, sent): (u64, Sent),
    ) {
        let thread = threads.taker(sent.signal);
        let receiver = thread.and_then(|thread| Some((thread, threads.get_mut(thread)?)));
        let Some((thread, receiver)) = receiver else {
            self.pending.receive((number, sent));
            // A thread may read the signal from a file again.
            self.rings |= self.watched & sent.signal.bit() != 0;
            return;
        };
        receiver.lent.receive((number, sent));
        if receiver.is_woken_by(sent.signal) {
            self.make_look(threads, world, thread);
        } else {
            self.sent += 1;
        }
    }

    /// Gives the signals of threads that no longer take them to other threads.
    pub(crate) fn give_again<W: World>(&mut self, threads: &mut Threads, world: &mut W) {
        for sent in threads.take_back() {
            self.give(threads, world, sent);
        }
    }

    /// Sends a signal to a thread. Signal 0 only checks whether the thread exists.
    pub(crate) fn send_by<W: World>(
        &mut self,
        threads: &mut Threads,
        world: &mut W,
        thread: u32,
        sent: Sent,
    ) -> Value {
        let number = sent.signal.0;
        if number > LAST {
            return Err(EINVAL);
        }
        threads.get(thread).ok_or(ESRCH)?;
        if number != 0 {
            self.before_sending(threads, world, sent.signal);
            let receiver = threads.get_mut(thread).ok_or(ESRCH)?;
            receiver.pending.receive((self.arrived, sent));
            if receiver.is_woken_by(sent.signal) {
                self.make_look(threads, world, thread);
            } else {
                self.sent += 1;
            }
            self.wake_watchers(world, sent);
        }
        Ok(0)
    }

    /// Counts a signal, and wakes the readers of a `signalfd` for it.
    fn wake_watchers<W: World>(&mut self, world: &mut W, sent: Sent) {
        self.arrived += 1;
        if self.watched & sent.signal.bit() != 0 {
            world.futex_wake(STREAMS, u32::MAX);
        }
    }

    /// Makes a thread check for signals and timers.
    pub(crate) fn make_look<W: World>(&mut self, threads: &Threads, world: &mut W, thread: u32) {
        self.sent += 1;
        if let Some(thread) = threads.get(thread) {
            world.disturb(thread.handle);
        }
    }
}
