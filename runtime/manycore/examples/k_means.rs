//! Divides points in the plane into groups by the k-means method.
//!
//! It shows [`Pool::map_reduce_deterministic`]: sums of floating-point numbers are equal to the last bit on
//! any number of threads. So each round, and the whole result, is equal too.
//!
//! ```sh
//! cargo run --release -p manycore --example k_means
//! ```

use manycore::{BuildError, Pool};

type Point = [f64; 2];

const GROUPS: usize = 4;
const ROUNDS: usize = 12;

/// For each group, the sum of its points and their number.
type Sums = [(Point, u32); GROUPS];

/// Returns four clouds of points, from a small random generator with a fixed seed.
fn points() -> Vec<Point> {
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let mut cloud = |i: usize| [(i % 2) as f64 + random(), (i / 2 % 2) as f64 + random()];
    (0..20_000).map(&mut cloud).collect()
}

fn nearest(point: Point, centres: &[Point; GROUPS]) -> usize {
    let distance = |group: usize| {
        let [x, y] = centres[group];
        (point[0] - x).powi(2) + (point[1] - y).powi(2)
    };
    let closer = |a: &usize, b: &usize| distance(*a).total_cmp(&distance(*b));
    (0..GROUPS).min_by(closer).expect("there are groups")
}

fn add(mut left: Sums, right: Sums) -> Sums {
    for (left, right) in left.iter_mut().zip(right) {
        left.0[0] += right.0[0];
        left.0[1] += right.0[1];
        left.1 += right.1;
    }
    left
}

fn cluster(pool: &Pool, points: &[Point]) -> [Point; GROUPS] {
    let none = || [([0.0; 2], 0); GROUPS];
    let mut centres = std::array::from_fn(|group| points[group]);
    for _ in 0..ROUNDS {
        let alone = |i: usize| {
            let mut sums = none();
            sums[nearest(points[i], &centres)] = (points[i], 1);
            sums
        };
        let sums = pool.map_reduce_deterministic(0..points.len(), none, alone, add);
        centres = sums.map(|([x, y], count)| [x / f64::from(count), y / f64::from(count)]);
    }
    centres
}

fn main() -> Result<(), BuildError> {
    let points = points();
    let [one, three] = [1, 3].map(|threads| Pool::builder().threads(threads).build());
    let centres = cluster(&one?, &points);
    println!("the centres of {GROUPS} groups: {centres:.4?}");
    assert_eq!(cluster(&three?, &points), centres, "equal to the last bit");
    assert!(
        centres
            .iter()
            .flatten()
            .all(|x| (x.fract() - 0.5).abs() < 0.05)
    );
    Ok(())
}
