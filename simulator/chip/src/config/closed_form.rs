//! Computes uncontended latencies from the presets' costs without a simulation, and compares them
//! with the tables of SOSP'13.

use super::{Config, Directory, Network, PUBLISHED_SOSP13, Slices, Writes};

/// Bits of a message without a line and with a line, as on Graphite's mesh.
const MESSAGE_BITS: (u32, u32) = (64, 576);

/// The costs of a machine at one distance. The home is in the group of the owner or sharers. The requester is `way`
/// cycles away from the home.
struct Distance<'a> {
    config: &'a Config,
    way: u64,
    remote: bool,
    same_core: bool,
    hops: u64,
}

impl<'a> Distance<'a> {
    fn named(config: &'a Config, name: &str) -> Self {
        let hops = match name {
            "1 hop" => 1,
            "max hops" => 10,
            _ => 0,
        };
        let class = match &config.network {
            Network::Groups { classes, .. } => classes.iter().find(|class| class.name == name),
            Network::Mesh { .. } => None,
        };
        let way = class.map_or(0, |class| class.cycles);
        Self {
            config,
            way,
            remote: class.is_some(),
            same_core: name == "same core",
            hops,
        }
    }

    /// The cycles of a request to the last-level cache and of its answer with a line.
    fn llc(&self) -> u64 {
        self.llc_and_back(MESSAGE_BITS.1)
    }

    fn llc_and_back(&self, reply: u32) -> u64 {
        let llc = self.config.llc.as_ref().unwrap();
        let mesh = match &self.config.network {
            Network::Mesh {
                router,
                link,
                flit_bits,
                ..
            } if llc.slices == Slices::Tiles => {
                let flits = MESSAGE_BITS.0.div_ceil(*flit_bits) + reply.div_ceil(*flit_bits);
                2 * self.hops * (router + link) + u64::from(flits)
            }
            _ => 0,
        };
        llc.latency + mesh
    }

    /// The cycles to the home and back, including the home's directory if the home is another group.
    fn home(&self) -> u64 {
        self.llc()
            + if self.remote {
                2 * self.way + self.config.coherence.latency
            } else {
                0
            }
    }

    fn load(&self, state: &str) -> u64 {
        let llc = self.config.llc.as_ref().unwrap();
        let through = self.config.coherence.writes == Writes::Through;
        match state {
            "L1" => self.config.l1.latency,
            "L2" => self.config.l2.as_ref().unwrap().latency,
            // In the table, the line of the TILE-Gx is one hop away.
            "LLC" if llc.slices == Slices::Tiles => Self { hops: 1, ..*self }.llc(),
            "LLC" => self.llc(),
            "RAM" => Self {
                hops: self.hops.max(1),
                ..*self
            }
            .load("I"),
            "I" => {
                self.llc()
                    + 2 * self.way
                    + self.config.coherence.latency
                    + self.config.memory.latency
            }
            _ if through && self.same_core => self.config.l1.latency,
            _ if through => self.home(),
            "M" => self.home() + llc.snoop + llc.dirty,
            "E" => self.home() + llc.snoop,
            "S" if llc.inclusive => self.home(),
            "S" => self.home() + llc.snoop,
            _ => unreachable!("state {state}"),
        }
    }

    fn store(&self, state: &str) -> u64 {
        let llc = self.config.llc.as_ref().unwrap();
        let shared = state == "S";
        if self.config.coherence.writes == Writes::Through {
            return self.done_at_home(state) + llc.dirty;
        }
        match self.config.coherence.directory {
            _ if !shared => self.load(state),
            Directory::Broadcast => {
                let Network::Groups { classes, .. } = &self.config.network else {
                    unreachable!()
                };
                let farthest = classes.iter().map(|class| class.cycles).max().unwrap();
                self.llc() + self.way + self.config.coherence.latency + 2 * farthest + llc.snoop
            }
            _ => self.home() + llc.invalidate,
        }
    }

    /// The cycles of an operation at the home. The request carries no line, and the reply carries
    /// permission or a word.
    fn done_at_home(&self, state: &str) -> u64 {
        let llc = self.config.llc.as_ref().unwrap();
        let invalidate = if state == "S" { llc.invalidate } else { 0 };
        self.llc_and_back(MESSAGE_BITS.0) + invalidate
    }

    fn atomic(&self, operation: &str, state: &str) -> u64 {
        let costs = &self.config.atomics;
        let execution = match operation {
            "cas" => costs.cas,
            "faa" => costs.faa,
            "tas" => costs.tas,
            "swap" => costs.swap,
            _ => unreachable!("operation {operation}"),
        };
        execution
            + match self.config.coherence.writes {
                Writes::Back => self.store(state),
                Writes::Through => self.done_at_home(state),
            }
    }

    fn latency(&self, operation: &str, state: &str) -> u64 {
        match operation {
            "load" => self.load(state),
            "store" => self.store(state),
            atomic => self.atomic(atomic, state),
        }
    }
}

/// The median and the worst error of loads, stores, CAS and FAA on lines in M, E, S and I.
#[allow(clippy::cast_precision_loss, reason = "cycles are small")]
fn errors(machine: &str) -> (f64, f64) {
    let config = Config::preset(machine).unwrap();
    let mut errors: Vec<f64> = PUBLISHED_SOSP13
        .lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let [name, operation, state, distance, cycles] = fields[..] else {
                panic!("{line}")
            };
            let counted = name == machine && state != "O" && !matches!(operation, "tas" | "swap");
            counted.then(|| {
                let published: f64 = cycles.parse().unwrap();
                let ours = Distance::named(&config, distance).latency(operation, state) as f64;
                let error = (ours - published) / published;
                println!("{line}: {ours} {:+.1}%", 100.0 * error);
                error.abs()
            })
        })
        .collect();
    errors.sort_by(f64::total_cmp);
    (errors[errors.len() / 2], *errors.last().unwrap())
}

#[test]
fn the_sosp13_machines_are_within_the_bounds() {
    for machine in ["opteron-6172", "westmere-ex", "niagara-2", "tilegx-36"] {
        let (median, worst) = errors(machine);
        println!("{machine}: median {median:.3}, worst {worst:.3}");
        assert!(
            median <= 0.10 && worst <= 0.30,
            "{machine}: median {median}, worst {worst}"
        );
    }
}

/// The preset's cycles are 40 to the L3, 49 for each hop, 1 in the directory, 41 to ask the owner, and 4 because the
/// owner has written the line.
#[test]
fn a_modified_line_one_hop_away() {
    let config = Config::preset("opteron-6172").unwrap();
    assert_eq!(
        Distance::named(&config, "1 hop").load("M"),
        40 + 2 * 49 + 1 + 41 + 4
    );
}
