//! The tables, and what the numbers mean, in words.

use super::config::{Clustering, StreamclusterConfig};
use crate::report::table::Table;
use crate::study::team::{PointSummary, Race, TeamMeasured, left_out};
use crate::study::trial;

/// Under the figure.
pub(super) const FIGURE: &str = "Streamcluster against cores: end to end, and from the last arrival at a wait to the last \
     departure: medians, with bars from the 10th to the 90th percentile (exit latency: over waits; \
     end to end: over runs, of which a simulation needs one).";

/// What was measured and how.
pub(super) fn what(config: &StreamclusterConfig, measured: &TeamMeasured) -> String {
    let mut outputs: Vec<_> = measured.all.iter().map(|summary| &summary.output).collect();
    outputs.sort();
    outputs.dedup();
    format!(
        "PARSEC's streamcluster, with the barriers that are studied in the place of its own. {}{} \
         Each answer was verified; all barriers and numbers of cores together gave {} for {}.",
        trial::what(&config.setup),
        left_out(&config.barriers),
        match outputs.len() {
            1 => "one output".to_owned(),
            outputs => format!("{outputs} different outputs"),
        },
        match config.inputs.len() {
            1 => "one input".to_owned(),
            inputs => format!("{inputs} inputs"),
        },
    )
}

/// The tables of one input.
pub(super) fn tables(race: Race<'_, Clustering<'_>>) -> [Table; 2] {
    let (input, unit) = (race.config.input, race.config.config.setup.unit().name());
    let of = |cores, name: &str| race.of(0, cores, name);
    [
        race.table(
            format!("Streamcluster, input {input}: end to end by cores, {unit}"),
            None,
            |cores, name| Some(of(cores, name)?.total.median),
        ),
        race.table(
            format!("Streamcluster, input {input}: exit latency by cores, median, {unit}"),
            None,
            |cores, name| Some(of(cores, name)?.exit.median),
        ),
    ]
}

/// For a reader of nothing else.
pub(super) fn summary(race: Race<'_, Clustering<'_>>) -> String {
    let config = race.config.config;
    let unit = config.setup.unit();
    let show =
        |summary: &PointSummary| format!("{} {}", unit.show(summary.total.median), unit.name());
    let text = race.in_short(config.compared_at(), show);
    match config.inputs.len() {
        1 => text,
        _ => format!("input {}\n{text}", race.config.input),
    }
}
