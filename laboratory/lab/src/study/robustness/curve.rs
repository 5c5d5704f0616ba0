//! The effect of a swept parameter on the barrier of the thesis (Park 2013), from measured points.

use super::config::{Contestants, Parameter};
use crate::study::team::{CHANNEL, Contest, PointSummary, Race};

/// The time of an application as a function of one parameter.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    /// The machine's own value.
    own: u64,
    /// Values and times, in ascending order.
    pub(super) points: Vec<(u64, f64)>,
    /// The number of waits of each member.
    pub(super) episodes: usize,
}

impl Curve {
    /// The curve of an application's sweep, if the unchanged machine was measured.
    pub(super) fn of(race: Race<'_, Contestants<'_>>, parameter: Parameter) -> Option<Self> {
        let config = race.config.config;
        let sweep = config.sweep(parameter)?;
        let point = |&value: &u64| {
            let summary = race.measured.of(&race.config.swept(parameter, value))?;
            Some((value, summary.total.median))
        };
        Some(Self {
            own: parameter.of(race.optical()?),
            points: race.config.values(sweep).iter().filter_map(point).collect(),
            episodes: race.of(0, config.cores, CHANNEL)?.episodes,
        })
    }

    fn at(&self, value: u64) -> Option<f64> {
        let found = self.points.iter().find(|point| point.0 == value);
        found.map(|point| point.1)
    }

    /// The time at `value`, divided by the time at the machine's own value.
    pub(super) fn factor(&self, value: u64) -> Option<f64> {
        Some(self.at(value)? / self.at(self.own)?)
    }

    /// The value at which the time reaches `level`, interpolated between neighbouring points. `None` if it is not
    /// reached.
    pub(super) fn reached(points: &[(u64, f64)], level: f64) -> Option<f64> {
        let pairs = points.windows(2);
        let crossing = pairs
            .map(|pair| (pair[0], pair[1]))
            .find(|&((_, a), (_, b))| a <= level && level < b);
        crossing.map(|((x, a), (y, b))| x as f64 + (y - x) as f64 * (level - a) / (b - a))
    }
}

/// The other barriers on the unchanged machine, the fastest first.
pub(super) fn others<'a>(race: Race<'a, Contestants<'_>>) -> Vec<&'a PointSummary> {
    let config = race.config.config;
    let names = config.barriers.iter().filter(|name| *name != CHANNEL);
    let mut all: Vec<&PointSummary> = names
        .filter_map(|name| race.measured.of(&race.config.entry(0, config.cores, name)))
        .collect();
    all.sort_by(|a, b| a.total.median.total_cmp(&b.total.median));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten episodes (waits of the team) of 633 cycles and one transport, which is 5 cycles on the machine.
    fn curve() -> Curve {
        let point = |value: u64| (value, 10.0 * (633.0 + value as f64));
        Curve {
            own: 5,
            points: [5, 200, 20_000].map(point).into(),
            episodes: 10,
        }
    }

    #[test]
    fn only_measured_points_have_factors() {
        let curve = curve();
        assert!((curve.factor(200).unwrap() - 833.0 / 638.0).abs() < 1e-12);
        assert_eq!(curve.factor(100), None);
    }

    #[test]
    fn a_level_is_reached_between_two_points() {
        let reached = |level| Curve::reached(&curve().points, level);
        assert!((reached(7_330.0).unwrap() - 100.0).abs() < 1e-9);
        assert_eq!(reached(1.0), None);
        assert_eq!(reached(1e9), None);
    }
}
