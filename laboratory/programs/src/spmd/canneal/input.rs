//! Schedules of annealing, and PARSEC's inputs by name.

use crate::by_name;

by_name! {
    /// The size and schedule of an input that PARSEC publishes. Its netlist is generated, see
    /// [`Netlist::generate`](super::Netlist::generate).
    ///
    /// ```
    /// use manycore_programs::spmd::canneal::CannealInput;
    ///
    /// let input: CannealInput = "simsmall".parse()?;
    /// assert_eq!(input.elements(), 100_000);
    /// assert_eq!(input.schedule().steps(), 32);
    /// # Ok::<(), manycore_programs::UnknownName>(())
    /// ```
    pub enum CannealInput: "canneal has no input", "there are" {
        /// 10 elements, 5 moves.
        Test = "test",
        /// 100 elements, two steps of 100 moves.
        SimDev = "simdev",
        /// 100,000 elements.
        SimSmall = "simsmall",
        /// 200,000 elements.
        SimMedium = "simmedium",
        /// 400,000 elements.
        SimLarge = "simlarge",
        /// 2,500,000 elements, 6,000 steps.
        Native = "native",
    }
}

impl CannealInput {
    /// The number of elements.
    ///
    /// ```
    /// use manycore_programs::spmd::canneal::CannealInput;
    /// assert_eq!(CannealInput::Native.elements(), 2_500_000);
    /// ```
    #[must_use]
    pub fn elements(self) -> usize {
        match self {
            Self::Test => 10,
            Self::SimDev => 100,
            Self::SimSmall => 100_000,
            Self::SimMedium => 200_000,
            Self::SimLarge => 400_000,
            Self::Native => 2_500_000,
        }
    }

    /// The schedule of the annealing.
    ///
    /// ```
    /// use manycore_programs::spmd::canneal::CannealInput;
    /// assert_eq!(CannealInput::SimLarge.schedule().swaps(), 15_000);
    /// ```
    #[must_use]
    pub fn schedule(self) -> Schedule {
        let (swaps, temperature, steps) = match self {
            Self::Test => (5, 100.0, 1),
            Self::SimDev => (100, 300.0, 2),
            Self::SimSmall => (10_000, 2_000.0, 32),
            Self::SimMedium => (15_000, 2_000.0, 64),
            Self::SimLarge => (15_000, 2_000.0, 128),
            Self::Native => (15_000, 2_000.0, 6_000),
        };
        Schedule {
            swaps,
            temperature,
            steps,
        }
    }
}

/// A schedule of annealing: the number of moves in a step, the temperature, and the number of steps.
///
/// ```
/// use manycore_programs::spmd::canneal::Schedule;
///
/// let schedule = Schedule::new(1_000, 300.0, 4)?;
/// assert_eq!(schedule.temperature(0), 200.0);
/// # Ok::<(), manycore_programs::spmd::canneal::InvalidSchedule>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    swaps: usize,
    temperature: f64,
    steps: usize,
}

/// The reason why a schedule is invalid.
///
/// ```
/// use manycore_programs::spmd::canneal::{InvalidSchedule, Schedule};
/// assert_eq!(Schedule::new(0, 300.0, 4), Err(InvalidSchedule::Empty));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSchedule {
    /// No moves or no steps.
    #[error("moves a step, and steps, must each be at least 1")]
    Empty,
    /// The temperature is not a positive number.
    #[error("the temperature must be a positive number, not {0}")]
    Temperature(f64),
}

impl Schedule {
    /// A schedule of `steps` steps with `swaps` moves each. In the first step the temperature is
    /// `temperature / 1.5`.
    ///
    /// # Errors
    ///
    /// If there are no moves or steps, or the temperature is not a positive number.
    ///
    /// ```
    /// use manycore_programs::spmd::canneal::Schedule;
    /// let error = Schedule::new(1, -3.0, 4).unwrap_err();
    /// assert_eq!(error.to_string(), "the temperature must be a positive number, not -3");
    /// ```
    pub fn new(swaps: usize, temperature: f64, steps: usize) -> Result<Self, InvalidSchedule> {
        if swaps == 0 || steps == 0 {
            return Err(InvalidSchedule::Empty);
        }
        if !(temperature.is_finite() && temperature > 0.0) {
            return Err(InvalidSchedule::Temperature(temperature));
        }
        Ok(Self {
            swaps,
            temperature,
            steps,
        })
    }

    /// The moves that all ranks (threads) together try in a step.
    #[must_use]
    pub fn swaps(self) -> usize {
        self.swaps
    }

    /// The number of steps, each at one temperature.
    #[must_use]
    pub fn steps(self) -> usize {
        self.steps
    }

    /// The temperature in a step. Steps are counted from 0. Before each step the temperature is divided by 1.5.
    #[must_use]
    pub fn temperature(self, step: usize) -> f64 {
        self.temperature / 1.5_f64.powf((step + 1) as f64)
    }
}
