//! What the numbers mean, in words.

use super::closed_form::{fair, ideal, pinned};
use super::mode::Mode;
use super::results::Results;

/// What was measured and how.
pub(super) fn what(results: Results<'_>) -> String {
    let setup = &results.config.setup;
    let place = match setup.chip() {
        Some(_) => format!(
            "Threads are those of a simulated machine ({}), placed, sliced and balanced by its \
             operating system after the rules of Linux 5.12 to 6.5; a mask of C cores is its \
             first C. A program is told, not run: it takes the time that its phases are declared \
             to take, and what is verified is that every item was run once. Counting begins when \
             the threads have been spread.",
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
         reduction (tr) starts it with as many threads as cores; thread packing (tp) puts all of \
         its threads under a mask of the cores and leaves the rest to the system; tp-pinned binds \
         each to a core. After a poster by Park, Park, Han and Baek (UNIST). {place}"
    )
}

/// For a reader of nothing else.
pub(super) fn summary(results: Results<'_>) -> String {
    let config = results.config;
    let mut text = String::new();
    for &threads in &config.threads {
        let cores = config.swept_cores(threads);
        for &mode in config.modes.iter().filter(|&&mode| mode != Mode::Tr) {
            for &kind in &config.kinds {
                let Some(ratio) = results.mean_ratio(kind, threads, cores, mode) else {
                    continue;
                };
                let longer = 100.0 * (1.0 / ratio - 1.0);
                text += &format!(
                    "{threads} threads on {cores} cores, {}: {mode} takes {longer:.1}% longer than \
                     tr (geometric mean)\n",
                    kind.meaning()
                );
            }
        }
    }
    text
}

/// What agrees with the poster, and what does not.
pub(super) fn findings(results: Results<'_>) -> Vec<String> {
    let poster = || {
        let (threads, cores) = (16, 15);
        let ratio = results.mean_ratio(results.config.kinds[0], threads, cores, Mode::Tp)?;
        let longer = |time: f64| 100.0 * (time / ideal(threads, cores, 1.0) - 1.0);
        let (ours, fair, pinned) = (
            100.0 * (1.0 / ratio - 1.0),
            longer(fair(threads, cores)),
            longer(pinned(threads, cores)),
        );
        Some(format!(
            "The poster has 33.7% for 16 threads on 15 cores; here it is {ours:.1}%. Threads that \
             stay where they are would lose {pinned:.1}%, fair sharing whose idle cores pull \
             {fair:.1}%: so the poster's threads were pulled. Coarse programs come to that here too. \
             Fine ones do not: where the work between two barriers is shorter than the system's \
             slice, a thread that waits runs only when the one before it is through, wherever it \
             is pulled to."
        ))
    };
    poster().into_iter().collect()
}
