//! The result of streamcluster, as plain data.

use super::amount::Scale;
use super::batch::Batch;
use super::search::Claim;
use super::{Streamcluster, StreamclusterProblem};
use manycore_platform::{Atomic, Ordering::Relaxed, Platform};
use std::fmt::Write;

/// A centre, and the weight of its points.
///
/// ```
/// use manycore_programs::spmd::{StreamclusterInput, Streamcluster};
/// use manycore_platform::Native;
///
/// let solution = Streamcluster::<Native>::alone(StreamclusterInput::Test);
/// let weights = solution.centres().iter().map(|centre| centre.weight);
/// assert_eq!(weights.sum::<f32>(), 10.0); // one a point
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Centre {
    /// The index of the point that became a centre. Points are counted in the order at the end of their block's search,
    /// and the lengths of all earlier blocks are added.
    pub id: usize,
    /// The number of points of the stream that the centre represents.
    pub weight: f32,
    /// The coordinates of the centre: the mean of its points.
    pub coordinates: Vec<f32>,
}

/// The result of a finished run, with counts of barriers and of offers (points tried as new centres).
///
/// A solution is plain data, which outlives a simulation: get it inside the simulation and read it outside.
///
/// ```
/// use manycore_programs::spmd::{StreamclusterInput, Streamcluster};
/// use manycore_platform::Native;
///
/// let solution = Streamcluster::<Native>::alone(StreamclusterInput::Test);
/// solution.verify()?;
/// assert_eq!(solution.barrier_waits(), [1_107]);
/// assert_eq!(solution.offers(), 120);
/// # Ok::<(), manycore_programs::spmd::WrongSolution>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    pub(super) problem: StreamclusterProblem,
    pub(super) scale: Scale,
    /// A search for each block, and a last search for the centres of all blocks.
    pub(super) searches: Vec<Found>,
    pub(super) centres: Vec<Centre>,
    pub(super) waits: Vec<u64>,
    pub(super) offers: u64,
}

/// The result of a local search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) claim: Claim,
    pub(super) points: Vec<Served>,
    /// Whether the search has marked the point as a centre.
    pub(super) open: Vec<bool>,
}

/// A point and its centre.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Served {
    pub(super) row: usize,
    pub(super) coordinates: Vec<f32>,
    pub(super) weight: f32,
    pub(super) centre: usize,
    pub(super) cost: i64,
}

impl Found {
    pub(super) fn of<P: Platform>(batch: &Batch<P>, claim: Claim) -> Self {
        let served = |index: usize| {
            let point = &batch.points[index];
            Served {
                row: point.row() as usize,
                coordinates: batch.coordinates()[batch.coordinates_of(index)].to_vec(),
                weight: point.weight(),
                centre: point.centre(),
                cost: point.cost(),
            }
        };
        Self {
            claim,
            points: (0..batch.points.len()).map(served).collect(),
            open: batch.open.iter().map(|open| open.load(Relaxed)).collect(),
        }
    }
}

impl Solution {
    /// How often each rank (thread of the team) has waited at the barrier.
    ///
    /// ```
    /// use manycore_programs::spmd::{StreamclusterInput, Streamcluster};
    /// use manycore_platform::Native;
    ///
    /// let solution = Streamcluster::<Native>::alone(StreamclusterInput::SimDev);
    /// assert_eq!(solution.barrier_waits(), [StreamclusterInput::SimDev.barrier_waits()]);
    /// ```
    #[must_use]
    pub fn barrier_waits(&self) -> &[u64] {
        &self.waits
    }

    /// How often the program has computed the gain from a new centre (calls of `pgain` in PARSEC's program). Each
    /// computation takes nine barriers.
    ///
    /// ```
    /// use manycore_programs::spmd::{StreamclusterInput, Streamcluster};
    /// use manycore_platform::Native;
    ///
    /// let solution = Streamcluster::<Native>::alone(StreamclusterInput::SimDev);
    /// assert_eq!(solution.offers(), StreamclusterInput::SimDev.offers());
    /// ```
    #[must_use]
    pub fn offers(&self) -> u64 {
        self.offers
    }

    /// The centres.
    ///
    /// ```
    /// use manycore_programs::spmd::{StreamclusterInput, Streamcluster};
    /// use manycore_platform::Native;
    ///
    /// let solution = Streamcluster::<Native>::alone(StreamclusterInput::Test);
    /// assert!((2..=5).contains(&solution.centres().len()));
    /// ```
    #[must_use]
    pub fn centres(&self) -> &[Centre] {
        &self.centres
    }

