//! What the numbers mean, in words: the thesis's three statements, and where
//! its numbers contradict each other.

use super::config::{App, Contestants, DOUBLES, Parameter, RobustnessConfig};
use super::curve::Curve;
use super::tables;
use crate::study::team::{PointSummary, Race, closed_form, left_out};
use crate::study::trial;

/// Under the figure.
pub(super) const FIGURE: &str = "End to end against one figure of the broadcast network, the others as they are. Simulations \
     have no noise, so there are no bars.";

/// Where the thesis says that there is no loss.
const NO_LOSS: u64 = 200;
/// The controller up to which it says that barriers are comparable.
const COMPARABLE: u64 = 200;

/// What was measured and how.
pub(super) fn what(config: &RobustnessConfig) -> String {
    format!(
        "The thesis's barrier, in a loop of {} waits and in streamcluster with the input test, on \
         {} cores, while one figure of the broadcast network is changed. {}{}",
        config.episodes,
        config.cores,
        trial::what(&config.setup),
        left_out(&config.barriers)
    )
}

/// The thesis's statements beside one application's numbers.
pub(super) fn statements(race: Race<'_, Contestants<'_>>) -> Vec<String> {
    let app = race.config.app.name();
    let mut said = Vec::new();
    let of_doubles = match race.config.app {
        App::Loop => "the thesis: it just doubles",
        App::Streamcluster => "the thesis: no increase",
    };
    for (value, claim) in [(NO_LOSS, "the thesis: no loss"), (DOUBLES, of_doubles)] {
        if let Some(curve) = Curve::of(race, Parameter::Transport)
            && let Some(times) = curve.factor(value)
        {
            said.push(format!(
                "{app}: transport from {} to {value} cycles takes {:+.1}% time ({claim})",
                curve.own,
                (times - 1.0) * 100.0
            ));
        }
    }
    for (parameter, value, claim) in [
        (
            Parameter::Controller,
            Some(COMPARABLE),
            "the thesis: comparable",
        ),
        (Parameter::Check, None, "the thesis: not the biggest factor"),
    ] {
        let Some(curve) = Curve::of(race, parameter) else {
            continue;
        };
        let Some(value) = value.or(curve.points.last().map(|last| last.0)) else {
            continue;
        };
        let Some((time, own)) = curve.at(value).zip(curve.factor(value)) else {
            continue;
        };
        let beside: String = tables::beside(race)
            .iter()
            .map(|other| {
                let times = time / other.total.median;
                format!(", {times:.2} times that of {}", other.point.barrier)
            })
            .collect();
        said.push(format!(
            "{app}: with a {} of {value} cycles {own:.1} times its own time{beside} ({claim})",
            parameter.name()
        ));
    }
    said
}

/// What a transport of [`DOUBLES`] does if receivers were slower than the thesis's figures say:
/// whether that explains what the thesis says of it.
pub(super) fn slow_receivers(race: Race<'_, Contestants<'_>>) -> Option<String> {
    let near = race.measured.of(&race.config.slow_receivers(false))?;
    let far = race.measured.of(&race.config.slow_receivers(true))?;
    let curve = Curve::of(race, Parameter::Transport)?;
    let slower = far.total.median / near.total.median;
    let own = curve.factor(DOUBLES)?;
    let setting = &near.point.settings[0];
    let wait = near.an_episode();
    Some(match race.config.app {
        App::Loop => format!(
            "If receivers were the reason, by what each message costs them ({setting}, with which \
             a wait of the loop takes {wait:.0} cycles), a transport of {DOUBLES} cycles would make \
             the loop take {slower:.2} times as long."
        ),
        App::Streamcluster => format!(
            "The thesis says that streamcluster does not get slower by a high transport. Here it is \
             the opposite: with {DOUBLES} cycles it takes {own:.2} times as long. It waits {} times, \
             once in {:.0} cycles, and each wait gets {:.0} cycles longer; a loss of less than 1% \
             would take intervals of some {:.0} million cycles. {}",
            curve.episodes,
            curve.own_wait()?,
            curve.added_to_a_wait(DOUBLES)?,
            curve.added_to_a_wait(DOUBLES)? * 100.0 / 1e6,
            match slower < 1.01 {
                true => format!(
                    "Receivers as slow as \"just doubles\" needs ({setting}) explain it: with them \
                     it takes {slower:.2} times as long."
                ),
                false => format!(
                    "Receivers as slow as \"just doubles\" needs ({setting}) do not explain it: with \
                     them it still takes {slower:.2} times as long. No model of the network explains \
                     both sentences: a message that is awaited comes so much later. What is left is \
                     the thesis's simulator, which let the cores' clocks drift apart: to a core \
                     whose clock is ahead by more than the transport a message is there already. \
                     That cannot be tested on a machine with one time."
                ),
            }
        ),
    })
}

/// Up to which value the thesis's barrier is faster than the others.
pub(super) fn margins(race: Race<'_, Contestants<'_>>) -> Vec<String> {
    let mut said = Vec::new();
    for parameter in Parameter::ALL {
        let Some(curve) = Curve::of(race, parameter) else {
            continue;
        };
        let reached = |other: &&PointSummary| {
            let value = curve.reaches(other.total.median)?;
            Some(format!("{} from about {value:.0}", other.point.barrier))
        };
        let reached: Vec<String> = tables::beside(race).iter().filter_map(reached).collect();
        if !reached.is_empty() {
            said.push(format!(
                "{}: a {} of so many cycles makes it as slow as {}",
                race.config.app.name(),
                parameter.name(),
                reached.join(", ")
            ));
        }
    }
    said
}

/// The thesis's numbers contradict each other: with both, from measured points.
pub(super) fn discrepancy(race: Race<'_, Contestants<'_>>) -> Option<String> {
    if race.config.app != App::Loop {
        return None;
    }
    let cores = race.config.config.cores;
    let curve = Curve::of(race, Parameter::Transport)?;
    let added = curve.added_to_a_wait(DOUBLES)?;
    Some(format!(
        "The thesis's figures for its network make a wait on {cores} cores cost {} cycles by the \
         closed form, and {:.0} here. A transport of {DOUBLES} instead of {} cycles adds {added:.0} \
         to each wait, so that here the loop takes {:.1} times as long. The thesis says that a \
         transport of {DOUBLES} cycles \"just doubles the runtime\": then a wait, before, must have \
         taken about as much as was added, {added:.0} cycles, {:.0} times what its figures give. \
         Both cannot be.",
        closed_form::together(race.optical()?, cores),
        curve.own_wait()?,
        curve.own,
        curve.factor(DOUBLES)?,
        added / curve.own_wait()?
    ))
}
