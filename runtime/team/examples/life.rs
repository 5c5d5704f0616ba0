//! The Game of Life, played by five ranks that synchronise after each generation.
//!
//! It shows [`Team::run`] with closures as ranks. Each call plays one generation on the rank's rows and
//! returns [`Step::Arrived`]. The rank continues when all have arrived. The ranks read one of two boards and
//! write the other.
//!
//! ```sh
//! cargo run --release -p manycore-team --example life
//! ```

use manycore_cores::elastic::Allotment;
use manycore_team::BuildError;
use manycore_team::{Site, Step, Team, Turn};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const SIZE: usize = 24;
const GENERATIONS: usize = 60;
const RANKS: usize = 5;

/// Cells that several ranks read. Relaxed suffices: the barriers order the ranks' accesses.
type Board = Vec<AtomicBool>;

/// A glider, which moves down and to the right.
fn first() -> Board {
    let alive = [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)];
    let cell = |i| AtomicBool::new(alive.contains(&(i / SIZE, i % SIZE)));
    (0..SIZE * SIZE).map(cell).collect()
}

/// Returns whether a cell lives in the next generation. Opposite edges of the board touch.
fn lives(board: &Board, row: usize, column: usize) -> bool {
    // The nine cells of the square around this cell have numbers 0 to 8. This cell has number 4.
    let is_alive = |i: usize| {
        let (row, column) = (row + SIZE - 1 + i / 3, column + SIZE - 1 + i % 3);
        board[row % SIZE * SIZE + column % SIZE].load(Relaxed)
    };
    match (0..9).filter(|&i| is_alive(i)).count() {
        3 => true,
        4 => is_alive(4),
        _ => false,
    }
}

/// Plays the rank's part of a generation.
fn play(boards: &[Board; 2], generation: usize, rank: usize) {
    let (old, new) = (&boards[generation % 2], &boards[(generation + 1) % 2]);
    let rows = SIZE * rank / RANKS..SIZE * (rank + 1) / RANKS;
    for i in rows.flat_map(|row| row * SIZE..(row + 1) * SIZE) {
        new[i].store(lives(old, i / SIZE, i % SIZE), Relaxed);
    }
}

fn main() -> Result<(), BuildError> {
    let boards = [first(), first()];
    let mut team: Team = Team::new(2, Allotment::new(2))?;
    let report = team.run(RANKS, |rank| {
        let (boards, mut generation) = (&boards, 0);
        move |_: &Turn<'_>| {
            if generation == GENERATIONS {
                return Step::Done;
            }
            play(boards, generation, rank);
            generation += 1;
            Step::Arrived(Site::here())
        }
    });
    let workers = team.workers();
    println!(
        "{RANKS} ranks on {workers} workers met {} times",
        report.episodes
    );

    let serial = [first(), first()];
    for generation in 0..GENERATIONS {
        (0..RANKS).for_each(|rank| play(&serial, generation, rank));
    }
    for (row, expected) in boards[0].chunks(SIZE).zip(serial[0].chunks(SIZE)) {
        let draw = |cell: &AtomicBool| if cell.load(Relaxed) { " o" } else { " ." };
        let [row, expected] = [row, expected].map(|row| row.iter().map(draw).collect::<String>());
        println!("{row}");
        assert_eq!(row, expected);
    }
    Ok(())
}
