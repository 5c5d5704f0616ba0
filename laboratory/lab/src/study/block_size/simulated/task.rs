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
//!
//! The listing's task is a lambda that has `unit_read` and the other sizes by reference. They are
//! variables of the caller of ParallelFor, and so is its counter: near each other on one stack. The
//! task stores bytes, which may alias any variable, so compiled code loads the sizes again for each
//! byte. Here they lie on the counter's line. A claim takes that line away from every thread of the
//! loop, not only from the next claimer. Each thread waits for it once more, less the time that its
//! core computes meanwhile. The tables show that: on the 3970X a block of B takes each of P
//! participants some 85 ns for each of the P / B claims of an iteration's time, and a core of
//! another group has the line in 94 ns.

use crate::machine::INSTRUCTIONS_A_BYTE;
use crate::study::block_size::grid::{LoopTask, Workload};
use manycore_platform::Platform;
use std::sync::{Mutex, PoisonError};

/// A byte only written: a store and three instructions of a loop.
const WRITE: u64 = 4;
/// An opaque addition and the two instructions that count it.
const ADDITION: u64 = 3;

/// Instructions that a core goes on with behind a load that waits: the reorder buffer of Skylake
/// (Intel's optimization manual) and of Zen 2 (AMD's, family 17h models 30h+).
const WINDOW: u64 = 224;
/// Bytes from one look at the loop's variables to the next, and looks that an
/// iteration has at most: more often than claims come.
const LOOK_BYTES: usize = 64;
const MOST_LOOKS: u64 = 64;

/// Two cache lines, so that no two threads' bytes share one.
const APART: usize = 128;

/// The task, with its memory; made inside of a simulation.
pub(super) struct SimulatedTask {
    instructions: u64,
    /// Cycles an instruction.
    cpi: f64,
    input: Vec<u8>,
    written: usize,
    /// By hardware thread.
    outputs: Vec<Mutex<Vec<u8>>>,
}

impl SimulatedTask {
    pub(super) fn new(workload: Workload, cpi: f64, hardware_threads: usize) -> Self {
        let Workload {
            task,
            read,
            write,
            comp,
            ..
        } = workload;
        let after = write.saturating_sub(read) as u64;
        let additions = match task {
            LoopTask::Opaque => ADDITION * (comp / read as u64) * read as u64,
            _ => 0,
        };
        Self {
            instructions: INSTRUCTIONS_A_BYTE * read as u64 + WRITE * after + additions,
            cpi,
            input: vec![0; read],
            written: write,
            outputs: (0..hardware_threads).map(|_| Mutex::default()).collect(),
        }
    }

    /// One iteration. Its results are known to be nothing, so only its time is
    /// simulated: reads and writes line by line, and the instructions.
    pub(super) fn run<P: Platform>(&self, look: Option<&dyn Fn()>) {
        P::read(&self.input);
        match look {
            Some(look) => self.compute_looking::<P>(look),
            None => P::compute(self.instructions),
        }
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

    /// Computes, and meanwhile looks at the variables of the loop again and again. Behind a look
    /// that waits for its line the core goes on for as long as its window lasts.
    fn compute_looking<P: Platform>(&self, look: &dyn Fn()) {
        let bytes = self.input.len().max(self.written);
        let looks = (bytes.div_ceil(LOOK_BYTES) as u64).clamp(1, MOST_LOOKS);
        let part = self.instructions / looks;
        for _ in 0..looks {
            let before = P::now();
            look();
            let waited = (P::now() - before) as f64 / self.cpi;
            P::compute(part - (waited as u64).min(WINDOW).min(part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_chip::config::Config;
    use manycore_chip::{Simulated, Simulation};

    /// Cycles of an iteration, with `wait` more for each look.
    fn cycles(wait: Option<u64>) -> u64 {
        let config = Config::preset("tr3970x").unwrap();
        let run = Simulation::new(&config).run(|| {
            let workload = Workload {
                task: LoopTask::Folded,
                n: 1,
                read: 1024,
                write: 1024,
                comp: 1024,
            };
            let cpi = config.core.cpi;
            let task = SimulatedTask::new(workload, cpi, config.cores as usize);
            let wait = wait.map(|cycles| (cycles as f64 / cpi) as u64);
            let look = || Simulated::compute(wait.unwrap_or(0));
            let look: Option<&dyn Fn()> = wait.is_some().then_some(&look);
            task.run::<Simulated>(look);
            let begin = Simulated::now();
            task.run::<Simulated>(look);
            Simulated::now() - begin
        });
        run.unwrap().value
    }

    #[test]
    fn a_core_computes_behind_a_look_until_its_window_is_full() {
        let window = (WINDOW as f64 * 0.5) as u64;
        let alone = cycles(None);
        assert_eq!(cycles(Some(0)), alone);
        assert_eq!(cycles(Some(window)), alone);
        // 16 looks, one for each line.
        assert_eq!(cycles(Some(window + 100)), alone + 16 * 100);
    }
}
