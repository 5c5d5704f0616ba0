//! A hart: its registers, and how it runs code until something must be asked of the world.

mod allocations;
mod code;
mod csr;
mod float;
mod integer;
mod memory;
mod run;
mod spin;

pub(crate) use allocations::{Allocator, Block as HeapBlock};
pub(crate) use code::Code;
pub(crate) use run::run;

use crate::isa::Instruction;
use crate::memory::{Fault, Place, Translations};
use manycore_chip::guest::{Answer, Operation, Width};
use spin::Laps;

/// The machine under harts: the timed chip, or nothing but memory.
pub(crate) trait Machine {
    /// `instructions` that did not access memory were executed.
    fn work(&mut self, instructions: u32);

    /// One access; a hart makes the next one when it has the answer.
    fn access(&mut self, place: Place, width: Width, operation: Operation) -> Answer;

    /// The reply to an access that made the hart wait: the word before, and whether a
    /// conditional store was done.
    fn reply(&mut self) -> (u64, bool);

    /// Whether the hart must suspend at the end of a block, since others come first.
    fn must_pause(&mut self) -> bool;

    /// A spin loop's hint goes by.
    fn relax(&mut self);

    /// Waits until the line of `place` is taken away, or until `cycles` have gone by;
    /// `false` if there is nothing to wait for, else the hart suspends.
    fn watch(&mut self, place: Place, cycles: Option<u64>) -> bool;

    /// The clock that `cycle` shows.
    fn cycles(&self) -> u64;

    /// Nanoseconds since the start. `time` shows them, as it has one rate for the whole run, on both
    /// machines: programs measure it once and set timers by it.
    fn nanoseconds(&self) -> u64;

    /// Bytes of a cache line.
    fn line(&self) -> u64;
}

/// Why a hart stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It goes on where it is when the machine resumes it.
    Suspended,
    /// Its alarm's time has come; it may go on.
    Rung,
    /// At an `ecall`, which it is past.
    SystemCall,
    /// At an `ebreak`.
    Breakpoint,
    /// At bits that are no instruction it has.
    Illegal(u32),
    /// At an access that it may not do.
    Fault(Fault),
    /// At an atomic access to an address that is no multiple of its size.
    Misaligned(u64),
    /// At an instruction of a custom opcode.
    Custom(Instruction),
}

/// A word that `lr` has read.
#[derive(Clone, Copy, Debug)]
struct Reservation {
    place: Place,
    value: u64,
}

/// One hart.
pub(crate) struct Hart {
    /// Integer registers; what is written to `x0` goes to [`SINK`](crate::isa), and the rest is
    /// never used: an index of six bits needs no check.
    pub(crate) x: [u64; 64],
    pub(crate) f: [u64; 32],
    pub(crate) pc: u64,
    /// The sticky flags, and the rounding mode.
    pub(crate) fflags: u8,
    pub(crate) frm: u8,
    /// Instructions executed.
    pub(crate) retired: u64,
    /// At this clock it stops between two blocks, and its thread looks for signals.
    pub(crate) alarm: u64,
    translations: Translations,
    reservation: Option<Reservation>,
    /// The word that the conditional store under way expects: it is kept when the hart loses
    /// its reservation meanwhile, since the store may be done already.
    expected: u64,
    /// Conditional stores in a row that failed.
    failures: u32,
    /// The instruction that asked for the access under way.
    waiting: Option<Instruction>,
    /// The second line of an access across two lines has been brought.
    split: bool,
    laps: Laps,
}

impl Hart {
    pub(crate) fn new(pc: u64) -> Self {
        Self {
            x: [0; 64],
            f: [0; 32],
            pc,
            fflags: 0,
            frm: 0,
            retired: 0,
            alarm: 0,
            translations: Translations::new(),
            reservation: None,
            expected: 0,
            failures: 0,
            waiting: None,
            split: false,
            laps: Laps::default(),
        }
    }

    /// A hart in the same state, for a new thread.
    pub(crate) fn fork(&self) -> Self {
        Self {
            x: self.x,
            f: self.f,
            fflags: self.fflags,
            frm: self.frm,
            ..Self::new(self.pc)
        }
    }

    /// Another hart may have run on this core: what `lr` read no longer counts.
    pub(crate) fn lose_reservation(&mut self) {
        self.reservation = None;
    }

    /// Whether no access is under way, and no wait in a spin loop.
    pub(crate) fn is_between_instructions(&self) -> bool {
        self.waiting.is_none() && !self.split && !self.laps.is_parked()
    }

    #[inline(always)]
    fn get(&self, register: u8) -> u64 {
        self.x[(register & 63) as usize]
    }

    #[inline(always)]
    fn set(&mut self, register: u8, value: u64) {
        self.x[(register & 63) as usize] = value;
    }
}
