//! The study's checked settings, with their defaults.

use super::case::GraphCase;
use super::program::GraphProgram;
use crate::study::Request;
use crate::study::settings::bounded;
use crate::study::stealing::disciplines_of;
use crate::study::trial::Setup;
use serde::Serialize;

/// The cores of the machine in the thesis (Park 2013).
const CORES: usize = 64;

/// Everything that decides what is measured. Its hash names the journal (the file of measurements).
#[derive(Clone, Debug, Serialize)]
pub(super) struct GraphConfig {
    #[serde(flatten)]
    pub(super) setup: Setup,
    pub(super) cores: Vec<usize>,
    /// The logarithm of the number of vertices.
    pub(super) scales: Vec<u32>,
    pub(super) programs: Vec<GraphProgram>,
    pub(super) disciplines: Vec<String>,
}

impl GraphConfig {
    pub(super) fn new(request: &Request) -> anyhow::Result<Self> {
        let setup = Setup::new("graph", request)?;
        let set = &request.settings;
        let programs = set.list("programs", str::parse)?;
        let scales = match set.numbers("scale") {
            Some(scales) => scales.into_iter().map(|scale| scale as u32).collect(),
            None if request.full => vec![10, 12, 14],
            None => vec![10],
        };
        let cores = match setup.chip() {
            Some(chip) if request.cores.is_empty() && !request.full => {
                let most = if chip.scales() { CORES } else { chip.cores() };
                [most / 16, most / 4, most]
                    .into_iter()
                    .filter(|&cores| cores > 0)
                    .collect()
            }
            _ => setup.cores(request, CORES)?,
        };
        let config = Self {
            cores,
            scales,
            programs: programs.unwrap_or_else(|| GraphProgram::ALL.to_vec()),
            disciplines: disciplines_of(&request.only)?,
            setup,
        };
        let runs = config.disciplines.len() * config.cores.len();
        bounded(&[config.loads().count(), runs])?;
        Ok(config)
    }

    pub(super) fn case(
        &self,
        program: GraphProgram,
        scale: u32,
        cores: usize,
        discipline: &str,
    ) -> GraphCase {
        GraphCase {
            program,
            scale,
            cores,
            discipline: discipline.to_owned(),
            seed: self.setup.seed,
        }
    }

    /// The number of cores at which disciplines (stealing algorithms) are compared.
    pub(super) fn most_cores(&self) -> usize {
        self.cores.last().copied().unwrap_or(1)
    }

    pub(super) fn loads(&self) -> impl Iterator<Item = (GraphProgram, u32)> {
        let programs = self.programs.iter();
        programs.flat_map(|&program| self.scales.iter().map(move |&scale| (program, scale)))
    }

    pub(super) fn cases(&self) -> Vec<GraphCase> {
        let mut cases = Vec::new();
        for (program, scale) in self.loads() {
            for &cores in &self.cores {
                let names = self.disciplines.iter();
                cases.extend(names.map(|name| self.case(program, scale, cores, name)));
            }
        }
        cases
    }
}
