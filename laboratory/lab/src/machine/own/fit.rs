//! Chooses distances and `atomics.hold` by simulations.

use super::Shape;
use super::measured::Measured;
use super::preset::{Draft, ghz};
use crate::machine::probe::{self, Increments};
use crate::measure::interrupt;
use anyhow::Context;
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use std::io;

/// If a handover takes longer than this number of loads from the last cache, the two cores share no cache. The system
/// of a virtual machine may say otherwise, since its host may report any topology.
const FAR: f64 = 4.0;
/// Handovers whose times differ by less than this factor have one distance.
pub(crate) const ALIKE: f64 = 1.25;

/// A greater factor between simulated and measured increments causes a warning.
const MISSED: f64 = 1.25;

/// Returns the text of the preset, and a warning if the simulated increments are not like the measured ones.
pub(super) fn preset(
    name: &str,
    shape: &Shape,
    measured: &Measured,
    progress: &mut dyn FnMut(&str),
) -> anyhow::Result<(String, Option<String>)> {
    progress("fitting distances and contention");
    let cores = shape.places.len();
    let handover =
        |a: usize, b: usize| measured.median(&format!("handover {} {}", a.min(b), a.max(b)));
    let llc = measured.median("llc");
    let shared =
        shape.sharing > shape.threads_per_core && handover(0, shape.threads_per_core) < FAR * llc;
    let group = if shared {
        shape.sharing
    } else {
        shape.threads_per_core
    };
    let groups = cores / group;
    let mut classes: Vec<f64> = Vec::new();
    let mut distance = vec![vec![0; groups]; groups];
    let mut between: Vec<(f64, usize, usize)> = Vec::new();
    for b in 0..groups {
        between.extend((0..b).map(|a| (handover(a * group, b * group), a, b)));
    }
    between.sort_by(|one, next| one.0.total_cmp(&next.0));
    for (ns, a, b) in between {
        if classes.last().is_none_or(|&near| ns > ALIKE * near) {
            classes.push(ns);
        }
        distance[a][b] = classes.len();
        distance[b][a] = classes.len();
    }
    let near = if shared {
        handover(0, shape.threads_per_core)
    } else {
        classes[0]
    };
    let mut draft = Draft::new(name, shape, measured, group, &classes, distance);
    if shared {
        draft.snoop = solve(near, |cycles| {
            let draft = Draft {
                snoop: cycles,
                ..draft.clone()
            };
            simulated(&draft, probe::handover::<Simulated>, shape.threads_per_core)
        })?;
    }
    let first = draft.clone();
    for (class, &ns) in classes.iter().enumerate() {
        // The first two groups are simulated as if they were at this distance.
        draft.ways[class] = solve(ns, |cycles| {
            let mut draft = first.clone();
            draft.ways.fill(cycles);
            simulated(&draft, probe::handover::<Simulated>, group)
        })?;
    }
    let wanted = Increments {
        ns: measured.median("increments"),
        run: measured.median("run"),
    };
    if measured.get("run").is_none() {
        let warning = "atomics.hold: not fitted, since no two threads ran at the same time; it is 0, \
                       the default";
        return Ok((checked(&draft)?, Some(warning.into())));
    }
    // The two threads take turns.
    let turn = wanted.run * wanted.ns / 2.0 * ghz(measured);
    let (hold, found) = hold(wanted, turn, |cycles| {
        let draft = Draft {
            hold: cycles,
            ..draft.clone()
        };
        simulated(
            &draft,
            probe::increments::<Simulated>,
            shape.threads_per_core,
        )
    })?;
    draft.hold = hold;
    let text = checked(&draft)?;
    let is_missed = difference(found.ns, wanted.ns).max(difference(found.run, wanted.run));
    let warning = (is_missed > MISSED.ln()).then(|| {
        format!(
            "atomics.hold: with {hold} cycles, which is the nearest, simulated increments of one \
             counter take {:.1} ns, with {:.1} in a row on a core; measured: {:.1} ns and {:.1}",
            found.ns, found.run, wanted.ns, wanted.run
        )
    });
    Ok((text, warning))
}

/// Returns the text, which a simulation accepts.
fn checked(draft: &Draft) -> anyhow::Result<String> {
    let text = draft.text();
    Config::from_toml(&text, "the new preset")?;
    Ok(text)
}

/// Returns the `hold` with increments nearest to the `wanted` ones, and these increments. `turn` is the
/// measured time in cycles of one core's increments in a row.
///
/// The time of an increment rises with the cycles as long as a core gets the line for one increment, since the other
/// core waits longer. Beyond this peak, a core does more increments in a row, so the time falls. So a time alone has
/// two solutions, and is almost flat far beyond the peak. The length of a run selects one solution, since it rises with
/// the cycles. If cores do several increments in a row, the solution is beyond the peak.
fn hold(
    wanted: Increments,
    turn: f64,
    increments: impl Fn(u64) -> anyhow::Result<Increments>,
) -> anyhow::Result<(u64, Increments)> {
    let error =
        |found: Increments| difference(found.ns, wanted.ns) + difference(found.run, wanted.run);
    // A core keeps a line for one turn at most. Twice this time allows for noise.
    let most = (2.0 * turn).max(64.0);
    let steps = std::iter::successors(Some(1.0_f64), |cycles| Some(cycles * STEP));
    let mut tried = vec![(0, increments(0)?)];
    for cycles in steps.take_while(|&cycles| cycles <= most) {
        let cycles = cycles.round() as u64;
        if tried.last().is_some_and(|last| last.0 < cycles) {
            tried.push((cycles, increments(cycles)?));
        }
    }
    if wanted.run >= SEVERAL {
        // The first of equal maxima.
        let peak = (0..tried.len()).rev();
        let peak = peak.max_by(|&a, &b| tried[a].1.ns.total_cmp(&tried[b].1.ns));
        let peak = peak.unwrap_or(0);
        // If the time does not fall, no peak was reached.
        if tried[peak..]
            .iter()
            .any(|other| other.1.ns < tried[peak].1.ns)
        {
            tried.drain(..peak);
        }
    }
    let best = tried
        .into_iter()
        .min_by(|a, b| error(a.1).total_cmp(&error(b.1)));
    best.context("a simulation of increments")
}

