//! What the numbers mean, in words.

use super::closed_form::{fair, ideal, pinned};
use super::load::Kind;
use super::mode::Mode;
use super::results::PackingResults;
use super::variation::Variation;

/// What was measured and how.
pub(super) fn what(results: PackingResults<'_>) -> String {
    let setup = &results.config.setup;
    let place = match setup.chip() {
        Some(_) => format!(
            "Threads are those of a simulated machine ({}), placed, sliced and balanced by its \
             operating system after the rules of Linux 5.12 to 6.5; a mask of C cores is its \
             first C. Programs that do not fit are told, not run: an item takes its instructions, \
             and then its bytes, as fast as the cores that want some share the memory's \
             bandwidth, and no faster than ten lines under way at once let a core; \
             what is verified is that every item was run once. What one thread does before the \
             others begin is told as well: it reads the program's file from a disk of 150 MB/s, \
             and makes the program's data. A program's time is that, and the mean time of its \
             steps for as many as it has. Intervals of table I are computation and nothing else. {}",
            setup.machine,
            steadiness(results)
        ),
        None => format!(
            "Threads are those of this machine ({}); each round runs all in shuffled order (seed \
             {}), so that all see the same disturbance. Ranks work by additions that wait for \
             each other. The first 2 ms of each run do not count; whether it is steady then is not \
             asked, for neighbours' noise would say no.",
            setup.machine, setup.seed
        ),
    };
    format!(
        "A program whose threads meet at barriers is given fewer cores than it has threads. Thread \
         reduction (tr) starts it with as many threads as cores, each on its own; thread packing (tp) puts all of \
         its threads under a mask of the cores and leaves the rest to the system; tp-pinned binds \
         each to a core; elastic runs its phases as parallel loops on a pool that follows its cores; \
         wrap runs all of its ranks, at user level, on workers that follow them. After a poster by Park, Park, Han and Baek (UNIST). {place}"
    )
}

/// How long runs were, and which were not long enough.
fn steadiness(results: PackingResults<'_>) -> String {
    let mut text = String::from(
        "A run of constant cores is doubled until it is steady: the first half does not count, and \
         of the second the mean time of a step is known to 0.5%, by the means of eight batches \
         (Student's interval, 95%). A program that ends before is run from its first step to its \
         last, and all of it counts.",
    );
    let all = results.measured.0.iter();
    let tested: Vec<_> = all
        .filter(|runs| runs.outcomes[0].margin.is_some())
        .collect();
    let unsteady = tested.iter().filter(|runs| runs.outcomes[0].is_unsteady());
    let unsteady: Vec<String> = unsteady
        .map(|runs| {
            let margin = 100.0 * runs.outcomes[0].margin.unwrap_or(0.0);
            format!("{} ({margin:.1}%)", runs.trial)
        })
        .collect();
    let whole = results.measured.0.iter().filter(|runs| {
        runs.outcomes[0].margin.is_none() && runs.trial.program_barriers().is_some()
    });
    text += &format!(
        " {} runs are steady, {} are whole programs",
        tested.len() - unsteady.len(),
        whole.count()
    );
    text += &match unsteady.is_empty() {
        true => ".".to_owned(),
        false => format!(
            ", and {} are not steady though 32 times as long as the shortest or 50,000 barriers \
             long: they bear a tilde, and are known to: {}.",
            unsteady.len(),
            unsteady.join("; ")
        ),
    };
    text
}

/// For a reader of nothing else.
pub(super) fn summary(results: PackingResults<'_>) -> String {
    let config = results.config;
    let mut text = String::new();
    for &threads in &config.threads {
        let cores = config.swept_cores(threads);
        for &mode in config.modes.iter().filter(|&&mode| mode != Mode::Tr) {
            for &kind in &config.kinds {
                let Some(ratio) = results.mean_ratio(kind, threads, cores, mode) else {
                    continue;
                };
                let time = 1.0 / ratio;
                text += &format!(
                    "{threads} threads on {cores} cores, {}: {mode} takes {time:.3} of the time of \
                     tr (geometric mean)\n",
                    kind.meaning()
                );
                if let (Kind::Declared, Some(ratio)) = (
                    kind,
                    results.mean_ratio_of_steps(kind, threads, cores, mode),
                ) {
                    text += &format!("  of their steps alone: {:.3}\n", 1.0 / ratio);
                }
            }
        }
    }
    text
}

/// What agrees with the poster, and what does not.
pub(super) fn findings(results: PackingResults<'_>) -> Vec<String> {
    let config = results.config;
    let (threads, cores) = (16, 15);
    let longer = |ratio: f64| 100.0 * (1.0 / ratio - 1.0);
    let bound = |time: f64| longer(ideal(threads, cores, 1.0) / time);
    let mut all = Vec::new();
    for &kind in &config.kinds {
        let Some(ratio) = results.mean_ratio(kind, threads, cores, Mode::Tp) else {
            continue;
        };
        let ours = format!(
            "The poster has 33.7% for 16 threads on 15 cores; here it is {:.1}% ({}).",
            longer(ratio),
            kind.meaning(),
        );
        all.push(match kind {
            Kind::Declared => format!(
                "{ours} A thread that is left over when the others wait has the memory to itself, \
                 and is the faster for it the more its program wants from there."
            ),
            Kind::Intervals => format!(
                "{ours} Threads that stay where they are would lose {:.1}%, fair sharing whose \
                 idle cores pull {:.1}%. Coarse programs come to fair sharing; of fine ones, where \
                 the work between two barriers is shorter than the system's slice, a thread that \
                 waits runs only when the one before it is through, wherever it is pulled to, and \
                 they lose all of the bound.",
                bound(pinned(threads, cores)),
                bound(fair(threads, cores)),
            ),
            Kind::Real => ours,
        });
    }
    let programs = config.programs(config.kinds[0]);
    let of = |variation: &Variation| results.varied_ratio(&programs, threads, variation);
    let least = config
        .variations()
        .into_iter()
        .filter(|_| config.swept_cores(threads) == cores);
    let least = least.filter_map(|variation| Some((of(&variation)?, variation.name)));
    if let Some((ratio, name)) = least.max_by(|a, b| a.0.total_cmp(&b.0)) {
        all.push(format!(
            "The other setting of the operating system that is best for packing is \"{name}\": \
             {:.1}% ({}).",
            longer(ratio),
            config.kinds[0].meaning(),
        ));
    }
    all
}
