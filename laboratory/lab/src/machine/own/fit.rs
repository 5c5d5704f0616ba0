//! The two values that are chosen by simulations.

use super::Shape;
use super::measured::Measured;
use super::preset::Draft;
use crate::failure::Interrupted;
use crate::machine::probe;
use crate::measure::interrupt;
use anyhow::Context;
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use std::io;

/// If a handover takes longer than this number of loads from the last cache, the two cores share no cache. The system
/// of a virtual machine may say otherwise, since its host may report any topology.
const FAR: f64 = 4.0;
/// Handovers whose times differ by less than this factor have one distance.
const ALIKE: f64 = 1.25;

/// Returns the text of the preset.
pub(super) fn preset(
    name: &str,
    shape: &Shape,
    measured: &Measured,
    progress: &mut dyn FnMut(&str),
) -> anyhow::Result<String> {
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
    let contended = measured.median("increments");
    draft.hold = solve(contended, |cycles| {
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
    let text = draft.text();
    Config::from_toml(&text, "the new preset")?;
    Ok(text)
}

fn simulated(
    draft: &Draft,
    program: impl FnOnce(&[Vec<usize>]) -> io::Result<f64>,
    other: usize,
) -> anyhow::Result<f64> {
    if interrupt::asked() {
        return Err(Interrupted("interrupted; nothing was written".into()).into());
    }
    let config = Config::from_toml(&draft.plain(), "a draft of the preset")?;
    let run = Simulation::new(&config).run(|| program(&[vec![0], vec![other]]).ok())?;
    run.value.context("a simulated thread")
}

/// Returns the cycles for which `time` is nearest to `wanted`. The time rises or falls with the cycles, in steps. So
/// the search tries all powers of two first, and then halves its steps around the best of them.
fn solve(wanted: f64, time: impl Fn(u64) -> anyhow::Result<f64>) -> anyhow::Result<u64> {
    let mut tried = Vec::new();
    let mut look = |cycles: u64| -> anyhow::Result<()> {
        let error = (time(cycles)?.max(0.001) / wanted.max(0.001)).ln().abs();
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
            let mut ahead = time(cycles)?;
            ahead = (ahead.max(0.001) / wanted.max(0.001)).ln().abs();
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
