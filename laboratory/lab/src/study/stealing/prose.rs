//! What the numbers mean, in words.

use super::config::{OPPOSITE, SWAPPED};
use super::results::StealingResults;
use manycore_programs::stealing::Distribution;

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
                true if best.1 < theirs => format!(
                    "on {distribution} {found}, here level with {} ({theirs:.3} and {:.3})",
                    best.0, best.1
                ),
                true => format!("on {distribution} {found}, and so here ({theirs:.3})"),
                false => format!(
                    "on {distribution} {found}, here {} ({:.3}, and {found} {theirs:.3})",
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
        text += "Times over the ideal that are less than 0.5% apart count as level. (On total skew the thesis calls both global-queue and offer-cas best, in one \
                 paragraph.)";
    }
    text
}

/// What a distribution showed, times over the ideal: of the thesis's discipline as it is, with
/// prompt answers, and with many tasks as well; and of the other.
struct Tried {
    distribution: Distribution,
    late: f64,
    prompt: f64,
    many: f64,
    other: f64,
    other_of_many: f64,
}

/// Why long tasks are against the thesis's disciplines: tested by workers that answer within a
/// task, and by many tasks.
pub(super) fn why(results: StealingResults<'_>) -> Option<String> {
    let config = results.config;
    let at = *config.star().first()?;
    let [ours, other] = OPPOSITE;
    let try_out = |&distribution: &Distribution| {
        Some(Tried {
            distribution,
            late: results.stretch(at, distribution, ours)?.median,
            prompt: results.answering(distribution, ours)?,
            many: results.with_many(distribution, ours)?,
            other: results.stretch(at, distribution, other)?.median,
            other_of_many: results.with_many(distribution, other)?,
        })
    };
    let tried: Vec<Tried> = SWAPPED.iter().map(try_out).collect::<Option<_>>()?;
    let all = |holds: fn(&Tried) -> bool| tried.iter().all(holds);
    if !all(|it| it.late > it.other * LEVEL) {
        return None;
    }
    let opposite = format!(
        "The thesis found {ours} better than {other} on half and quarter; at this length of tasks it \
         is the opposite here."
    );
    if config
        .setup
        .chip()
        .is_none_or(|chip| chip.0.optical.is_none())
    {
        return Some(format!(
            "{opposite} The thesis's cores tell all others at once that they have no tasks; this \
             machine has no network for that, so the thesis's order need not hold."
        ));
    }
    let numbers = tried.iter().map(|it| {
        format!(
            "On {}: {:.3}, and with prompt answers {:.3}, where {other} has {:.3}; with many tasks \
             {:.3} and {:.3}",
            it.distribution, it.late, it.prompt, it.other, it.many, it.other_of_many
        )
    });
    let numbers: Vec<String> = numbers.collect();
    let verdict = if all(|it| it.prompt <= it.other * LEVEL) {
        "Late answers are the reason"
    } else if all(|it| it.many <= it.other_of_many * LEVEL) {
        "So both are the reason: with prompt answers and many tasks the thesis's order is found \
         here, or both are level"
    } else {
        "So the reason is another, which is not known"
    };
    Some(format!(
        "{opposite} Two reasons were tried. A worker that asks by broadcast waits until a \
         victim is between two tasks; in the table above victims answer a hundred times in a task. \
         And an owner keeps its last task for itself, which the thesis calls its critical region: one \
         task of {} a core at the end; with {} times as many it hardly counts. {}. {verdict}. The \
         thesis has a call for answers within a task, process_pending_request; it says neither \
         whether its benchmark made it nor how many tasks there were.",
        config.tasks,
        config.with_many(SWAPPED[0], ours).tasks / (config.tasks * at.0),
        numbers.join(". ")
    ))
}

/// Times that differ by less count as level.
const LEVEL: f64 = 1.005;
