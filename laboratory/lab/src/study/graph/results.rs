//! The measurements, and their medians.

use super::case::GraphCase;
use super::config::GraphConfig;
use super::program::GraphProgram;
use crate::study::compared::Compared;
use crate::study::trial::{Results, Runs};

pub(super) type GraphResults<'a> = Results<'a, GraphConfig>;

impl<'a> GraphResults<'a> {
    pub(super) fn runs(
        self,
        (program, scale): (GraphProgram, u32),
        cores: usize,
        discipline: &str,
    ) -> Option<&'a Runs<GraphCase>> {
        self.of(&self.config.case(program, scale, cores, discipline))
    }

    /// The fastest discipline (stealing algorithm), and the time of the second fastest divided by the time of the
    /// fastest.
    pub(super) fn best(self, load: (GraphProgram, u32), cores: usize) -> Option<(&'a str, f64)> {
        let all = self.config.disciplines.iter();
        let all = all.filter_map(|name| {
            let runs = self.runs(load, cores, name)?;
            Some((&**name, runs.median(|run| run.time)))
        });
        let mut all: Vec<_> = all.collect();
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, second) = (all.first()?, all.get(1).or(all.first())?);
        Some((best.0, second.1 / best.1))
    }

    /// The times on the most cores.
    pub(super) fn compared(self) -> Compared {
        let (config, setup) = (self.config, &self.config.setup);
        let cores = config.most_cores();
        let place = format!("{cores} cores");
        let mut compared = Compared::new(place, setup.unit(), !setup.machines.is_host());
        for load in config.loads() {
            let times = config.disciplines.iter().filter_map(|name| {
                let runs = self.runs(load, cores, name)?;
                Some((name.clone(), runs.samples(|run| run.time)))
            });
            let (program, scale) = load;
            compared.add(format!("{program}, 2^{scale} vertices"), times);
        }
        compared
    }
}
