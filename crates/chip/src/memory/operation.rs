//! What an access does to the word it reaches.

use crate::config;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

/// An operation on one word. Integers of all widths travel as `u64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Brings the line for reading; no word of it is meant.
    TouchRead,
    /// Brings the line for writing; no word of it is meant.
    TouchWrite,
    /// The same for all of a line: nothing of it needs to be read.
    TouchFill,
    Load,
    Store(u64),
    Swap(u64),
    CompareExchange {
        current: u64,
        new: u64,
    },
    Add(u64),
    And(u64),
    Or(u64),
    /// The store of an LL/SC pair: done only if the reservation held, which
    /// the memory system finds out; carries the operation of the pair.
    Conditional(Rmw),
}

/// The read-modify-write operations, for an LL/SC pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rmw {
    Swap(u64),
    CompareExchange { current: u64, new: u64 },
    Add(u64),
    And(u64),
    Or(u64),
}

impl Rmw {
    pub(crate) fn operation(self) -> Operation {
        match self {
            Self::Swap(value) => Operation::Swap(value),
            Self::CompareExchange { current, new } => Operation::CompareExchange { current, new },
            Self::Add(value) => Operation::Add(value),
            Self::And(value) => Operation::And(value),
            Self::Or(value) => Operation::Or(value),
        }
    }
}

impl Operation {
    /// Whether a copy that others may hold too is enough.
    #[inline(always)]
    pub(crate) fn reads_only(self) -> bool {
        matches!(self, Self::Load | Self::TouchRead)
    }

    /// Whether it reads and writes in one.
    #[inline(always)]
    pub(crate) fn is_read_modify_write(self) -> bool {
        !matches!(
            self,
            Self::Load | Self::Store(_) | Self::TouchRead | Self::TouchWrite | Self::TouchFill
        )
    }

    /// Cycles beyond getting the line: E(A).
    #[inline]
    pub(crate) fn execution(self, costs: &config::Atomics) -> u64 {
        match self {
            Self::Load | Self::Store(_) => 0,
            Self::TouchRead | Self::TouchWrite | Self::TouchFill => 0,
            Self::Swap(_) => costs.swap,
            Self::CompareExchange { .. } => costs.cas,
            // On the machines at hand `or` to set a bit is what test-and-set is.
            Self::Or(_) | Self::And(_) => costs.tas,
            Self::Add(_) => costs.faa,
            Self::Conditional(rmw) => rmw.operation().execution(costs),
        }
    }
}

/// A word of host memory that a simulated core accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    address: *mut u8,
    width: Width,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    One,
    Four,
    Eight,
}

impl Word {
    /// A word of `width` bytes at `address`.
    ///
    /// # Safety
    ///
    /// The address is aligned to the width and is that of an atomic which
    /// lives until the access is done.
    pub(crate) unsafe fn new(address: *mut u8, width: Width) -> Self {
        Self { address, width }
    }

    /// No word: for operations that touch a line only.
    pub(crate) fn none() -> Self {
        Self {
            address: std::ptr::null_mut(),
            width: Width::One,
        }
    }

    /// The value, outside of simulated time.
    pub(crate) fn peek(self) -> u64 {
        self.read()
    }

    /// Does `operation` and returns the value before it.
    pub(crate) fn apply(self, operation: Operation) -> u64 {
        if matches!(
            operation,
            Operation::TouchRead | Operation::TouchWrite | Operation::TouchFill
        ) {
            return 0;
        }
        let old = self.read();
        let new = match operation {
            Operation::Store(value) | Operation::Swap(value) => value,
            Operation::CompareExchange { current, new } if old == current => new,
            Operation::Add(value) => old.wrapping_add(value),
            Operation::And(value) => old & value,
            Operation::Or(value) => old | value,
            Operation::Conditional(rmw) => return self.apply(rmw.operation()),
            _ => return old,
        };
        self.write(new);
        old
    }

    /// All simulated cores of a chip run on one host thread, so a load and a
    /// store make an indivisible operation; they are atomic, and relaxed, for
    /// the sake of memory that other host threads look at after the run.
    fn read(self) -> u64 {
        // SAFETY: `new`'s caller vouches for alignment, type and lifetime: the
        // thread whose access this is waits for it in the atomic's method.
        unsafe {
            match self.width {
                Width::One => AtomicU8::from_ptr(self.address).load(Relaxed).into(),
                Width::Four => AtomicU32::from_ptr(self.address.cast())
                    .load(Relaxed)
                    .into(),
                Width::Eight => AtomicU64::from_ptr(self.address.cast()).load(Relaxed),
            }
        }
    }

    fn write(self, value: u64) {
        // SAFETY: as in `read`.
        unsafe {
            match self.width {
                Width::One => AtomicU8::from_ptr(self.address).store(value as u8, Relaxed),
                Width::Four => {
                    AtomicU32::from_ptr(self.address.cast()).store(value as u32, Relaxed);
                }
                Width::Eight => AtomicU64::from_ptr(self.address.cast()).store(value, Relaxed),
            }
        }
    }
}
