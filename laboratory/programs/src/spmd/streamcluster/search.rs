//! The local search in one batch of points, by all ranks (threads of the team) together.

use super::StreamclusterProblem;
use super::amount::Amount;
use super::batch::{Batch, NOBODY};
use super::gain::Reckoning;
use super::rank::Rank;
use manycore_platform::{Atomic, Ordering::Relaxed, Platform};
use std::marker::PhantomData;
use std::ops::Range;

/// Instructions for each point of a sum.
const SUM: u64 = 3;

/// Another round of offers (points tried as new centres) follows if a round gains more than this share of the cost.
/// `FINELY` applies when the number of centres is near the wanted range.
const ROUGHLY: f64 = 0.1;
const FINELY: f64 = 0.001;

/// A rank's side of a local search.
pub(super) struct Search<'a, 'b, P: Platform, R> {
    pub(super) rank: &'a mut Rank<'b, P>,
    pub(super) batch: &'a Batch<P>,
    problem: &'a StreamclusterProblem,
    /// The number of open centres. Each rank counts the centres, with the same result.
    pub(super) open: usize,
    reckoning: PhantomData<R>,
}

/// A search's claim about its clustering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// The number of allowed centres is at least that of points, so each point is a centre.
    AllAreCentres,
    /// The search clustered the points.
    Clustered {
        /// The number of centres.
        centres: usize,
        /// The price of a centre.
        price: Amount,
        /// The cost of all points and centres.
        cost: Amount,
    },
}

impl<'a, 'b, P: Platform, R: Reckoning> Search<'a, 'b, P, R> {
    pub(super) fn new(
        rank: &'a mut Rank<'b, P>,
        batch: &'a Batch<P>,
        problem: &'a StreamclusterProblem,
    ) -> Self {
        Self {
            rank,
            batch,
            problem,
            open: 0,
            reckoning: PhantomData,
        }
    }

    /// The points of this rank.
    pub(super) fn mine(&self) -> Range<usize> {
        self.rank.part(self.batch.points.len())
    }

    /// Finds a clustering with a number of centres in the wanted range. Each centre has a price, which bisection
    /// adjusts until the cheapest clustering has a number of centres in the range.
    pub(super) fn run(&mut self) -> Claim {
        let (least, most) = (self.problem.least, self.problem.most);
        let count = self.batch.points.len();
        self.rank.barrier();
        let mine = self.batch.costs(self.mine(), 0).map(|(_, cost)| cost);
        let sum = mine.sum();
        self.note_sum(sum);
        self.rank.barrier();
        // If a centre costs as much as all points together with one centre, a second centre never saves cost.
        let (mut low, mut high) = (0, self.sum_of_all());
        let mut price = (low + high) / 2;
        if count <= most {
            for point in self.mine() {
                self.batch.points[point].assign(point, 0);
            }
            return Claim::AllAreCentres;
        }

        self.shuffle_points();
        let mut cost = self.open_by_lot(price);
        if self.open < least {
            cost = self.open_by_lot(price);
        }
        while self.open < least {
            high = price;
            price = (low + high) / 2;
            self.shuffle_points();
            cost = self.open_by_lot(price);
        }
        if self.rank.leads() {
            self.choose_candidates();
            for point in &self.batch.points {
                self.batch.open[point.centre()].store(true, Relaxed);
            }
        }
        self.rank.barrier();

        loop {
            cost = self.improve(price, cost, ROUGHLY);
            let open = self.open;
            let within_a_tenth =
                open as f64 <= 1.1 * most as f64 && open as f64 >= 0.9 * least as f64;
            let within_two = open <= most + 2 && open + 2 >= least;
            if within_a_tenth || within_two {
                cost = self.improve(price, cost, FINELY);
            }
            let before = price;
            if self.open > most {
                low = price;
                price = (low + high) / 2;
            }
            if self.open < least {
                high = price;
                price = (low + high) / 2;
            }
            cost += (price - before) * self.open as Amount;
            let is_wanted = (least..=most).contains(&self.open);
            if is_wanted || low as f64 >= 0.999 * high as f64 {
                return Claim::Clustered {
                    centres: self.open,
                    price,
                    cost,
                };
            }
            self.rank.barrier();
        }
    }

