//! Conway's life on a torus: a parallel loop for each generation.

use crate::Program;
use rayon::prelude::*;

const SIDE: usize = 128;
const GENERATIONS: usize = 8;

pub fn programs() -> Vec<Program> {
    let mut random = fastrand::Rng::with_seed(17);
    let start: Vec<bool> = (0..SIDE * SIDE).map(|_| random.bool()).collect();
    let serial = |board: &[bool]| (0..SIDE * SIDE).map(|at| lives(board, at)).collect();
    let expected = after(start.clone(), serial);
    let (by_cell, by_row, bridged) = (start.clone(), start.clone(), start);
    vec![
        Program::giving(
            "life_by_cell",
            move || after(by_cell.clone(), cells),
            expected.clone(),
        ),
        Program::giving(
            "life_by_row",
            move || after(by_row.clone(), rows),
            expected.clone(),
        ),
        Program::giving(
            "life_by_bridge",
            move || after(bridged.clone(), bridge),
            expected,
        ),
    ]
}

fn after(mut board: Vec<bool>, next: impl Fn(&[bool]) -> Vec<bool>) -> Vec<bool> {
    for _ in 0..GENERATIONS {
        board = next(&board);
    }
    board
}

fn lives(board: &[bool], at: usize) -> bool {
    let (row, column) = (at / SIDE, at % SIDE);
    let around = |x: usize| [(x + SIDE - 1) % SIDE, x, (x + 1) % SIDE];
    let cells = around(row)
        .into_iter()
        .flat_map(|r| around(column).map(|c| board[r * SIDE + c]));
    // The cell itself is counted too.
    let count = cells.filter(|&alive| alive).count();
    count == 3 || count == 4 && board[at]
}

fn cells(board: &[bool]) -> Vec<bool> {
    (0..SIDE * SIDE)
        .into_par_iter()
        .map(|at| lives(board, at))
        .collect()
}

fn rows(board: &[bool]) -> Vec<bool> {
    let mut next = vec![false; SIDE * SIDE];
    next.par_chunks_mut(SIDE)
        .enumerate()
        .for_each(|(row, cells)| {
            for (column, cell) in cells.iter_mut().enumerate() {
                *cell = lives(board, row * SIDE + column);
            }
        });
    next
}

/// The rows come from a serial iterator.
fn bridge(board: &[bool]) -> Vec<bool> {
    let mut next = vec![false; SIDE * SIDE];
    next.chunks_mut(SIDE)
        .enumerate()
        .par_bridge()
        .for_each(|(row, cells)| {
            for (column, cell) in cells.iter_mut().enumerate() {
                *cell = lives(board, row * SIDE + column);
            }
        });
    next
}
