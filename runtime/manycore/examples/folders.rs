//! The sizes of all files in a tree of folders, and the largest of them.
//!
//! It shows [`manycore::scope`]: a job may spawn any number of jobs, and a job may borrow from the scope's
//! caller. The scope ends when all its jobs have ended.
//!
//! ```sh
//! cargo run --release -p manycore --example folders
//! ```

use manycore::Scope;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Folder {
    files: Vec<u64>,
    folders: Vec<Folder>,
}

/// A tree of folders that is deep in some places and flat in others.
fn grow(depth: u64, seed: u64) -> Folder {
    let children = if depth == 0 { 0 } else { seed % 5 };
    Folder {
        files: (0..seed % 23)
            .map(|i| (seed * 31 + i * i) % 10_007)
            .collect(),
        folders: (1..=children)
            .map(|i| grow(depth - 1, (seed * 7 + i * 13) % 1_009))
            .collect(),
    }
}

#[derive(Default)]
struct Totals {
    bytes: AtomicU64,
    largest: AtomicU64,
    folders: AtomicU64,
}

/// Counts one folder, and spawns a job for each folder in it.
fn visit<'a>(folder: &'a Folder, totals: &'a Totals, scope: &Scope<'a>) {
    for child in &folder.folders {
        scope.spawn(|scope| visit(child, totals, scope));
    }
    let bytes = folder.files.iter().sum();
    let largest = folder.files.iter().copied().max().unwrap_or(0);
    totals.bytes.fetch_add(bytes, Relaxed);
    totals.largest.fetch_max(largest, Relaxed);
    totals.folders.fetch_add(1, Relaxed);
}

/// Returns the bytes, the largest file and the number of folders, by plain recursion.
fn serial(folder: &Folder) -> (u64, u64, u64) {
    let bytes = folder.files.iter().sum();
    let largest = folder.files.iter().copied().max().unwrap_or(0);
    let children = folder.folders.iter().map(serial);
    children.fold((bytes, largest, 1), |all, child| {
        (all.0 + child.0, all.1.max(child.1), all.2 + child.2)
    })
}

fn main() {
    let root = grow(9, 1_004);
    let totals = Totals::default();
    manycore::scope(|scope| visit(&root, &totals, scope));

    let Totals {
        bytes,
        largest,
        folders,
    } = totals;
    let found = (
        bytes.into_inner(),
        largest.into_inner(),
        folders.into_inner(),
    );
    println!(
        "{} bytes in {} folders; the largest file has {}",
        found.0, found.2, found.1
    );
    assert_eq!(found, serial(&root));
}