    /// Opens centres at random points, with probabilities that grow with the points' costs
    /// (Meyerson's online facility location). Returns the cost of the clustering.
    ///
    /// Takes five barriers, and two for each centre but the first.
    fn open_by_lot(&mut self, price: Amount) -> Amount {
        let batch = self.batch;
        self.rank.barrier();
        for (point, cost) in batch.costs(self.mine(), 0) {
            batch.points[point].assign(0, cost);
        }
        self.rank.barrier();
        let mut open = 1;
        if self.rank.leads() {
            for point in 1..batch.points.len() {
                let cost = batch.points[point].cost();
                if f64::from(self.rank.unit()) < cost as f64 / price as f64 {
                    open += 1;
                    self.announce(point as u32);
                    self.open_for_all(point);
                }
            }
            batch.notes.open.store(open, Relaxed);
            self.announce(NOBODY);
        } else {
            loop {
                self.rank.follow();
                match batch.notes.next.load(Relaxed) {
                    NOBODY => break,
                    point => self.open_for_all(point as usize),
                }
            }
        }
        self.rank.barrier();
        let points = &batch.points[self.mine()];
        P::compute(SUM * points.len() as u64);
        self.note_sum(points.iter().map(|point| point.cost()).sum());
        self.rank.barrier();
        if self.rank.leads() {
            let cost = price * Amount::from(open) + self.sum_of_all();
            batch.notes.cost.store(cost.cast_unsigned(), Relaxed);
        }
        self.rank.barrier();
        self.open = batch.notes.open.load(Relaxed) as usize;
        batch.notes.cost.load(Relaxed).cast_signed()
    }

    /// On rank 0: announces to the waiting ranks the point to open.
    fn announce(&mut self, point: u32) {
        self.batch.notes.next.store(point, Relaxed);
        self.rank.follow();
    }

    /// Moves the rank's points to the new centre where that is nearer.
    fn open_for_all(&mut self, new: usize) {
        for (point, cost) in self.batch.costs(self.mine(), new) {
            if cost < self.batch.points[point].cost() {
                self.batch.points[point].assign(new, cost);
            }
        }
        self.rank.barrier();
        self.rank.barrier();
    }

    /// Offers candidates for centres in rounds, as long as a round gains more than `share` of the
    /// cost. Returns the cost afterwards.
    ///
    /// Takes one barrier, two barriers for each round, and the barriers of the offers.
    fn improve(&mut self, price: Amount, mut cost: Amount, share: f64) -> Amount {
        let candidates = &self.batch.candidates;
        self.rank.barrier();
        let mut gained = cost;
        while gained as f64 / cost as f64 > share {
            if self.rank.leads() {
                self.rank.shuffle(candidates.len(), |a, b| {
                    let kept = candidates[a].load(Relaxed);
                    candidates[a].store(candidates[b].load(Relaxed), Relaxed);
                    candidates[b].store(kept, Relaxed);
                });
                // PARSEC's program also draws a number for the last point, although no point is
                // left for an exchange.
                self.rank.unit();
            }
            self.rank.barrier();
            gained = 0;
            for offer in 0..self.problem.offers_a_round() {
                let new = candidates[offer % candidates.len()].load(Relaxed);
                gained += self.offer(new as usize, price);
            }
            cost -= gained;
            self.rank.barrier();
        }
        cost
    }

    /// Rank 0 puts the points in a random order.
    fn shuffle_points(&mut self) {
        if self.rank.leads() {
            let batch = self.batch;
            self.rank
                .shuffle(batch.points.len(), |a, b| batch.swap(a, b));
        }
    }

    /// Rank 0 draws the candidates for centres, with probabilities proportional to the points'
    /// weights. If all points are candidates, they keep their order.
    fn choose_candidates(&mut self) {
        let batch = self.batch;
        if batch.candidates.len() == batch.points.len() {
            for (point, candidate) in batch.candidates.iter().enumerate() {
                candidate.store(point as u32, Relaxed);
            }
            return;
        }
        let mut weight = 0.0;
        let mut up_to = Vec::with_capacity(batch.points.len());
        for point in &batch.points {
            P::compute(SUM);
            weight += point.weight();
            up_to.push(weight);
        }
        P::write(&mut up_to);
        for candidate in &batch.candidates {
            let lot = self.rank.unit() * weight;
            let drawn = up_to.partition_point(|&weight| weight <= lot);
            P::compute(SUM * u64::from(up_to.len().ilog2()));
            // The drawn weight can equal the total weight.
            candidate.store(drawn.min(up_to.len() - 1) as u32, Relaxed);
        }
    }

    fn note_sum(&self, sum: Amount) {
        self.batch.sums[self.rank.number()].store(sum.cast_unsigned(), Relaxed);
    }

    fn sum_of_all(&self) -> Amount {
        let sums = self.batch.sums.iter();
        P::compute(SUM * sums.len() as u64);
        sums.map(|sum| sum.load(Relaxed).cast_signed()).sum()
    }
}
