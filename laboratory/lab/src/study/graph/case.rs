//! One search by a team.

use super::program::GraphProgram;
use super::search::Search;
use crate::instrument;
use crate::study::trial::{Binding, Machines, Trial};
use anyhow::{anyhow, bail};
use manycore::Native;
use manycore::topology::Topology;
use manycore_chip::{Broadcast, Simulated, Simulation};
use manycore_platform::Platform;
use manycore_programs::barrier::DisseminationBarrier;
use manycore_programs::graph::{Rmat, Shares, Work};
use manycore_programs::stealing::{Counts, Discipline, DisciplineVisitor, with_discipline};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Edges for each vertex, as in Graph500.
pub(super) const EDGE_FACTOR: u32 = 16;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct GraphCase {
    pub(super) program: GraphProgram,
    pub(super) scale: u32,
    pub(super) cores: usize,
    pub(super) discipline: String,
    pub(super) seed: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct GraphSample {
    /// The time from the start of the first rank (thread of the team) to the end of the last rank, in cycles or ns.
    pub(super) time: f64,
    /// Edges within the tree, components, or triangles.
    pub(super) found: u64,
    pub(super) tasks: u64,
    pub(super) steals: u64,
    pub(super) sent: u64,
}

impl GraphCase {
    fn run<P: Broadcast>(&self, binding: &Binding, unit: f64) -> anyhow::Result<GraphSample> {
        let case = self;
        let team = GraphTeam {
            case,
            binding,
            unit,
        };
        with_discipline::<P, _>(&self.discipline, team)?
    }
}

impl Trial for GraphCase {
    type Sample = GraphSample;

    fn cores(&self) -> usize {
        self.cores
    }

    fn simulate(&self, machines: &Machines) -> anyhow::Result<(GraphSample, u64)> {
        let chip = machines.build(0, self.cores, &[])?;
        let binding = Binding::on_chip(&chip, self.cores);
        let program = || self.run::<Simulated>(&binding, 1.0);
        let run = instrument::run(Simulation::new(&chip.0), self, program);
        let run = run.map_err(|error| anyhow!("{error}"))?;
        Ok((run.value?, run.statistics.hash))
    }

    fn run_here(&self, topology: &Topology, pinned: bool) -> anyhow::Result<GraphSample> {
        let binding = Binding::on_host(topology, self.cores, pinned);
        self.run::<Native>(&binding, 1.0 / Native::ticks_per_ns())
    }
}

impl fmt::Display for GraphCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (program, scale, cores) = (self.program, self.scale, self.cores);
        write!(
            f,
            "{program}, scale {scale}, {cores} cores, {}",
            self.discipline
        )
    }
}

struct GraphTeam<'a> {
    case: &'a GraphCase,
    binding: &'a Binding,
    /// The cycles or ns of a tick.
    unit: f64,
}

/// The ranks' notes, which take no simulated time.
#[derive(Default)]
struct GraphBooks {
    begin: Option<u64>,
    end: u64,
    tasks: u64,
    counts: Counts,
    /// The number of ranks that have ended.
    done: usize,
}

impl<P: Platform> DisciplineVisitor<P> for GraphTeam<'_> {
    type Output = anyhow::Result<GraphSample>;

    fn visit<D: Discipline<P>>(self) -> Self::Output {
        let (case, binding) = (self.case, self.binding);
        let rmat = Rmat {
            scale: case.scale,
            edge_factor: EDGE_FACTOR,
            seed: case.seed,
        };
        let table = Arc::new(GraphShared {
            search: Search::new(case.program, rmat, case.cores),
            shares: Shares::<P, D, DisseminationBarrier<P>>::new(
                binding.placement.clone(),
                case.seed,
            ),
            books: Mutex::default(),
        });
        binding.run::<P, _>(0, |rank| {
            let table = Arc::clone(&table);
            move || table.search(rank)
        })?;
        let books = table.books.lock().unwrap_or_else(PoisonError::into_inner);
        if books.done < case.cores {
            bail!("a rank panicked");
        }
        Ok(GraphSample {
            time: (books.end - books.begin.unwrap_or(books.end)) as f64 * self.unit,
            found: table.search.verify()? as u64,
            tasks: books.tasks,
            steals: books.counts.steals,
            sent: books.counts.sent,
        })
    }
}

struct GraphShared<P: Platform, D: Discipline<P>> {
    search: Search<P>,
    // The barrier goes through memory, since disciplines (stealing algorithms) change their cores' filters of network
    // messages.
    shares: Shares<P, D, DisseminationBarrier<P>>,
    books: Mutex<GraphBooks>,
}

impl<P: Platform, D: Discipline<P>> GraphShared<P, D> {
    fn search(&self, rank: usize) {
        let mut share = self.shares.take(rank);
        share.meet();
        let begin = P::now();
        self.search.run(rank, &mut share);
        let end = P::now();
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        books.begin = Some(books.begin.map_or(begin, |other| other.min(begin)));
        books.end = books.end.max(end);
        books.tasks += share.tasks();
        books.counts = books.counts + share.counts();
        books.done += 1;
    }
}
