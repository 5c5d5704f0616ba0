//! Splits a text into words. The text may be divided only at spaces.

use super::{Fork, Kernel, Splittable, Wrong};
use manycore_platform::Platform;

/// Instructions for each character.
const CHARACTER: u64 = 13;

/// Counts the words of a text and their letters.
///
/// ```
/// use manycore_programs::fork::{Kernel, Serial, StringSplit};
/// use manycore_platform::Native;
///
/// let mut kernel = StringSplit::new(1000, 42);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct StringSplit {
    text: String,
    answer: Option<Count>,
}

impl StringSplit {
    /// A text from `seed`: words of a few letters, sometimes with more than one space between them.
    ///
    /// ```
    /// use manycore_programs::fork::{Kernel, StringSplit, Wrong};
    /// assert_eq!(StringSplit::new(10, 1).verify(), Err(Wrong::NotRun));
    /// ```
    #[must_use]
    pub fn new(length: usize, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let character = |_| match random.u32(0..6) {
            0 => ' ',
            _ => random.lowercase(),
        };
        Self {
            text: (0..length).map(character).collect(),
            answer: None,
        }
    }
}

impl Kernel for StringSplit {
    fn reset(&mut self) {
        self.answer = None;
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        let leaf = |Text(text): Text| Count::of::<F::Platform>(text);
        self.answer = Some(fork.reduce(Text(self.text.as_bytes()), &leaf, &Count::and));
    }

    fn sequential<P: Platform>(&mut self) {
        self.answer = Some(Count::of::<P>(self.text.as_bytes()));
    }

    fn verify(&self) -> Result<(), Wrong> {
        let found = self.answer.ok_or(Wrong::NotRun)?;
        let words = || self.text.split_ascii_whitespace();
        let longest = words().map(str::len).max().unwrap_or(0);
        Wrong::unless_equal("the number of words", found.words, words().count())?;
        Wrong::unless_equal(
            "the number of letters",
            found.letters,
            words().map(str::len).sum(),
        )?;
        Wrong::unless_equal("the length of the longest word", found.longest, longest)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    words: usize,
    letters: usize,
    longest: usize,
}

impl Count {
    fn of<P: Platform>(text: &[u8]) -> Self {
        P::read(text);
        P::compute(CHARACTER * text.len() as u64);
        text.split(|&character| character == b' ')
            .filter(|word| !word.is_empty())
            .map(|word| Self {
                words: 1,
                letters: word.len(),
                longest: word.len(),
            })
            .fold(Self::default(), Self::and)
    }

    fn and(self, other: Self) -> Self {
        Self {
            words: self.words + other.words,
            letters: self.letters + other.letters,
            longest: self.longest.max(other.longest),
        }
    }
}

/// A text that is cut only at spaces.
struct Text<'a>(&'a [u8]);

impl Splittable for Text<'_> {
    /// Divides at the first space after the middle. If there is none, the right half is part of one word, and a search
    /// for another place would not pay.
    fn halves(self) -> Result<(Self, Self), Self> {
        let (left, right) = self.0.split_at(self.0.len() / 2);
        match right.iter().position(|&character| character == b' ') {
            Some(space) => {
                let (left, right) = self.0.split_at(left.len() + space);
                Ok((Self(left), Self(&right[1..])))
            }
            None => Err(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn every_schedule_counts_the_same() {
        for length in [0, 1, 2, 3, 1001] {
            for seed in 0..5 {
                check(&mut StringSplit::new(length, seed));
            }
        }
    }

    #[test]
    fn cuts_leave_words_whole() {
        let text = "  one two  threefour five";
        let (left, right) = Text(text.as_bytes()).halves().ok().unwrap();
        assert_eq!(
            (left.0, right.0),
            (&b"  one two  threefour"[..], &b"five"[..])
        );
        assert!(right.halves().is_err());
    }

    #[test]
    fn a_word_missed_is_caught() {
        for damage in [
            |count: &mut Count| count.words -= 1,
            |count: &mut Count| count.letters += 1,
            |count: &mut Count| count.longest += 1,
        ] {
            let mut kernel = StringSplit::new(100, 1);
            kernel.sequential::<Native>();
            damage(kernel.answer.as_mut().unwrap());
            assert!(kernel.verify().is_err());
        }
    }
}
