//! The work of a run of canneal, computed without the netlist.

use super::netlist::{InvalidNetlist, Netlist, generated_wires};
use super::{CannealInput, Schedule};
use crate::spmd::{Cost, Declaration, Phase, Preparation};

/// Instructions of a move without its wires: two random numbers, the exponential for a move that lengthens wires, an
/// exchange of places. Callgrind counted this and the next constant in a run of `simsmall`, on optimised x86-64.
const MOVE: f64 = 187.0;
/// Instructions for an end of a wire: its lengths before and after the move.
const END: f64 = 38.0;
/// Instructions to read and place an element, from the difference between 20,000 and 40,000 elements under callgrind.
/// The next constant is the bytes of an element's line in a file of 2,500,000 elements (32 in a file of 20,000).
const READ: f64 = 5_079.0;
const LINE_OF_FILE: f64 = 40.2;
/// Bytes to read a word at a random place: a cache line.
const LINE: f64 = 64.0;

/// The phases of canneal for a netlist of some size.
///
/// ```
/// use manycore_programs::spmd::Declaration;
/// use manycore_programs::spmd::canneal::{CannealPhases, CannealInput};
///
/// let native = CannealPhases::of(CannealInput::Native);
/// assert_eq!((native.steps(), native.step()[0].items), (6_000, 15_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CannealPhases {
    elements: usize,
    wires: usize,
    schedule: Schedule,
}

impl CannealPhases {
    /// The phases for a generated netlist of the input's size.
    #[must_use]
    pub fn of(input: CannealInput) -> Self {
        Self {
            elements: input.elements(),
            wires: generated_wires(input.elements()),
            schedule: input.schedule(),
        }
    }

    /// The phases for a generated netlist of `elements` elements.
    ///
    /// # Errors
    ///
    /// As [`Netlist::generate`].
    ///
    /// ```
    /// use manycore_programs::spmd::canneal::{CannealPhases, Schedule};
    ///
    /// let declared = CannealPhases::generated(1_000_000, Schedule::new(1_000, 10.0, 2)?)?;
    /// assert_eq!(declared.ends_a_move(), 12.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn generated(elements: usize, schedule: Schedule) -> Result<Self, InvalidNetlist> {
        Netlist::counts(elements)?;
        Ok(Self {
            elements,
            wires: generated_wires(elements),
            schedule,
        })
    }

    /// The phases for this netlist.
    pub(super) fn with(netlist: &Netlist, schedule: Schedule) -> Self {
        Self {
            elements: netlist.elements(),
            wires: netlist.wires(),
            schedule,
        }
    }

    /// The mean number of ends of wires that a move looks at. A move draws two elements, all with equal chance, and
    /// each wire has two ends.
    #[must_use]
    pub fn ends_a_move(&self) -> f64 {
        4.0 * self.wires as f64 / self.elements as f64
    }

    /// The phase of all moves of a step.
    pub(super) fn phase(&self) -> Phase {
        let swaps = self.schedule.swaps();
        let ends = self.ends_a_move();
        // Each of two elements takes a line for the bounds of its list, one for the list's start, half a line for every
        // eight ends, and two for its place, which is read and written. Each end takes a line for the other element's
        // place.
        let lines = 2.0 * (1.0 + 1.0 + 2.0) + ends / 16.0 + ends;
        Phase {
            name: "canneal moves",
            items: swaps,
            // A move takes 0.1 us to 1 us. From 16 moves on there are at least 16 grains.
            grain: (swaps / 16).clamp(1, 16),
            cost: Cost {
                instructions: MOVE + END * ends,
                bytes: LINE * lines,
            },
        }
    }
}

impl Declaration for CannealPhases {
    /// Reads the netlist.
    fn preparation(&self) -> Preparation {
        Preparation {
            file_bytes: LINE_OF_FILE * self.elements as f64,
            instructions: READ * self.elements as f64,
        }
    }

    fn step(&self) -> Vec<Phase> {
        vec![self.phase()]
    }

    fn steps(&self) -> usize {
        self.schedule.steps()
    }
}
