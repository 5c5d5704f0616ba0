use super::Turn;
use manycore_platform::Platform;
use std::ops::Range;

/// The progress of a rank (one of a program's parts) in a loop that can be preempted between two blocks.
///
/// ```
/// use manycore_cores::elastic::Allotment;
/// use manycore_team::{Cursor, Step, Team, Turn};
///
/// let mut team: Team = Team::new(2, Allotment::new(2))?;
/// let mut numbers = vec![7; 300];
/// let mut shares = numbers.chunks_mut(100);
/// team.run(3, |_| {
///     let share = shares.next().unwrap();
///     let mut cursor = Cursor::new(0..100, 8);
///     move |turn: &Turn<'_>| {
///         let is_over = cursor.go_on(turn, |block| {
///             for number in &mut share[block] {
///                 *number *= *number;
///             }
///         });
///         if is_over { Step::Done } else { Step::Preempted }
///     }
/// });
/// assert_eq!(numbers, [49; 300]);
/// # Ok::<(), manycore_team::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    left: Range<usize>,
    grain: usize,
}

impl Cursor {
    /// Makes a cursor over these items in blocks of `grain` items. A block should be about a
    /// microsecond of work.
    ///
    /// # Panics
    ///
    /// Panics if `grain` is 0.
    #[must_use]
    #[track_caller]
    pub fn new(items: Range<usize>, grain: usize) -> Self {
        assert!(grain > 0, "a cursor's block has at least one item");
        Self { left: items, grain }
    }

    /// Makes a cursor over a rank's share of `items` items. `size` ranks share the items, and each
    /// block belongs to one rank.
    ///
    /// # Panics
    ///
    /// Panics if `grain` is 0, or if there is no such rank.
    ///
    /// ```
    /// use manycore_team::Cursor;
    ///
    /// assert_eq!(Cursor::share(100, 10, 1, 3), Cursor::new(30..60, 10));
    /// assert_eq!(Cursor::share(95, 10, 2, 3), Cursor::new(60..95, 10));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn share(items: usize, grain: usize, rank: usize, size: usize) -> Self {
        assert!(rank < size, "rank {rank} of {size}");
        assert!(grain > 0, "a cursor's block has at least one item");
        let blocks = items.div_ceil(grain);
        // Both products may be larger than a `usize`, but the quotients are not.
        let first = |rank: usize| (blocks as u128 * rank as u128 / size as u128) as usize;
        let edge = |rank: usize| first(rank).saturating_mul(grain).min(items);
        Self::new(edge(rank)..edge(rank + 1), grain)
    }

    /// The remaining items.
    #[must_use]
    pub fn left(&self) -> Range<usize> {
        self.left.clone()
    }

    /// Takes a block. A block is taken before it runs, so a block that panics does not run again.
    #[inline]
    fn next_block(&mut self) -> Range<usize> {
        let start = self.left.start;
        let end = self.left.end.min(start.saturating_add(self.grain));
        self.left.start = end;
        start..end
    }

    /// Runs `body` for block after block, until no block is left or the turn is over. Returns
    /// `true` if no block is left.
    #[inline]
    pub fn go_on<P: Platform>(
        &mut self,
        turn: &Turn<'_, P>,
        mut body: impl FnMut(Range<usize>),
    ) -> bool {
        while !self.left.is_empty() {
            let block = self.next_block();
            body(block);
            if !self.left.is_empty() && turn.is_over() {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_may_be_larger_than_any_loop() {
        let mut cursor = Cursor::new(30..60, usize::MAX);
        assert_eq!(cursor.next_block(), 30..60);
        assert!(cursor.left().is_empty());
        let near_the_end = usize::MAX - 5..usize::MAX;
        let mut cursor = Cursor::new(near_the_end.clone(), 10);
        assert_eq!(cursor.next_block(), near_the_end);
    }

    #[test]
    fn shares_follow_each_other_however_large_they_are() {
        for items in [usize::MAX / 4, usize::MAX - 3, usize::MAX] {
            for grain in [1, 7, usize::MAX / 1_000, usize::MAX] {
                let mut next = 0;
                for rank in 0..16 {
                    let share = Cursor::share(items, grain, rank, 16).left();
                    assert_eq!(
                        share.start, next,
                        "{items} items, grain {grain}, rank {rank}"
                    );
                    assert!(share.end >= next);
                    next = share.end;
                }
                assert_eq!(next, items, "grain {grain}");
            }
        }
    }
}
