//! Small problems solved by exhaustive search, and wrong reckonings (computations of a gain) that the tests must
//! notice.

use super::amount::{Amount, Scale};
use super::batch::{Batch, distance};
use super::gain::{Exact, Reckoning};
use super::gate::Gate;
use super::rank::Rank;
use super::search::{Claim, Search};
use super::{Solution, Streamcluster, StreamclusterProblem};
use manycore_platform::{Native, Ordering::Relaxed};
use std::sync::Barrier;
use std::thread;

/// Points with weights, centres among them, and the assignment of points to centres. A point's centre need not be the
/// nearest, as in a search.
struct BruteState {
    problem: StreamclusterProblem,
    coordinates: Vec<f32>,
    weights: Vec<f32>,
    centres: Vec<usize>,
    served_by: Vec<usize>,
    price: Amount,
}

impl BruteState {
    fn random(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let (points, dimensions) = (random.usize(4..12), random.usize(1..4));
        // Points weigh up to 5, so the problem has room for five times as many points of weight 1.
        let problem =
            StreamclusterProblem::new(2..=points, dimensions, 5 * points, 5 * points).unwrap();
        let mut shuffled: Vec<usize> = (0..points).collect();
        random.shuffle(&mut shuffled);
        let centres = shuffled[..random.usize(1..points.min(7))].to_vec();
        let server = |point| {
            let any = centres[random.usize(..centres.len())];
            if centres.contains(&point) { point } else { any }
        };
        let served_by = (0..points).map(server).collect();
        let price = random.f32().powi(3) * 3.0 * dimensions as f32;
        Self {
            coordinates: (0..points * dimensions).map(|_| random.f32()).collect(),
            weights: (0..points).map(|_| random.u8(1..=5).into()).collect(),
            price: Scale::of(&problem).amount(price),
            problem,
            centres,
            served_by,
        }
    }

    fn points(&self) -> usize {
        self.weights.len()
    }

    fn cost(&self, point: usize, centre: usize) -> Amount {
        let row =
            |point| &self.coordinates[point * self.problem.dimensions..][..self.problem.dimensions];
        Scale::of(&self.problem).amount(distance(row(point), row(centre)) * self.weights[point])
    }

    /// The best gain from opening `new`, over all sets of centres to close. Points of a closed
    /// centre move to `new`. Other points move if that is cheaper.
    fn best_gain(&self, new: usize) -> Amount {
        let gain_of = |closed: u32| {
            let mut gain = -self.price;
            gain += self.price * Amount::from(closed.count_ones());
            for point in 0..self.points() {
                let now = self.cost(point, self.served_by[point]);
                let then = self.cost(point, new);
                let is_closed = |&centre: &usize| {
                    let at = self.centres.iter().position(|&c| c == centre).unwrap();
                    closed >> at & 1 == 1
                };
                gain += if is_closed(&self.served_by[point]) {
                    now - then
                } else {
                    (now - then).max(0)
                };
            }
            gain
        };
        (0..1 << self.centres.len())
            .map(gain_of)
            .max()
            .unwrap()
            .max(0)
    }

