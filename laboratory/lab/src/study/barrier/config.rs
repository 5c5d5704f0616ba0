//! The study's checked settings, with their defaults.

use super::machines;
use crate::study::Request;
use crate::study::team::{Arrivals, CHANNEL, Contest, TeamPoint, TeamProgram, barriers_of};
use crate::study::trial::Setup;
use serde::Serialize;

/// Episodes (waits of the whole team) in the loop, without and with `--full`. The thesis (Park 2013) has 1,000.
const EPISODES: [usize; 2] = [100, 1_000];
/// The fewest episodes that give a median.
const FEWEST_EPISODES: usize = 10;
/// The cores of the largest machine in the thesis. Larger machines get fewer episodes, since the time to simulate an
/// episode grows with the square of the cores.
const THESIS_CORES: usize = 64;
/// A kernel in which sleep takes no time, like the simulator of the thesis.
pub(super) const FREE_SWITCH: &str = "os.switch=0";
/// Barriers with sleep: glibc's current barrier, and its barrier of 2013.
pub(super) const SLEEPING: [&str; 2] = ["futex", "glibc-2011"];
/// Cycles that members compute before a wait in [`BarrierConfig::with_overhead`]. On the machine of the thesis, the
/// barrier of the thesis is faster than others by fewer cycles than this on two cores, and by more cycles on four.
const OVERHEAD: u64 = 200;
/// The number of single episodes. It is even, since some barriers alternate between two kinds of episodes.
const SINGLE: usize = 4;

/// Everything that decides what is measured. Its hash names the journal (the file of measurements).
#[derive(Clone, Debug, Serialize)]
pub(super) struct BarrierConfig {
    #[serde(flatten)]
    pub(super) setup: Setup,
    pub(super) barriers: Vec<String>,
    pub(super) cores: Vec<usize>,
    /// If `None`, the number of cores decides.
    episodes: Option<usize>,
    full: bool,
}

impl BarrierConfig {
    pub(super) fn new(request: &Request) -> anyhow::Result<Self> {
        let mut setup = Setup::new("barrier", request)?;
        let most = if request.full { 1024 } else { 256 };
        let cores = setup.cores(request, most)?;
        machines::add(&mut setup.machines, &request.settings)?;
        Ok(Self {
            cores,
            episodes: request
                .settings
                .number("episodes")?
                .map(|number| number as usize),
            full: request.full,
            barriers: barriers_of(&request.only, &setup)?,
            setup,
        })
    }

    pub(super) fn episodes(&self, cores: usize) -> usize {
        let default = || {
            let most = EPISODES[usize::from(self.full)];
            let squared = |count: usize| count.pow(2);
            let fewer = most * squared(THESIS_CORES) / squared(cores.max(THESIS_CORES));
            fewer.max(FEWEST_EPISODES)
        };
        self.episodes.unwrap_or_else(default)
    }

    /// The number of cores at which machines and barriers are compared: the greatest up to the thesis's 64, else the
    /// least.
    pub(super) fn compared_at(&self) -> usize {
        let small = self.cores.iter().filter(|&&cores| cores <= THESIS_CORES);
        small.max().or(self.cores.first()).copied().unwrap_or(1)
    }

    /// [`BarrierConfig::compared_at`], or all cores of a machine that has fewer.
    pub(super) fn cores_of(&self, machine: usize) -> usize {
        let chip = self.setup.machines.0.get(machine);
        let most = chip.filter(|chip| !chip.scales()).map(|chip| chip.cores());
        self.compared_at().min(most.unwrap_or(usize::MAX))
    }

    /// Single episodes on the requested machine.
    pub(super) fn single(&self, cores: usize, barrier: &str, arrivals: Arrivals) -> TeamPoint {
        TeamPoint {
            program: TeamProgram::Loop {
                episodes: SINGLE,
                arrivals,
            },
            ..self.entry(0, cores, barrier)
        }
    }

    /// The loop at a barrier with sleep, on a kernel with [`FREE_SWITCH`]. `None` if sleep is free anyway, or if the
    /// barrier is not measured.
    pub(super) fn free(&self, cores: usize, barrier: &str) -> Option<TeamPoint> {
        let charges = self.setup.chip()?.0.os.switch > 0;
        (charges && self.has(barrier)).then(|| TeamPoint {
            settings: vec![FREE_SWITCH.to_owned()],
            ..self.entry(0, cores, barrier)
        })
    }

    /// The loop at the thesis's barrier, with members that compute before each wait. `None` without a broadcast
    /// network, or if this is not measured.
    pub(super) fn with_overhead(&self, cores: usize) -> Option<TeamPoint> {
        let has_network = self.setup.chip()?.0.optical.is_some();
        let measured = has_network && self.has(CHANNEL) && self.cores.contains(&cores);
        measured.then(|| TeamPoint {
            program: TeamProgram::Loop {
                episodes: self.episodes(cores),
                arrivals: Arrivals::After(OVERHEAD),
            },
            ..self.entry(0, cores, CHANNEL)
        })
    }

    fn has(&self, barrier: &str) -> bool {
        self.barriers.iter().any(|name| name == barrier)
    }

    /// All points, with the barriers of a program side by side.
    pub(super) fn all_points(&self) -> Vec<TeamPoint> {
        let mut points = Vec::new();
        let simulated = !self.setup.machines.is_host();
        for &cores in &self.cores {
            for barrier in &self.barriers {
                points.push(self.entry(0, cores, barrier));
            }
        }
        for &cores in self.cores.iter().filter(|_| simulated) {
            for barrier in &self.barriers {
                for arrivals in [Arrivals::Together, Arrivals::Apart] {
                    points.push(self.single(cores, barrier, arrivals));
                }
            }
        }
        for &cores in &self.cores {
            points.extend(SLEEPING.iter().filter_map(|name| self.free(cores, name)));
        }
        points.extend(
            [2, 4]
                .into_iter()
                .filter_map(|cores| self.with_overhead(cores)),
        );
        for machine in 1..self.setup.machines.0.len() {
            for barrier in &self.barriers {
                points.push(self.entry(machine, self.cores_of(machine), barrier));
            }
        }
        points
    }
}

impl Contest for BarrierConfig {
    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn barriers(&self) -> &[String] {
        &self.barriers
    }

    fn cores(&self) -> &[usize] {
        &self.cores
    }

    fn entry(&self, machine: usize, cores: usize, barrier: &str) -> TeamPoint {
        TeamPoint {
            machine,
            settings: Vec::new(),
            cores,
            barrier: barrier.to_owned(),
            program: TeamProgram::Loop {
                episodes: self.episodes(cores),
                arrivals: Arrivals::Loop,
            },
        }
    }
}
