//! The work of a run of canneal, without its netlist.

use super::netlist::{InvalidNetlist, Netlist, generated_wires};
use super::{CannealInput, Schedule};
use crate::spmd::{Cost, Declaration, Phase, Preparation};

/// Instructions of a move without its wires: two random numbers, a temperature's exponential for a
/// move uphill, an exchange of places. This and the next constant are callgrind's counts in a run
/// of `simsmall`, built for x86-64 with optimisation.
const MOVE: f64 = 187.0;
/// Instructions for an end of a wire: the two lengths it has, before and after.
const END: f64 = 38.0;
/// Instructions of reading an element's line and placing it, as callgrind counts them between
/// netlists of 20,000 and 40,000 elements; bytes of that line in a netlist of 2,500,000 (of 20,000
/// they are 32).
const READ: f64 = 5_079.0;
const LINE_OF_FILE: f64 = 40.2;
/// A word that is somewhere at random costs a line.
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
    /// With a generated netlist of the input's size.
    #[must_use]
    pub fn of(input: CannealInput) -> Self {
        Self {
            elements: input.elements(),
            wires: generated_wires(input.elements()),
            schedule: input.schedule(),
        }
    }

    /// With a generated netlist of `elements` elements.
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

    /// With this netlist.
    pub(super) fn with(netlist: &Netlist, schedule: Schedule) -> Self {
        Self {
            elements: netlist.elements(),
            wires: netlist.wires(),
            schedule,
        }
    }

    /// Ends of wires that a move looks at: those at two elements, drawn from all with the
    /// same chance, and each wire ends at two.
    #[must_use]
    pub fn ends_a_move(&self) -> f64 {
        4.0 * self.wires as f64 / self.elements as f64
    }

    /// All moves of a step.
    pub(super) fn phase(&self) -> Phase {
        let swaps = self.schedule.swaps();
        let ends = self.ends_a_move();
        // For each of two elements: the bounds of its list, half a line of the list for every eight
        // ends and a line to begin with, its place, read and written back; and the place of the
        // element at the other end of each wire.
        let lines = 2.0 * (1.0 + 1.0 + 2.0) + ends / 16.0 + ends;
        Phase {
            name: "canneal moves",
            items: swaps,
            // Some 0.1 us to 1 us each; and there are grains for sixteen ranks if there
            // are moves.
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
