/// A set of small numbers that finds the next member quickly. There is a bit for each number. A second level has a bit
/// for each word of the first level.
#[derive(Clone, Debug, Default)]
pub(super) struct BitSet {
    words: Vec<u64>,
    summary: Vec<u64>,
}

impl BitSet {
    pub(super) fn insert(&mut self, number: u32) {
        let word = number as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
            self.summary.resize(word / 64 + 1, 0);
        }
        self.words[word] |= 1 << (number % 64);
        self.summary[word / 64] |= 1 << (word % 64);
    }

    /// The number must be in the set.
    pub(super) fn remove(&mut self, number: u32) {
        let word = number as usize / 64;
        self.words[word] &= !(1 << (number % 64));
        if self.words[word] == 0 {
            self.summary[word / 64] &= !(1 << (word % 64));
        }
    }

    pub(super) fn contains(&self, number: u32) -> bool {
        next(&self.words, number as usize) == Some(number as usize)
    }

    /// The first member at or after `from`, or else the least member.
    pub(super) fn next_cyclic(&self, from: u32) -> Option<u32> {
        self.next(from as usize)
            .or_else(|| self.next(0))
            .map(|number| number as u32)
    }

    fn next(&self, from: usize) -> Option<usize> {
        let word = from / 64;
        let here = self.words.get(word)? & (!0 << (from % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        let word = next(&self.summary, word + 1)?;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }
}

fn next(words: &[u64], from: usize) -> Option<usize> {
    let first = words.get(from / 64)? & (!0 << (from % 64));
    let rest = words
        .iter()
        .enumerate()
        .skip(from / 64 + 1)
        .map(|(at, &word)| (at, word));
    let (at, word) = std::iter::once((from / 64, first))
        .chain(rest)
        .find(|&(_, word)| word != 0)?;
    Some(at * 64 + word.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_what_a_tree_finds(
            steps in prop::collection::vec((0u32..9_000, any::<bool>()), 1..60),
        ) {
            let mut bits = BitSet::default();
            let mut tree = BTreeSet::new();
            for (number, take) in steps {
                prop_assert_eq!(bits.contains(number), tree.contains(&number));
                let expected = tree.range(number..).next().or_else(|| tree.first()).copied();
                prop_assert_eq!(bits.next_cyclic(number), expected);
                match expected {
                    Some(number) if take => {
                        bits.remove(number);
                        tree.remove(&number);
                    }
                    _ => {
                        bits.insert(number);
                        tree.insert(number);
                    }
                }
            }
        }
    }
}
