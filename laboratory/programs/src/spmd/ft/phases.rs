//! The phases of FT, without the program's data.

use super::fft::{Fft, LANES};
use crate::spmd::{Class, Cost, Declaration, Phase, Preparation};

/// Instructions to make a number, from the difference between classes S and W under callgrind, on optimised x86-64.
const MAKE: f64 = 35.4;

/// A class' box of numbers and its iterations.
#[derive(Clone, Copy, Debug)]
pub(super) struct FtSize {
    /// Sides along x, y and z. Numbers along x are neighbours in memory.
    pub(super) sides: [usize; 3],
    pub(super) iterations: usize,
}

impl FtSize {
    /// The constants of RNR-94-007 and of NPB.
    pub(super) fn of(class: Class) -> Self {
        let (sides, iterations) = match class {
            Class::S => ([64, 64, 64], 6),
            Class::W => ([128, 128, 32], 6),
            Class::A => ([256, 256, 128], 6),
            Class::B => ([512, 256, 256], 20),
            Class::C => ([512, 512, 512], 20),
        };
        Self { sides, iterations }
    }

    pub(super) fn numbers(&self) -> usize {
        self.sides.iter().product()
    }
}

/// The phases that [`Ft`](super::Ft) runs.
///
/// An item is eight series of numbers along an axis. A grain (call of a body) is one item.
///
/// # How costs are counted
///
/// *Instructions*: each floating-point operation, load or store of one number counts as one, as in code without
/// vectors. *Bytes*: a complex number has 16. A read transfers a number once. A write transfers it twice, whether or
/// not the number is also read. Tables, and the series under transformation, are in caches.
///
/// Class S has 232 million instructions. The x86-64 code executes 205 million by callgrind, since it has vectors of two
/// numbers, but moves more data.
///
/// ```
/// use manycore_programs::spmd::{Class, Declaration, FtPhases};
///
/// let ft = FtPhases::of(Class::C);
/// assert_eq!((ft.step().len(), ft.steps()), (3, 20));
/// // A step transfers 15 GB: 6.4 GB in its first phase, 4.3 GB in each of the others.
/// assert_eq!(ft.step()[1].bytes(), f64::from(1 << 27) * 32.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FtPhases {
    pub(super) size: FtSize,
}

impl FtPhases {
    /// The phases of a class.
    #[must_use]
    pub fn of(class: Class) -> Self {
        let size = FtSize::of(class);
        Self { size }
    }

    /// Multiplies the state for the iteration, and transforms the product back along x.
    pub(super) fn evolve(&self) -> Phase {
        // The item's factor is loaded and multiplied by the line's factor. Both parts of the complex
        // number are multiplied by the product.
        self.along(0, "ft evolve", 4.0, 16.0 + 32.0)
    }

    pub(super) fn back_along_y(&self) -> Phase {
        self.along(1, "ft back along y", 0.0, 32.0)
    }

    /// Transforms along z, and copies the numbers of the checksum.
    pub(super) fn back_along_z(&self) -> Phase {
        self.along(2, "ft back along z", 0.0, 32.0)
    }

    /// Transforms along an axis. Each number takes `instructions` in addition to the transform, and transfers `bytes`.
    fn along(&self, axis: usize, name: &'static str, instructions: f64, bytes: f64) -> Phase {
        // Two loads and two stores to copy a number into a row, and again to copy it back.
        const MOVED: f64 = 2.0 * 4.0;
        let length = self.size.sides[axis];
        let numbers = (LANES * length) as f64;
        Phase {
            name,
            items: self.size.numbers() / length / LANES,
            // A grain takes 3 us in the smallest class, and 20 us in class C.
            grain: 1,
            cost: Cost {
                instructions: numbers * (instructions + MOVED)
                    + LANES as f64 * Fft::operations(length),
                bytes: numbers * bytes,
            },
        }
    }
}

impl Declaration for FtPhases {
    /// Draws the initial state.
    fn preparation(&self) -> Preparation {
        Preparation {
            file_bytes: 0.0,
            instructions: MAKE * self.size.numbers() as f64,
        }
    }

    /// The transform of the initial state.
    fn before(&self) -> Vec<Phase> {
        let names = ["ft along x", "ft along y", "ft along z"];
        let phase = |axis: usize| self.along(axis, names[axis], 0.0, 32.0);
        (0..3).map(phase).collect()
    }

    fn step(&self) -> Vec<Phase> {
        vec![self.evolve(), self.back_along_y(), self.back_along_z()]
    }

    fn steps(&self) -> usize {
        self.size.iterations
    }
}
