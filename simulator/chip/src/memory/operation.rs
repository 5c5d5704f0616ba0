//! The effect of an access on its word.

use crate::config;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// An operation on one word. Operands of all widths are `u64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Fetches the line for reading, without an access to a word.
    TouchRead,
    /// Fetches the line for writing, without an access to a word.
    TouchWrite,
    /// Like [`Operation::TouchWrite`], for a write of the whole line, so the line's old data need not be read.
    TouchFill,
    /// Reads the word.
    Load,
    /// Reads the word, and reserves it for the core: the load of an LL/SC pair.
    LoadReserved,
    /// Writes the word.
    Store(u64),
    /// Writes the word and reads its previous value.
    Swap(u64),
    /// Writes the word if it is `current`.
    CompareExchange {
        /// The value that the word must have.
        current: u64,
        /// The value that the word becomes.
        new: u64,
    },
    /// Adds to the word.
    Add(u64),
    /// Bitwise and with the operand.
    And(u64),
    /// Bitwise or with the operand.
    Or(u64),
    /// Exclusive or with the operand.
    Xor(u64),
    /// The lesser of word and operand as signed numbers.
    Min(u64),
    /// The greater of word and operand as signed numbers.
    Max(u64),
    /// The lesser of word and operand.
    MinUnsigned(u64),
    /// The greater of word and operand.
    MaxUnsigned(u64),
    /// The store of an LL/SC pair, with the operation of the pair. The store is done only if the tile (the hardware
    /// threads that share an L1) still has the line, and if no other core has written a word that
    /// [`Operation::LoadReserved`] has reserved.
    Conditional(Rmw),
    /// Like [`Operation::Conditional`], for a pair that has failed too often. The tile may have lost the line.
    Persistent(Rmw),
}

/// The read-modify-write operations, for an LL/SC pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rmw {
    /// As [`Operation::Swap`].
    Swap(u64),
    /// As [`Operation::CompareExchange`].
    CompareExchange {
        /// The expected value of the word.
        current: u64,
        /// The value that the word becomes.
        new: u64,
    },
    /// As [`Operation::Add`].
    Add(u64),
    /// As [`Operation::And`].
    And(u64),
    /// As [`Operation::Or`].
    Or(u64),
}

impl Rmw {
    /// Whether the operation writes a word with this value.
    pub(super) fn writes(self, value: u64) -> bool {
        !matches!(self, Self::CompareExchange { current, .. } if current != value)
    }

    /// The operation that does an LL/SC pair as one access.
    ///
    /// ```
    /// use manycore_chip::guest::{Operation, Rmw};
    ///
    /// assert_eq!(Rmw::Add(1).operation(), Operation::Add(1));
    /// ```
    #[must_use]
    pub fn operation(self) -> Operation {
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
    /// Whether the operation writes nothing, so that a shared copy of the line is enough.
    ///
    /// ```
    /// use manycore_chip::guest::Operation;
    ///
    /// assert!(Operation::LoadReserved.reads_only());
    /// assert!(!Operation::Add(0).reads_only());
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn reads_only(self) -> bool {
        matches!(self, Self::Load | Self::LoadReserved | Self::TouchRead)
    }

    /// Whether the operation reads and writes the word.
    #[inline(always)]
    pub(crate) fn is_read_modify_write(self) -> bool {
        !matches!(
            self,
            Self::Load
                | Self::LoadReserved
                | Self::Store(_)
                | Self::TouchRead
                | Self::TouchWrite
                | Self::TouchFill
        )
    }

    /// The cycles of the operation in addition to the cycles for its line: E(A) in [`config::Atomics`].
    #[inline]
    pub(crate) fn execution(self, costs: &config::Atomics) -> u64 {
        match self {
            Self::Load | Self::LoadReserved | Self::Store(_) => 0,
            Self::TouchRead | Self::TouchWrite | Self::TouchFill => 0,
            Self::Swap(_) => costs.swap,
            Self::CompareExchange { .. } => costs.cas,
            // On these machines, test-and-set is an `or` that sets a bit.
            Self::Or(_) | Self::And(_) | Self::Xor(_) => costs.tas,
            Self::Add(_) | Self::Min(_) | Self::Max(_) => costs.faa,
            Self::MinUnsigned(_) | Self::MaxUnsigned(_) => costs.faa,
            Self::Conditional(rmw) | Self::Persistent(rmw) => rmw.operation().execution(costs),
        }
    }
}

/// A word of host memory that a simulated core accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    address: *mut u8,
    width: Width,
}

/// The width of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 8 bits.
    One,
    /// 16 bits.
    Two,
    /// 32 bits.
    Four,
    /// 64 bits.
    Eight,
}

impl Width {
    /// The number of bytes.
    ///
    /// ```
    /// assert_eq!(manycore_chip::guest::Width::Four.bytes(), 4);
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// Converts a word to a signed number.
    fn signed(self, value: u64) -> i64 {
        let above = 64 - 8 * self.bytes() as u32;
        (value << above) as i64 >> above
    }
}

impl Word {
    /// The word of `width` bytes at `address`.
    ///
    /// # Safety
    ///
    /// The address is aligned to the width, and belongs to an atomic that lives until the access is
    /// done.
    pub(crate) unsafe fn new(address: *mut u8, width: Width) -> Self {
        Self { address, width }
    }

    pub(crate) fn none() -> Self {
        Self {
            address: std::ptr::null_mut(),
            width: Width::One,
        }
    }

    /// Reads the value outside of simulated time.
    pub(crate) fn peek(self) -> u64 {
        self.read()
    }

    /// The eight aligned bytes of host memory with the word.
    #[inline(always)]
    pub(super) fn place(self) -> usize {
        self.address as usize >> 3
    }

    /// Does `operation` and returns the previous value.
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
            Operation::Xor(value) => old ^ value,
            Operation::Min(value) | Operation::Max(value) => {
                let less = self.width.signed(value) < self.width.signed(old);
                let min = matches!(operation, Operation::Min(_));
                if less == min { value } else { old }
            }
            Operation::MinUnsigned(value) => old.min(value),
            Operation::MaxUnsigned(value) => old.max(value),
            Operation::Conditional(rmw) | Operation::Persistent(rmw) => {
                return self.apply(rmw.operation());
            }
            _ => return old,
        };
        self.write(new);
        old
    }

    /// Reads the word. All simulated cores of a chip run on one host thread, so a load and a store together are
    /// indivisible. Both are relaxed atomic accesses because other host threads may read the memory after the run.
    fn read(self) -> u64 {
        // SAFETY: the caller of `new` promises the alignment, the type and the lifetime. The memory lives because the
        // accessing thread waits in the atomic's method.
        unsafe {
            match self.width {
                Width::One => AtomicU8::from_ptr(self.address).load(Relaxed).into(),
                Width::Two => AtomicU16::from_ptr(self.address.cast())
                    .load(Relaxed)
                    .into(),
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
                Width::Two => {
                    AtomicU16::from_ptr(self.address.cast()).store(value as u16, Relaxed);
                }
                Width::Four => {
                    AtomicU32::from_ptr(self.address.cast()).store(value as u32, Relaxed);
                }
                Width::Eight => AtomicU64::from_ptr(self.address.cast()).store(value, Relaxed),
            }
        }
    }
}
