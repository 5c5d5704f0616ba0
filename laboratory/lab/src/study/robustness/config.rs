//! The study's checked settings, with their defaults.

use crate::failure::bad_input;
use crate::study::Request;
use crate::study::settings::Settings;
use crate::study::team::{Arrivals, CHANNEL, Contest, TeamPoint, TeamProgram, barriers_of};
use crate::study::trial::Setup;
use manycore_chip::config::Optical;
use manycore_programs::by_name;
use manycore_programs::spmd::StreamclusterInput;
use serde::Serialize;

/// The cores of the machine in the thesis (Park 2013).
const CORES: usize = 64;

/// The thesis says that a transport (the way of a message) of this many cycles "just doubles" the runtime of the loop.
pub(super) const DOUBLES: u64 = 20_000;

/// Episodes (waits of the whole team) in the loop, without and with `--full`.
const EPISODES: [u64; 2] = [100, 1_000];

by_name! {
    /// A delay of the broadcast network.
    pub(super) enum Parameter: "unknown parameter", "expected some of" {
        Transport = "transport",
        Controller = "controller",
        Check = "check",
    }
}

by_name! {
    /// An application of the thesis.
    pub(super) enum App: "unknown application", "expected some of" {
        Loop = "loop",
        Streamcluster = "streamcluster",
    }
}

/// A parameter's values, including the machine's own value, in ascending order.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Sweep {
    pub(super) parameter: Parameter,
    pub(super) values: Vec<u64>,
    /// The values for streamcluster.
    pub(super) coarse: Vec<u64>,
}

/// Everything that decides what is measured. Its hash names the journal (the file of measurements).
#[derive(Clone, Debug, Serialize)]
pub(super) struct RobustnessConfig {
    #[serde(flatten)]
    pub(super) setup: Setup,
    pub(super) barriers: Vec<String>,
    pub(super) cores: usize,
    pub(super) apps: Vec<App>,
    pub(super) sweeps: Vec<Sweep>,
    pub(super) episodes: u64,
}

impl Parameter {
    /// The parameter in words.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Self::Transport => "how long a message is under way",
            Self::Controller => "how long a receiver needs for a message",
            Self::Check => "how long a look for messages takes",
        }
    }

    pub(super) fn of(self, optical: &Optical) -> u64 {
        match self {
            Self::Transport => optical.transport,
            Self::Controller => optical.controller,
            Self::Check => optical.check,
        }
    }

    /// The values for quick runs of streamcluster: the values in the thesis's text, and the ends of
    /// its ranges.
    fn coarse(self) -> &'static [u64] {
        match self {
            Self::Transport => &[200, 20_000],
            Self::Controller => &[200, 1_000],
            Self::Check => &[300],
        }
    }

    /// The loop's values: the thesis's ranges and, with `full`, larger values.
    fn values(self, full: bool) -> &'static [u64] {
        match (self, full) {
            (Self::Transport, false) => &[50, 200, 1_000, 5_000, 20_000],
            (Self::Transport, true) => &[
                10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 100_000,
            ],
            (Self::Controller, false) => &[20, 50, 100, 200, 500, 1_000],
            (Self::Controller, true) => &[20, 50, 100, 200, 500, 1_000, 5_000],
            (Self::Check, false) => &[10, 30, 100, 300],
            (Self::Check, true) => &[10, 30, 100, 300, 1_000],
        }
    }
}

impl App {
    /// The name in a sentence, after "in".
    pub(super) fn place(self) -> &'static str {
        match self {
            Self::Loop => "a loop of waits",
            Self::Streamcluster => "streamcluster",
        }
    }
}

impl RobustnessConfig {
    pub(super) fn new(request: &Request) -> anyhow::Result<Self> {
        let (apps, barriers): (Vec<String>, Vec<String>) = request
            .only
            .iter()
            .cloned()
            .partition(|name| App::ALL.iter().any(|app| app.name() == name));
        let setup = Setup::new("robustness", request)?;
        let mut barriers = barriers_of(&barriers, &setup)?;
        if !barriers.iter().any(|name| name == CHANNEL) {
            barriers.push(CHANNEL.to_owned());
        }
        let optical = setup.chip().and_then(|chip| chip.0.optical.clone());
        let Some(optical) = optical else {
            return Err(bad_input(
                "--on: this machine has no broadcast network; expected a simulated machine with one, \
                 such as atac-64",
            ));
        };
        let cores = match request.cores.as_slice() {
            [] => CORES,
            [cores] => cores.get(),
            _ => return Err(bad_input("--cores: expected one number")),
        };
        if let Some(chip) = setup.chip() {
            chip.sized(cores)?;
        }
        let wanted = |app: &App| apps.is_empty() || apps.iter().any(|name| name == app.name());
        let sweep = |parameter| sweep(parameter, &optical, &request.settings, request.full);
        let config = Self {
            cores,
            apps: App::ALL.into_iter().filter(wanted).collect(),
            sweeps: Parameter::ALL
                .map(sweep)
                .into_iter()
                .collect::<anyhow::Result<_>>()?,
            episodes: request
                .settings
                .number("episodes")?
                .unwrap_or(EPISODES[usize::from(request.full)]),
            barriers,
            setup,
        };
        for point in config.all_points() {
            config.setup.machines.build(0, cores, &point.settings)?;
        }
        Ok(config)
    }

