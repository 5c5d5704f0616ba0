//! PARSEC's streamcluster: a program that divides a stream of points into clusters, block by block.
//!
//! For each block of points the ranks (the threads of the team) together search for centres. The number of centres has
//! limits, and the sum of squared distances from the points to their centres should be small. The centres then replace
//! the block. Each centre has the total weight of its points. At the end the program clusters the centres of all blocks
//! in the same way (Guha, Mishra, Motwani and O'Callaghan, "Clustering data streams", 2000; O'Callaghan et al.,
//! "Streaming-data algorithms for high-quality clustering", 2002).
//!
//! | file | what |
//! |---|---|
//! | `stream` | reads a block; makes centres from a clustering |
//! | `search` | the search of a block: bisection of the price of a centre, a random first clustering, offers |
//! | `gain` | an *offer*: the gain from one new centre, and from closing others |
//! | `rank`, `gate` | a thread of the team; how the others wait for rank 0 |
//! | `batch`, `scratch` | the shared tables |
//! | `amount` | costs as integers |
//!
//! # Differences from PARSEC
//!
//! The algorithm, its constants, its random numbers and its barriers are those of PARSEC 3.0's program. Each rank waits
//! at the barrier as often as in PARSEC's program ([`StreamclusterInput::barrier_waits`]). For inputs with a known
//! output of PARSEC's program, every byte of the output is the same. The differences:
//!
//! * Costs are integers of a small unit, so sums do not depend on the order of addition. The output
//!   is the same for any number of ranks, and verification is exact.
//! * PARSEC's program starts and joins its threads for each search. Here one team runs to the end. It waits at a gate
//!   while rank 0 reads a block or makes centres. The gate also replaces the condition variable of PARSEC's program.
//!   Waits at the gate do not count as barriers.
//! * Tables are atomic, with relaxed accesses. If a faulty barrier lets a rank pass early, results are wrong or a rank
//!   panics, but there is no undefined behaviour.
//! * In PARSEC's program each block after the first begins in the order to which the last block was shuffled. Here each
//!   block begins in the order of the stream. The named inputs have one block.
//!
//! # On a simulated chip
//!
//! The program announces each read of a coordinate, and accesses shared tables word by word. It
//! declares instructions for each point, coordinate and rank.

mod amount;
mod batch;
#[cfg(test)]
mod brute;
mod gain;
mod gate;
mod input;
mod random;
mod rank;
#[cfg(test)]
mod schedules;
mod scratch;
mod search;
mod solution;
mod stream;
#[cfg(test)]
mod tests;
mod verify;

pub use input::{InvalidStreamcluster, StreamclusterInput, StreamclusterProblem};
pub use solution::{Centre, NotFinished, Solution};
pub use verify::WrongSolution;

use batch::Batch;
use gain::{Exact, Reckoning};
use gate::Gate;
use manycore_platform::Platform;
use rank::Rank;
use search::{Claim, Search};
use std::sync::OnceLock;
use stream::{Block, consolidate};

/// The program for a team of ranks.
///
/// ```
/// use manycore_programs::spmd::{StreamclusterInput, Streamcluster};
/// use manycore_platform::Native;
/// use std::sync::Barrier;
///
/// let program = Streamcluster::<Native>::new(StreamclusterInput::Test, 3)?;
/// let barrier = Barrier::new(3);
/// std::thread::scope(|scope| {
///     for rank in 0..3 {
///         let (program, barrier) = (&program, &barrier);
///         scope.spawn(move || {
///             program.run(rank, &mut || {
///                 barrier.wait();
///             });
///         });
///     }
/// });
/// let solution = program.solution()?;
/// solution.verify()?;
/// assert_eq!(solution.barrier_waits(), [StreamclusterInput::Test.barrier_waits(); 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Streamcluster<P: Platform> {
    problem: StreamclusterProblem,
    ranks: usize,
    gate: Gate<P>,
    /// The batches (the shared tables of a search): one for each block, then one for the centres of all blocks. Rank 0
    /// makes each batch before it opens the gate.
    batches: Vec<OnceLock<Batch<P>>>,
    /// How often each finished rank has waited at the barrier.
    ends: Vec<OnceLock<u64>>,
    end: OnceLock<StreamclusterEnd>,
}

/// The results that rank 0 publishes.
struct StreamclusterEnd {
    centres: Vec<Centre>,
    claims: Vec<Claim>,
    offers: u64,
}

/// The most ranks: more than any machine has cores.
const MOST_RANKS: usize = 1 << 16;

