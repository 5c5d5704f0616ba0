//! Checks the answer. The check computes the clustering of each search again, and does not use the sums that the search
//! kept.

use super::amount::Scale;
use super::search::Claim;
use super::solution::{Centre, Found, Served, Solution};

/// The greatest permitted difference between a centre's coordinate and the mean of its points. The program adds points
/// to the mean one by one in single precision. Each of about ten thousand points adds a rounding error, in either
/// direction, of 2^-24 of a number up to 1.
const TOLERANCE: f64 = 1e-4;

/// A fault in a clustering. Searches are counted from 0. The last search clusters the centres of all blocks.
///
/// ```
/// use manycore_programs::spmd::WrongSolution;
///
/// let wrong = WrongSolution::Cost { search: 0, claimed: 1.5, found: 1.75 };
/// let said = "search 0 claims a cost of 1.5, which is 1.75";
/// assert_eq!(wrong.to_string(), said);
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WrongSolution {
    /// A point is missing, appears twice, or has a wrong weight.
    #[error("search {search} has wrong points: see point {point}")]
    Points {
        /// The search.
        search: usize,
        /// The point.
        point: usize,
    },
    /// A point is assigned to another point that is no centre, or that does not exist.
    #[error("search {search} has not assigned point {point} to a centre")]
    Unserved {
        /// The search.
        search: usize,
        /// The point.
        point: usize,
    },
    /// A point's cost is not its weight times its distance.
    #[error("search {search} has a wrong cost for point {point}")]
    PointCost {
        /// The search.
        search: usize,
        /// The point.
        point: usize,
    },
    /// The number of centres differs from the search's claim.
    #[error("search {search} claims {claimed} centres, but has {found}")]
    Centres {
        /// The search.
        search: usize,
        /// The claimed number.
        claimed: usize,
        /// The right number.
        found: usize,
    },
    /// The cost of points and centres differs from the search's claim.
    #[error("search {search} claims a cost of {claimed}, which is {found}")]
    Cost {
        /// The search.
        search: usize,
        /// The claimed value.
        claimed: f64,
        /// The right value.
        found: f64,
    },
    /// A centre is not at the mean of its points, or does not have their weight.
    #[error("search {search} has left a wrong centre {centre}")]
    Centre {
        /// The search.
        search: usize,
        /// The centre's index.
        centre: usize,
    },
    /// Ranks (threads of the team) have waited at different numbers of barriers.
    #[error("rank {rank} has waited {found} times, and rank 0 {expected} times")]
    Waits {
        /// The rank.
        rank: usize,
        /// The rank's number of waits.
        found: u64,
        /// Rank 0's number of waits.
        expected: u64,
    },
}

impl Solution {
    /// Checks the program's claims. Each search had the right points. Each point is assigned to an open centre, and the
    /// point's cost is its weight times its squared distance from this centre. The number of centres is as claimed. The
    /// points' costs and the centres' prices add up exactly to the cost that the search got by subtracting gains.
    /// Centres are at the means of their points. All ranks have waited at the barrier equally often.
    ///
    /// A point's centre need not be the *nearest*. [`nearest_cost`](Self::nearest_cost) is the cost with the nearest
    /// centres.
    ///
    /// # Errors
    ///
    /// The first [`WrongSolution`].
    ///
    /// ```
    /// use manycore_programs::spmd::{StreamclusterProblem, Streamcluster};
    /// use manycore_platform::Native;
    ///
    /// let problem = StreamclusterProblem::new(3..=6, 2, 100, 40)?;
    /// Streamcluster::<Native>::alone(problem).verify()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify(&self) -> Result<(), WrongSolution> {
        let blocks = self.problem.blocks();
        let mut centres = Vec::new();
        for (search, found) in self.searches.iter().enumerate() {
            if search < blocks {
                let first = search * self.problem.block;
                let points = self.problem.block.min(self.problem.points - first);
                same_points(search, found, (0..points).map(|_| (1.0, None)))?;
                found.verify(search, self.scale)?;
                centres.extend(means(found));
            } else {
                let points = centres.iter().map(|mean: &Mean| (mean.weight, Some(mean)));
                same_points(search, found, points)?;
                found.verify(search, self.scale)?;
                same_centres(search, &self.centres, &means(found))?;
            }
        }
        let expected = self.waits[0];
        match self.waits.iter().position(|&waits| waits != expected) {
            Some(rank) => Err(WrongSolution::Waits {
                rank,
                found: self.waits[rank],
                expected,
            }),
            None => Ok(()),
        }
    }
}

impl Solution {
    /// The cost of the clustering if each point were assigned to its nearest open centre. The result is at most
    /// [`cost`](Self::cost), and equals it for each [`StreamclusterInput`](super::StreamclusterInput).
    ///
    /// When a centre is closed, its points move to the newly opened centre, which need not be the nearest. The points
    /// move again only if the search tries a nearer centre before it ends.
    ///
    /// ```
    /// use manycore_programs::spmd::{StreamclusterInput, Streamcluster};
    /// use manycore_platform::Native;
    ///
    /// let solution = Streamcluster::<Native>::alone(StreamclusterInput::SimDev);
    /// assert_eq!(solution.nearest_cost(), solution.cost());
    /// ```
    #[must_use]
    pub fn nearest_cost(&self) -> f64 {
        let costs = self
            .searches
            .iter()
            .map(|found| found.nearest_cost(self.scale));
        self.scale.cost(costs.sum())
    }
}