    pub(super) fn contests(&self) -> impl Iterator<Item = Contestants<'_>> {
        self.apps
            .iter()
            .map(|&app| Contestants { config: self, app })
    }

    pub(super) fn sweep(&self, parameter: Parameter) -> Option<&Sweep> {
        let mut sweeps = self.sweeps.iter();
        sweeps.find(|sweep| sweep.parameter == parameter)
    }

    /// The points that the sentence compares: the first application with each transport.
    pub(super) fn compared_points(&self) -> Vec<TeamPoint> {
        let (Some(contest), Some(sweep)) =
            (self.contests().next(), self.sweep(Parameter::Transport))
        else {
            return Vec::new();
        };
        let barriers = self.barriers.iter();
        let as_it_is = barriers.map(|barrier| contest.entry(0, self.cores, barrier));
        let values = contest.values(sweep).iter();
        let swept = values.map(|&value| contest.swept(Parameter::Transport, value));
        let slower = swept.filter(|point| !point.settings.is_empty());
        as_it_is.chain(slower).collect()
    }

    /// All points. The unchanged machine is in every sweep, but is measured only once.
    pub(super) fn all_points(&self) -> Vec<TeamPoint> {
        let mut points = Vec::new();
        for contest in self.contests() {
            let barriers = self.barriers.iter();
            points.extend(barriers.map(|barrier| contest.entry(0, self.cores, barrier)));
            for sweep in &self.sweeps {
                let values = contest.values(sweep).iter();
                let swept = values.map(|&value| contest.swept(sweep.parameter, value));
                points.extend(swept.filter(|point| !point.settings.is_empty()));
            }
            if contest.tests_slow_receivers() {
                points.extend([false, true].map(|far| contest.slow_receivers(far)));
            }
        }
        points
    }
}

fn sweep(
    parameter: Parameter,
    optical: &Optical,
    settings: &Settings,
    full: bool,
) -> anyhow::Result<Sweep> {
    let with_own = |values: &[u64]| {
        let mut values = [values, &[parameter.of(optical)]].concat();
        values.sort_unstable();
        values.dedup();
        values
    };
    let asked = settings.numbers(parameter.name());
    let (values, coarse) = match &asked {
        Some(asked) => (&**asked, &**asked),
        None if full => (parameter.values(true), parameter.values(true)),
        None => (parameter.values(false), parameter.coarse()),
    };
    Ok(Sweep {
        parameter,
        values: with_own(values),
        coarse: with_own(coarse),
    })
}

/// The barriers that are compared in one application.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contestants<'a> {
    pub(super) config: &'a RobustnessConfig,
    pub(super) app: App,
}

impl Contestants<'_> {
    pub(super) fn values(self, sweep: &Sweep) -> &[u64] {
        match self.app {
            App::Loop => &sweep.values,
            App::Streamcluster => &sweep.coarse,
        }
    }

    /// The thesis's barrier, with `parameter` of the network set to `value`.
    pub(super) fn swept(&self, parameter: Parameter, value: u64) -> TeamPoint {
        let own = self
            .config
            .setup
            .chip()
            .and_then(|chip| chip.0.optical.as_ref());
        let own = own.map(|optical| parameter.of(optical));
        let setting = format!("optical.{}={value}", parameter.name());
        TeamPoint {
            settings: (own != Some(value))
                .then_some(setting)
                .into_iter()
                .collect(),
            ..self.entry(0, self.config.cores, CHANNEL)
        }
    }
}

impl Contestants<'_> {
    /// Whether the study tests the claim of the thesis about [`DOUBLES`].
    pub(super) fn tests_slow_receivers(&self) -> bool {
        let of_transport = |sweep: &&Sweep| sweep.parameter == Parameter::Transport;
        let mut sweeps = self.config.sweeps.iter().filter(of_transport);
        self.config.cores > 1 && sweeps.any(|sweep| self.values(sweep).contains(&DOUBLES))
    }

    /// The thesis's barrier with slow receivers. Without transport a wait takes about [`DOUBLES`] cycles, as it must if
    /// a transport of this length doubles it. If `far`, the transport is [`DOUBLES`].
    pub(super) fn slow_receivers(&self, far: bool) -> TeamPoint {
        let check = DOUBLES / (self.config.cores as u64 - 1).max(1);
        let mut settings = vec![format!("optical.check={check}")];
        if far {
            settings.push(format!("optical.transport={DOUBLES}"));
        }
        TeamPoint {
            settings,
            ..self.entry(0, self.config.cores, CHANNEL)
        }
    }
}

impl Contest for Contestants<'_> {
    fn setup(&self) -> &Setup {
        &self.config.setup
    }

    fn barriers(&self) -> &[String] {
        &self.config.barriers
    }

    fn cores(&self) -> &[usize] {
        std::slice::from_ref(&self.config.cores)
    }

    fn entry(&self, machine: usize, cores: usize, barrier: &str) -> TeamPoint {
        TeamPoint {
            machine,
            settings: Vec::new(),
            cores,
            barrier: barrier.to_owned(),
            program: match self.app {
                App::Loop => TeamProgram::Loop {
                    episodes: self.config.episodes as usize,
                    arrivals: Arrivals::Loop,
                },
                App::Streamcluster => TeamProgram::Streamcluster {
                    input: StreamclusterInput::Test,
                },
            },
        }
    }
}
