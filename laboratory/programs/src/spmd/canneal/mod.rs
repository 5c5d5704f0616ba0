//! PARSEC's canneal: simulated annealing places the elements of a chip so that the wires between
//! them are short.
//!
//! Elements begin at random places. A move draws two elements at random. If an exchange of their places shortens the
//! wires, the program makes the exchange. Otherwise it makes the exchange with a probability that falls with the added
//! length and rises with the temperature. Before each step the temperature is divided by 1.5. All ranks (threads of the
//! team) move elements of the same chip at the same time, without locks. (Banerjee, Jones and Sargent, "Parallel
//! simulated annealing algorithms for cell placement on hypercube multiprocessors", 1990.)
//!
//! | file | what |
//! |---|---|
//! | `netlist`, `format` | elements and wires: how they are made, read and written |
//! | `locations` | the places of the elements, and the exchange of two places |
//! | `anneal` | the moves |
//! | `input`, `declared` | PARSEC's inputs; the work of a run, without its data |
//! | `verify` | whether all elements have a place, and the length of the wires |
//!
//! # Differences from PARSEC
//!
//! PARSEC 3.0's program has the same numbers of elements, moves, steps and temperatures, the same cooling and the same
//! rule for accepting a move. In both programs the second element of a move is the first element of the next move, and
//! a step has one barrier. The differences:
//!
//! * PARSEC publishes only its small netlists as text. This program generates netlists in the same format, see
//!   [`Netlist::generate`].
//! * In PARSEC's program each thread has a generator of random numbers, so the moves depend on the number of threads.
//!   Here each grain (indivisible part) of each step has a generator, so the drawn moves are the same for any number of
//!   ranks. The effects of the moves depend on which rank moved an element first. On one rank, and on a simulated chip,
//!   a run is deterministic.
//! * The exchange of two places never waits, see `locations`.
//! * A move is given up if another move has taken one of its elements.

mod anneal;
mod declared;
mod format;
mod input;
mod locations;
mod netlist;
#[cfg(test)]
mod tests;
mod verify;

pub use declared::CannealPhases;
pub use format::ReadError;
pub use input::{CannealInput, InvalidSchedule, Schedule};
pub use netlist::{InvalidNetlist, Netlist};

use super::{Program, Verified, Worksharing, WrongAnswer};
use anneal::{Annealing, Tally};
use locations::{Locations, Place};
use manycore_platform::{Atomic, Ordering::Relaxed, Platform};
use std::ops::Range;

/// The program: anneals a netlist.
///
/// ```
/// use manycore_programs::spmd::canneal::{Canneal, CannealInput};
/// use manycore_programs::spmd::{Alone, Program, Ranked, Sums};
/// use manycore_platform::Native;
///
/// let program = Canneal::<Native>::of(CannealInput::SimDev);
/// let (mut alone, sums) = (Alone, Sums::new(program.grains()));
/// // SAFETY: a team of one rank, with its own sums.
/// unsafe { program.run(&mut Ranked::<Native>::new(&mut alone, &sums)) };
/// println!("{}", program.verify()?);
/// # Ok::<(), manycore_programs::spmd::WrongAnswer>(())
/// ```
pub struct Canneal<P: Platform> {
    netlist: Netlist,
    schedule: Schedule,
    seed: u64,
    locations: Locations<P>,
    /// The places before the run.
    start: Vec<Place>,
    /// For each step, the number of moves that changed places.
    made: Box<[P::AtomicU64]>,
}

/// The seed of the named inputs.
const SEED: u64 = 1;

impl<P: Platform> Canneal<P> {
    /// Anneals a generated netlist of the size of a PARSEC input.
    ///
    /// ```
    /// use manycore_programs::spmd::canneal::{Canneal, CannealInput};
    /// use manycore_platform::Native;
    ///
    /// assert_eq!(Canneal::<Native>::of(CannealInput::Test).netlist().wires(), 30);
    /// ```
    #[must_use]
    #[expect(
        clippy::missing_panics_doc,
        reason = "PARSEC's inputs are neither empty nor too large"
    )]
    pub fn of(input: CannealInput) -> Self {
        let netlist = Netlist::generate(input.elements(), SEED);
        let netlist = netlist.expect("PARSEC's inputs are neither empty nor too large");
        Self::new(netlist, input.schedule(), SEED)
    }

    /// Places the elements of a netlist at random. The run anneals them by this schedule.
    ///
    /// ```
    /// use manycore_programs::spmd::canneal::{Canneal, Netlist, Schedule};
    /// use manycore_platform::Native;
    ///
    /// let netlist = Netlist::generate(50, 7)?;
    /// let program = Canneal::<Native>::new(netlist, Schedule::new(100, 50.0, 3)?, 7);
    /// assert_eq!(program.cost(), program.cost_at_start());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(netlist: Netlist, schedule: Schedule, seed: u64) -> Self {
        let mut places: Vec<Place> = (0..netlist.columns * netlist.rows)
            .map(|place| Place {
                x: place % netlist.columns,
                y: place / netlist.columns,
            })
            .collect();
        fastrand::Rng::with_seed(seed).shuffle(&mut places);
        places.truncate(netlist.elements());
        Self {
            locations: Locations::new(places.iter().copied()),
            start: places,
            made: (0..schedule.steps()).map(|_| Atomic::new(0)).collect(),
            netlist,
            schedule,
            seed,
        }
    }

    /// The program's phases.
    ///
    /// ```
    /// use manycore_programs::spmd::canneal::{Canneal, CannealPhases, CannealInput};
    /// use manycore_platform::Native;
    ///
    /// let program = Canneal::<Native>::of(CannealInput::SimDev);
    /// assert_eq!(program.declaration(), CannealPhases::of(CannealInput::SimDev));
    /// ```
    #[must_use]
    pub fn declaration(&self) -> CannealPhases {
        CannealPhases::with(&self.netlist, self.schedule)
    }

    /// The netlist.
    #[must_use]
    pub fn netlist(&self) -> &Netlist {
        &self.netlist
    }

    /// Tries the moves of one grain of a step.
    fn moves(&self, step: usize, moves: Range<usize>) -> Tally {
        let random = anneal::random(self.seed, step, moves.start);
        let temperature = self.schedule.temperature(step);
        Annealing::new(&self.netlist, &self.locations, temperature, random).run(moves.len())
    }
}

impl<P: Platform> Program for Canneal<P> {
    fn grains(&self) -> usize {
        let phase = self.declaration().phase();
        phase.items.div_ceil(phase.grain)
    }

    unsafe fn run(&self, sharing: &mut dyn Worksharing) {
        let phase = self.declaration().phase();
        for (step, made) in self.made.iter().enumerate() {
            let sum = sharing.sum(&phase, &|moves| self.moves(step, moves).made as f64);
            // Relaxed: all ranks store the same value.
            made.store(sum as u64, Relaxed);
        }
    }

    fn verify(&self) -> Result<Verified, WrongAnswer> {
        self.check()?;
        let made: u64 = self.made.iter().map(|made| made.load(Relaxed)).sum();
        let tried = self.schedule.swaps() * self.schedule.steps();
        Ok(Verified(format!(
            "routing cost {} from {}, {made} of {tried} moves made",
            self.cost(),
            self.cost_at_start(),
        )))
    }
}
