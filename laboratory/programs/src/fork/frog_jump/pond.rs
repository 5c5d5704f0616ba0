//! The pond: a long line of water with stones.
//!
//! Reachable stones are in a few lanes, and `pace` apart within a lane. The frog reaches this pace
//! on a run-up. Then the mover, a row of stones that are `pace` + 1 apart, opens the other lanes,
//! one after the other. Each lane ends in a diamond of stones, in which the frog may vary its pace.
//! So there are very many ways within a diamond, while other lanes continue. Only the diamond of
//! the last lane reaches the end of the pond.

use std::collections::BTreeSet;

/// The positions of stones, ascending. The first is 0.
#[derive(Clone, Debug)]
pub(super) struct Pond {
    pub(super) stones: Vec<u32>,
}

impl Pond {
    /// A pond for frogs that jump `pace` places, with `lanes` lanes. `seed` decides the order in
    /// which the lanes end.
    pub(super) fn new(pace: u32, lanes: u32, seed: u64) -> Self {
        let apart = pace / lanes;
        let mut stones: Vec<u32> = (0..=pace).map(|jumps| jumps * (jumps + 1) / 2).collect();
        let run_up = stones[pace as usize];
        // The mover gains one place at each jump. Where it has gained the distance of a lane, a
        // lane opens.
        let opened = (lanes - 1) * apart;
        for jump in 0..=opened {
            stones.push(run_up + (jump + 1) * (pace + 1));
        }
        let lane = |number: u32| run_up + pace + number * apart;
        for number in 0..lanes {
            let from = number * apart..=opened + 1;
            stones.extend(from.map(|jump| lane(number) + jump * pace));
        }

        for (round, ending) in (0..).zip(order(lanes, seed)) {
            let at = |number: u32| lane(number) + (opened + 1 + round * apart) * pace;
            stones.extend(diamond(at(ending), pace, apart.saturating_sub(3) / 2));
            let going_on = order(lanes, seed).into_iter().skip(round as usize + 1);
            for number in going_on {
                stones.extend((0..=apart).map(|jump| at(number) + jump * pace));
            }
        }
        stones.sort_unstable();
        stones.dedup();
        Self { stones }
    }

    pub(super) fn end(&self) -> u32 {
        self.stones[self.stones.len() - 1]
    }

    /// Goes over the stones once. Returns the number of reachable places (stones with the last
    /// jump's length), and whether the end is among them.
    pub(super) fn reachable(&self) -> (usize, bool) {
        let mut paces: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); self.stones.len()];
        paces[0].insert(0);
        let (mut count, mut last) = (0, false);
        for (index, &stone) in self.stones.iter().enumerate() {
            let mut here = std::mem::take(&mut paces[index]);
            // A frog may slow down until it stays in place.
            if here.contains(&1) {
                here.insert(0);
            }
            for &pace in &here {
                for next in (pace.saturating_sub(1)..=pace + 1).filter(|&next| next > 0) {
                    if let Ok(at) = self.stones.binary_search(&(stone + next)) {
                        paces[at].insert(next);
                    }
                }
            }
            count += here.len();
            last = !here.is_empty();
        }
        (count, last)
    }
}

/// The order in which lanes end: random, but the middle lane is last.
fn order(lanes: u32, seed: u64) -> Vec<u32> {
    let middle = lanes / 2;
    let mut order: Vec<u32> = (0..lanes).filter(|&lane| lane != middle).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut order);
    order.push(middle);
    order
}

/// Makes rows of stones after `from`, `pace` places apart. The first `growing` + 1 rows grow, the
/// others shrink to a single stone.
fn diamond(from: u32, pace: u32, growing: u32) -> impl Iterator<Item = u32> {
    let last = 2 * growing + 1;
    (0..=last).flat_map(move |row| {
        let centre = from + (row + 1) * pace;
        let half = (row + 1).min(last - row);
        centre - half..=centre + half
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diamond_grows_and_shrinks() {
        let rows: Vec<u32> = diamond(0, 10, 1).collect();
        let expected = [9, 10, 11, 18, 19, 20, 21, 22, 29, 30, 31, 40];
        assert_eq!(rows, expected);
    }

    #[test]
    fn lanes_open_where_the_mover_is() {
        let pond = Pond::new(20, 4, 1);
        let run_up = 210;
        assert_eq!(pond.stones[20], run_up);
        for lane in 1..4 {
            // The mover and the first stone of the lane are neighbours.
            let jump = lane * 5;
            let mover = run_up + (jump + 1) * 21;
            for stone in [mover - 1, mover] {
                assert!(pond.stones.binary_search(&stone).is_ok(), "{stone}");
            }
        }
    }

    /// The counts are those of the original program for an input of this size (`trap(2000, 8)`). The order of the lanes
    /// changes them by less than a thousandth.
    #[test]
    fn the_documents_pond_is_as_large_as_its_own() {
        let pond = Pond::new(2000, 8, 1);
        assert_eq!((pond.stones.len(), pond.end()), (265_768, 9_502_000));
    }
}
