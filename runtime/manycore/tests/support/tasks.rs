//! The threads of this process in Linux's list, selected by their names.

use std::fs;
use std::path::PathBuf;

/// Returns the threads whose names begin with `name` (the kernel keeps 15 bytes).
pub(crate) fn named(name: &str) -> Vec<PathBuf> {
    let tasks = fs::read_dir("/proc/self/task").expect("this is Linux");
    let task = |entry: std::io::Result<fs::DirEntry>| entry.expect("a task").path();
    tasks
        .map(task)
        // A thread may end while the list is read.
        .filter(|task| fs::read_to_string(task.join("comm")).is_ok_and(|c| c.starts_with(name)))
        .collect()
}
