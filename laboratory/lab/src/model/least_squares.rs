//! Nonlinear least squares: Levenberg-Marquardt with a numeric Jacobian.

use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra::storage::Owned;
use nalgebra::{DMatrix, DVector, Dyn};

/// Finds the parameters near `start` that leave the least sum of squares.
///
/// `residuals` must return the same number of values for all parameters. The search takes no step to parameters with a
/// value that is not finite.
pub(crate) fn minimise(start: &[f64], residuals: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let problem = Problem {
        at: DVector::from_column_slice(start),
        residuals,
    };
    let (solved, _) = LevenbergMarquardt::new()
        .with_patience(200)
        .minimize(problem);
    solved.at.as_slice().to_vec()
}

struct Problem<F> {
    at: DVector<f64>,
    residuals: F,
}

impl<F: Fn(&[f64]) -> Vec<f64>> Problem<F> {
    fn evaluate(&self, at: &[f64]) -> Option<DVector<f64>> {
        let residuals = (self.residuals)(at);
        let finite = residuals.iter().all(|residual| residual.is_finite());
        finite.then(|| DVector::from_vec(residuals))
    }
}

impl<F: Fn(&[f64]) -> Vec<f64>> LeastSquaresProblem<f64, Dyn, Dyn> for Problem<F> {
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;
    type ParameterStorage = Owned<f64, Dyn>;

    fn set_params(&mut self, at: &DVector<f64>) {
        self.at.copy_from(at);
    }

    fn params(&self) -> DVector<f64> {
        self.at.clone()
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        self.evaluate(self.at.as_slice())
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        // The derivatives are central differences. Their error falls with the square of the step, and the effect of
        // rounding grows with its inverse. The cube root of the precision balances the two.
        let relative = f64::EPSILON.cbrt();
        let mut columns = Vec::with_capacity(self.at.len());
        let mut at = self.at.as_slice().to_vec();
        for i in 0..at.len() {
            let centre = at[i];
            let step = relative * centre.abs().max(1.0);
            at[i] = centre + step;
            let above = self.evaluate(&at)?;
            at[i] = centre - step;
            let below = self.evaluate(&at)?;
            at[i] = centre;
            columns.push((above - below) / (2.0 * step));
        }
        Some(DMatrix::from_columns(&columns))
    }
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
