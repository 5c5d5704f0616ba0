//! A hart (a thread's processor state): its registers, and how it runs code until it must stop.

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

/// The machine that executes harts: the timed chip, or memory alone.
pub(crate) trait Machine {
    /// The hart has executed this number of instructions that do not access memory.
    fn work(&mut self, instructions: u32);

    /// Makes an access. A hart makes its next access after it has the answer to this access.
    fn access(&mut self, place: Place, width: Width, operation: Operation) -> Answer;

    /// The reply to an access that made the hart wait: the word from before the access, and whether a conditional store
    /// was done.
    fn reply(&mut self) -> (u64, bool);

    /// Whether another hart has written the word that this hart's last `lr` has reserved. A machine whose harts lose
    /// their reservations whenever another hart runs has nothing to add.
    fn has_lost_reservation(&self) -> bool {
        false
    }

    /// Forgets the reservation that this hart's last `lr` has made, since the hart has lost it.
    fn drop_reservation(&mut self) {}

    /// Whether the hart must suspend at the end of a block, because other harts must run now.
    fn must_pause(&mut self) -> bool;

    /// The hart executes the hint of a spin loop.
    fn relax(&mut self);

    /// Begins a wait until the line of `place` is taken away, or until `cycles` have passed. Returns `false` if there
    /// is nothing to wait for. Otherwise the hart must suspend.
    fn watch(&mut self, place: Place, cycles: Option<u64>) -> bool;

    /// The clock that the register `cycle` shows.
    fn cycles(&self) -> u64;

    /// Nanoseconds since the start, which the register `time` shows. Programs measure the rate of `time` once and set
    /// timers by it. So `time` has the same rate on both machines.
    fn nanoseconds(&self) -> u64;

    /// The size of a cache line in bytes.
    fn line(&self) -> u64;
}

/// Why a hart stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The hart continues where it is when the machine resumes it.
    Suspended,
    /// The clock has reached the hart's alarm. The hart may continue.
    Rung,
    /// After an `ecall`.
    SystemCall,
    /// At an `ebreak`.
    Breakpoint,
    /// At bits that are no known instruction.
    Illegal(u32),
    /// At an access that fails.
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

pub(crate) struct Hart {
    /// Integer registers. Writes to `x0` go to [`SINK`](crate::isa). The entries after `SINK` are never used, but with
    /// 64 entries an index of six bits needs no check.
    pub(crate) x: [u64; 64],
    pub(crate) f: [u64; 32],
    pub(crate) pc: u64,
    /// The sticky flags of floating-point arithmetic, and its rounding mode.
    pub(crate) fflags: u8,
    pub(crate) frm: u8,
    /// The number of executed instructions.
    pub(crate) retired: u64,
    /// Once the clock reaches this value, the hart stops after a block, and its thread looks for signals.
    pub(crate) alarm: u64,
    translations: Translations,
    reservation: Option<Reservation>,
    /// Whether the pending access makes no reservation, even if it is an `lr`.
    unreserved: bool,
    /// The word that the pending conditional store expects. The hart keeps this word if it loses its reservation
    /// meanwhile, since the store may be done already.
    expected: u64,
    /// The number of failed conditional stores in a row.
    failures: u32,
    /// The instruction that asked for the pending access.
    waiting: Option<Instruction>,
    /// Whether the second line of an access across two lines has been fetched.
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
            unreserved: false,
            expected: 0,
            failures: 0,
            waiting: None,
            split: false,
            laps: Laps::default(),
        }
    }

    /// A hart with the same registers, for a new thread.
    pub(crate) fn fork(&self) -> Self {
        Self {
            x: self.x,
            f: self.f,
            fflags: self.fflags,
            frm: self.frm,
            ..Self::new(self.pc)
        }
    }

    /// Drops the reservation of `lr`, since another hart may have run on this core.
    pub(crate) fn lose_reservation(&mut self) {
        self.reservation = None;
        self.unreserved = self.waiting.is_some();
    }

    /// Whether the hart neither has a pending access nor waits in a spin loop.
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
