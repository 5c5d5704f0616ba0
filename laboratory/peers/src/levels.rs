//! Breadth-first search on a square grid, from one corner to the opposite one. Each level is a
//! short loop. On 300 x 300 cells there are 599 loops, which grow to 300 iterations and shrink
//! again.

use crate::peer::Loops;
use crate::tasks::{self, Task};
use std::ffi::c_void;
use std::mem;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

/// The grid and the memory of a search.
pub struct Grid {
    side: usize,
    /// Dependent multiplications for each cell, besides the check of its neighbours.
    steps: u32,
    /// The number of the last search that reached each cell.
    reached: Box<[AtomicU32]>,
    /// The cells of a level and of the next level. A level is a diagonal.
    frontiers: [Box<[AtomicU32]>; 2],
    searches: AtomicU32,
}

/// The input of the iterations of one level.
struct Level<'a> {
    side: usize,
    steps: u32,
    reached: &'a [AtomicU32],
    search: u32,
    frontier: &'a [AtomicU32],
    next: &'a [AtomicU32],
    /// Cells in `next`.
    found: Alone,
}

/// On its own cache lines, since threads write it often and only read the rest of a level.
#[repr(align(128))]
struct Alone(AtomicUsize);

impl Grid {
    /// Makes a grid of `side * side` cells, each of `steps` dependent multiplications.
    pub fn new(side: usize, steps: u32) -> Self {
        let cells = |n: usize| (0..n).map(|_| AtomicU32::new(0)).collect();
        Self {
            side,
            steps,
            reached: cells(side * side),
            frontiers: [cells(side), cells(side)],
            searches: AtomicU32::new(0),
        }
    }

    /// Searches once, with a loop for each level. Returns the numbers of loops and of reached
    /// cells.
    pub fn search(&self, loops: &mut dyn Loops) -> (usize, usize) {
        // Relaxed, here and below: a loop ends before the next begins. Within a loop, threads
        // compete only for claims of cells and places, and each claim is one atomic operation.
        let search = self.searches.fetch_add(1, Relaxed) + 1;
        let [mut frontier, mut next] = self.frontiers.each_ref().map(|cells| &cells[..]);
        frontier[0].store(0, Relaxed);
        self.reached[0].store(search, Relaxed);
        let (mut length, mut levels, mut cells) = (1, 0, 0);
        while length > 0 {
            let level = [Level {
                side: self.side,
                steps: self.steps,
                reached: &self.reached,
                search,
                frontier: &frontier[..length],
                next,
                found: Alone(AtomicUsize::new(0)),
            }];
            // SAFETY: `expand` reads one `Level`. All its parts are `Sync`.
            loops.call(length, unsafe { Task::new(expand, &level) });
            (levels, cells) = (levels + 1, cells + length);
            length = level[0].found.0.load(Relaxed);
            mem::swap(&mut frontier, &mut next);
        }
        (levels, cells)
    }
}

/// Claims the neighbours of cell `index` of a level's frontier.
unsafe extern "C" fn expand(index: usize, level: *const c_void) {
    // SAFETY: `search` passed this pointer. Its target is alive until the loop returns.
    let level = unsafe { &*level.cast::<Level<'_>>() };
    tasks::steps(std::slice::from_ref(&level.steps)).run(0);
    let cell = level.frontier[index].load(Relaxed) as usize;
    let (side, column) = (level.side, cell % level.side);
    let claim = |neighbour: usize| {
        let reached = &level.reached[neighbour];
        // A load first: most neighbours are reached already, and a swap is expensive.
        if reached.load(Relaxed) != level.search
            && reached.swap(level.search, Relaxed) != level.search
        {
            let place = level.found.0.fetch_add(1, Relaxed);
            level.next[place].store(neighbour as u32, Relaxed);
        }
    };
    if column > 0 {
        claim(cell - 1);
    }
    if column + 1 < side {
        claim(cell + 1);
    }
    if cell >= side {
        claim(cell - side);
    }
    if cell + side < side * side {
        claim(cell + side);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer;

    #[test]
    fn each_search_reaches_every_cell_level_by_level() {
        for runtime in ["serial", "manycore", "rayon"] {
            let grid = Grid::new(17, 5);
            let mut peer = peer::open(runtime, 3).unwrap();
            let policy = match runtime {
                "manycore" => "adaptive",
                _ => "outside",
            };
            peer.enter(policy, &mut |loops| {
                for _ in 0..3 {
                    assert_eq!(grid.search(loops), (33, 289), "{runtime}");
                }
            })
            .unwrap();
        }
    }
}
