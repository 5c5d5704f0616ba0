//! A set of cores: an affinity mask, or a line's sharers.

use std::ops::Range;

const BITS: u32 = u64::BITS;

/// A set of core numbers. For up to 64 cores, the set is one word and never allocates.
#[derive(Clone, Debug)]
pub(crate) enum CoreSet {
    Inline(u64),
    Boxed(Box<[u64]>),
}

impl CoreSet {
    pub(crate) const fn new() -> CoreSet {
        CoreSet::Inline(0)
    }

    pub(crate) fn below(count: u32) -> CoreSet {
        (0..count).collect()
    }

    #[inline]
    pub(crate) fn insert(&mut self, core: u32) -> bool {
        if let CoreSet::Inline(word) = self
            && core < BITS
        {
            return set(word, core);
        }
        self.insert_boxed(core)
    }

    #[cold]
    fn grow(&mut self, words: usize) -> &mut [u64] {
        let mut grown = vec![0; words].into_boxed_slice();
        grown[..self.words().len()].copy_from_slice(self.words());
        *self = CoreSet::Boxed(grown);
        self.words_mut()
    }

    fn insert_boxed(&mut self, core: u32) -> bool {
        let index = (core / BITS) as usize;
        let words = if index < self.words().len() {
            self.words_mut()
        } else {
            self.grow((index + 1).next_power_of_two())
        };
        set(&mut words[index], core % BITS)
    }

    #[inline]
    pub(crate) fn remove(&mut self, core: u32) -> bool {
        let Some(word) = self.words_mut().get_mut((core / BITS) as usize) else {
            return false;
        };
        let bit = 1 << (core % BITS);
        let was = *word & bit != 0;
        *word &= !bit;
        was
    }

    #[inline]
    pub(crate) fn contains(&self, core: u32) -> bool {
        let word = self.words().get((core / BITS) as usize);
        word.is_some_and(|word| word & (1 << (core % BITS)) != 0)
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.words().iter().map(|word| word.count_ones()).sum()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.words().iter().all(|&word| word == 0)
    }

    /// The cores in ascending order.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.iter_in(0..self.words().len() as u32 * BITS)
    }

    #[inline]
    pub(crate) fn iter_in(&self, range: Range<u32>) -> impl Iterator<Item = u32> {
        let words = self.words();
        bits(range, words.len(), |index| words[index])
    }

    #[inline]
    pub(crate) fn common_in(
        &self,
        other: &CoreSet,
        range: Range<u32>,
    ) -> impl Iterator<Item = u32> {
        let (a, b) = (self.words(), other.words());
        bits(range, a.len().min(b.len()), |index| a[index] & b[index])
    }

    #[inline]
    fn words(&self) -> &[u64] {
        match self {
            CoreSet::Inline(word) => std::slice::from_ref(word),
            CoreSet::Boxed(words) => words,
        }
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        match self {
            CoreSet::Inline(word) => std::slice::from_mut(word),
            CoreSet::Boxed(words) => words,
        }
    }
}

#[inline]
fn set(word: &mut u64, bit: u32) -> bool {
    let new = *word & (1 << bit) == 0;
    *word |= 1 << bit;
    new
}

/// The bits of `range` that are set in the words `word(0..words)`.
#[inline]
fn bits(range: Range<u32>, words: usize, word: impl Fn(usize) -> u64) -> impl Iterator<Item = u32> {
    let end = range.end.min(words as u32 * BITS);
    let mut from = range.start;
    let mut rest = 0;
    std::iter::from_fn(move || {
        while rest == 0 {
            if from >= end {
                return None;
            }
            let base = from / BITS * BITS;
            rest = word((base / BITS) as usize) & (!0 << (from - base));
            if end - base < BITS {
                rest &= (1 << (end - base)) - 1;
            }
            from = base + BITS;
        }
        let bit = rest.trailing_zeros();
        rest &= rest - 1;
        Some(from - BITS + bit)
    })
}

impl Default for CoreSet {
    fn default() -> CoreSet {
        CoreSet::new()
    }
}

impl FromIterator<u32> for CoreSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cores: I) -> CoreSet {
        let mut set = CoreSet::new();
        for core in cores {
            set.insert(core);
        }
        set
    }
}

/// Compares members, so unused words at the end do not matter.
impl PartialEq for CoreSet {
    fn eq(&self, other: &CoreSet) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for CoreSet {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_set_has_the_size_of_two_words() {
        assert_eq!(size_of::<CoreSet>(), 16);
    }

    #[test]
    fn edges_of_words() {
        let mut set = CoreSet::below(64);
        assert!(matches!(set, CoreSet::Inline(u64::MAX)));
        assert!(!set.contains(64) && !set.remove(4095));
        assert!(set.insert(4095) && !set.insert(4095) && !set.insert(63));
        assert_eq!(set.iter_in(62..4096).collect::<Vec<_>>(), [62, 63, 4095]);
        assert_eq!(set.iter_in(64..4095).next(), None);
        assert!(set.remove(4095));
        assert_eq!(set, CoreSet::below(64));
    }

    proptest! {
        #[test]
        fn as_an_ordered_set(
            ops in prop::collection::vec((any::<bool>(), 0u32..300), 0..200),
            other in prop::collection::btree_set(0u32..300, 0..100),
            start in 0u32..300, len in 0u32..300,
        ) {
            let (mut set, mut model) = (CoreSet::new(), BTreeSet::new());
            for (insert, core) in ops {
                if insert {
                    prop_assert_eq!(set.insert(core), model.insert(core));
                } else {
                    prop_assert_eq!(set.remove(core), model.remove(&core));
                }
                prop_assert_eq!(set.contains(core), model.contains(&core));
            }
            let range = start..start + len;
            let within: Vec<_> = model.range(range.clone()).copied().collect();
            prop_assert_eq!(set.iter_in(range.clone()).collect::<Vec<_>>(), within.clone());
            let both = within.into_iter().filter(|core| other.contains(core)).collect::<Vec<_>>();
            let other_set = other.iter().copied().collect();
            prop_assert_eq!(set.common_in(&other_set, range).collect::<Vec<_>>(), both);
            prop_assert_eq!(set.len() as usize, model.len());
            prop_assert_eq!(set.is_empty(), model.is_empty());
            prop_assert_eq!(set.iter().collect::<CoreSet>(), set);
        }
    }
}
