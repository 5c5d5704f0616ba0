//! A table of the longest idle times, by mixture and number of cores.

use super::bounds::{until_all_came, until_one_comes};
use super::program::Program;
use super::random::Mixture;
use super::verdict::Verdict;
use std::collections::BTreeMap;
use std::fmt;

/// The keys are the mixture, whether threads outnumber cores, and the number of cores. The values are the longest idle
/// times of all such programs: until one idle permit was in use, and until all were.
#[derive(Default)]
pub(super) struct Table(BTreeMap<(Mixture, bool), BTreeMap<usize, (u64, u64)>>);

impl Table {
    pub(super) fn add(&mut self, mixture: Mixture, program: &Program, verdict: &Verdict) {
        let row = self.0.entry((mixture, program.is_crowded())).or_default();
        let (one, all) = row.entry(program.cores).or_default();
        *one = (*one).max(verdict.none_came.map_or(0, |idle| idle.cycles));
        *all = (*all).max(verdict.not_all_came.map_or(0, |idle| idle.cycles));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cores: Vec<usize> = (1..7).map(|power| 1 << power).collect();
        let thousands = |f: &mut fmt::Formatter<'_>, one: u64, all: u64| {
            let cell = format!("{} / {}", one.div_ceil(1_000), all.div_ceil(1_000));
            write!(f, "{cell:>16}")
        };
        writeln!(
            f,
            "longest idle time while work waited, in thousands of cycles: until one came / until all came"
        )?;
        write!(f, "{:<16}", "cores")?;
        cores
            .iter()
            .try_for_each(|cores| write!(f, "{cores:>16}"))?;
        write!(f, "\n{:<16}", "bound, n = cores")?;
        for &cores in &cores {
            thousands(
                f,
                until_one_comes(cores, cores),
                until_all_came(cores, cores),
            )?;
        }
        for ((mixture, is_crowded), row) in &self.0 {
            let threads = if *is_crowded { ", n > c" } else { "" };
            write!(f, "\n{:<16}", format!("{mixture:?}{threads}"))?;
            for cores in &cores {
                let (one, all) = row.get(cores).copied().unwrap_or_default();
                thousands(f, one, all)?;
            }
        }
        Ok(())
    }
}
