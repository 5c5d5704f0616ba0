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
    /// The bits whose number in `held` is not 0. Nearly all stores need only this word.
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
        let is_of_pair = matches!(
            operation,
            Operation::LoadReserved | Operation::Conditional(_) | Operation::Persistent(_)
        );
        if is_of_pair || !operation.reads_only() && self.filter >> (word.place() & 63) & 1 != 0 {
            return self.apply_to_reserved(core, line, &operation, word);
        }
        word.apply(operation)
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
                if !self.refuses(core, *operation) && rmw.writes(value) {
                    self.set(core, Reservation::None);
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
