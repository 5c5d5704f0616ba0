//! The gain from a new centre. The program spends most of its time here.

use super::amount::Amount;
use super::scratch::Table;
use super::search::Search;
use manycore_platform::{Atomic, Ordering::Relaxed, Platform};

/// Instructions, without accesses to tables: to check whether a point is a centre; to compare two costs, and clear the
/// flag before; to check whether a point moves; to add a word of another rank (thread of the team).
const LOOK: u64 = 6;
const WEIGH: u64 = 18;
const MOVE: u64 = 8;
const ADD: u64 = 4;

/// The arithmetic of an offer (a point tried as a new centre). Tests have wrong variants.
pub(super) trait Reckoning {
    /// Whether a point moves to the new centre, which changes its cost from `now` to `at_new`.
    fn moves(at_new: Amount, now: Amount) -> bool;

    /// The saving from closing a centre of price `centre`, if its points save `members` by moving.
    /// A negative `members` is a loss.
    fn saves(centre: Amount, members: Amount) -> Amount;
}

/// The right arithmetic.
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
    /// Opens a centre at the point `new`, if that makes the clustering cheaper when a centre costs `price`. Then points
    /// that are nearer to `new` move there. Centres that are no longer worth their price are closed, and all their
    /// points move to `new`, too. Returns the gain.
    ///
    /// Takes nine barriers, whatever the result.
    pub(super) fn offer(&mut self, new: usize, price: Amount) -> Amount {
        self.rank.offers += 1;
        let batch = self.batch;
        let centres = self.open;
        self.rank.barrier();
        if self.rank.leads() {
            batch.scratch.provide(centres);
        }
        self.rank.barrier();
        let table = batch.scratch.table(centres);
        self.number_centres(&table);
        let moves = self.weigh(&table, new);
        self.rank.barrier();
        self.choose_closing(&table, price, moves);
        self.rank.barrier();
        if self.rank.leads() {
            self.sum_up(&table, price);
        }
        self.rank.barrier();
        let cost = batch.notes.cost.load(Relaxed).cast_signed();
        if cost < 0 {
            self.accept(&table, new);
            self.open = centres + 1 - batch.notes.closing.load(Relaxed) as usize;
        }
        self.rank.barrier();
        (-cost).max(0)
    }

    /// The open centres among the rank's points.
    fn my_centres(&self) -> impl Iterator<Item = usize> + use<'_, P, R> {
        self.mine().filter(|&point| {
            P::compute(LOOK);
            self.batch.open[point].load(Relaxed)
        })
    }

    /// Gives each centre a column, in the order of the points, and clears the table. Each rank counts its centres, and
    /// its columns follow those of the ranks before it.
    ///
    /// Takes three barriers.
    fn number_centres(&mut self, table: &Table<P>) {
        let column = &self.batch.column;
        let row = table.row(self.rank.number());
        let mut count = 0;
        for centre in self.my_centres() {
            column[centre].store(count, Relaxed);
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
        let before = row.count() as u32;
        for centre in self.my_centres() {
            column[centre].store(before + column[centre].load(Relaxed), Relaxed);
        }
        for point in self.mine() {
            self.batch.moves[point].store(false, Relaxed);
        }
        row.clear();
        if self.rank.leads() {
            table.total().clear();
        }
        self.rank.barrier();
    }

    /// Marks the points that are nearer to `new`, and returns the change of cost from moving them.
    /// For every other point, adds the saving from moving it to its centre's column.
    fn weigh(&self, table: &Table<P>, new: usize) -> Amount {
        let batch = self.batch;
        let row = table.row(self.rank.number());
        let mut cost = 0;
        for (point, at_new) in batch.costs(self.mine(), new) {
            P::compute(WEIGH);
            let now = batch.points[point].cost();
            if R::moves(at_new, now) {
                batch.moves[point].store(true, Relaxed);
                cost += at_new - now;
            } else {
                row.add(self.column_of(batch.points[point].centre()), now - at_new);
            }
        }
        cost
    }

    fn column_of(&self, centre: usize) -> usize {
        self.batch.column[centre].load(Relaxed) as usize
    }

    /// Decides which of the rank's centres to close, and subtracts the saving from the rank's cost.
    fn choose_closing(&self, table: &Table<P>, price: Amount, mut cost: Amount) {
        let ranks = self.rank.ranks();
        let mut closing = 0;
        for centre in self.my_centres() {
            P::compute(ADD * ranks as u64);
            let column = self.column_of(centre);
            let members = (0..ranks).map(|rank| table.row(rank).get(column)).sum();
            let saved = R::saves(price, members);
            table.total().set(column, saved);
            if saved > 0 {
                closing += 1;
                cost -= saved;
            }
        }
        let row = table.row(self.rank.number());
        row.set_count(closing);
        row.set_cost(cost);
    }

    /// Rank 0 adds up the ranks' counts and costs.
    fn sum_up(&self, table: &Table<P>, price: Amount) {
        let (mut closing, mut cost) = (0, price);
        for rank in 0..self.rank.ranks() {
            P::compute(2 * ADD);
            closing += table.row(rank).count();
            cost += table.row(rank).cost();
        }
        let notes = &self.batch.notes;
        notes.closing.store(closing as u32, Relaxed);
        notes.cost.store(cost.cast_unsigned(), Relaxed);
    }

    /// Opens `new`, closes those of the rank's centres that are not worth their price, and moves the rank's points.
    fn accept(&self, table: &Table<P>, new: usize) {
        let batch = self.batch;
        let closes = |centre| table.total().get(self.column_of(centre)) > 0;
        for point in self.mine() {
            P::compute(MOVE);
            let loses_its_centre = closes(batch.points[point].centre());
            if loses_its_centre || batch.moves[point].load(Relaxed) {
                for (point, at_new) in batch.costs(point..point + 1, new) {
                    batch.points[point].assign(new, at_new);
                }
            }
        }
        for centre in self.my_centres().filter(|&centre| closes(centre)) {
            batch.open[centre].store(false, Relaxed);
        }
        if self.mine().contains(&new) {
            batch.open[new].store(true, Relaxed);
        }
    }
}
