//! What the numbers mean, in words.

use super::config::BarrierConfig;
use crate::study::team::{
    APART, Arrivals, BASELINES, CHANNEL, PointSummary, Race, closed_form, ideas, left_out,
};
use crate::study::trial;

/// Under the figure.
pub(super) const FIGURE: &str = "One wait of a loop against cores, and from the last arrival to the last departure: medians, \
     with bars from the 10th to the 90th percentile over episodes (end to end: over runs, of which \
     a simulation needs one).";

/// What was measured and how.
pub(super) fn what(race: Race<'_, BarrierConfig>) -> String {
    format!(
        "A team waits at a barrier in a loop, and, where it is simulated, in single episodes a \
         million cycles or more apart: all members arriving in one cycle, or each {APART} after \
         the one before, so that those that sleep when they wait long do. {}{}{}",
        trial::what(&race.config.setup),
        ideas(&race.config.barriers),
        left_out(&race.config.barriers)
    )
}

/// What is beyond the thesis's claim, before its table.
pub(super) fn remains(race: Race<'_, BarrierConfig>) -> Option<String> {
    let machines = &race.config.setup.machines;
    if machines.0.len() < 2 {
        return None;
    }
    let gain = |machine| {
        let cores = race.config.cores_of(machine);
        let channel = race.of(machine, cores, CHANNEL)?;
        let over = |other: &PointSummary| other.total.median / channel.total.median;
        let software = race.software(machine, cores)?;
        let sense = race.of(machine, cores, BASELINES[0])?;
        Some((over(sense), over(software), software.point.barrier.clone()))
    };
    let mut text = String::from(
        "The thesis compared its barrier with two others on one machine, whose caches hand no \
         clean line to each other. Below, the same broadcast network, cycle by cycle, stands \
         beside the best barrier through memory, on better protocols and on machines that exist.",
    );
    for machine in 0..machines.0.len() {
        if let Some((sense, best, name)) = gain(machine) {
            text += &format!(
                " On {} it is {sense:.1} times as fast as the sense-reversing barrier, and {best:.1} \
                 times as fast as {name}.",
                machines.name(machine)
            );
        }
    }
    Some(text)
}

/// For a reader of nothing else.
pub(super) fn summary(race: Race<'_, BarrierConfig>) -> String {
    let config = race.config;
    let (at, unit) = (config.compared_at(), config.setup.unit());
    let show = |summary: &PointSummary| {
        format!("{} {} a wait", unit.show(summary.an_episode()), unit.name())
    };
    let mut text = race.in_short(at, show);
    let mut counts = vec![Some(at), config.cores.last().copied()];
    counts.dedup();
    for cores in counts.into_iter().flatten() {
        let single = config.single(cores, CHANNEL, Arrivals::Together);
        if let (Some(optical), Some(single)) = (race.optical(), race.measured.of(&single)) {
            text += &format!(
                "a single wait of the thesis's barrier on {cores} cores: {} cycles, by the closed \
                 form {}\n",
                unit.show(single.exit.median),
                closed_form::together(optical, cores)
            );
        }
    }
    text
}
