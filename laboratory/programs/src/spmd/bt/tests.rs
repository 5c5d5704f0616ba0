use super::gas::{GasMotion, State, flux, jacobians, spread};
use super::lanes::Real;
use super::phases::{RIGHT_SIDE, SOLUTION};
use super::residual::{along, damping};
use super::*;
use crate::spmd::{Alone, Ranked, Sums};
use manycore_platform::Native;
use std::cell::Cell;
use std::ops::{Add, Div, Mul, Neg, Sub};

fn alone(program: &Bt<Native>) {
    let (mut alone, sums) = (Alone, Sums::new(0));
    // SAFETY: the team has one rank (thread), and its own sums.
    unsafe { program.run(&mut Ranked::<Native>::new(&mut alone, &sums)) };
}

#[test]
fn the_exact_solution_does_not_change() {
    let mut program = Bt::<Native>::shortened(Class::S, 5);
    program.field = program.grid.filled(exact).into();
    let zeros = |norms: [f64; 5]| norms.iter().all(|norm| norm.abs() < 1e-12);
    assert!(zeros(program.norms().residual));
    alone(&program);
    let Norms { residual, error } = program.norms();
    assert!(zeros(residual) && zeros(error), "{residual:?} {error:?}");
}

#[test]
fn the_initial_field_is_exact_on_the_faces_and_interpolated_inside() {
    assert_eq!(exact([0.0; 3]), [2.0, 1.0, 2.0, 2.0, 5.0]);
    for point in [[0.0, 0.3, 0.7], [0.2, 1.0, 0.4], [0.9, 0.1, 0.0]] {
        assert_eq!(initial(point), exact(point));
    }
    let (point, mut product) = ([0.25, 0.5, 0.125], [1.0; 5]);
    for axis in 0..3 {
        let (mut near, mut far) = (point, point);
        (near[axis], far[axis]) = (0.0, 1.0);
        for (quantity, product) in product.iter_mut().enumerate() {
            let (near, far) = (exact(near)[quantity], exact(far)[quantity]);
            *product *= 1.0 - (near + (far - near) * point[axis]);
        }
    }
    for (found, product) in initial(point).into_iter().zip(product) {
        assert!((found - (1.0 - product)).abs() < 1e-11, "{found}");
    }
}

/// A number and its derivative.
#[derive(Clone, Copy, Debug)]
struct Dual(f64, f64);

/// A number that counts operations.
#[derive(Clone, Copy)]
struct CountedFlops;

thread_local! {
    static OPERATIONS: Cell<usize> = const { Cell::new(0) };
}

impl CountedFlops {
    fn count(self) -> Self {
        OPERATIONS.set(OPERATIONS.get() + 1);
        self
    }
}

impl Real for Dual {
    fn of(value: f64) -> Self {
        Self(value, 0.0)
    }
}

impl Real for CountedFlops {
    fn of(_: f64) -> Self {
        Self
    }
}

macro_rules! operators {
    ($($operator:ident, $function:ident, $dual:expr;)*) => {$(
        impl $operator for Dual {
            type Output = Self;

            fn $function(self, other: Self) -> Self {
                $dual(self, other)
            }
        }

        impl $operator for CountedFlops {
            type Output = Self;

            fn $function(self, _: Self) -> Self {
                self.count()
            }
        }
    )*};
}

operators! {
    Add, add, |a: Self, b: Self| Self(a.0 + b.0, a.1 + b.1);
    Sub, sub, |a: Self, b: Self| Self(a.0 - b.0, a.1 - b.1);
    Mul, mul, |a: Self, b: Self| Self(a.0 * b.0, a.1 * b.0 + a.0 * b.1);
    Div, div, |a: Self, b: Self| Self(a.0 / b.0, (a.1 * b.0 - a.0 * b.1) / (b.0 * b.0));
}

impl Neg for Dual {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}

impl Neg for CountedFlops {
    type Output = Self;

