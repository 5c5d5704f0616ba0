//! The moments of a cell's mass, and its pull on a far body.

use super::region::Vector;

/// The mass and the moments of a cell or a leaf, and the cost of the forces on its bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    pub(super) mass: f64,
    /// The centre of mass.
    pub(super) centre: Vector,
    /// Second moments about the centre, `sum m d_i d_j`: `xx, yy, zz, xy, xz, yz`. They give the
    /// quadrupole.
    pub(super) second: [f64; 6],
    /// The number of interactions of its bodies in the last step.
    pub(super) cost: u64,
    pub(super) bodies: u32,
}

/// The axes of each second moment.
const AXES: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];

impl Moments {
    /// The moments of one body.
    #[inline]
    pub(super) fn of_body(place: Vector, mass: f64, cost: u64) -> Self {
        Self {
            mass,
            centre: place,
            second: [0.0; 6],
            cost,
            bodies: 1,
        }
    }

    /// The moments of the union of at least one part.
    pub(super) fn of_parts(parts: &[Self]) -> Self {
        let mass: f64 = parts.iter().map(|part| part.mass).sum();
        let weighted = |axis: usize| -> f64 {
            let parts = parts.iter();
            parts.map(|part| part.mass * part.centre[axis]).sum()
        };
        let centre: Vector = std::array::from_fn(|axis| weighted(axis) / mass);
        let mut second = [0.0; 6];
        for part in parts {
            let way: Vector = std::array::from_fn(|axis| part.centre[axis] - centre[axis]);
            for (sum, (own, (a, b))) in second.iter_mut().zip(part.second.iter().zip(AXES)) {
                *sum += own + part.mass * way[a] * way[b];
            }
        }
        Self {
            mass,
            centre,
            second,
            cost: parts.iter().map(|part| part.cost).sum(),
            bodies: parts.iter().map(|part| part.bodies).sum(),
        }
    }
}

/// The pull on a body, for each unit of its mass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pull {
    pub(super) acceleration: Vector,
    pub(super) potential: f64,
}

impl Pull {
    /// Adds the pull of a mass at the offset `way` from the body.
    #[inline]
    pub(super) fn add_mass(&mut self, way: Vector, mass: f64, softening2: f64) {
        let square = way.iter().map(|it| it * it).sum::<f64>() + softening2;
        let inverse = 1.0 / square.sqrt();
        let potential = mass * inverse;
        let strength = potential * inverse * inverse;
        self.potential -= potential;
        for (sum, way) in self.acceleration.iter_mut().zip(way) {
            *sum += strength * way;
        }
    }

    /// Adds the pull of a cell whose centre is at the offset `way` from the body.
    ///
    /// The potential of a mass at `r + d`, `-m / sqrt(|r + d|^2 + e^2)`, is expanded to second order in `d`. With the
    /// sums `S` of `m d d`, the trace `t` of `S` and `q^2 = r^2 + e^2`, the expansion is
    /// `-m/q - 3 rSr / 2 q^5 + t / 2 q^3`. The first order vanishes about the centre of mass. Without softening this is
    /// the sum of monopole and quadrupole.
    #[inline]
    pub(super) fn add_cell(&mut self, way: Vector, cell: &Moments, softening2: f64) {
        self.add_mass(way, cell.mass, softening2);
        let [xx, yy, zz, xy, xz, yz] = cell.second;
        let square = way.iter().map(|it| it * it).sum::<f64>() + softening2;
        let inverse = 1.0 / square.sqrt();
        let inverse2 = inverse * inverse;
        let inverse5 = inverse2 * inverse2 * inverse;
        let [x, y, z] = way;
        let stretched = [
            xx * x + xy * y + xz * z,
            xy * x + yy * y + yz * z,
            xz * x + yz * y + zz * z,
        ];
        let along = stretched[0] * x + stretched[1] * y + stretched[2] * z;
        let trace = xx + yy + zz;
        self.potential -= inverse5 * (1.5 * along - 0.5 * trace * square);
        let radial = inverse5 * (7.5 * along * inverse2 - 1.5 * trace);
        for (sum, (way, stretched)) in
            (self.acceleration.iter_mut()).zip(way.into_iter().zip(stretched))
        {
            *sum += radial * way - 3.0 * inverse5 * stretched;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOFTENING2: f64 = 0.05 * 0.05;

    fn bodies() -> Vec<Moments> {
        let mut random = fastrand::Rng::with_seed(5);
        let mut body = |_| {
            let place = std::array::from_fn(|_| random.f64() - 0.5);
            Moments::of_body(place, random.f64(), 1)
        };
        (0..20).map(&mut body).collect()
    }

    #[test]
    fn moments_of_parts_add_up() {
        let bodies = bodies();
        let all = Moments::of_parts(&bodies);
        let halves = [&bodies[..7], &bodies[7..]].map(Moments::of_parts);
        let both = Moments::of_parts(&halves);
        assert_eq!((both.bodies, both.cost), (20, 20));
        assert!((both.mass - all.mass).abs() < 1e-12);
        for (one, other) in both.second.iter().zip(all.second) {
            assert!((one - other).abs() < 1e-12);
        }
    }

    /// The neglected term is of third order in the cell's size, so at twice the distance the error, relative to the
    /// field, is an eighth.
    #[test]
    fn a_cell_pulls_as_its_bodies_together() {
        let bodies = bodies();
        let cell = Moments::of_parts(&bodies);
        let mut errors = vec![];
        for distance in [4.0, 8.0, 16.0] {
            let at = [0.6 * distance, -0.48 * distance, 0.64 * distance];
            let way = |to: &Moments| std::array::from_fn(|axis| to.centre[axis] - at[axis]);
            let (mut exact, mut whole) = (Pull::default(), Pull::default());
            for body in &bodies {
                exact.add_mass(way(body), body.mass, SOFTENING2);
            }
            whole.add_cell(way(&cell), &cell, SOFTENING2);
            let scale = cell.mass / (distance * distance);
            let off =
                (0..3).map(|axis| (exact.acceleration[axis] - whole.acceleration[axis]).powi(2));
            let potential = (exact.potential - whole.potential).abs();
            errors.push((
                off.sum::<f64>().sqrt() / scale,
                potential * distance / cell.mass,
            ));
        }
        println!("{errors:?}");
        for pair in errors.windows(2) {
            assert!((6.0..10.0).contains(&(pair[0].0 / pair[1].0)), "{errors:?}");
            assert!((6.0..10.0).contains(&(pair[0].1 / pair[1].1)), "{errors:?}");
        }
    }

    /// The acceleration is the negative gradient of the potential.
    #[test]
    fn a_cell_pulls_where_its_potential_falls() {
        let cell = Moments::of_parts(&bodies());
        let at = |way| {
            let mut pull = Pull::default();
            pull.add_cell(way, &cell, 0.3);
            pull
        };
        let way = [0.9, -0.7, 1.1];
        let pull = at(way);
        for axis in 0..3 {
            let moved = |by: f64| {
                let mut way = way;
                // The body moves by `by`, so the offset of the cell shrinks.
                way[axis] -= by;
                at(way).potential
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((pull.acceleration[axis] + slope).abs() < 1e-7);
        }
    }
}
