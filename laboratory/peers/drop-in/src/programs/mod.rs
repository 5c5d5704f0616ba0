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

use crate::Kind;

/// All programs, by their kinds.
pub const KINDS: &[Kind] = &[
    Kind {
        names: &[
            "increment_by_iterator",
            "increment_by_joins",
            "increment_by_slices",
            "increment_by_chunks",
            "empty_joins",
        ],
        set_up: joins::programs,
    },
    Kind {
        names: &[
            "fibonacci_left_first",
            "fibonacci_right_first",
            "fibonacci_split",
        ],
        set_up: fibonacci::programs,
    },
    Kind {
        names: &["factorial_join", "factorial_reduce", "factorial_product"],
        set_up: factorial::programs,
    },
    Kind {
        names: &[
            "find_any_start",
            "find_first_start",
            "find_any_middle",
            "find_first_middle",
            "find_any_end",
            "find_first_end",
            "any_nowhere",
        ],
        set_up: find::programs,
    },
    Kind {
        names: &["nbody_map", "nbody_reduce"],
        set_up: nbody::programs,
    },
    Kind {
        names: &["quicksort_to_8", "quicksort_to_1024"],
        set_up: quicksort::programs,
    },
    Kind {
        names: &["mergesort"],
        set_up: mergesort::programs,
    },
    Kind {
        names: &[
            "par_sort_random",
            "par_sort_ascending",
            "par_sort_mostly",
            "par_sort_strings",
            "par_sort_unstable_random",
            "par_sort_unstable_mostly",
        ],
        set_up: sorts::programs,
    },
    Kind {
        names: &["sieve"],
        set_up: sieve::programs,
    },
    Kind {
        names: &["matmul"],
        set_up: matmul::programs,
    },
    Kind {
        names: &["tsp"],
        set_up: tsp::programs,
    },
    Kind {
        names: &[
            "collect_million",
            "collect_64k",
            "collect_strided",
            "collect_by_fold",
            "collect_hash_map",
            "collect_tree_map",
            "count_by_fold",
        ],
        set_up: collect::programs,
    },
    Kind {
        names: &["words_by_white_space", "words_by_char", "words_counted"],
        set_up: words::programs,
    },
    Kind {
        names: &["tree_sum", "tree_prefix_sums"],
        set_up: tree::programs,
    },
    Kind {
        names: &["life_by_cell", "life_by_row", "life_by_bridge"],
        set_up: life::programs,
    },
    Kind {
        names: &["outside_thousand_items", "outside_joins"],
        set_up: outside::programs,
    },
    Kind {
        names: &["nested_two", "nested_three", "nested_flat_map"],
        set_up: nested::programs,
    },
    Kind {
        names: &["scope_flat", "scope_fifo", "scope_halves"],
        set_up: scopes::programs,
    },
];

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
    use super::KINDS;
    use std::collections::HashSet;

    #[test]
    fn results_are_right() {
        for kind in KINDS {
            let programs = (kind.set_up)();
            let names = programs.iter().map(|program| program.name.as_str());
            assert!(names.eq(kind.names.iter().copied()), "{:?}", kind.names);
            for program in programs {
                // Each checks itself. Twice: input must be fresh.
                program.run();
                program.run();
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let names: Vec<_> = KINDS.iter().flat_map(|kind| kind.names).collect();
        let different: HashSet<_> = names.iter().collect();
        assert_eq!(names.len(), different.len());
    }
}