    fn neg(self) -> Self {
        self.count()
    }
}

impl Mul<f64> for Dual {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self(self.0 * factor, self.1 * factor)
    }
}

impl Mul<f64> for CountedFlops {
    type Output = Self;

    fn mul(self, _: f64) -> Self {
        self.count()
    }
}

const WEIGHTS: Weights = Weights {
    first: 0.3,
    second: 0.07,
    diffusion: 0.75,
};

/// Both Jacobians times their weights, by automatic differentiation.
fn derivatives(state: State<f64>) -> [[[f64; 5]; 5]; 2] {
    let mut found = [[[0.0; 5]; 5]; 2];
    for column in 0..5 {
        let mut state = state.map(Dual::of);
        state[column].1 = 1.0;
        let motion = GasMotion::of(&state);
        let flux = flux(&state, &motion);
        let spread = spread(&state, &motion, WEIGHTS.diffusion);
        for row in 0..5 {
            found[0][row][column] = flux[row].1 * WEIGHTS.first;
            found[1][row][column] = spread[row].1 * WEIGHTS.second;
        }
    }
    found
}

fn some_state(random: &mut fastrand::Rng) -> State<f64> {
    let mut between = |low: f64, high: f64| low + (high - low) * random.f64();
    [
        between(1.0, 3.0),
        between(-2.0, 2.0),
        between(-2.0, 2.0),
        between(-2.0, 2.0),
        between(4.0, 9.0),
    ]
}

#[test]
fn the_jacobians_are_the_derivatives() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..100 {
        let state = some_state(&mut random);
        let mut found = [[[0.0; 5]; 5]; 2];
        jacobians(&state, &WEIGHTS, |row, column, carried, spread| {
            found[0][row][column] = carried;
            found[1][row][column] = spread;
        });
        for (found, expected) in found.iter().zip(derivatives(state)) {
            for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
                assert!((found - expected).abs() < 1e-13, "{found}, not {expected}");
            }
        }
    }
}

/// The solution satisfies the equations.
#[test]
fn a_line_is_solved() {
    let mut random = fastrand::Rng::with_seed(2);
    for inner in [1, 2, 3, 7, 20] {
        let states: Vec<_> = (0..inner + 2).map(|_| some_state(&mut random)).collect();
        let right: Vec<_> = (0..inner + 2).map(|_| some_state(&mut random)).collect();
        let mut found = vec![[0.0; 5]; inner + 2];
        solve(
            &mut Workspace::new(inner),
            &WEIGHTS,
            |point| states[point],
            |point| right[point],
            |point, difference| found[point] = *difference,
        );
        for point in 1..=inner {
            let mut sum = found[point];
            for (other, sign, times) in [
                (point - 1, -1.0, 1.0),
                (point, 0.0, -2.0),
                (point + 1, 1.0, 1.0),
            ] {
                let [carried, spread] = derivatives(states[other]);
                for row in 0..5 {
                    for (column, difference) in found[other].iter().enumerate() {
                        let factor = sign * carried[row][column] - times * spread[row][column];
                        sum[row] += factor * difference;
                    }
                }
            }
            for (left, right) in sum.into_iter().zip(right[point]) {
                assert!((left - right).abs() < 1e-11, "{left}, not {right}");
            }
        }
    }
}

/// Lanes are computed as if each were alone.
#[test]
fn lines_solved_together_are_the_same_to_the_last_bit() {
    let mut random = fastrand::Rng::with_seed(3);
    let inner = 9;
    let lines: Vec<Vec<_>> = (0..LANES)
        .map(|_| (0..inner + 2).map(|_| some_state(&mut random)).collect())
        .collect();
    let mut together = vec![[Lanes::of(0.0); 5]; inner + 2];
    let side_by_side = |point: usize| {
        std::array::from_fn(|c| Lanes(std::array::from_fn(|lane| lines[lane][point][c])))
    };
    let mut workspace = Workspace::new(inner);
    solve(
        &mut workspace,
        &WEIGHTS,
        side_by_side,
        side_by_side,
        |point, found| {
            together[point] = *found;
        },
    );
    for (lane, line) in lines.iter().enumerate() {
        let state = |point: usize| line[point];
        solve(
            &mut Workspace::new(inner),
            &WEIGHTS,
            state,
            state,
            |point, found| {
                assert_eq!(together[point].map(|lanes| lanes.0[lane]), *found);
            },
        );
    }
}