    /// The cost of the clustering. Each point of each search costs its weight times its squared distance from its
    /// centre. This is the sum of these costs.
    ///
    /// ```
    /// use manycore_programs::spmd::{StreamclusterInput, Streamcluster};
    /// use manycore_platform::Native;
    ///
    /// let solution = Streamcluster::<Native>::alone(StreamclusterInput::Test);
    /// assert!((0.0..10.0).contains(&solution.cost()));
    /// ```
    #[must_use]
    pub fn cost(&self) -> f64 {
        let points = self.searches.iter().flat_map(|found| &found.points);
        self.scale.cost(points.map(|point| point.cost).sum())
    }

    /// The centres as text, with the same bytes as in the output file of PARSEC's program. A centre has a line with the
    /// number, a line with the weight, a line with the coordinates, each followed by a space, and an empty line.
    ///
    /// ```
    /// use manycore_programs::spmd::{StreamclusterInput, Streamcluster};
    /// use manycore_platform::Native;
    ///
    /// let solution = Streamcluster::<Native>::alone(StreamclusterInput::Test);
    /// let lines = solution.output().lines().count();
    /// assert_eq!(lines, 4 * solution.centres().len());
    /// ```
    #[must_use]
    pub fn output(&self) -> String {
        let mut text = String::new();
        for centre in &self.centres {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{}\n{:.6}", centre.id, centre.weight);
            for coordinate in &centre.coordinates {
                let _ = write!(text, "{coordinate:.6} ");
            }
            text.push_str("\n\n");
        }
        text
    }

    /// The 64-bit FNV-1a hash of [`output`](Self::output). It is the same on every platform and for
    /// any number of ranks.
    ///
    /// ```
    /// use manycore_programs::spmd::{StreamclusterInput, Streamcluster};
    /// use manycore_platform::Native;
    ///
    /// let hash = |input| Streamcluster::<Native>::alone(input).hash();
    /// assert_eq!(hash(StreamclusterInput::Test), hash(StreamclusterInput::Test));
    /// assert_ne!(hash(StreamclusterInput::Test), hash(StreamclusterInput::SimDev));
    /// ```
    #[must_use]
    pub fn hash(&self) -> u64 {
        let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.output().bytes().fold(0xcbf2_9ce4_8422_2325, step)
    }
}

/// The error if some ranks have not run to the end.
///
/// ```
/// use manycore_programs::spmd::{StreamclusterInput, NotFinished, Streamcluster};
/// use manycore_platform::Native;
///
/// let program = Streamcluster::<Native>::new(StreamclusterInput::Test, 4)?;
/// assert_eq!(program.solution(), Err(NotFinished { missing: 4 }));
/// # Ok::<(), manycore_programs::spmd::InvalidStreamcluster>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{missing} ranks of streamcluster have not run to the end")]
pub struct NotFinished {
    /// The number of ranks that have not run to the end.
    pub missing: usize,
}

impl<P: Platform> Streamcluster<P> {
    /// The result, after all ranks have run.
    ///
    /// On a simulated chip this call reads the shared tables, which takes simulated time. To time the run, read the
    /// clock before the call.
    ///
    /// # Errors
    ///
    /// [`NotFinished`].
    ///
    /// ```
    /// use manycore_programs::spmd::{StreamclusterInput, Streamcluster};
    /// use manycore_platform::Native;
    ///
    /// let program = Streamcluster::<Native>::new(StreamclusterInput::Test, 1)?;
    /// program.run(0, &mut || ()); // a rank alone does not wait
    /// program.solution()?.verify()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solution(&self) -> Result<Solution, NotFinished> {
        let waits: Vec<u64> = self
            .ends
            .iter()
            .filter_map(|end| end.get().copied())
            .collect();
        let missing = self.ends.len() - waits.len();
        // Rank 0's number of waits is set, and rank 0 set `end` before that number.
        let Some(end) = self.end.get().filter(|_| missing == 0) else {
            return Err(NotFinished { missing });
        };
        let batches = self.batches.iter().filter_map(|batch| batch.get());
        let searches = batches.zip(&end.claims);
        Ok(Solution {
            problem: self.problem,
            scale: Scale::of(&self.problem),
            searches: searches
                .map(|(batch, &claim)| Found::of(batch, claim))
                .collect(),
            centres: end.centres.clone(),
            waits,
            offers: end.offers,
        })
    }
}