impl Found {
    fn nearest_cost(&self, scale: Scale) -> i64 {
        if self.claim == Claim::AllAreCentres {
            return 0;
        }
        let is_open = |&(point, _): &(usize, &Served)| self.open[point];
        let open: Vec<&Served> = (self.points.iter().enumerate())
            .filter(is_open)
            .map(|(_, centre)| centre)
            .collect();
        let cheapest = |point: &Served| {
            let to =
                |centre: &&Served| scale.amount(squared_distance(point, centre) * point.weight);
            open.iter().map(to).min()
        };
        self.points.iter().filter_map(cheapest).sum()
    }

    fn verify(&self, search: usize, scale: Scale) -> Result<(), WrongSolution> {
        let all_are_centres = self.claim == Claim::AllAreCentres;
        let is_centre = |point: usize| all_are_centres || self.open[point];
        for (point, served) in self.points.iter().enumerate() {
            let Some(centre) = self
                .points
                .get(served.centre)
                .filter(|_| is_centre(served.centre))
            else {
                return Err(WrongSolution::Unserved { search, point });
            };
            if served.cost != scale.amount(squared_distance(served, centre) * served.weight) {
                return Err(WrongSolution::PointCost { search, point });
            }
        }
        let points: i64 = self.points.iter().map(|point| point.cost).sum();
        let open = (0..self.points.len())
            .filter(|&point| is_centre(point))
            .count();
        let (centres, price, claimed) = match self.claim {
            Claim::AllAreCentres => (self.points.len(), 0, 0),
            Claim::Clustered {
                centres,
                price,
                cost,
            } => (centres, price, cost),
        };
        if centres != open {
            return Err(WrongSolution::Centres {
                search,
                claimed: centres,
                found: open,
            });
        }
        let found = points + price * open as i64;
        if found != claimed {
            return Err(WrongSolution::Cost {
                search,
                claimed: scale.cost(claimed),
                found: scale.cost(found),
            });
        }
        Ok(())
    }
}

/// The squared distance. Its terms are added in the program's order, since the check compares all bits of the costs.
fn squared_distance(a: &Served, b: &Served) -> f32 {
    let mut sum = 0.0;
    for (a, b) in a.coordinates.iter().zip(&b.coordinates) {
        let between = a - b;
        sum += between * between;
    }
    sum
}

/// The mean of a centre's points.
#[derive(Clone)]
struct Mean {
    weight: f64,
    coordinates: Vec<f64>,
}

impl Mean {
    fn is_near(&self, weight: f32, coordinates: &[f32]) -> bool {
        let near = |(mean, &found): (&f64, &f32)| (mean - f64::from(found)).abs() < TOLERANCE;
        self.weight == f64::from(weight) && self.coordinates.iter().zip(coordinates).all(near)
    }
}

/// The mean for each centre that has points, in the order of the points.
fn means(found: &Found) -> Vec<Mean> {
    let mut means: Vec<Option<Mean>> = vec![None; found.points.len()];
    for point in &found.points {
        let mean = means[point.centre].get_or_insert_with(|| Mean {
            weight: 0.0,
            coordinates: vec![0.0; point.coordinates.len()],
        });
        let weight = f64::from(point.weight);
        mean.weight += weight;
        for (sum, &coordinate) in mean.coordinates.iter_mut().zip(&point.coordinates) {
            *sum += weight * f64::from(coordinate);
        }
    }
    let divide = |mut mean: Mean| {
        mean.coordinates
            .iter_mut()
            .for_each(|sum| *sum /= mean.weight);
        mean
    };
    means.into_iter().flatten().map(divide).collect()
}

/// Checks that each point appears once and has the right weight. If `expected` has a mean, also checks the point's
/// place.
fn same_points<'a>(
    search: usize,
    found: &Found,
    expected: impl ExactSizeIterator<Item = (f64, Option<&'a Mean>)>,
) -> Result<(), WrongSolution> {
    let mut at = vec![None; expected.len()];
    for served in &found.points {
        match at.get_mut(served.row) {
            Some(place @ None) => *place = Some(served),
            Some(Some(_)) | None => {
                let point = served.row;
                return Err(WrongSolution::Points { search, point });
            }
        }
    }
    for (point, (served, (weight, mean))) in at.into_iter().zip(expected).enumerate() {
        let is_right = served.is_some_and(|served: &Served| {
            f64::from(served.weight) == weight
                && mean.is_none_or(|mean| mean.is_near(served.weight, &served.coordinates))
        });
        if !is_right {
            return Err(WrongSolution::Points { search, point });
        }
    }
    Ok(())
}

fn same_centres(search: usize, found: &[Centre], means: &[Mean]) -> Result<(), WrongSolution> {
    let is_near = |(found, mean): (&Centre, &Mean)| mean.is_near(found.weight, &found.coordinates);
    match found.iter().zip(means).position(|pair| !is_near(pair)) {
        Some(centre) => Err(WrongSolution::Centre { search, centre }),
        None if found.len() != means.len() => Err(WrongSolution::Centres {
            search,
            claimed: found.len(),
            found: means.len(),
        }),
        None => Ok(()),
    }
}