fn operations(work: impl FnOnce()) -> usize {
    let before = OPERATIONS.get();
    work();
    OPERATIONS.get() - before
}

#[test]
fn operations_are_as_many_as_declared() {
    let state = [CountedFlops; 5];
    let in_line = |inner| {
        operations(|| {
            let mut workspace = Workspace::new(inner);
            solve(&mut workspace, &WEIGHTS, |_| state, |_| state, |_, _| ());
        })
    };
    assert_eq!(in_line(11) - in_line(10), SOLUTION);

    let along = operations(|| {
        along(&[state; 5], &WEIGHTS, &[CountedFlops; 5]);
    });
    // Each direction adds its sum, then the forcing is added, and the result is multiplied by the
    // interval.
    assert_eq!(3 * (along + 5) + 5 + 5, RIGHT_SIDE);
}

/// The fourth difference of a cubic is zero, except near the ends.
#[test]
fn oscillations_are_damped() {
    for points in [12, 24] {
        for point in 1..points - 1 {
            let factors = damping(point, points);
            let applied = |value: fn(f64) -> f64| -> f64 {
                let neighbours = (0..5).map(|i| value((point + i) as f64 - 2.0));
                neighbours
                    .zip(factors)
                    .map(|(value, factor)| value * factor)
                    .sum()
            };
            let (near, inside) = (point.min(points - 1 - point), 3..points - 3);
            assert!(applied(|x| x * x * x) == 0.0 || !inside.contains(&point));
            assert_eq!(applied(|_| 1.0), [0.0, -0.5, 0.25, 0.0][near.min(3)]);
            assert_eq!(factors[2], if near == 1 { -1.25 } else { -1.5 });
            let beyond = (0..5).filter(|i| !(3..points + 1).contains(&(point + i)));
            assert!(beyond.into_iter().all(|i| factors[i] == 0.0));
        }
    }
}

#[test]
fn lines_of_every_direction_are_all_inner_points() {
    for class in Class::ALL {
        let grid = Grid::new(reference(class).points);
        assert_eq!(grid.lines() % LANES, 0, "class {class}");
    }
    let grid = Grid::new(12);
    for direction in DIRECTIONS {
        let mut visits = vec![0; grid.len()];
        for first in (0..grid.lines()).step_by(LANES) {
            let bundle = grid.bundle(direction, first);
            bundle.runs(1..grid.points - 1, |run| {
                visits[run].iter_mut().for_each(|visits| *visits += 1);
            });
            // The stored values are the loaded values, in the same places.
            bundle.store(
                3,
                &bundle.states(3, |index| index as f64),
                |index, value| {
                    assert_eq!(value, index as f64);
                    assert_eq!(visits[index], 1);
                },
            );
        }
        let inner = grid.filled(|point| {
            let inside = point.iter().all(|&x| x > 0.0 && x < 1.0);
            [f64::from(inside); 5]
        });
        assert!(visits.into_iter().map(f64::from).eq(inner));
    }
}

#[test]
fn a_wrong_field_does_not_verify() {
    let mut program = Bt::<Native>::new(Class::S);
    alone(&program);
    program.verify().unwrap();
    let there = program.grid.at([5, 6, 7]) + 3 * program.grid.quantity();
    program.field.get_mut()[there] += 1e-6;
    let error = program.verify().unwrap_err();
    println!("{error}");
    program.field.get_mut()[there] = f64::NAN;
    assert!(program.verify().unwrap_err().found.is_nan());
}
