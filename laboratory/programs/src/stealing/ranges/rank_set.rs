//! A set of ranks (numbers of workers).

/// A bit for each rank.
pub(super) struct RankSet {
    words: Box<[u64]>,
}

impl RankSet {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            words: vec![0; ranks.div_ceil(64)].into(),
        }
    }

    pub(super) fn insert(&mut self, rank: usize) {
        self.words[rank / 64] |= 1 << (rank % 64);
    }

    pub(super) fn remove(&mut self, rank: usize) {
        self.words[rank / 64] &= !(1 << (rank % 64));
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Removes and returns the first rank from `start` on, or else the first of all.
    pub(super) fn take(&mut self, start: usize) -> Option<usize> {
        let words = self.words.len();
        // This looks twice at the word of `start`: first from `start` on, and at the end at the whole word.
        (0..=words).find_map(|step| {
            let at = (start / 64 + step) % words;
            let from = if step == 0 { !0 << (start % 64) } else { !0 };
            let word = self.words[at] & from;
            (word != 0).then(|| {
                let rank = at * 64 + word.trailing_zeros() as usize;
                self.remove(rank);
                rank
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::RankSet;

    #[test]
    fn taken_in_order_from_where_one_starts() {
        let mut rank_set = RankSet::new(130);
        for rank in [129, 3, 64, 70] {
            rank_set.insert(rank);
        }
        rank_set.remove(64);
        let taken: Vec<_> = std::iter::from_fn(|| rank_set.take(66)).collect();
        assert_eq!(taken, [70, 129, 3]);
        rank_set.insert(5);
        assert_eq!(rank_set.take(6), Some(5));
        rank_set.insert(7);
        rank_set.clear();
        assert_eq!(rank_set.take(0), None);
    }
}
