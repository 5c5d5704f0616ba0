//! Where the thesis's order of barriers is not found here: what was tried to find it.

use super::config::{BarrierConfig, FREE_SWITCH, OVERHEAD, THESIS_CORES};
use crate::report::table::{Cell, Table};
use crate::study::team::{CHANNEL, Contest, PointSummary, Race};

/// The thesis's baselines, and each as it may have been: the sense-reversing barrier with its two
/// words on one line, and that of POSIX threads as its C library had it in 2013.
const SENSE: [&str; 2] = ["sense", "sense-on-a-line"];
pub(super) const SLEEPING: [&str; 2] = ["futex", "glibc-2011"];

/// All of them by cores; those that sleep also on a machine on which that is free.
pub(super) fn table(race: Race<'_, BarrierConfig>) -> Option<Table> {
    let config = race.config;
    let unit = config.setup.unit();
    let mut rows = Vec::new();
    let mut row = |name: String, of: &dyn Fn(usize) -> Option<f64>| {
        let values: Vec<Option<f64>> = config.cores().iter().map(|&cores| of(cores)).collect();
        if values.iter().any(Option::is_some) {
            let text = |value: Option<f64>| value.map_or("-".into(), |value| unit.show(value));
            let cells = values.into_iter().map(|value| Cell::new(text(value)));
            rows.push(std::iter::once(Cell::new(name)).chain(cells).collect());
        }
    };
    for name in SENSE.into_iter().chain(SLEEPING) {
        row(name.into(), &|cores| wait(race, cores, name));
    }
    for name in SLEEPING {
        let free = |cores| Some(race.measured.of(&config.free(cores, name)?)?.an_episode());
        row(format!("{name}, {FREE_SWITCH}"), &free);
    }
    let mut header = vec!["barrier".to_owned()];
    header.extend(config.cores().iter().map(usize::to_string));
    (rows.len() > 2).then(|| Table {
        caption: format!(
            "What the thesis compared with, as it may have been: one wait of the loop, {}",
            unit.name()
        ),
        header,
        rows,
    })
}

/// A wait of the loop.
fn wait(race: Race<'_, BarrierConfig>, cores: usize, name: &str) -> Option<f64> {
    race.of(0, cores, name).map(PointSummary::an_episode)
}

/// Which of the two baselines is ahead, and why.
pub(super) fn baselines(race: Race<'_, BarrierConfig>) -> Option<String> {
    let config = race.config;
    let at = config.compared_at();
    let of = |name| wait(race, at, name);
    let ([sense, on_a_line], [futex, old]) = (
        [of(SENSE[0])?, of(SENSE[1])?],
        [of(SLEEPING[0])?, of(SLEEPING[1])?],
    );
    if futex <= sense {
        return None;
    }
    let free = |name| Some(race.measured.of(&config.free(at, name)?)?.an_episode());
    let [free, free_old] = [free(SLEEPING[0])?, free(SLEEPING[1])?];
    let times = |time: f64| format!("{:.2}", time / sense);
    let mut text = format!(
        "The thesis says that with many cores the barrier of POSIX threads is better than the \
         sense-reversing one. Here it is the opposite: on {at} cores futex, which is glibc's since \
         2.25, takes {} times as long as sense. Three reasons were tried. The glibc of 2013 had \
         another barrier: {} times. Its simulator charged nothing for putting a thread to sleep, \
         where this machine charges a switch: without that, {} and {} times. And a sense-reversing \
         barrier whose count and word lie on one line, as they do if nobody keeps them apart: {} \
         times as long as sense.",
        times(futex),
        times(old),
        times(free),
        times(free_old),
        times(on_a_line),
    );
    let behind = |cores| {
        if cores > THESIS_CORES {
            return Some([true; 2]);
        }
        let line = wait(race, cores, SENSE[1])?;
        let free = |name| Some(race.measured.of(&config.free(cores, name)?)?.an_episode());
        Some([free(SLEEPING[0])?, free(SLEEPING[1])?].map(|sleeping| sleeping < line))
    };
    let from = |which: usize| race.holds_from(|cores| Some(behind(cores)?[which]));
    let found: Vec<String> = SLEEPING
        .iter()
        .enumerate()
        .filter_map(|(which, name)| Some(format!("{name} is from {} cores on", from(which)?)))
        .collect();
    text += &match found.is_empty() {
        true if race.optical().is_none() => format!(
            " None of them gives the thesis's order on {at} cores of this machine; the thesis's had \
             other caches, and {THESIS_CORES} cores."
        ),
        true => " None of them gives the thesis's order, so its reason is not known.".to_owned(),
        false => format!(
            " The last two together give the thesis's order. Where sleeping is free, {} faster than \
             a sense-reversing barrier on one line, up to the thesis's {THESIS_CORES} cores.",
            found.join(" and ")
        ),
    };
    Some(text)
}

/// From how many cores on the thesis's barrier is ahead, and what would change that.
pub(super) fn gain(race: Race<'_, BarrierConfig>) -> Option<String> {
    let least = |cores| Some(wait(race, cores, SENSE[0])?.min(wait(race, cores, SLEEPING[0])?));
    let ahead = |cores| Some(least(cores)? - wait(race, cores, CHANNEL)?);
    let (two, four) = (ahead(2)?, ahead(4)?);
    if two <= 0.0 || four <= two {
        return None;
    }
    let config = race.config;
    let mut text = format!(
        "The thesis finds its barrier ahead from four cores on; here it is from two on. By its \
         figures for the network a wait of two members takes no more than transport, controller and \
         check, and it is ahead by {two:.0} cycles of two cores and by {four:.0} of four. So if each \
         call took some cycles that these figures do not contain, more than {two:.0} and fewer than \
         {four:.0}, it would be ahead from four on."
    );
    let with = |cores| {
        Some(
            race.measured
                .of(&config.with_overhead(cores)?)?
                .an_episode(),
        )
    };
    if let (Some(at_two), Some(at_four)) = (with(2), with(4)) {
        let verdict = match at_two > least(2)? && at_four < least(4)? {
            true => "so it is",
            false => "so it is not",
        };
        text += &format!(
            " Tried, with members that compute {OVERHEAD} cycles before each wait of that barrier: \
             {at_two:.0} cycles a wait of two and {at_four:.0} of four, beside {:.0} and {:.0} of the \
             best baseline: {verdict}. The thesis's calls were trapped by its simulator, which may \
             have cost as much; it does not say.",
            least(2)?,
            least(4)?,
        );
    }
    Some(text)
}
