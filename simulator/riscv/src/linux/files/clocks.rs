//! Time and signals as files: `timerfd`, `signalfd`.

use super::descriptors::CLOSES;
use super::open::Open;
use super::streams::{NON_BLOCKING, ready};
use super::table::Files;
use crate::linux::errno::{EAGAIN, EBADF, EINVAL, Errno, Value, known_flags};
use crate::linux::time::{self, ABSOLUTE};
use crate::linux::world::World;
use crate::memory::Space;
use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

/// A `timerfd`. It counts time as [`World::nanoseconds`] does.
#[derive(Clone)]
pub(crate) struct Clock(Rc<Inner>);

struct Inner {
    /// The number of the clock that absolute times refer to.
    of: u64,
    flags: Cell<u64>,
    due: Cell<Option<u64>>,
    /// How often the clock was set or read. After each set or read, the clock may expire anew.
    round: Cell<u64>,
    /// The nanoseconds between two expirations. 0 if the clock expires once.
    every: Cell<u64>,
    /// The simulated time when a call last looked at the clock, in nanoseconds.
    now: Cell<u64>,
}

impl Clock {
    pub(super) fn identity(&self) -> Rc<dyn Any> {
        Rc::clone(&self.0) as Rc<dyn Any>
    }

    pub(super) fn flags(&self) -> &Cell<u64> {
        &self.0.flags
    }

    /// The number of expirations since the clock was last read or set.
    fn count(&self) -> u64 {
        let (Some(due), now) = (self.0.due.get(), self.0.now.get()) else {
            return 0;
        };
        match now.checked_sub(due) {
            None => 0,
            Some(late) => {
                let more = late.checked_div(self.0.every.get());
                more.unwrap_or(0).saturating_add(1)
            }
        }
    }

    pub(super) fn ready(&self) -> ready::State {
        let found = if self.count() > 0 { ready::IN } else { 0 };
        (found, [self.0.round.get(), 0])
    }

    /// Sets the next expiration.
    fn set_due(&self, due: Option<u64>) {
        self.0.due.set(due);
        self.0.round.set(self.0.round.get() + 1);
    }

    pub(super) fn awaits(&self) -> bool {
        self.count() == 0 && self.0.flags.get() & NON_BLOCKING == 0
    }

    pub(super) fn read(&self, to: &mut [u8]) -> Result<usize, Errno> {
        let to = to.get_mut(..8).ok_or(EINVAL)?;
        let count = self.count();
        if count == 0 {
            return Err(EAGAIN);
        }
        let every = self.0.every.get();
        let next = self.0.due.get().filter(|_| every > 0);
        self.set_due(next.map(|due| due.saturating_add(count.saturating_mul(every))));
        to.copy_from_slice(&count.to_le_bytes());
        Ok(8)
    }
}

impl Files {
    /// `timerfd_create`.
    pub(crate) fn make_clock(&mut self, of: u64, flags: u64) -> Value {
        known_flags(flags, NON_BLOCKING | CLOSES)?;
        if !time::has_timers(of) {
            return Err(EINVAL);
        }
        let inner = Inner {
            of,
            flags: Cell::new(flags & NON_BLOCKING),
            due: Cell::new(None),
            round: Cell::new(0),
            every: Cell::new(0),
            now: Cell::new(0),
        };
        self.has_clocks = true;
        self.add(Open::Clock(Clock(Rc::new(inner))), flags)
    }

    fn clock(&self, number: u64) -> Result<Clock, Errno> {
        match self.get(number)? {
            Open::Clock(clock) => Ok(clock.clone()),
            _ => Err(EINVAL),
        }
    }

    /// `timerfd_settime`.
    pub(crate) fn set_clock<W: World>(
        &self,
        space: &mut Space,
        world: &W,
        [number, flags, new, old]: [u64; 4],
    ) -> Value {
        let clock = self.clock(number)?;
        let every = time::read(space, new)?;
        let first = time::read(space, new.wrapping_add(16))?;
        if old != 0 {
            self.tell_clock(space, world, number, old)?;
        }
        let now = world.nanoseconds();
        let wait = match flags & ABSOLUTE {
            0 => first,
            _ => first.saturating_sub(time::clock(world, clock.0.of)?),
        };
        let due = (first > 0).then_some(now.saturating_add(wait));
        clock.set_due(due);
        clock.0.every.set(every);
        clock.0.now.set(now);
        Ok(0)
    }

