//! Words of a text: split by white space, by a character, and counted.

use crate::Program;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

const WORDS: usize = 1 << 16;
const VOCABULARY: usize = 1 << 10;

pub fn programs() -> Vec<Program> {
    let mut random = fastrand::Rng::with_seed(13);
    let words = (0..WORDS).map(|_| format!("w{}", random.usize(..VOCABULARY)));
    let text = Arc::new(words.collect::<Vec<_>>().join(" "));
    let mut expected: HashMap<String, usize> = HashMap::new();
    for word in text.split(' ') {
        *expected.entry(word.to_owned()).or_default() += 1;
    }
    let (by_space, by_char) = (text.clone(), text.clone());
    vec![
        Program::giving(
            "words_by_white_space",
            move || by_space.par_split_whitespace().count(),
            WORDS,
        ),
        Program::giving(
            "words_by_char",
            move || by_char.par_split(' ').count(),
            WORDS,
        ),
        Program::giving("words_counted", move || frequencies(&text), expected),
    ]
}

fn frequencies(text: &str) -> HashMap<String, usize> {
    let counts = text
        .par_split_whitespace()
        .fold(HashMap::new, |mut counts, word| {
            *counts.entry(word).or_insert(0) += 1;
            counts
        });
    let counts: HashMap<&str, usize> = counts.reduce(HashMap::new, |mut a, b| {
        b.into_iter()
            .for_each(|(word, count)| *a.entry(word).or_insert(0) += count);
        a
    });
    counts
        .into_iter()
        .map(|(word, count)| (word.to_owned(), count))
        .collect()
}
