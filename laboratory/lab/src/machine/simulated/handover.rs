//! The nanoseconds of a handover: two cores hand one word to and fro by compare-and-swap, as the program
//! core-to-core-latency does.

use super::buffer::{Buffer, Word};
use super::distance::Distance;
use super::thread::spawn;
use crate::instrument;
use manycore_chip::config::Config;
use manycore_chip::{Run, Simulated, Simulation, SimulationError};
use manycore_platform::{Atomic, Ordering::SeqCst, Platform};
use std::sync::Arc;

/// The number of words, each with its own home core.
const WORDS: usize = 64;
const ROUND_TRIPS: u64 = 20;

pub(super) fn measure(config: &Config, distance: &Distance) -> Result<Run<f64>, SimulationError> {
    let name = format!("handover, {}", distance.name);
    instrument::run(Simulation::new(config), &name, || {
        let buffer = Arc::new(Buffer::new(config, WORDS));
        let player = |core, mine| {
            let buffer = Arc::clone(&buffer);
            spawn(core, move || {
                let words = (0..WORDS).map(|number| buffer.line(number));
                words.map(|word| play(word, mine)).sum::<u64>()
            })
        };
        let other = player(distance.holder, 1);
        let cycles = player(distance.requester, 0).join();
        other.join();
        let handovers = 2 * WORDS as u64 * (ROUND_TRIPS - 1);
        cycles as f64 / handovers as f64 / config.ghz
    })
}

/// Takes the word whenever it is even (`mine` is 0) or odd (`mine` is 1). Returns the cycles of all round trips except
/// the first.
fn play(word: &Word, mine: u64) -> u64 {
    let mut start = 0;
    for round in 0..ROUND_TRIPS {
        if round == 1 {
            start = Simulated::now();
        }
        let value = 2 * round + mine;
        while word
            .compare_exchange(value, value + 1, SeqCst, SeqCst)
            .is_err()
        {}
    }
    Simulated::now() - start
}