    /// `timerfd_gettime`: the time between two expirations, and the time to the next.
    pub(crate) fn tell_clock<W: World>(
        &self,
        space: &mut Space,
        world: &W,
        number: u64,
        to: u64,
    ) -> Value {
        let clock = self.clock(number)?;
        let (now, every) = (world.nanoseconds(), clock.0.every.get());
        let left = clock
            .0
            .due
            .get()
            .map_or(0, |due| match now.checked_sub(due) {
                None => due - now,
                Some(late) => every - late.checked_rem(every).unwrap_or(every),
            });
        time::write(space, to, every)?;
        time::write(space, to.wrapping_add(16), left)
    }

    /// Sets the time of all clocks. Returns the earliest expiration that is not due yet.
    pub(crate) fn look_at_clocks(&self, now: u64) -> Option<u64> {
        if !self.has_clocks {
            return None;
        }
        let clocks = self.all().filter_map(|open| match open {
            Open::Clock(clock) => Some(clock),
            _ => None,
        });
        let dues = clocks.filter_map(|clock| {
            clock.0.now.set(now);
            clock.0.due.get().filter(|&due| due > now)
        });
        dues.min()
    }
}

/// A `signalfd`: a set of signals that are read from a file.
#[derive(Clone)]
pub(crate) struct SignalSet {
    set: Rc<Cell<u64>>,
    flags: Rc<Cell<u64>>,
}

impl SignalSet {
    pub(super) fn identity(&self) -> Rc<dyn Any> {
        Rc::clone(&self.set) as Rc<dyn Any>
    }

    pub(super) fn flags(&self) -> &Cell<u64> {
        &self.flags
    }

    pub(crate) fn set(&self) -> u64 {
        self.set.get()
    }

    pub(super) fn is_blocking(&self) -> bool {
        self.flags.get() & NON_BLOCKING == 0
    }
}

/// The size of `signalfd_siginfo` in bytes.
const INFO: usize = 128;

impl Files {
    /// `signalfd4`: makes a file of signals, or changes the set of an open file. Returns the number and the set.
    pub(crate) fn set_signals(
        &mut self,
        space: &mut Space,
        [number, set, flags]: [u64; 3],
    ) -> Result<(u64, u64), Errno> {
        known_flags(flags, NON_BLOCKING | CLOSES)?;
        let set = space.read_u64(set)?;
        if number as i32 != -1 {
            match self.get(number)? {
                Open::Signals(signals) => signals.set.set(set),
                _ => return Err(EINVAL),
            }
            return Ok((number, set));
        }
        let signals = SignalSet {
            set: Rc::new(Cell::new(set)),
            flags: Rc::new(Cell::new(flags & NON_BLOCKING)),
        };
        Ok((self.add(Open::Signals(signals), flags)?, set))
    }

    /// The signals of a `signalfd`, and whether a reader without a signal waits.
    pub(crate) fn signals(&self, number: u64) -> Option<(u64, bool)> {
        match self.get(number).ok()? {
            Open::Signals(signals) => Some((signals.set(), signals.is_blocking())),
            _ => None,
        }
    }
}

/// The `signalfd_siginfo` of a signal: number, code, sender, user, status, value.
pub(crate) fn signal_info(info: &[u8]) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; INFO];
    let mut copy = |to: usize, from: usize, length: usize| -> Result<(), Errno> {
        let part = info.get(from..from + length).ok_or(EBADF)?;
        bytes[to..to + length].copy_from_slice(part);
        Ok(())
    };
    for (to, from, length) in [(0, 0, 4), (8, 8, 4), (12, 16, 4), (16, 20, 4)] {
        copy(to, from, length)?;
    }
    // A child's status is also the value's first word.
    for (to, from, length) in [(40, 24, 4), (44, 24, 4), (48, 24, 8)] {
        copy(to, from, length)?;
    }
    Ok(bytes)
}
