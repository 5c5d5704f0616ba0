//! Nonlinear least squares: Levenberg-Marquardt with a numeric Jacobian (Marquardt 1963).

/// Steps that are tried, at most.
const MOST_STEPS: usize = 2_000;

/// Finds the parameters near `start` that leave the least sum of squares.
///
/// `residuals` must return as many numbers for all parameters. Steps into
/// places where one of them is not finite are not taken.
pub(super) fn minimise(start: &[f64], residuals: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let evaluate = |at: &[f64]| {
        let found = residuals(at);
        let finite = found.iter().all(|residual| residual.is_finite());
        finite.then_some(found)
    };
    let mut at = start.to_vec();
    let Some(mut here) = evaluate(&at) else {
        return at;
    };
    let mut slopes = jacobian(&at, evaluate);
    let mut damping = 1e-3;
    for _ in 0..MOST_STEPS {
        let Some(columns) = &slopes else { break };
        let step = damped_step(columns, &here, damping);
        let next: Vec<f64> = at.iter().zip(&step).map(|(at, step)| at + step).collect();
        let better = evaluate(&next).filter(|there| dot(there, there) < dot(&here, &here));
        match better {
            Some(there) => {
                let gain = 1.0 - dot(&there, &there) / dot(&here, &here);
                (at, here) = (next, there);
                if gain < f64::EPSILON {
                    break;
                }
                slopes = jacobian(&at, evaluate);
                damping = f64::max(damping / 10.0, f64::MIN_POSITIVE);
            }
            // No step is so short that it leads downwards.
            None if damping > 1e16 => break,
            None => damping *= 10.0,
        }
    }
    at
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// How the residuals change with each parameter, by central differences: the error falls with the
/// square of the step, the rounding rises with its inverse; the cube root of the precision balances
/// the two.
fn jacobian(at: &[f64], evaluate: impl Fn(&[f64]) -> Option<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let column = |i: usize| {
        let step = f64::EPSILON.cbrt() * at[i].abs().max(1.0);
        let moved = |by: f64| {
            let mut moved = at.to_vec();
            moved[i] += by;
            evaluate(&moved)
        };
        let (above, below) = (moved(step)?, moved(-step)?);
        let both = above.iter().zip(&below);
        Some(
            both.map(|(above, below)| (above - below) / (2.0 * step))
                .collect(),
        )
    };
    (0..at.len()).map(column).collect()
}

/// The step to where the residuals would be least if they were linear, shorter and steeper the
/// greater the damping: by orthogonalising the columns, each with its damping below it (modified Gram-Schmidt).
fn damped_step(columns: &[Vec<f64>], residuals: &[f64], damping: f64) -> Vec<f64> {
    let count = columns.len();
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(count);
    for (i, column) in columns.iter().enumerate() {
        let mut long = column.clone();
        long.resize(column.len() + count, 0.0);
        long[column.len() + i] = damping.sqrt() * dot(column, column).sqrt();
        basis.push(long);
    }
    let mut target: Vec<f64> = residuals.iter().map(|residual| -residual).collect();
    target.resize(residuals.len() + count, 0.0);
    // Above the diagonal, what each column has of the directions before it.
    let mut upper = vec![vec![0.0; count]; count];
    let mut along = vec![0.0; count];
    for i in 0..count {
        let length = dot(&basis[i], &basis[i]).sqrt().max(f64::MIN_POSITIVE);
        upper[i][i] = length;
        basis[i].iter_mut().for_each(|value| *value /= length);
        let (direction, rest) = basis[i..]
            .split_first_mut()
            .expect("i is below their number");
        let without = |vector: &mut [f64]| {
            let part = dot(direction, vector);
            let both = vector.iter_mut().zip(&*direction);
            both.for_each(|(value, direction)| *value -= part * direction);
            part
        };
        for (other, vector) in (i + 1..).zip(rest) {
            upper[i][other] = without(vector);
        }
        along[i] = without(&mut target);
    }
    for i in (0..count).rev() {
        let known: f64 = (i + 1..count)
            .map(|other| upper[i][other] * along[other])
            .sum();
        along[i] = (along[i] - known) / upper[i][i];
    }
    along
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_bottom_of_a_curved_valley() {
        // Rosenbrock's function.
        let valley = |x: &[f64]| vec![10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]];
        let found = minimise(&[-1.2, 1.0], valley);
        assert!(found.iter().all(|x| (x - 1.0).abs() < 1e-9));
    }
}
