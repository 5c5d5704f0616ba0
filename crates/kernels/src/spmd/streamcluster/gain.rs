//! What a new centre would gain: the heart of the program.

use super::amount::Amount;
use super::search::Search;
use manycore_platform::{Atomic, Ordering::Relaxed, Platform};

/// Instructions beside accesses to tables: of a look whether a point is a
/// centre; of weighing two costs, the flag that is cleared before included; of
/// finding out whether a point moves; of adding a word of another rank.
const LOOK: u64 = 6;
const WEIGH: u64 = 18;
const MOVE: u64 = 8;
const ADD: u64 = 4;

/// What is reckoned about an offer. The tests have wrong ones.
pub(super) trait Reckoning {
    /// Whether a point that now costs `now` moves to the new centre.
    fn moves(at_new: Amount, now: Amount) -> bool;

    /// What closing a centre saves whose members would save `members` by
    /// moving, which is negative unless they gain.
    fn saves(centre: Amount, members: Amount) -> Amount;
}

/// As it should be.
pub(super) struct Exact;

impl Reckoning for Exact {
    fn moves(at_new: Amount, now: Amount) -> bool {
        at_new < now
    }

    fn saves(centre: Amount, members: Amount) -> Amount {
        centre + members
    }
}

impl<P: Platform, R: Reckoning> Search<'_, '_, P, R> {
    /// Opens a centre at the point `new`, if that makes the clustering cheaper
    /// when a centre costs `price`: points that are nearer to it move there, and
    /// centres that are no longer worth their price are closed, all their points
    /// moving there too. Returns what was gained.
    ///
    /// Nine barriers, whatever comes of it.
    pub(super) fn offer(&mut self, new: usize, price: Amount) -> Amount {
        let batch = self.batch;
        let mine = self.mine();
        let number = self.rank.number();
        let centres = self.open;
        self.rank.offers += 1;

        self.rank.barrier();
        if self.rank.leads() {
            batch.scratch.provide(centres);
        }
        self.rank.barrier();

        // Number the centres: those of each rank, then from where the ranks
        // before it end.
        let table = batch.scratch.table(centres);
        let row = table.row(number);
        let is_open = |point: &usize| {
            P::compute(LOOK);
            batch.open[*point].load(Relaxed)
        };
        let mut count = 0;
        for point in mine.clone().filter(is_open) {
            batch.column[point].store(count, Relaxed);
            count += 1;
        }
        row.set_count(count as usize);
        self.rank.barrier();
        if self.rank.leads() {
            let mut before = 0;
            for rank in 0..self.rank.ranks() {
                let row = table.row(rank);
                let count = row.count();
                row.set_count(before);
                before += count;
            }
        }
        self.rank.barrier();
        let first = row.count() as u32;
        for point in mine.clone().filter(is_open) {
            let within = batch.column[point].load(Relaxed);
            batch.column[point].store(first + within, Relaxed);
        }
        for point in mine.clone() {
            batch.moves[point].store(false, Relaxed);
        }
        row.clear();
        if self.rank.leads() {
            table.total().clear();
        }
        self.rank.barrier();

        // Who would move of his own accord? What would the others save, if
        // their centre were closed?
        let mut cost = 0;
        for (point, at_new) in batch.costs(mine.clone(), new) {
            P::compute(WEIGH);
            let now = batch.points[point].cost();
            if R::moves(at_new, now) {
                batch.moves[point].store(true, Relaxed);
                cost += at_new - now;
            } else {
                let centre = batch.points[point].centre();
                let column = batch.column[centre].load(Relaxed) as usize;
                row.add(column, now - at_new);
            }
        }
        self.rank.barrier();

        // Which centres are to be closed?
        let mut closing = 0;
        for point in mine.clone().filter(is_open) {
            let column = batch.column[point].load(Relaxed) as usize;
            P::compute(ADD * self.rank.ranks() as u64);
            let of_rank = |rank| table.row(rank).get(column);
            let members = (0..self.rank.ranks()).map(of_rank).sum();
            let saved = R::saves(price, members);
            table.total().set(column, saved);
            if saved > 0 {
                closing += 1;
                cost -= saved;
            }
        }
        row.set_count(closing);
        row.set_cost(cost);
        self.rank.barrier();
        if self.rank.leads() {
            let rows = (0..self.rank.ranks()).map(|rank| table.row(rank));
            let (mut closing, mut cost) = (0, price);
            for row in rows {
                P::compute(2 * ADD);
                closing += row.count();
                cost += row.cost();
            }
            batch.notes.closing.store(closing as u32, Relaxed);
            batch.notes.cost.store(cost.cast_unsigned(), Relaxed);
        }
        self.rank.barrier();

        let cost = batch.notes.cost.load(Relaxed).cast_signed();
        if cost < 0 {
            let closes = |centre: usize| {
                let column = batch.column[centre].load(Relaxed) as usize;
                table.total().get(column) > 0
            };
            for point in mine.clone() {
                P::compute(MOVE);
                let leaves = closes(batch.points[point].centre());
                if leaves || batch.moves[point].load(Relaxed) {
                    for (point, at_new) in batch.costs(point..point + 1, new) {
                        batch.points[point].assign(new, at_new);
                    }
                }
            }
            for point in mine
                .clone()
                .filter(is_open)
                .filter(|&centre| closes(centre))
            {
                batch.open[point].store(false, Relaxed);
            }
            if mine.contains(&new) {
                batch.open[new].store(true, Relaxed);
            }
            self.open = centres + 1 - batch.notes.closing.load(Relaxed) as usize;
        }
        self.rank.barrier();
        (-cost).max(0)
    }
}
