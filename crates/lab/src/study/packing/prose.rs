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
             what is verified is that every item was run once. Intervals of table I are \
             computation and nothing else. Counting begins when the threads \
             have been spread.",
            setup.machine
        ),
        None => format!(
            "Threads are those of this machine ({}); each round runs all in shuffled order (seed \
             {}), so that all see the same disturbance. Ranks work by additions that wait for \
             each other.",
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
            "Of the other settings of the operating system the best for packing is \"{name}\": \
             {:.1}% ({}). In the poster's times, and not in these, are the parts of its programs \
             in which one thread runs, reading its input among them, which packing does not slow.",
            longer(ratio),
            config.kinds[0].meaning(),
        ));
    }
    all
}
