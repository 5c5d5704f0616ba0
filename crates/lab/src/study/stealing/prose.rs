//! What the numbers mean, in words.

use super::results::Results;

/// Under the figure.
pub(super) const FIGURE: &str = "Time until all tasks are done, over that of all tasks divided by the cores: medians, with bars \
     from the 10th to the 90th percentile of runs, of which a simulation needs one.";

/// What was measured and how.
pub(super) fn what(results: Results<'_>) -> String {
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
pub(super) fn summary(results: Results<'_>) -> String {
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
