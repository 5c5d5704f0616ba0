//! ndarray: its parallel maps, zips and rows.

use manycore_drop_in::Program;
use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, Axis, Zip};

const SIDE: usize = 512;

pub fn programs() -> Vec<Program> {
    let numbers = || Array2::from_shape_fn((SIDE, SIDE), |(y, x)| (y * SIDE + x) as f64);
    let (a, b) = (numbers(), numbers());
    let expected_zip = &a * &b + &a;
    let expected_rows: Array1<f64> = a.rows().into_iter().map(|row| row.sum()).collect();
    let rows_of = a.clone();
    let map = |mut array: Array2<f64>| {
        array.par_mapv_inplace(wave);
        array
    };
    let expected_map = a.mapv(wave);
    vec![
        Program::new("ndarray_map", numbers, map, move |array| {
            assert_eq!(array, expected_map);
        }),
        Program::giving(
            "ndarray_zip",
            move || Zip::from(&a).and(&b).par_map_collect(|x, y| x * y + x),
            expected_zip,
        ),
        Program::giving(
            "ndarray_rows",
            move || {
                let rows = rows_of.axis_iter(Axis(0)).into_par_iter();
                rows.map(|row| row.sum()).collect::<Vec<_>>().into()
            },
            expected_rows,
        ),
    ]
}

fn wave(x: f64) -> f64 {
    (x * 1e-3).sin().abs().sqrt()
}
