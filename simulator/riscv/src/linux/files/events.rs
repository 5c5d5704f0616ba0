//! Counters of events (`eventfd`).

use super::streams::{NON_BLOCKING, ready};
use crate::linux::errno::{EAGAIN, EINVAL, Errno};
use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

/// `eventfd`: a count. Writes add to the count, and reads take from it.
#[derive(Clone)]
pub(crate) struct Events {
    count: Rc<Cell<u64>>,
    writes: Rc<Cell<u64>>,
    /// How often a read has given room to the largest count.
    reads_of_full: Rc<Cell<u64>>,
    flags: Rc<Cell<u64>>,
}

/// `EFD_SEMAPHORE`.
pub(super) const BY_ONES: u64 = 1;
/// The largest count.
const MOST: u64 = u64::MAX - 1;

impl Events {
    pub(crate) fn new(count: u64, flags: u64) -> Self {
        Self {
            count: Rc::new(Cell::new(count)),
            writes: Rc::default(),
            reads_of_full: Rc::default(),
            flags: Rc::new(Cell::new(flags)),
        }
    }

    pub(super) fn identity(&self) -> Rc<dyn Any> {
        Rc::clone(&self.count) as Rc<dyn Any>
    }

    pub(crate) fn is_blocking(&self) -> bool {
        self.flags.get() & NON_BLOCKING == 0
    }

    pub(crate) fn flags(&self) -> &Cell<u64> {
        &self.flags
    }

    pub(crate) fn awaits(&self) -> bool {
        self.count.get() == 0
    }

    pub(crate) fn read(&self, to: &mut [u8]) -> Result<usize, Errno> {
        let to = to.get_mut(..8).ok_or(EINVAL)?;
        let count = self.count.get();
        if count == 0 {
            return Err(EAGAIN);
        }
        let taken = if self.flags.get() & BY_ONES != 0 {
            1
        } else {
            count
        };
        self.count.set(count - taken);
        let gave_room = u64::from(count == MOST);
        self.reads_of_full.set(self.reads_of_full.get() + gave_room);
        to.copy_from_slice(&taken.to_le_bytes());
        Ok(8)
    }

    /// Adds to the count. Fails if the sum has no room.
    pub(crate) fn write(&self, from: &[u8]) -> Result<usize, Errno> {
        let word = from.try_into().map_err(|_| EINVAL)?;
        let more = u64::from_le_bytes(word);
        let sum = self.count.get().checked_add(more);
        match (more, sum) {
            (u64::MAX, _) => return Err(EINVAL),
            (_, Some(sum)) if sum < u64::MAX => self.count.set(sum),
            _ => return Err(EAGAIN),
        }
        self.writes.set(self.writes.get() + 1);
        Ok(8)
    }

    pub(crate) fn ready(&self) -> ready::State {
        let reads = if self.awaits() { 0 } else { ready::IN };
        let writes = match self.count.get() {
            MOST.. => 0,
            _ => ready::OUT,
        };
        (
            reads | writes,
            [self.writes.get(), self.reads_of_full.get()],
        )
    }
}
