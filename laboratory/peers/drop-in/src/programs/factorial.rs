//! The factorial of a number: products that grow.

use crate::Program;
use num_bigint::BigUint;
use rayon::prelude::*;

const N: u32 = 3_000;

pub fn programs() -> Vec<Program> {
    let expected: BigUint = (1..=N).product();
    let numbers = || (1..=N).into_par_iter().map(BigUint::from);
    vec![
        Program::giving("factorial_join", || product(1, N), expected.clone()),
        Program::giving(
            "factorial_reduce",
            move || numbers().reduce_with(|a, b| a * b).unwrap(),
            expected.clone(),
        ),
        Program::giving(
            "factorial_product",
            move || numbers().product::<BigUint>(),
            expected,
        ),
    ]
}

/// The product of `from..=to`.
fn product(from: u32, to: u32) -> BigUint {
    if from == to {
        return from.into();
    }
    let middle = from.midpoint(to);
    let (a, b) = rayon::join(|| product(from, middle), || product(middle + 1, to));
    a * b
}
