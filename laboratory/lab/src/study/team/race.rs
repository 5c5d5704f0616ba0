//! Compares all barriers in one program.

use super::measured::TeamMeasured;
use super::point::{PointSummary, TeamPoint};
use crate::measure::statistics::Spread;
use crate::report::table::{Cell, Table};
use crate::study::trial::Setup;
use manycore_chip::config::Optical;
use manycore_figure::{Point, Series};

/// The barrier of the thesis (Park 2013).
pub(in crate::study) const CHANNEL: &str = "channel";
/// The thesis's baselines: a sense-reversing barrier, and the barrier of glibc.
pub(in crate::study) const BASELINES: [&str; 2] = ["sense", "futex"];

/// A study that runs the same program with every barrier.
pub(in crate::study) trait Contest {
    fn setup(&self) -> &Setup;

    fn barriers(&self) -> &[String];

    /// The numbers of cores, in ascending order.
    fn cores(&self) -> &[usize];

    /// The program with a barrier on a machine.
    fn entry(&self, machine: usize, cores: usize, barrier: &str) -> TeamPoint;
}

#[derive(Debug)]
pub(in crate::study) struct Race<'a, C> {
    pub(in crate::study) config: &'a C,
    pub(in crate::study) measured: &'a TeamMeasured,
}

impl<C> Clone for Race<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Race<'_, C> {}

impl<'a, C: Contest> Race<'a, C> {
    pub(in crate::study) fn of(
        self,
        machine: usize,
        cores: usize,
        barrier: &str,
    ) -> Option<&'a PointSummary> {
        self.measured
            .of(&self.config.entry(machine, cores, barrier))
    }

    fn fastest(
        self,
        machine: usize,
        cores: usize,
        wanted: impl Fn(&PointSummary) -> bool,
    ) -> Option<&'a PointSummary> {
        let barriers = self.config.barriers().iter();
        let all = barriers.filter_map(|barrier| self.of(machine, cores, barrier));
        let all = all.filter(|summary| wanted(summary));
        all.min_by(|a, b| a.total.median.total_cmp(&b.total.median))
    }

    /// The fastest barrier through memory.
    pub(in crate::study) fn software(
        self,
        machine: usize,
        cores: usize,
    ) -> Option<&'a PointSummary> {
        self.fastest(machine, cores, |summary| !summary.broadcasts())
    }

    /// The fastest barrier over a broadcast network, except the thesis's own.
    pub(in crate::study) fn beyond(self, machine: usize, cores: usize) -> Option<&'a PointSummary> {
        self.fastest(machine, cores, |summary| {
            summary.broadcasts() && summary.point.barrier != CHANNEL
        })
    }

    /// The barriers that use the broadcast network on `at` cores.
    pub(in crate::study) fn over_network(self, at: usize) -> Vec<String> {
        let names = self.config.barriers().iter();
        let used = names.filter(|name| self.of(0, at, name).is_some_and(PointSummary::broadcasts));
        used.cloned().collect()
    }

    pub(in crate::study) fn optical(self) -> Option<&'a Optical> {
        self.config.setup().chip()?.0.optical.as_ref()
    }

    /// A row for each barrier, and a column for each number of cores with its least value marked. `above` adds a
    /// computed row at the top.
    pub(in crate::study) fn table(
        self,
        caption: String,
        above: Option<(&str, &dyn Fn(usize) -> u64)>,
        value: impl Fn(usize, &str) -> Option<f64>,
    ) -> Table {
        let (setup, counts) = (self.config.setup(), self.config.cores());
        let mut table = Table::of_least(
            caption,
            "barrier",
            self.config.barriers(),
            counts,
            |&&cores, name| value(cores, name),
            |time| setup.unit().show(time),
        );
        if let Some((name, value)) = above {
            let of = counts.iter().map(|&cores| value(cores).to_string());
            let row = std::iter::once(name.to_owned()).chain(of);
            table.rows.insert(0, row.map(Cell::new).collect());
        }
        table
    }

    /// A line for each barrier: its values by number of cores, up to `most` cores.
    pub(in crate::study) fn series(
        self,
        most: usize,
        value: impl Fn(usize, &str) -> Option<Spread>,
    ) -> Vec<Series> {
        let barriers = self.config.barriers().iter();
        let line = |name: &String| {
            let cores = self.config.cores().iter().filter(|&&cores| cores <= most);
            let point = |&cores: &usize| Some(Point::new(cores as f64, value(cores, name)?));
            Series::measured(&**name, cores.filter_map(point).collect())
        };
        barriers.map(line).collect()
    }
}
