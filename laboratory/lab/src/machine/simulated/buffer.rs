//! The cache lines that a measurement uses, and the mean of its samples.

use manycore_chip::Simulated;
use manycore_chip::config::{Config, Home, Network};
use manycore_platform::{Atomic, Platform};

pub(super) type Word = <Simulated as Platform>::AtomicU64;

const WORDS: usize = 4096 / 8;

/// A page of memory. A machine with several memories gives each page a home.
#[repr(C, align(4096))]
struct Page([Word; WORDS]);

/// Page-aligned memory of the simulated machine, used by the first word of
/// each line.
pub(super) struct Buffer {
    pages: Vec<Page>,
    /// Words in a line.
    step: usize,
}

impl Buffer {
    /// Returns untouched memory of at least `lines` lines.
    pub(super) fn new(config: &Config, lines: usize) -> Self {
        let step = config.line as usize / size_of::<Word>();
        let page = |_| Page(std::array::from_fn(|_| Word::new(0)));
        Self {
            pages: (0..(lines * step).div_ceil(WORDS)).map(page).collect(),
            step,
        }
    }

    /// The numbers of the lines.
    pub(super) fn numbers(&self) -> std::ops::Range<usize> {
        0..self.pages.len() * WORDS / self.step
    }

    pub(super) fn line(&self, number: usize) -> &Word {
        let word = number * self.step;
        &self.pages[word / WORDS].0[word % WORDS]
    }

    /// The words of a line.
    pub(super) fn words(&self, number: usize) -> &[Word] {
        let word = number * self.step;
        &self.pages[word / WORDS].0[word % WORDS..][..self.step]
    }

    /// Returns `count` lines with `core` as their home. The thread of `core` must call this. On machines that place a
    /// page at its first use, the query for a line's home claims the page.
    pub(super) fn at_home(&self, config: &Config, core: usize, count: usize) -> Vec<usize> {
        let numbers = self.numbers();
        let at_home = numbers.filter(|&number| is_home(config, self.line(number), core));
        at_home.take(count).collect()
    }
}

/// The number of lines to search for one line that is at home with a given core.
pub(super) fn lines_a_home(config: &Config) -> usize {
    match (config.coherence.home, &config.network) {
        (Home::FirstTouch, Network::Groups { .. }) => 1,
        _ => config.nodes() as usize,
    }
}

/// Whether `word` is at home with `core`.
pub(super) fn is_home(config: &Config, word: &Word, core: usize) -> bool {
    let home = Simulated::home_of(word);
    match config.network {
        Network::Mesh { .. } => home == core,
        Network::Groups { .. } => {
            let group = config.group_cores as usize;
            home / group == core / group
        }
    }
}

/// Returns the mean of the middle eight tenths, since a timer tick may fall into a sample.
pub(super) fn mean(mut samples: Vec<u64>) -> Option<f64> {
    samples.sort_unstable();
    let cut = samples.len() / 10;
    let middle = &samples[cut..samples.len() - cut];
    let sum: u64 = middle.iter().sum();
    (!middle.is_empty()).then(|| sum as f64 / middle.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_are_left_out_of_the_mean() {
        let mut samples = vec![10; 20];
        samples[3] = 5_000;
        assert_eq!(mean(samples), Some(10.0));
        assert_eq!(mean(Vec::new()), None);
    }
}