impl<P: Platform> Streamcluster<P> {
    /// Makes the program for a [`StreamclusterInput`] or a [`StreamclusterProblem`] and a team of
    /// `ranks` ranks.
    ///
    /// # Errors
    ///
    /// [`InvalidStreamcluster::Ranks`] if `ranks` is 0 or more than 65,536.
    ///
    /// ```
    /// use manycore_programs::spmd::{StreamclusterInput, InvalidStreamcluster, Streamcluster};
    /// use manycore_platform::Native;
    ///
    /// assert!(Streamcluster::<Native>::new(StreamclusterInput::Test, 64).is_ok());
    /// let nobody = Streamcluster::<Native>::new(StreamclusterInput::Test, 0).map(drop);
    /// assert_eq!(nobody, Err(InvalidStreamcluster::Ranks(0)));
    /// ```
    pub fn new(
        problem: impl Into<StreamclusterProblem>,
        ranks: usize,
    ) -> Result<Self, InvalidStreamcluster> {
        if !(1..=MOST_RANKS).contains(&ranks) {
            return Err(InvalidStreamcluster::Ranks(ranks));
        }
        let problem = problem.into();
        Ok(Self {
            problem,
            ranks,
            gate: Gate::new(ranks),
            batches: (0..=problem.blocks()).map(|_| OnceLock::new()).collect(),
            ends: (0..ranks).map(|_| OnceLock::new()).collect(),
            end: OnceLock::new(),
        })
    }

    /// Runs the program on one rank, without barriers.
    ///
    /// ```
    /// use manycore_programs::spmd::{StreamclusterInput, Streamcluster};
    /// use manycore_platform::Native;
    /// Streamcluster::<Native>::alone(StreamclusterInput::SimDev).verify().unwrap();
    /// ```
    #[must_use]
    #[expect(
        clippy::missing_panics_doc,
        reason = "one rank is a team, and it has run"
    )]
    pub fn alone(problem: impl Into<StreamclusterProblem>) -> Solution {
        let program = Self::new(problem, 1).expect("there is a rank");
        program.run(0, &mut || ());
        program.solution().expect("the only rank has run")
    }

    /// Runs rank `rank` of the program. All ranks must run at the same time, once each. `barrier` waits until each rank
    /// has called its own `barrier`.
    ///
    /// Waits at the gate use the platform `P`: a rank spins for 20 us, and then sleeps.
    ///
    /// # Panics
    ///
    /// Panics if there is no such rank, or if the rank has run already. Can also panic if the barrier lets a rank pass
    /// early.
    ///
    /// ```
    /// use manycore_programs::spmd::{StreamclusterInput, Streamcluster};
    /// use manycore_platform::Native;
    ///
    /// let program = Streamcluster::<Native>::new(StreamclusterInput::Test, 1)?;
    /// let mut waits = 0;
    /// program.run(0, &mut || waits += 1);
    /// assert_eq!(waits, 1_107);
    /// # Ok::<(), manycore_programs::spmd::InvalidStreamcluster>(())
    /// ```
    pub fn run(&self, rank: usize, barrier: &mut dyn FnMut()) {
        self.run_reckoning::<Exact>(rank, barrier);
    }

    fn run_reckoning<R: Reckoning>(&self, rank: usize, barrier: &mut dyn FnMut()) {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        assert!(
            self.ends[rank].get().is_none(),
            "rank {rank} has run already"
        );
        let mut rank = Rank::new(rank, self.ranks, &self.gate, barrier);
        let mut claims = Vec::new();
        let mut centres = Vec::new();
        for at in 0..self.batches.len() {
            if rank.leads() {
                let block = self.next_block(&mut rank, at, &centres);
                let batch =
                    Batch::new(&self.problem, self.ranks, block.coordinates, &block.weights);
                // Only rank 0 sets a batch.
                let _ = self.batches[at].set(batch);
            }
            rank.follow();
            let batch = self.batches[at].get().expect("rank 0 has passed");
            let claim = Search::<P, R>::new(&mut rank, batch, &self.problem).run();
            rank.gather();
            if rank.leads() {
                claims.push(claim);
                let of_last: Vec<usize> = centres.iter().map(|centre: &Centre| centre.id).collect();
                if at == self.problem.blocks() {
                    centres = consolidate(batch, &self.problem, |_, row| of_last[row]);
                } else {
                    let before = at * self.problem.block;
                    centres.extend(consolidate(batch, &self.problem, |index, _| before + index));
                }
            }
        }
        if rank.leads() {
            let offers = rank.offers;
            let end = StreamclusterEnd {
                centres,
                claims,
                offers,
            };
            // Only rank 0 sets the end.
            let _ = self.end.set(end);
        }
        let _ = self.ends[rank.number()].set(rank.waits());
    }

    /// The points of search number `at`.
    fn next_block(&self, rank: &mut Rank<P>, at: usize, centres: &[Centre]) -> Block {
        let before = at * self.problem.block;
        if at == self.problem.blocks() {
            Block::of_centres::<P>(centres)
        } else {
            let points = self.problem.block.min(self.problem.points - before);
            Block::read(rank, points, self.problem.dimensions)
        }
    }
}
