//! Kinds of work of instructions, and counts by kind.

use super::instruction::Kind;
use std::ops::{AddAssign, Index, IndexMut};

/// The kind of an instruction's work.
///
/// ```
/// use manycore_riscv::Class;
///
/// assert_eq!(Class::ALL.len(), 10);
/// assert_eq!(Class::Load.label(), "load");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Integer arithmetic, except multiplication and division.
    Integer,
    /// Integer multiplication.
    Multiply,
    /// Integer division and remainder.
    Divide,
    /// Floating point, except loads and stores.
    Float,
    /// Loads, including floating-point loads.
    Load,
    /// Stores, including floating-point stores.
    Store,
    /// Atomic operations, and pairs of `lr` and `sc`.
    Atomic,
    /// Conditional branches.
    Branch,
    /// Jumps, calls and returns.
    Jump,
    /// System calls, fences, accesses to control registers, hints, and marks of regions.
    System,
}

impl Class {
    /// All kinds, in the order of reports.
    pub const ALL: [Self; 10] = [
        Self::Integer,
        Self::Multiply,
        Self::Divide,
        Self::Float,
        Self::Load,
        Self::Store,
        Self::Atomic,
        Self::Branch,
        Self::Jump,
        Self::System,
    ];

    /// The kind's name in reports.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Multiply => "multiply",
            Self::Divide => "divide",
            Self::Float => "float",
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic",
            Self::Branch => "branch",
            Self::Jump => "jump",
            Self::System => "system",
        }
    }
}

impl Kind {
    /// The kind of the instruction's work.
    pub(crate) fn class(self) -> Class {
        use Kind::*;
        let within = |first: Self, last: Self| (first as u8..=last as u8).contains(&(self as u8));
        match self {
            Lb | Lh | Lw | Ld | Lbu | Lhu | Lwu | Flw | Fld => Class::Load,
            Sb | Sh | Sw | Sd | Fsw | Fsd => Class::Store,
            Beq | Bne | Blt | Bge | Bltu | Bgeu => Class::Branch,
            Jal | Jalr => Class::Jump,
            Mul | Mulh | Mulhsu | Mulhu | Mulw => Class::Multiply,
            Div | Divu | Rem | Remu | Divw | Divuw | Remw | Remuw => Class::Divide,
            _ if within(LrW, AmomaxuD) => Class::Atomic,
            _ if within(Fence, Ebreak) || within(Csrrw, Csrrci) || within(Pause, Next) => {
                Class::System
            }
            _ if within(Flw, FcvtDS) => Class::Float,
            _ => Class::Integer,
        }
    }
}

/// Numbers of instructions by the kind of their work.
///
/// ```
/// use manycore_riscv::{Class, Mix};
///
/// let mut mix = Mix::default();
/// mix[Class::Load] += 3;
/// mix[Class::Store] += 1;
/// assert_eq!(mix.sum(), 4);
/// assert_eq!(mix.iter().filter(|(_, count)| *count > 0).count(), 2);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mix([u64; Class::ALL.len()]);

impl Mix {
    /// The number of instructions of all kinds.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Kinds and their numbers, in the order of [`Class::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Class, u64)> {
        Class::ALL.into_iter().zip(self.0)
    }
}

impl Index<Class> for Mix {
    type Output = u64;

    fn index(&self, class: Class) -> &u64 {
        &self.0[class as usize]
    }
}

impl IndexMut<Class> for Mix {
    fn index_mut(&mut self, class: Class) -> &mut u64 {
        &mut self.0[class as usize]
    }
}

impl AddAssign for Mix {
    fn add_assign(&mut self, other: Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum += more;
        }
    }
}
