//! Members that meet at a barrier, and when.

use super::{compute_until, spawn};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Platform;
use manycore_programs::barrier::{Barrier, BarrierVisitor, with_barrier};
use manycore_team::barrier::Placement;
use std::sync::{Arc, Mutex};

/// When each member arrived at and left each episode, in cycles.
pub(crate) type Times = Vec<Vec<(u64, u64)>>;

/// Meets at the barrier that is visited. Members are bound to cores, round-robin.
pub(crate) struct Meet<'a> {
    pub(crate) machine: &'a Config,
    pub(crate) placement: Placement,
    pub(crate) episodes: u64,
    /// Returns the cycle after the common start at which a member arrives at an episode.
    pub(crate) arrival: fn(seed: u64, rank: usize, episode: u64) -> u64,
    pub(crate) seed: u64,
}

impl BarrierVisitor<Simulated> for Meet<'_> {
    type Output = Times;

    fn visit<B: Barrier<Simulated>>(self) -> Times {
        let cores = self.machine.cores as usize;
        let cpi = self.machine.core.cpi;
        let Self {
            placement,
            episodes,
            arrival,
            seed,
            ..
        } = self;
        let program = move || {
            let members = placement.members();
            let barrier = Arc::new(B::new(&placement));
            let times = Arc::new(Mutex::new(vec![vec![]; members]));
            let start = Simulated::now() + 2_000_000;
            let join = |rank| {
                let (barrier, times) = (Arc::clone(&barrier), Arc::clone(&times));
                spawn(rank % cores, move || {
                    let mut member = barrier.member(rank);
                    let mut mine = vec![];
                    for episode in 0..episodes {
                        compute_until(start + arrival(seed, rank, episode), cpi);
                        let arrived = Simulated::now();
                        barrier.wait(&mut member);
                        mine.push((arrived, Simulated::now()));
                    }
                    times.lock().unwrap()[rank] = mine;
                })
            };
            let team: Vec<_> = (0..members).map(join).collect();
            team.into_iter().for_each(Simulated::join);
            std::mem::take(&mut *times.lock().unwrap())
        };
        let run = Simulation::new(self.machine).limit(1 << 36).run(program);
        run.unwrap_or_else(|error| panic!("{}, seed {seed}: {error}", B::NAME))
            .value
    }
}

/// The cycles of an episode from the last arrival to the last departure.
pub(crate) fn cost(times: &Times, episode: usize) -> u64 {
    let arrived = times.iter().map(|mine| mine[episode].0).max();
    let left = times.iter().map(|mine| mine[episode].1).max();
    left.unwrap() - arrived.unwrap()
}

pub(crate) fn nobody_leaves_early(times: &Times, name: &str) {
    for episode in 0..times[0].len() {
        let arrived = times.iter().map(|mine| mine[episode].0).max().unwrap();
        for (rank, mine) in times.iter().enumerate() {
            let (_, left) = mine[episode];
            assert!(
                left >= arrived,
                "{name}: {rank} leaves {episode} at {left}, the last comes at {arrived}"
            );
        }
    }
}

/// The machine's cores in order, in its core groups.
pub(crate) fn placement(machine: &Config, members: usize) -> Placement {
    let group = |rank| rank / machine.group_cores as usize;
    Placement::grouped((0..members).map(group).collect())
}

/// Turns off the cost of the system's clock, which may tick during an episode.
pub(crate) const QUIET: &str = "os.tick-cost=0";

/// An isolated episode of all `members` once the barrier is warm. They arrive in the same cycle.
pub(crate) fn isolated(name: &str, machine: &Config, members: usize) -> u64 {
    let meet = Meet {
        machine,
        placement: placement(machine, members),
        episodes: 4,
        arrival: |_, _, episode| 4_000_000 * episode,
        seed: 0,
    };
    let times = with_barrier(name, meet).unwrap();
    nobody_leaves_early(&times, name);
    cost(&times, 3)
}

/// The barriers that use the network. The default is among them.
pub(crate) const BROADCAST: [&str; 4] = ["channel", "counted", "grouped", "default"];
