//! Counts how often each word occurs in a text.
//!
//! It shows [`Pool::map_reduce`]: each paragraph becomes a table of its words, and neighbouring tables are
//! merged until one is left. The results may have any type.
//!
//! ```sh
//! cargo run --release -p manycore --example word_count
//! ```

use manycore::Pool;
use std::collections::BTreeMap;

type Counts = BTreeMap<String, usize>;

const PHRASES: [&str; 5] = [
    "A loop is divided among the threads of the pool.",
    "The thread that calls the loop takes part in it!",
    "An idle thread takes half of what another thread has left.",
    "When the work is short, the caller does all of it.",
    "The pool sleeps when there is no work, and a call wakes it.",
];

/// Returns some 2,000 paragraphs of different lengths.
fn text() -> Vec<String> {
    let paragraph = |number: usize| -> Vec<&str> {
        let length = 1 + number * number % 7;
        (number..number + length).map(|i| PHRASES[i % 5]).collect()
    };
    (0..2_000).map(|i| paragraph(i).join(" ")).collect()
}

fn count(paragraph: &str) -> Counts {
    let mut counts = Counts::new();
    let words = paragraph.split(|letter: char| !letter.is_alphabetic());
    for word in words.filter(|word| !word.is_empty()) {
        *counts.entry(word.to_lowercase()).or_default() += 1;
    }
    counts
}

fn merge(mut left: Counts, right: Counts) -> Counts {
    for (word, count) in right {
        *left.entry(word).or_default() += count;
    }
    left
}

fn main() {
    let text = text();
    let counts = Pool::global().map_reduce(0..text.len(), Counts::new, |i| count(&text[i]), merge);

    let mut by_count: Vec<(&String, &usize)> = counts.iter().collect();
    by_count.sort_by_key(|&(word, count)| (std::cmp::Reverse(count), word));
    for (word, count) in &by_count[..8] {
        println!("{count:6} {word}");
    }

    assert_eq!(counts, count(&text.join(" ")));
}