    /// Runs the offer of one new centre on `ranks` ranks (threads of the team). Returns the gain that the program
    /// claims, and the actual decrease of the total cost.
    fn offer<R: Reckoning>(&self, new: usize, ranks: usize) -> (Amount, Amount) {
        let batch = Batch::<Native>::new(
            &self.problem,
            ranks,
            self.coordinates.clone(),
            &self.weights,
        );
        for (point, &centre) in self.served_by.iter().enumerate() {
            batch.points[point].assign(centre, self.cost(point, centre));
        }
        for &centre in &self.centres {
            batch.open[centre].store(true, Relaxed);
        }
        let cost = || {
            let points: Amount = batch.points.iter().map(|point| point.cost()).sum();
            let open = batch.open.iter().filter(|open| open.load(Relaxed)).count();
            points + self.price * open as Amount
        };
        let before = cost();
        let gate = Gate::<Native>::new(ranks);
        let barrier = Barrier::new(ranks);
        let run = |number| {
            let mut wait = || {
                barrier.wait();
            };
            let mut rank = Rank::new(number, ranks, &gate, &mut wait);
            let mut search = Search::<Native, R>::new(&mut rank, &batch, &self.problem);
            search.open = self.centres.len();
            let gain = search.offer(new, self.price);
            let open = batch.open.iter().filter(|open| open.load(Relaxed)).count();
            assert_eq!(search.open, open, "each rank counts the centres");
            assert_eq!(rank.waits(), 9);
            gain
        };
        let run = &run;
        let gains: Vec<Amount> = thread::scope(|scope| {
            let all: Vec<_> = (0..ranks)
                .map(|rank| scope.spawn(move || run(rank)))
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(gains.iter().all(|&gain| gain == gains[0]), "{gains:?}");
        (gains[0], before - cost())
    }

    /// Returns the first candidate for which the program's result is wrong.
    fn wrong_offer<R: Reckoning>(&self) -> Option<usize> {
        (0..self.points()).find(|&new| {
            let best = self.best_gain(new);
            self.offer::<R>(new, 1) != (best, best)
        })
    }
}

#[test]
fn an_offer_gains_as_much_as_the_best_of_all_sets_of_centres_to_close() {
    let mut accepted = 0;
    for seed in 0..300 {
        let state = BruteState::random(seed);
        for new in 0..state.points() {
            let best = state.best_gain(new);
            accepted += usize::from(best > 0);
            for ranks in [1, 3] {
                // Starting threads is slow, so only some seeds use three ranks.
                if ranks == 1 || seed < 20 {
                    let found = state.offer::<Exact>(new, ranks);
                    assert_eq!(
                        found,
                        (best, best),
                        "seed {seed}, point {new}, {ranks} ranks"
                    );
                }
            }
        }
    }
    assert!(
        accepted > 300,
        "only {accepted} offers were worth accepting"
    );
}

/// Reckonings with one mistake each.
mod mistaken {
    use super::{Amount, Reckoning};

    /// Points move if the move makes them more expensive.
    pub(super) struct Away;
    impl Reckoning for Away {
        fn moves(at_new: Amount, now: Amount) -> bool {
            at_new > now
        }
        fn saves(centre: Amount, members: Amount) -> Amount {
            centre + members
        }
    }

    /// All points move.
    pub(super) struct All;
    impl Reckoning for All {
        fn moves(_: Amount, _: Amount) -> bool {
            true
        }
        fn saves(centre: Amount, members: Amount) -> Amount {
            centre + members
        }
    }

    /// Closing a centre saves its price, and moving its points costs nothing.
    pub(super) struct Careless;
    impl Reckoning for Careless {
        fn moves(at_new: Amount, now: Amount) -> bool {
            at_new < now
        }
        fn saves(centre: Amount, _: Amount) -> Amount {
            centre
        }
    }

    /// Closing a centre does not save its price.
    pub(super) struct Stingy;
    impl Reckoning for Stingy {
        fn moves(at_new: Amount, now: Amount) -> bool {
            at_new < now
        }
        fn saves(_: Amount, members: Amount) -> Amount {
            members
        }
    }

    /// A loss of a closed centre's points counts as a saving.
    pub(super) struct Inverted;
    impl Reckoning for Inverted {
        fn moves(at_new: Amount, now: Amount) -> bool {
            at_new < now
        }
        fn saves(centre: Amount, members: Amount) -> Amount {
            centre - members
        }
    }
}

fn is_found_out<R: Reckoning>() -> bool {
    (0..50).any(|seed| BruteState::random(seed).wrong_offer::<R>().is_some())
}

#[test]
fn mistakes_of_the_reckoning_are_noticed() {
    assert!(!is_found_out::<Exact>());
    assert!(is_found_out::<mistaken::Away>());
    assert!(is_found_out::<mistaken::All>());
    assert!(is_found_out::<mistaken::Careless>());
    assert!(is_found_out::<mistaken::Stingy>());
    assert!(is_found_out::<mistaken::Inverted>());
}

fn small_problem(seed: u64) -> StreamclusterProblem {
    let mut random = fastrand::Rng::with_seed(seed);
    let points = random.usize(8..14);
    let least = random.usize(2..4);
    let most = random.usize(least + 1..7);
    StreamclusterProblem::new(least..=most, random.usize(1..5), points, points).unwrap()
}

fn solve<R: Reckoning>(problem: StreamclusterProblem) -> Solution {
    let program = Streamcluster::<Native>::new(problem, 1).unwrap();
    program.run_reckoning::<R>(0, &mut || ());
    program.solution().unwrap()
}

/// Verification fails if the claim does not match the clustering. The other mistakes lead to a
/// worse clustering with a true claim.
#[test]
fn mistakes_about_what_closing_saves_do_not_verify() {
    let fails = |solve: fn(StreamclusterProblem) -> Solution| {
        (0..50).any(|seed| solve(small_problem(seed)).verify().is_err())
    };
    assert!(!fails(solve::<Exact>));
    assert!(fails(solve::<mistaken::Careless>));
    assert!(fails(solve::<mistaken::Inverted>));
}

/// The cost of the best clustering over all sets of centres, at the price with which the search
/// ended, and the cost of the search's clustering.
fn best_and_found(solution: &Solution) -> Option<(f64, f64)> {
    let found = &solution.searches[0];
    let Claim::Clustered { price, cost, .. } = found.claim else {
        return None;
    };
    let points = &found.points;
    let at = |point: usize, centre: usize| {
        let between = distance(&points[point].coordinates, &points[centre].coordinates);
        solution.scale.amount(between * points[point].weight)
    };
    let cost_of = |set: u32| {
        let is_open = |&centre: &usize| set >> centre & 1 == 1;
        let cheapest = |point| {
            (0..points.len())
                .filter(is_open)
                .map(|centre| at(point, centre))
                .min()
        };
        let served: Amount = (0..points.len()).filter_map(cheapest).sum();
        served + price * Amount::from(set.count_ones())
    };
    let best = (1..1 << points.len()).map(cost_of).min()?;
    Some((best as f64, cost as f64))
}

/// The search has only 3 k ln k candidates, where k is the least number of centres. Here these are 4 or 9 of up to 13
/// points. If all points were candidates, and distances kept the triangle inequality, such a search would end within
/// three times the best cost (Charikar and Guha, "Improved combinatorial algorithms for facility location", 1999).
/// Squares of distances do not keep the inequality, and nothing is proven about so few candidates. So the factor of 2
/// is not a theorem. The worst of these 200 problems is at 1.54 times the best cost, and their mean is 1.11.
#[test]
fn a_search_ends_near_the_best_set_of_centres() {
    let pairs = (0..200).filter_map(|seed| best_and_found(&solve::<Exact>(small_problem(seed))));
    let ratios: Vec<f64> = pairs.map(|(best, found)| found / best).collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    println!("{} problems: mean {mean}, worst {worst}", ratios.len());
    assert!(ratios.iter().all(|&ratio| (1.0..2.0).contains(&ratio)));
    assert!(mean < 1.2);
}

/// Few clusterings have a point whose assigned centre is not the nearest.
#[test]
fn points_are_seldom_assigned_to_a_farther_centre() {
    let solutions = (0..1_000).map(|seed| solve::<Exact>(small_problem(seed)));
    let costs = solutions.map(|solution| (solution.nearest_cost(), solution.cost()));
    let mut farther = 0;
    for (nearest, cost) in costs {
        assert!(nearest <= cost);
        farther += usize::from(nearest < cost);
    }
    println!("{farther} of 1000 are not at their nearest centres");
    assert!((1..100).contains(&farther));
}
