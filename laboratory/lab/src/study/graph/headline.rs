//! What a reader shall know first.

use super::results::GraphResults;
use crate::report::words;

/// The figure's title: who is fastest on most cores, in which programs.
pub(super) fn message(results: GraphResults<'_>) -> String {
    let Some(&cores) = results.config.cores.last() else {
        return "How fast a graph is searched".into();
    };
    let loads: Vec<_> = results.config.loads().collect();
    let one_size = loads.iter().all(|load| load.1 == loads[0].1);
    // Who wins what, and how much longer the next takes.
    let mut wins: Vec<(&str, Vec<String>, Vec<f64>)> = Vec::new();
    for &(program, scale) in &loads {
        let Some((name, ahead)) = results.best((program, scale), cores) else {
            continue;
        };
        let program = match one_size {
            true => program.to_string(),
            false => format!("{program} of 2^{scale} vertices"),
        };
        match wins.iter_mut().find(|win| win.0 == name) {
            Some(win) => {
                win.1.push(program);
                win.2.push(ahead);
            }
            None => wins.push((name, vec![program], vec![ahead])),
        }
    }
    let said: Vec<String> = wins.iter().map(won).collect();
    format!("On {cores} cores {}", said.join("; "))
}

/// What a way to steal wins.
fn won((name, programs, ahead): &(&str, Vec<String>, Vec<f64>)) -> String {
    let least = ahead.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ahead.iter().copied().fold(0.0, f64::max);
    let ahead = match programs.len() {
        1 => format!("{least:.2}"),
        _ => format!("{least:.2} to {most:.2}"),
    };
    format!(
        "{} is the fastest in {} (the next takes {ahead} times as long)",
        match *name {
            "ours" => "manycore's way (ours)",
            name => name,
        },
        words::list(programs)
    )
}

/// The section's first sentences.
pub(super) const LEAD: &str = "A search of a graph makes its tasks while it runs: few at first, then very many, on the core \
     that finds them. So it shows how well idle cores take tasks from busy ones, by the ways of the \
     section on work stealing.";
