//! One file for each kind of program.

mod collect;
mod factorial;
mod fibonacci;
mod find;
mod joins;
mod life;
mod matmul;
mod mergesort;
mod nbody;
mod nested;
mod outside;
mod quicksort;
mod scopes;
mod sieve;
mod sorts;
mod tree;
mod tsp;
mod words;

use crate::Program;

/// All programs.
pub fn all() -> Vec<Program> {
    [
        joins::programs(),
        fibonacci::programs(),
        factorial::programs(),
        find::programs(),
        nbody::programs(),
        quicksort::programs(),
        mergesort::programs(),
        sorts::programs(),
        sieve::programs(),
        matmul::programs(),
        tsp::programs(),
        collect::programs(),
        words::programs(),
        tree::programs(),
        life::programs(),
        outside::programs(),
        nested::programs(),
        scopes::programs(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The same numbers at each call.
fn random_numbers(count: usize) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(7);
    (0..count).map(|_| random.u64(..)).collect()
}

/// The sum of `0..count`.
fn sum_below(count: u64) -> u64 {
    count * (count - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::all;
    use std::collections::HashSet;

    #[test]
    fn results_are_right() {
        for program in all() {
            // Each checks itself. Twice: input must be fresh.
            program.run();
            program.run();
        }
    }

    #[test]
    fn names_are_unique() {
        let programs = all();
        let names: HashSet<_> = programs.iter().map(|program| &program.name).collect();
        assert_eq!(names.len(), programs.len());
    }
}
