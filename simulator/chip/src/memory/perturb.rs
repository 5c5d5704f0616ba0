//! A random delay of each miss and of each dispatch of a thread, so that runs with several seeds are samples of a
//! program's run (Alameldeen and Wood, "Variability in Architectural Simulations of Multi-threaded Workloads", HPCA
//! 2003).
//!
//! A run is one of many possible interleavings of a program's threads, and a difference of one cycle can select another
//! interleaving. So a difference between two single runs may come from their interleavings alone.

use crate::config::Config;

#[derive(Clone, Debug)]
pub(crate) struct Perturbation {
    /// The longest delay in cycles plus one. 1 if there is no delay.
    choices: u64,
    /// The state of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    state: u64,
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl Perturbation {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            choices: config.perturb.unwrap_or(0) + 1,
            state: config.perturb_seed.unwrap_or(1),
        }
    }

    #[inline(always)]
    pub(crate) fn draw(&mut self) -> u64 {
        if self.choices == 1 {
            return 0;
        }
        self.state = self.state.wrapping_add(GOLDEN);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        let mixed = mixed ^ mixed >> 31;
        // The upper half of the product is uniform, up to an error of choices / 2^64.
        ((u128::from(mixed) * u128::from(self.choices)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn perturbation(most: Option<u64>, seed: u64) -> Perturbation {
        let mut config = Config::preset("atac-64").unwrap();
        (config.perturb, config.perturb_seed) = (most, Some(seed));
        Perturbation::new(&config)
    }

    #[test]
    fn draws_are_uniform_from_none_to_the_most() {
        for most in [1, 2, 5, 64] {
            let mut perturbation = perturbation(Some(most), 7);
            let mut counts = vec![0_u64; most as usize + 1];
            let each = 4_000;
            for _ in 0..each * (most + 1) {
                counts[perturbation.draw() as usize] += 1;
            }
            // Six standard deviations of a binomial count.
            let far = 6.0 * (each as f64).sqrt();
            let is_near = |&count: &u64| (count as f64 - each as f64).abs() < far;
            assert!(counts.iter().all(is_near), "{counts:?}");
        }
    }

    #[test]
    fn a_seed_decides_all_draws_and_without_perturbation_there_are_none() {
        let draws = |most, seed| {
            let mut perturbation = perturbation(most, seed);
            [(); 32].map(|()| perturbation.draw())
        };
        assert_eq!(draws(Some(3), 5), draws(Some(3), 5));
        assert_ne!(draws(Some(3), 5), draws(Some(3), 6));
        assert_eq!(draws(Some(0), 5), [0; 32]);
        assert_eq!(draws(None, 5), [0; 32]);
    }
}
