//! The cost of one access, which depends on the state of the line and the distance of its owner. The method is that of
//! David, Guerraoui, Trigonakis, SOSP'13.
//!
//! Pinned threads bring a line into its state one after the other. Then the requester's thread reads the clock,
//! accesses the line and reads the clock again. Every sample has its own line. The home (directory) of each line is at
//! the holder's core.

use super::buffer::{Buffer, Word, lines_a_home, mean};
use super::distance::Distance;
use super::thread::spawn;
use crate::instrument;
use manycore_chip::config::Config;
use manycore_chip::{Run, Simulated, Simulation, SimulationError};
use manycore_platform::{Atomic, AtomicInteger, Ordering::SeqCst, Platform};
use manycore_programs::by_name;
use std::sync::Arc;

by_name! {
    /// The measured access.
    pub(crate) enum Operation: "unknown operation", "expected some of" {
        Load = "load",
        Store = "store",
        Cas = "cas",
        Faa = "faa",
        Tas = "tas",
        Swap = "swap",
    }
}

by_name! {
    /// The state of the line before the access.
    pub(crate) enum State: "unknown state", "expected some of" {
        /// The holder has written to the line.
        M = "M",
        /// Only the holder has read the line.
        E = "E",
        /// The holder and another core have read the line.
        S = "S",
        /// No cache holds the line.
        I = "I",
    }
}

impl Operation {
    /// Whether the error of the operation is part of the summed error.
    pub(super) fn is_counted(self) -> bool {
        !matches!(self, Self::Tas | Self::Swap)
    }

    /// Executes the operation. The word must be 0 before.
    fn run(self, word: &Word) {
        match self {
            Self::Load => _ = word.load(SeqCst),
            Self::Store => word.store(0, SeqCst),
            Self::Cas => _ = word.compare_exchange(0, 1, SeqCst, SeqCst),
            Self::Faa => _ = word.fetch_add(1, SeqCst),
            Self::Tas => _ = word.fetch_or(1, SeqCst),
            Self::Swap => _ = word.swap(1, SeqCst),
        }
    }
}

impl State {
    /// The operations, and their cores, that bring a line into this state.
    fn preparation(self) -> &'static [(Role, Operation)] {
        match self {
            Self::M => &[
                (Role::Holder, Operation::Load),
                (Role::Holder, Operation::Store),
            ],
            Self::E => &[(Role::Holder, Operation::Load)],
            Self::S => &[
                (Role::Holder, Operation::Load),
                (Role::Second, Operation::Load),
            ],
            Self::I => &[],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Holder,
    Second,
    Requester,
}

/// A kind of access and its mean cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) operation: Operation,
    pub(super) state: State,
    pub(super) cycles: f64,
}

/// Samples for each operation and state.
const SAMPLES: usize = 100;

/// Instructions for which the requester is idle before its timed access. By then the effects of other threads are over.
const QUIET: u64 = 4_000;

/// Measures all operations on lines in all states at one distance.
pub(super) fn measure(
    config: &Config,
    distance: &Distance,
) -> Result<Run<Vec<Cost>>, SimulationError> {
    let cells: Vec<(Operation, State)> = Operation::ALL
        .into_iter()
        .flat_map(|operation| State::ALL.map(|state| (operation, state)))
        .filter(|&(_, state)| state != State::S || distance.second.is_some())
        .collect();
    let name = format!("latencies, {}", distance.name);
    instrument::run(Simulation::new(config), &name, || {
        let samples = samples(config, distance, &cells);
        let costs = cells.iter().zip(samples.chunks(SAMPLES));
        let costs = costs.filter_map(|(&(operation, state), samples)| {
            let cycles = mean(samples.to_vec())?;
            Some(Cost {
                operation,
                state,
                cycles,
            })
        });
        costs.collect()
    })
}

/// One step of the plan: a thread executes an operation on a line.
#[derive(Clone, Copy)]
struct Step {
    role: Role,
    operation: Operation,
    /// The number of the sample, and of its line among the lines at the holder.
    sample: usize,
    timed: bool,
}

/// The steps of all samples, cell after cell.
fn plan(cells: &[(Operation, State)]) -> Vec<Step> {
    let samples = cells.iter().flat_map(|cell| [cell; SAMPLES]).enumerate();
    let steps = samples.flat_map(|(sample, &(operation, state))| {
        let step = move |role, operation, timed| Step {
            role,
            operation,
            sample,
            timed,
        };
        let before = state.preparation().iter();
        let before = before.map(move |&(role, operation)| step(role, operation, false));
        before.chain([step(Role::Requester, operation, true)])
    });
    steps.collect()
}

/// The data that the threads of a measurement share.
struct Stage {
    buffer: Buffer,
    lines: Vec<usize>,
    plan: Vec<Step>,
    /// The current step.
    turn: <Simulated as Platform>::Futex,
}

impl Stage {
    /// Executes the steps of `role`, each in its turn. Returns the cycles of the timed steps.
    fn play(&self, role: Role) -> Vec<u64> {
        let mut cycles = Vec::new();
        let mine = |&(_, step): &(u32, &Step)| step.role == role;
        for (turn, step) in (0..).zip(&self.plan).filter(mine) {
            let mut now = self.turn.load(SeqCst);
            while now != turn {
                now = Simulated::spin_while(&self.turn, now, u64::MAX);
            }
            let word = self.buffer.line(self.lines[step.sample]);
            if step.timed {
                Simulated::compute(QUIET);
                let start = Simulated::now();
                step.operation.run(word);
                cycles.push(Simulated::now() - start);
            } else {
                step.operation.run(word);
            }
            self.turn.store(turn + 1, SeqCst);
        }
        cycles
    }
}

/// Runs inside the simulation. Returns the cycles of every sample, cell after cell.
fn samples(config: &Config, distance: &Distance, cells: &[(Operation, State)]) -> Vec<u64> {
    let count = cells.len() * SAMPLES;
    let buffer = Buffer::new(config, count * lines_a_home(config));
    let (machine, holder) = (config.clone(), distance.holder);
    let chosen = spawn(holder, move || {
        let lines = buffer.at_home(&machine, holder, count);
        (buffer, lines)
    });
    let (buffer, lines) = chosen.join();
    let stage = Arc::new(Stage {
        buffer,
        lines,
        plan: plan(cells),
        turn: Atomic::new(0),
    });
    let player = |core, role| {
        let stage = Arc::clone(&stage);
        spawn(core, move || stage.play(role))
    };
    let others = [
        Some(player(distance.holder, Role::Holder)),
        distance.second.map(|second| player(second, Role::Second)),
    ];
    let samples = player(distance.requester, Role::Requester).join();
    others
        .into_iter()
        .flatten()
        .for_each(|other| _ = other.join());
    samples
}
