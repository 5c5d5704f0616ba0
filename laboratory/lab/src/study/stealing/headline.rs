//! What a reader shall know first.

use super::results::StealingResults;

/// Within this much of the best counts as the best.
const LEVEL: f64 = 1.01;

/// The figure's title: who is best most often.
pub(super) fn message(results: StealingResults<'_>) -> String {
    let config = results.config;
    let (mut cases, mut wins) = (0, vec![0; config.disciplines.len()]);
    for at in config.star() {
        for &distribution in &config.distributions {
            let Some((_, best)) = results.best(at, distribution) else {
                continue;
            };
            cases += 1;
            for (name, won) in config.disciplines.iter().zip(&mut wins) {
                let stretch = results.stretch(at, distribution, name);
                *won += usize::from(stretch.is_some_and(|own| own.median <= LEVEL * best));
            }
        }
    }
    let all = config.disciplines.iter().zip(wins);
    match all.rev().max_by_key(|each| each.1) {
        Some((name, won)) if cases > 0 => format!(
            "In {won} of {cases} cases {} spreads tasks fastest, or within 1% of the fastest",
            match &**name {
                "ours" => "manycore's way (ours)",
                name => name,
            }
        ),
        _ => "How fast tasks spread".into(),
    }
}

/// The section's first sentences.
pub(super) const LEAD: &str = "Work stealing means that a core without tasks takes some from a core that has more. Here ways \
     to do that are compared by the time until all tasks are done, over the least that is possible. \
     The offer- ways are those of S. J. Park's thesis (MIT, 2013), whose cores tell all others \
     at once that they have no tasks, over a network made for that; on a machine without one their \
     messages go through memory. ours is manycore's way, which uses such a network if there is one.";
