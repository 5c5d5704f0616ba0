//! Signals that threads send.

use super::actions::Signals;
use crate::linux::errno::{EINVAL, EPERM, ESRCH, Value};
use crate::linux::signal::{BY_KILL, BY_THREAD, LAST, Sent, Signal};
use crate::linux::threads::{PROCESS, Threads};
use crate::linux::users::USER;
use crate::linux::world::World;
use crate::memory::Space;

impl Signals {
    /// `kill`: to the process, which is alone in its group. There is no other one.
    pub(crate) fn kill<W: World>(
        &mut self,
        threads: &mut Threads,
        world: &mut W,
        process: u64,
        number: u64,
    ) -> Value {
        let own = PROCESS as i32;
        match process as i32 {
            0 => {}
            process if process == own || process == -own => {}
            1 => return Err(EPERM),
            _ => return Err(ESRCH),
        }
        self.send_to_process(threads, world, sent_by(number, BY_KILL, 0))
    }

    /// `tkill`, `tgkill`.
    pub(crate) fn send<W: World>(
        &mut self,
        threads: &mut Threads,
        world: &mut W,
        thread: u64,
        number: u64,
    ) -> Value {
        self.send_by(threads, world, thread as u32, sent_by(number, BY_THREAD, 0))
    }

    /// `rt_sigqueueinfo`, `rt_tgsigqueueinfo`: with a value, to the process or to a thread.
    pub(crate) fn queue<W: World>(
        &mut self,
        space: &mut Space,
        threads: &mut Threads,
        world: &mut W,
        to: (u64, Option<u64>),
        [number, info]: [u64; 2],
    ) -> Value {
        let (process, thread) = to;
        if process as u32 != PROCESS {
            return Err(ESRCH);
        }
        let code = space.read_u32(info.wrapping_add(8))? as i32;
        let value = space.read_u64(info.wrapping_add(24))?;
        // Codes from 0 on are the kernel's own.
        if code >= 0 {
            return Err(EPERM);
        }
        let sent = sent_by(number, code, value);
        match thread {
            Some(thread) => self.send_by(threads, world, thread as u32, sent),
            None => self.send_to_process(threads, world, sent),
        }
    }

    /// Sends a signal to the process; 0 only asks whether it is there.
    fn send_to_process<W: World>(
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
        match threads.taker(sent.signal) {
            Some(thread) => self.send_by(threads, world, thread, sent),
            None => {
                self.pending.receive(sent);
                Ok(0)
            }
        }
    }

    /// Sends a signal to a thread; 0 only asks whether it is there.
    fn send_by<W: World>(
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
        let receiver = threads.get_mut(thread).ok_or(ESRCH)?;
        if number != 0 {
            receiver.pending.receive(sent);
            if receiver.is_woken_by(sent.signal) {
                self.make_look(threads, world, thread);
            } else {
                self.sent += 1;
            }
        }
        Ok(0)
    }

    /// A thread has something to look for: a signal, or a timer.
    pub(crate) fn make_look<W: World>(&mut self, threads: &Threads, world: &mut W, thread: u32) {
        self.sent += 1;
        if let Some(thread) = threads.get(thread) {
            world.disturb(thread.handle);
        }
    }
}

/// A signal that the program sends.
fn sent_by(number: u64, code: i32, value: u64) -> Sent {
    Sent {
        signal: Signal(number),
        code,
        words: [u64::from(PROCESS) | u64::from(USER) << 32, value],
    }
}
