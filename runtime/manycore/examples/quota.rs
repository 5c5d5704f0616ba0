//! A product of matrices, on a pool that follows the number of cores that this process may use.
//!
//! It shows [`Watch`] and [`Builder::follow`](manycore::Builder::follow): when the affinity mask, the cpuset
//! or the CPU quota changes, the pool changes how many threads it uses. This program sets a cap itself. It
//! also shows [`Pool::broadcast`] and nested loops.
//!
//! ```sh
//! cargo run --release -p manycore --example quota
//! taskset -c 0 cargo run --release -p manycore --example quota   # on one core
//! ```

use manycore::Pool;
use manycore::elastic::Watch;
use std::error::Error;
use std::num::NonZeroUsize;
use std::time::Instant;

const SIZE: usize = 160;

type Matrix = Vec<f64>;

fn matrix(seed: usize) -> Matrix {
    (0..SIZE * SIZE).map(|i| ((i * seed) % 11) as f64).collect()
}

fn item(a: &Matrix, b: &Matrix, row: usize, column: usize) -> f64 {
    (0..SIZE)
        .map(|k| a[row * SIZE + k] * b[k * SIZE + column])
        .sum()
}

/// A loop over bands of rows contains a loop over rows: threads without a band help with rows.
fn product(pool: &Pool, a: &Matrix, b: &Matrix) -> Matrix {
    const BAND: usize = SIZE / 4;
    let mut c = vec![0.0; SIZE * SIZE];
    pool.chunks_mut(&mut c, BAND * SIZE, |band, rows| {
        pool.chunks_mut(rows, SIZE, |row, items| {
            for (column, place) in items.iter_mut().enumerate() {
                *place = item(a, b, band * BAND + row, column);
            }
        });
    });
    c
}

fn main() -> Result<(), Box<dyn Error>> {
    let watch = Watch::start()?;
    let pool = Pool::builder().follow(watch.allotment()).build()?;
    let limits = watch.limits();
    println!(
        "this process may use {} CPUs, quota {:?}",
        limits.cpus, limits.quota
    );
    let names = pool.broadcast(|_| std::thread::current().name().map(str::to_owned));
    println!("the pool's threads: {names:?}");

    let (a, b) = (matrix(3), matrix(7));
    let check: Matrix = (0..SIZE * SIZE)
        .map(|i| item(&a, &b, i / SIZE, i % SIZE))
        .collect();
    for cap in [None, NonZeroUsize::new(1), None] {
        watch.cap(cap);
        let start = Instant::now();
        let c = product(&pool, &a, &b);
        let (cores, time) = (watch.allotment().cores(), start.elapsed());
        println!("with a cap of {cap:?}: {time:?}, and at the end {cores} cores");
        assert_eq!(c, check);
        assert!(cap.is_none_or(|cap| cores <= cap.get()));
    }
    Ok(())
}
