//! The runtime's barriers on the chip: nobody leaves early, and what they cost.

mod support;

use manycore::barrier::{Barrier, BarrierVisitor, Placement, barriers, with_barrier};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Platform;
use std::sync::{Arc, Mutex};
use support::{compute_until, machine, spawn};

/// When each member arrived at and left each episode, in cycles.
type Times = Vec<Vec<(u64, u64)>>;

/// Meets at the barrier that is visited, a member a core in turn.
struct Meet<'a> {
    machine: &'a Config,
    placement: Placement,
    episodes: u64,
    /// The cycle, after a common start, at which a member arrives at an episode.
    arrival: fn(seed: u64, rank: usize, episode: u64) -> u64,
    seed: u64,
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
fn cost(times: &Times, episode: usize) -> u64 {
    let arrived = times.iter().map(|mine| mine[episode].0).max();
    let left = times.iter().map(|mine| mine[episode].1).max();
    left.unwrap() - arrived.unwrap()
}

fn nobody_leaves_early(times: &Times, name: &str) {
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
fn placement(machine: &Config, members: usize) -> Placement {
    let group = |rank| rank / machine.group_cores as usize;
    Placement::grouped((0..members).map(group).collect())
}

#[test]
fn nobody_leaves_early_whoever_comes_when() {
    const SEEDS: u64 = 100;
    let machines = ["atac-64", "kunpeng-920", "atac-64", "westmere-ex"];
    for name in barriers() {
        for seed in 0..SEEDS {
            let machine = machine(machines[seed as usize % machines.len()], &[]);
            let members = [2, 3, 5, 8, 13, 32, 64][seed as usize % 7];
            let meet = Meet {
                machine: &machine,
                placement: placement(&machine, members),
                episodes: 4,
                arrival: |seed, rank, episode| {
                    let mut rng = fastrand::Rng::with_seed(seed);
                    // From nearly at once to far apart.
                    let spread = 10 << rng.u64(0..10);
                    let seed = rng.u64(..) ^ ((rank as u64) << 32) ^ episode;
                    3_000 * episode + fastrand::Rng::with_seed(seed).u64(..spread)
                },
                seed,
            };
            nobody_leaves_early(&with_barrier(name, meet).unwrap(), name);
        }
    }
}

/// Two or three threads a core, where a spinner keeps out whom it waits for.
#[test]
fn with_more_members_than_cores() {
    let machine = machine("gold5225r", &[]);
    let cores = machine.cores as usize;
    for name in barriers() {
        for members in [2 * cores, 3 * cores] {
            let meet = Meet {
                machine: &machine,
                placement: Placement::flat(members).on_cores(cores),
                episodes: 3,
                arrival: |_, rank, _| 1_000 * rank as u64,
                seed: 0,
            };
            nobody_leaves_early(&with_barrier(name, meet).unwrap(), name);
        }
    }
}

/// Without the system's clock, which may tick during an episode.
const QUIET: &str = "os.tick-cost=0";

/// An isolated episode of all `members`, who arrive in the same cycle, once the
/// barrier is warm.
fn isolated(name: &str, machine: &Config, members: usize) -> u64 {
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

/// The thesis' barrier costs what its printed parameters say: transport 5, 10 for
/// each message through the controller, and a look of 3.
#[test]
fn the_channel_barrier_by_its_closed_form() {
    for members in [2, 8, 64] {
        let cost = isolated("channel", &machine("atac-64", &[QUIET]), members) as f64;
        let form = (5 + 10 * (members - 1) + 3) as f64;
        let off = (cost / form - 1.0).abs();
        assert!(off <= 0.05, "{members}: {cost} cycles, by the form {form}");
    }
}

/// Ours, which end the linear cost: at 1,024 cores at most a tenth of the 10,238
/// cycles of the channel barrier, and less than any through memory takes at 64.
#[test]
fn ours_at_a_thousand_cores() {
    let through_memory = |name: &&str| !BROADCAST.contains(name);
    let small = machine("atac-64", &[QUIET]);
    let software = barriers().into_iter().filter(through_memory);
    let best = software.map(|name| isolated(name, &small, 64)).min();
    let large = machine("atac-64", &["cores=1024", QUIET]);
    let cost = |name| isolated(name, &large, 1_024);
    // Transport, a tree of ten adders, one message, a look.
    assert_eq!(cost("counted"), 5 + 10 + 10 + 3);
    // That of 31 others in the group and 31 other leaders, or 32.
    let grouped = cost("grouped");
    assert!((640..=10_238 / 10).contains(&grouped), "{grouped}");
    assert!(Some(grouped) < best, "{grouped}, {best:?}");
}

/// Those that use the network. The default is one of them.
const BROADCAST: [&str; 4] = ["channel", "counted", "grouped", "default"];

/// All of them side by side. In a debug build, where the chip looks at all caches after
/// each access, this takes an hour:
///
/// `cargo test --release -p manycore-chip --test barrier -- --ignored --nocapture`
#[test]
#[ignore = "a table, for release builds"]
fn the_cost_of_all() {
    for cores in [64, 256, 1_024] {
        let setting = format!("cores={cores}");
        let machine = machine("atac-64", &[&setting, QUIET]);
        let of = |name| (isolated(name, &machine, cores), name);
        let mut costs: Vec<_> = barriers().into_iter().map(of).collect();
        costs.sort_unstable();
        println!("{cores} cores: {costs:?}");
        let best = costs.iter().find(|(_, name)| !BROADCAST.contains(name));
        let ours = costs
            .iter()
            .filter(|(_, name)| BROADCAST[1..].contains(name));
        for cost in ours {
            assert!(Some(cost) < best, "{cost:?}, {best:?}");
        }
    }
}

/// Through memory: on the published machines with many cores, in their core groups.
///
/// `cargo test --release -p manycore-chip --test barrier -- --ignored --nocapture`
#[test]
#[ignore = "a table, for release builds"]
fn the_cost_through_memory() {
    for name in ["kunpeng-920", "westmere-ex", "graviton2-64", "opteron-6172"] {
        let machine = machine(name, &[QUIET]);
        for members in [4, 16, machine.cores as usize] {
            let of = |name| (isolated(name, &machine, members), name);
            let names = barriers().into_iter().filter(|&name| name != "channel");
            let mut costs: Vec<_> = names.map(of).collect();
            costs.sort_unstable();
            println!("{name}, {members} members: {costs:?}");
        }
    }
}
