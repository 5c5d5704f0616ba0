//! The Mandelbrot set as a picture in the terminal, computed row by row.
//!
//! It shows [`Pool::chunks_mut`]: a loop in which each thread writes to its own part of a slice.
//! The rows take very different times; the loop still divides them evenly.
//!
//! ```sh
//! cargo run --release -p manycore --example mandelbrot
//! ```

use manycore::Pool;

const WIDTH: usize = 78;
const HEIGHT: usize = 32;
const MOST_STEPS: u32 = 1_000;

/// Returns the number of steps in which the point of this pixel leaves the circle of radius 2.
fn steps(column: usize, row: usize) -> u32 {
    let re = 3.0 * column as f64 / WIDTH as f64 - 2.2;
    let im = 2.4 * row as f64 / (HEIGHT - 1) as f64 - 1.2;
    let (mut x, mut y) = (0.0_f64, 0.0_f64);
    for step in 0..MOST_STEPS {
        if x * x + y * y > 4.0 {
            return step;
        }
        (x, y) = (x * x - y * y + re, 2.0 * x * y + im);
    }
    MOST_STEPS
}

fn draw(row: usize, pixels: &mut [u32]) {
    for (column, pixel) in pixels.iter_mut().enumerate() {
        *pixel = steps(column, row);
    }
}

/// Returns a darker character for a point that stays longer.
fn shade(steps: u32) -> char {
    match steps {
        0..4 => ' ',
        4..7 => '.',
        7..12 => ':',
        12..30 => '+',
        30..MOST_STEPS => '*',
        _ => '#',
    }
}

fn main() {
    let mut picture = vec![0; WIDTH * HEIGHT];
    Pool::global().chunks_mut(&mut picture, WIDTH, draw);

    for row in picture.chunks(WIDTH) {
        println!("{}", row.iter().copied().map(shade).collect::<String>());
    }

    let mut serial = vec![0; WIDTH * HEIGHT];
    for (row, pixels) in serial.chunks_mut(WIDTH).enumerate() {
        draw(row, pixels);
    }
    assert_eq!(picture, serial);
}