/// The factor between two tried values of `hold`.
const STEP: f64 = 1.2;

/// From this mean on, cores do several increments in a row.
const SEVERAL: f64 = 1.5;

/// The logarithm of the factor between two numbers, without its sign.
fn difference(found: f64, wanted: f64) -> f64 {
    (found.max(0.001) / wanted.max(0.001)).ln().abs()
}

fn simulated<T>(
    draft: &Draft,
    program: impl FnOnce(&[Vec<usize>]) -> io::Result<T>,
    other: usize,
) -> anyhow::Result<T> {
    interrupt::go_on()?;
    let config = Config::from_toml(&draft.plain(), "a draft of the preset")?;
    let run = Simulation::new(&config).run(|| program(&[vec![0], vec![other]]).ok())?;
    run.value.context("a simulated thread")
}

/// Returns the cycles for which `time` is nearest to `wanted`. The time rises or falls with the cycles, in steps. So
/// the search tries all powers of two first, and then halves its steps around the best of them.
fn solve(wanted: f64, time: impl Fn(u64) -> anyhow::Result<f64>) -> anyhow::Result<u64> {
    let mut tried = Vec::new();
    let mut look = |cycles: u64| -> anyhow::Result<()> {
        let error = difference(time(cycles)?, wanted);
        tried.push((error, cycles));
        tried.sort_by(|one, next| one.0.total_cmp(&next.0));
        tried.truncate(1);
        Ok(())
    };
    for cycles in [1].into_iter().chain((2..14).map(|power| 1 << power)) {
        look(cycles)?;
    }
    let (_, mut best) = tried[0];
    let mut step = (best / 4).max(1);
    while step > 0 {
        for cycles in [best.saturating_sub(step).max(1), best + step] {
            let ahead = difference(time(cycles)?, wanted);
            if ahead < tried[0].0 {
                tried[0] = (ahead, cycles);
            }
        }
        best = tried[0].1;
        step /= 2;
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A core does one increment until the line is kept for 40 cycles, and then one more for each 20 cycles.
    fn increments(cycles: u64) -> anyhow::Result<Increments> {
        let run = 1.0 + (cycles as f64 - 40.0).max(0.0) / 20.0;
        let ns = (100.0 + cycles as f64) / run;
        Ok(Increments { ns, run })
    }

    #[test]
    fn the_time_for_which_a_line_is_kept_is_found_beyond_the_peak() {
        let (cycles, found) = hold(increments(250).unwrap(), 300.0, increments).unwrap();
        assert!(cycles.abs_diff(250) < 25, "{cycles}, {found:?}");
        // 120 ns are also the time of a core that keeps the line for 20 cycles.
        let mut wanted = increments(45).unwrap();
        wanted.run = 2.0;
        let (cycles, _) = hold(wanted, 60.0, increments).unwrap();
        assert!((40..=90).contains(&cycles), "{cycles}");
        // Cores that take turns are found before the peak.
        let (cycles, _) = hold(increments(10).unwrap(), 60.0, increments).unwrap();
        assert!((8..=12).contains(&cycles), "{cycles}");
        // No time beyond the bound is tried, however short the wanted time.
        let short = Increments { ns: 1.0, run: 3.0 };
        assert!(hold(short, 50.0, increments).unwrap().0 <= 100);
    }

    #[test]
    fn a_time_that_does_not_fall_is_searched_from_its_begin() {
        let flat = |cycles: u64| {
            let run = 1.0 + cycles as f64 / 20.0;
            Ok(Increments { ns: 100.0, run })
        };
        let (cycles, _) = hold(flat(20).unwrap(), 300.0, flat).unwrap();
        assert!(cycles.abs_diff(20) < 4, "{cycles}");
        let rising = |cycles: u64| {
            let ns = 100.0 + cycles as f64;
            let run = 2.0;
            Ok(Increments { ns, run })
        };
        let (cycles, _) = hold(rising(20).unwrap(), 300.0, rising).unwrap();
        assert!(cycles.abs_diff(20) < 4, "{cycles}");
    }

    #[test]
    fn the_nearest_value_is_found_on_both_slopes() {
        assert_eq!(
            solve(1_007.0, |cycles| Ok(7.0 + 2.0 * cycles as f64)).unwrap(),
            500
        );
        let falling = |cycles: u64| Ok(4_000.0 / cycles as f64);
        assert!(solve(10.0, falling).unwrap().abs_diff(400) < 8);
        // No number of cycles is so short.
        assert_eq!(solve(0.0, |cycles| Ok(5.0 + cycles as f64)).unwrap(), 1);
    }
}
