//! Cities and the roads between them.

#[derive(Clone, Debug)]
pub(super) struct Map {
    pub(super) cities: usize,
    /// The lengths of the roads from each city to each city.
    pub(super) roads: Vec<u64>,
    /// The shortest road from each city.
    pub(super) shortest: Vec<u64>,
}

impl Map {
    pub(super) fn new(places: &[(f64, f64)]) -> Self {
        let cities = places.len();
        // This is TSPLIB's EUC_2D, rounded to the nearest whole number.
        let road = |(a, b): (usize, usize)| {
            let ((ax, ay), (bx, by)) = (places[a], places[b]);
            (ax - bx).hypot(ay - by).round() as u64
        };
        let others = |from| (0..cities).filter(move |&to| to != from);
        Self {
            cities,
            roads: (0..cities * cities)
                .map(|at| road((at / cities, at % cities)))
                .collect(),
            shortest: (0..cities)
                .map(|from| others(from).map(|to| road((from, to))).min().unwrap_or(0))
                .collect(),
        }
    }

    pub(super) fn road(&self, from: u8, to: u8) -> u64 {
        self.roads[usize::from(from) * self.cities + usize::from(to)]
    }

    pub(super) fn length(&self, tour: &[u8]) -> u64 {
        let ends = tour.last().map_or(0, |&last| self.road(last, tour[0]));
        tour.windows(2)
            .map(|pair| self.road(pair[0], pair[1]))
            .sum::<u64>()
            + ends
    }

    /// The length of the shortest tour by another method: the shortest path through each subset of the
    /// cities to each of them (Held and Karp).
    pub(super) fn shortest_by_subsets(&self) -> u64 {
        let Some(others) = self.cities.checked_sub(1).filter(|&others| others > 0) else {
            return 0;
        };
        let mut paths = vec![u64::MAX; others << others];
        let cities = || 0..others as u8;
        let has = |subset: usize, city: u8| subset >> city & 1 == 1;
        let mut best = u64::MAX;
        for subset in 1..1 << others {
            for last in cities().filter(|&last| has(subset, last)) {
                let rest = subset & !(1 << last);
                let path = match rest {
                    0 => self.road(0, last + 1),
                    _ => cities()
                        .filter(|&before| has(rest, before))
                        .map(|before| {
                            paths[rest * others + usize::from(before)]
                                + self.road(before + 1, last + 1)
                        })
                        .min()
                        .unwrap_or(u64::MAX),
                };
                paths[subset * others + usize::from(last)] = path;
                if subset + 1 == 1 << others {
                    best = best.min(path + self.road(last + 1, 0));
                }
            }
        }
        best
    }
}
