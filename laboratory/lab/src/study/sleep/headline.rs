//! What a reader shall know first.

use super::cell::Policy;
use super::config::SleepConfig;
use super::measured::MeasuredPolicies;
use super::speedup;
use crate::report::words::more_or_less;

/// Differences of means that are less are called none.
const LEVEL: f64 = 0.02;

/// The figure's title: whether the policy matters.
pub(super) fn message(config: &SleepConfig, measured: &[MeasuredPolicies]) -> String {
    let threads = config.most_threads();
    let others = config.policies.iter().filter(|policy| !policy.is_base());
    let means: Vec<(&Policy, f64)> = others
        .filter_map(|policy| {
            let mean = speedup::mean_delta(measured, &config.algorithms, policy, threads)?;
            Some((policy, mean))
        })
        .collect();
    let Some(best) = means.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return "Time that programs take by sleep policy".into();
    };
    let greatest = means.iter().map(|mean| mean.1.abs()).fold(0.0, f64::max);
    if greatest < LEVEL {
        return format!(
            "On {threads} threads all sleep policies are within {:.1}% of rayon's, in the mean",
            100.0 * greatest
        );
    }
    let ours = means.iter().find(|mean| mean.0.name == Policy::OURS);
    let ours = ours.filter(|ours| ours.0 != best.0);
    let ours = ours.map(|ours| format!("; manycore's own (ours) {}", more_or_less(ours.1)));
    format!(
        "On {threads} threads {} takes {} time than rayon's (packed), in the mean of {} \
         programs{}",
        match best.0.name == Policy::OURS {
            true => "manycore's own policy (ours)".to_owned(),
            false => format!("the policy {}", best.0),
        },
        more_or_less(best.1),
        config.algorithms.len(),
        ours.unwrap_or_default()
    )
}

/// The section's first sentences.
pub(super) const LEAD: &str = "Threads of a pool that find no work go to sleep, and must be woken when there is some. A sleep \
     policy is how the pool keeps count of that, which itself takes time. Here policies are compared \
     on programs that split their work in two again and again (fork-join): packed is the policy of \
     rayon, a library of parallel loops, ours that of manycore, and most others come from an \
     experiment of 2022 by J. D. S. Fontena, which is called the document below.";
