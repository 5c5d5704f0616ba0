//! The study's checked settings, with their defaults.

use crate::study::Request;
use crate::study::team::{Contest, TeamPoint, TeamProgram, barriers_of};
use crate::study::trial::Setup;
use manycore_programs::spmd::StreamclusterInput;
use serde::Serialize;

/// The cores of the largest machine in the thesis (Park 2013).
const MOST: usize = 64;

/// Everything that decides what is measured. Its hash names the journal (the file of measurements).
#[derive(Clone, Debug, Serialize)]
pub(super) struct StreamclusterConfig {
    #[serde(flatten)]
    pub(super) setup: Setup,
    pub(super) barriers: Vec<String>,
    pub(super) cores: Vec<usize>,
    pub(super) inputs: Vec<StreamclusterInput>,
}

impl StreamclusterConfig {
    pub(super) fn new(request: &Request) -> anyhow::Result<Self> {
        let setup = Setup::new("streamcluster", request)?;
        let inputs = request.settings.list("input", str::parse)?;
        Ok(Self {
            cores: setup.cores(request, MOST)?,
            inputs: inputs.unwrap_or_else(|| vec![StreamclusterInput::Test]),
            barriers: barriers_of(&request.only, &setup)?,
            setup,
        })
    }

    pub(super) fn clusterings(&self) -> impl Iterator<Item = Clustering<'_>> {
        let of = |&input| Clustering {
            config: self,
            input,
        };
        self.inputs.iter().map(of)
    }

    pub(super) fn entries(&self) -> Vec<TeamPoint> {
        let mut points = Vec::new();
        for clustering in self.clusterings() {
            for &cores in &self.cores {
                let barriers = self.barriers.iter();
                points.extend(barriers.map(|barrier| clustering.entry(0, cores, barrier)));
            }
        }
        points
    }

    /// The number of cores at which barriers are compared.
    pub(super) fn compared_at(&self) -> usize {
        self.cores.last().copied().unwrap_or(1)
    }
}

/// The barriers at one input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clustering<'a> {
    pub(super) config: &'a StreamclusterConfig,
    pub(super) input: StreamclusterInput,
}

impl Contest for Clustering<'_> {
    fn setup(&self) -> &Setup {
        &self.config.setup
    }

    fn barriers(&self) -> &[String] {
        &self.config.barriers
    }

    fn cores(&self) -> &[usize] {
        &self.config.cores
    }

    fn entry(&self, machine: usize, cores: usize, barrier: &str) -> TeamPoint {
        TeamPoint {
            machine,
            settings: Vec::new(),
            cores,
            barrier: barrier.to_owned(),
            program: TeamProgram::Streamcluster { input: self.input },
        }
    }
}
