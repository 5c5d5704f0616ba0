//! Reservations of LL/SC pairs: the word that each core has reserved, and whether another core has written it since.
//!
//! A reservation concerns the eight aligned bytes around the reserved word. Stores of other cores end it, even if they
//! leave the word as it was.

use super::cache::LineId;
use super::operation::{Operation, Word};
use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reservation {
    None,
    /// The line, and the eight bytes of host memory.
    Held(LineId, usize),
    Lost,
}

pub(crate) struct Reservations {
    cores: Box<[Reservation]>,
    /// For each value of a place's last six bits, the number of held reservations.
    held: [u32; 64],
    /// A bit is set if `held` is not 0 at the bit's index. Nearly all stores need only this word.
    filter: u64,
}

impl Reservations {
    pub(super) fn new(cores: u32) -> Self {
        Self {
            cores: vec![Reservation::None; cores as usize].into(),
            held: [0; 64],
            filter: 0,
        }
    }

    /// Does `core`'s operation on its word, and returns the previous value.
    #[inline(always)]
    pub(crate) fn apply(
        &mut self,
        core: u32,
        line: LineId,
        operation: Operation,
        word: Word,
    ) -> u64 {
        let is_slow = match operation {
            Operation::LoadReserved => true,
            Operation::Conditional(_) | Operation::Persistent(_) => {
                self.cores[core as usize] != Reservation::None || self.may_be_held(word.place())
            }
            _ => !operation.reads_only() && self.may_be_held(word.place()),
        };
        if is_slow {
            return self.apply_to_reserved(core, line, &operation, word);
        }
        word.apply(operation)
    }

    /// Whether a core may hold a reservation of this place.
    #[inline(always)]
    fn may_be_held(&self, place: usize) -> bool {
        self.filter >> (place & 63) & 1 != 0
    }

    /// Ends the reservation that a core holds. A lost reservation stays lost.
    pub(super) fn end(&mut self, core: u32) {
        if let Reservation::Held(..) = self.cores[core as usize] {
            self.set(core, Reservation::None);
        }
    }

    /// Forgets a core's reservation, which its thread no longer has.
    #[inline]
    pub(crate) fn forget(&mut self, core: u32) {
        if self.cores[core as usize] != Reservation::None {
            self.set(core, Reservation::None);
        }
    }

    /// Whether the operation is not done, since it needs a reservation that `core` has lost.
    #[inline(always)]
    pub(super) fn refuses(&self, core: u32, operation: Operation) -> bool {
        matches!(
            operation,
            Operation::Conditional(_) | Operation::Persistent(_)
        ) && self.is_lost(core)
    }

    #[cold]
    #[inline(never)]
    fn apply_to_reserved(
        &mut self,
        core: u32,
        line: LineId,
        operation: &Operation,
        word: Word,
    ) -> u64 {
        let value = match self.refuses(core, *operation) {
            true => word.peek(),
            false => word.apply(*operation),
        };
        let place = word.place();
        match operation {
            Operation::LoadReserved => self.set(core, Reservation::Held(line, place)),
            Operation::TouchWrite | Operation::TouchFill => {}
            Operation::Conditional(rmw) | Operation::Persistent(rmw) => {
                let stores = !self.refuses(core, *operation) && rmw.writes(value);
                self.end(core);
                if stores && self.may_be_held(place) {
                    self.lose(core, |_, held| held == place);
                }
            }
            _ => self.lose(core, |_, held| held == place),
        }
        value
    }

    /// Ends the reservations of other cores in a range of simulated addresses. The host's memory is aligned to lines as
    /// the simulated memory is.
    pub(crate) fn written(&mut self, core: u32, addresses: &Range<u64>, line_shift: u32) {
        if self.filter != 0 {
            self.lose(core, |line, place| {
                let offset = (place as u64) << 3 & ((1 << line_shift) - 1);
                let start = (u64::from(line) << line_shift) + offset;
                start < addresses.end && addresses.start < start + 8
            });
        }
    }

    /// Whether another core has written the word since `core` reserved it.
    #[inline]
    pub(crate) fn is_lost(&self, core: u32) -> bool {
        self.cores[core as usize] == Reservation::Lost
    }

    fn lose(&mut self, writer: u32, is_written: impl Fn(LineId, usize) -> bool) {
        for core in 0..self.cores.len() as u32 {
            if let Reservation::Held(line, place) = self.cores[core as usize]
                && core != writer
                && is_written(line, place)
            {
                self.set(core, Reservation::Lost);
            }
        }
    }

    fn set(&mut self, core: u32, new: Reservation) {
        let old = std::mem::replace(&mut self.cores[core as usize], new);
        if let Reservation::Held(_, place) = old {
            self.held[place & 63] -= 1;
            if self.held[place & 63] == 0 {
                self.filter &= !(1 << (place & 63));
            }
        }
        if let Reservation::Held(_, place) = new {
            self.held[place & 63] += 1;
            self.filter |= 1 << (place & 63);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Rmw, Width};

    #[test]
    fn an_ended_reservation_leaves_nothing_that_slows_stores() {
        let mut value = 1u64;
        // SAFETY: the local variable above, which this thread alone uses.
        let word = unsafe { Word::new((&raw mut value).cast(), Width::Eight) };
        let failing = Rmw::CompareExchange { current: 7, new: 2 };
        let ways: [fn(&mut Reservations, Word, Rmw); 4] = [
            |them, word, rmw| {
                them.apply(0, 3, Operation::Conditional(rmw), word);
            },
            |them, word, rmw| {
                them.apply(0, 3, Operation::Persistent(rmw), word);
            },
            |them, _, _| them.end(0),
            |them, _, _| them.forget(0),
        ];
        for way in ways {
            let mut all = Reservations::new(2);
            all.apply(0, 3, Operation::LoadReserved, word);
            assert!(all.filter != 0);
            way(&mut all, word, failing);
            assert!(all.filter == 0 && !all.is_lost(0));
        }
    }

    #[test]
    fn a_lost_reservation_stays_lost_until_it_is_forgotten() {
        let mut value = 1u64;
        // SAFETY: as above.
        let word = unsafe { Word::new((&raw mut value).cast(), Width::Eight) };
        let mut all = Reservations::new(2);
        all.apply(0, 3, Operation::LoadReserved, word);
        all.apply(1, 3, Operation::Store(1), word);
        all.end(0);
        all.apply(0, 3, Operation::Conditional(Rmw::Add(1)), word);
        assert!(all.is_lost(0) && word.peek() == 1);
        all.forget(0);
        assert!(!all.is_lost(0));
    }
}
