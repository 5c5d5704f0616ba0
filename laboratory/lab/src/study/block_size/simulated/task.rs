//! The unit task of the document (Shuai's paper) as a simulated core executes it.
//!
//! All iterations read the same bytes. Each thread writes to its own bytes, as in the native study. The document's
//! listing does not say where `write_at` points. If all threads wrote to the same bytes, the cache lines would move
//! between cores at every iteration, and 1 KiB of writes would cost more than 1 KiB of reads. In the document's tables
//! writes cost next to nothing (W-3225R with 8 threads: 403400 for 64 written bytes, 430700 for 1024). The simulated
//! loops of the W-3225R took 1.6 times as long with shared bytes as with separate bytes. With separate bytes they come
//! within a fifth of the tables.
//!
//! The listing's task is a lambda that has references to `unit_read` and the other sizes. The sizes and the loop's
//! counter are variables of the caller of ParallelFor, near each other on one stack. The task stores bytes, which may
//! alias any variable, so compiled code loads the sizes again for each byte. Here the sizes lie on the counter's line.
//! A claim (the addition to the counter) takes that line away from every thread of the loop, not only from the next
//! claimer. Each thread then waits for the line, except while its core still computes. The tables show this effect. On
//! the 3970X, while one iteration runs, P participants with blocks of B make P / B claims. Each claim costs each
//! participant some 85 ns, and a core of another group gets the line in 94 ns.

use crate::machine::INSTRUCTIONS_A_BYTE;
use crate::study::block_size::grid::{LoopTask, Workload};
use manycore_platform::Platform;
use std::sync::{Mutex, PoisonError};

/// Instructions for a byte that is only written: a store, and three of a loop.
const WRITE: u64 = 4;
/// Instructions for an opaque addition: itself, and two that count it.
const ADDITION: u64 = 3;

/// The most instructions that a core executes while an earlier load waits: the size of the reorder buffer of Skylake
/// (Intel's optimization manual) and of Zen 2 (AMD's, family 17h models 30h+).
const WINDOW: u64 = 224;
/// Bytes between two looks (loads of the loop's variables). Looks are more frequent than claims.
const LOOK_BYTES: usize = 64;
const MOST_LOOKS: u64 = 64;

/// Two cache lines, so that the bytes of two threads share no line.
const APART: usize = 128;

/// The task and its memory, allocated inside a simulation.
pub(super) struct SimulatedTask {
    instructions: u64,
    /// Cycles for each instruction.
    cpi: f64,
    input: Vec<u8>,
    written: usize,
    /// The bytes that each hardware thread writes.
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

    /// Runs one iteration. Its results are not used, so only its time is simulated: reads and writes line by line, and
    /// instructions.
    pub(super) fn run<P: Platform>(&self, look: Option<&dyn Fn()>) {
        P::read(&self.input);
        match look {
            Some(look) => self.compute_looking::<P>(look),
            None => P::compute(self.instructions),
        }
        let output = &self.outputs[P::core()];
        // The bytes are taken out, so that no host lock is held while simulated time passes.
        let taken = std::mem::take(&mut *output.lock().unwrap_or_else(PoisonError::into_inner));
        let mut bytes = match taken.len() {
            0 => vec![0; self.written + APART],
            _ => taken,
        };
        P::write(&mut bytes[..self.written]);
        *output.lock().unwrap_or_else(PoisonError::into_inner) = bytes;
    }

    /// Computes, with looks at regular intervals. While a look waits, the core computes until its reorder buffer is
    /// full.
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

    /// Returns the cycles of an iteration with looks that wait `wait` cycles.
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
