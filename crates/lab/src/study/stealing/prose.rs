//! What the numbers mean, in words.

use super::distribution::Distribution;
use super::results::StealingResults;

/// Under the figure.
pub(super) const FIGURE: &str = "Time until all tasks are done, over that of all tasks divided by the cores: medians, with bars \
     from the 10th to the 90th percentile of runs, of which a simulation needs one.";

/// What was measured and how.
pub(super) fn what(results: StealingResults<'_>) -> String {
    let config = results.config;
    let setup = &config.setup;
    let place = match setup.chip() {
        Some(_) => format!(
            "One worker is bound to each core of a simulated machine ({}); cycles are its clock's. \
             The seed, {}, decides who is stolen from and the random distribution.",
            setup.machine, setup.seed
        ),
        None => format!(
            "Workers are threads of this machine ({}); each round runs all in shuffled order (seed \
             {}).",
            setup.machine, setup.seed
        ),
    };
    format!(
        "The thesis's benchmark: {} independent tasks a core, all of one length, distributed in \
         five ways at the beginning. {place} The clock runs once all piles are filled. In the \
         random distribution a core's tasks vary by half of their mean, which the thesis does not \
         say. global-queue is what it calls work queue (Java), random the style of Cilk, \
         offer-mutex and offer-cas its own with virtual channels.",
        config.tasks
    )
}

/// For a reader of nothing else: who is best.
pub(super) fn summary(results: StealingResults<'_>) -> String {
    let config = results.config;
    let unit = config.setup.unit().name();
    let mut text = String::new();
    for at in config.star() {
        let (cores, cycles) = at;
        let best = config.distributions.iter().filter_map(|&distribution| {
            let (name, stretch) = results.best(at, distribution)?;
            Some(format!("{distribution} {name} ({stretch:.3})"))
        });
        let best: Vec<String> = best.collect();
        text += &format!(
            "best on {cores} cores, tasks of {cycles} {unit}, time over the ideal: {}\n",
            best.join(", ")
        );
    }
    text
}

/// What the thesis found best of its four, of tasks of 0.12 ms on 64 cores (section
/// 6.2.1).
const FOUND: [(Distribution, &str); 5] = [
    (Distribution::TotalSkew, "global-queue"),
    (Distribution::Half, "offer-cas"),
    (Distribution::Quarter, "offer-cas"),
    (Distribution::Even, "random"),
    (Distribution::Random, "random"),
];

/// Its findings beside these, if the four were measured.
pub(super) fn claims(results: StealingResults<'_>) -> String {
    let four = ["global-queue", "random", "offer-mutex", "offer-cas"];
    let mut text = String::new();
    for at in results.config.star() {
        let (cores, cycles) = at;
        let mut verdicts = Vec::new();
        for (distribution, found) in FOUND {
            let stretch = |name| Some(results.stretch(at, distribution, name)?.median);
            let measured: Option<Vec<(&str, f64)>> = four
                .iter()
                .map(|&name| Some((name, stretch(name)?)))
                .collect();
            let Some(measured) = measured else { continue };
            let Some(theirs) = stretch(found) else {
                continue;
            };
            let Some(best) = measured.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)) else {
                continue;
            };
            verdicts.push(match theirs <= best.1 * LEVEL {
                true => format!("{distribution} {found}: so here ({theirs:.3})"),
                false => format!(
                    "{distribution} {found}: here {} ({:.3}, and {found} {theirs:.3})",
                    best.0, best.1
                ),
            });
        }
        if !verdicts.is_empty() {
            let unit = results.config.setup.unit().name();
            text += &format!(
                "What the thesis found best of its four, beside {cores} cores with tasks of {cycles} \
                 {unit} here: {}. ",
                verdicts.join("; ")
            );
        }
    }
    if !text.is_empty() {
        text += "Who asks for work by broadcast waits until a victim is between two tasks; who \
                 takes it by itself does not. So the longer the tasks, the more an answer \
                 costs, whatever the network does. (On total skew the thesis calls both \
                 global-queue and offer-cas best, in one paragraph.)";
    }
    text
}

/// Times that differ by less count as level.
const LEVEL: f64 = 1.005;
