//! The document's unit task as a simulated core sees it.
//!
//! All iterations read the same bytes; each thread writes to bytes of its own,
//! as in the native study. The document's listing leaves open where
//! `write_at` points. Had all its threads written to the same bytes, their
//! lines would travel at every iteration and 1 KiB of writes would cost more
//! than 1 KiB of reads; in its tables they cost next to nothing (W-3225R, 8
//! threads: 403400 for 64 bytes written, 430700 for 1024). Simulated with shared
//! bytes, the W-3225R's loops took 1.6 times as long as with these, which come
//! within a fifth of the tables.

use crate::study::block_size::grid::{Task, Workload};
use manycore_platform::Platform;
use std::sync::{Mutex, PoisonError};

/// A byte read: a load, a folded addition, a store, and three instructions of
/// two loops. As in the native kernel.
const READ: u64 = 6;
/// A byte only written: a store and three instructions of a loop.
const WRITE: u64 = 4;
/// An opaque addition and the two instructions that count it.
const ADDITION: u64 = 3;

/// Two cache lines, so that no two threads' bytes share one.
const APART: usize = 128;

/// The task, with its memory; made inside of a simulation.
pub(super) struct UnitTask {
    instructions: u64,
    input: Vec<u8>,
    written: usize,
    /// By hardware thread.
    outputs: Vec<Mutex<Vec<u8>>>,
}

impl UnitTask {
    pub(super) fn new(workload: Workload, hardware_threads: usize) -> Self {
        let Workload {
            task,
            read,
            write,
            comp,
            ..
        } = workload;
        let after = write.saturating_sub(read) as u64;
        let additions = match task {
            Task::Opaque => ADDITION * (comp / read as u64) * read as u64,
            _ => 0,
        };
        Self {
            instructions: READ * read as u64 + WRITE * after + additions,
            input: vec![0; read],
            written: write,
            outputs: (0..hardware_threads).map(|_| Mutex::default()).collect(),
        }
    }

    /// One iteration. Its results are known to be nothing, so only its time is
    /// simulated: reads and writes line by line, and the instructions.
    pub(super) fn run<P: Platform>(&self) {
        P::read(&self.input);
        P::compute(self.instructions);
        let output = &self.outputs[P::core()];
        // Taken out: no lock of the host's is held while simulated time goes by.
        let taken = std::mem::take(&mut *output.lock().unwrap_or_else(PoisonError::into_inner));
        let mut bytes = match taken.len() {
            0 => vec![0; self.written + APART],
            _ => taken,
        };
        P::write(&mut bytes[..self.written]);
        *output.lock().unwrap_or_else(PoisonError::into_inner) = bytes;
    }
}
