//! The unit task of Shuai's paper (2021), here called "the document": read some bytes, compute, write some bytes.
//!
//! For every byte that the task reads, a loop adds one `unit_comp / unit_read` times. No code uses the sums in between,
//! so an optimising compiler may fold the loop: replace it by one addition of `unit_comp / unit_read`. That explains
//! how the paper's tables have 2^60 "computations" per iteration in a few hundred nanoseconds: these were never
//! executed. GCC folds the paper's loop. LLVM 22 folds the loop if it is in a function of its own. Inside the loop over
//! the bytes, LLVM instead does 32 additions at a time, and an iteration with 2^60 additions would take months. So the
//! source code of the folded task already has one addition, and the measurement does not depend on the compiler's
//! version.

use crate::buffer::{Buffer, with_write_buffer};
use crate::{Load, opaque_additions};
use manycore_platform::Platform;

/// Whether the task executes its additions between a read and a write.
///
/// ```
/// use manycore_programs::{Folding, TaskSize, UnitTask};
///
/// // 2^60 additions an iteration: only a folded task can claim to do them.
/// let size = TaskSize { read: 64, write: 64, comp: 1 << 60 };
/// assert!(UnitTask::new(10, size, Folding::Folded, 1).is_ok());
/// assert!(UnitTask::new(10, size, Folding::Opaque, 1).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folding {
    /// One addition replaces all additions of a byte, as in the document's compiled program.
    Folded,
    /// Every addition is executed.
    Opaque,
}

/// One iteration of the unit task.
///
/// ```
/// use manycore_programs::TaskSize;
/// let middle = TaskSize { read: 1024, write: 1024, comp: 1024 };
/// assert_eq!(middle.additions_per_byte(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSize {
    /// Bytes read (`unit_read`); at least one.
    pub read: usize,
    /// Bytes written (`unit_write`).
    pub write: usize,
    /// Additions (`unit_comp`), shared evenly among the bytes read. The remainder is dropped, as in the
    /// document.
    pub comp: u64,
}

impl TaskSize {
    /// Additions that follow the read of one byte.
    ///
    /// ```
    /// use manycore_programs::TaskSize;
    /// assert_eq!(TaskSize { read: 64, write: 1, comp: 1000 }.additions_per_byte(), 15);
    /// ```
    #[must_use]
    pub fn additions_per_byte(self) -> u64 {
        self.comp / self.read.max(1) as u64
    }
}

/// A size that a unit task cannot have.
///
/// ```
/// use manycore_programs::{Folding, InvalidSize, TaskSize, UnitTask};
///
/// let size = TaskSize { read: 0, write: 1, comp: 1 };
/// let error = UnitTask::new(1, size, Folding::Folded, 1).unwrap_err();
/// assert_eq!(error, InvalidSize::ReadsNothing);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSize {
    /// The additions are shared among the bytes read, so there must be at least one byte.
    #[error("unit_read must be at least 1")]
    ReadsNothing,
    /// Too many opaque additions to run in reasonable time.
    #[error("unit_comp must be at most 2^20 for an opaque task, whose additions really happen")]
    TooManyAdditions,
}

/// A loop whose iterations are unit tasks of the document.
///
/// All iterations read the same bytes, and each thread writes to bytes of its own. So the iterations share
/// no written memory.
///
/// ```
/// use manycore_programs::{Folding, TaskSize, UnitTask, audit};
/// use manycore_platform::Native;
///
/// let size = TaskSize { read: 1024, write: 256, comp: 4096 };
/// let load = UnitTask::new(1024, size, Folding::Opaque, 42).unwrap();
/// audit::<Native, _>(&load, |n, body| (0..n).for_each(body)).unwrap();
/// ```
#[derive(Debug)]
pub struct UnitTask {
    iterations: usize,
    size: TaskSize,
    folding: Folding,
    read: Buffer,
}

impl UnitTask {
    /// The most additions that an opaque iteration may have. They take a third of a millisecond.
    pub const MOST_OPAQUE_ADDITIONS: u64 = 1 << 20;

    /// A loop of `iterations` unit tasks. The seed decides the bytes that they read.
    ///
    /// # Errors
    ///
    /// [`InvalidSize`], if a task reads nothing, or if it is opaque and has more additions than
    /// [`MOST_OPAQUE_ADDITIONS`](Self::MOST_OPAQUE_ADDITIONS).
    ///
    /// ```
    /// use manycore_programs::{Folding, Load, TaskSize, UnitTask};
    ///
    /// let size = TaskSize { read: 64, write: 1024, comp: 1024 };
    /// let load = UnitTask::new(1024, size, Folding::Folded, 42).unwrap();
    /// assert_eq!(load.iterations(), 1024);
    /// ```
    pub fn new(
        iterations: usize,
        size: TaskSize,
        folding: Folding,
        seed: u64,
    ) -> Result<Self, InvalidSize> {
        if size.read == 0 {
            return Err(InvalidSize::ReadsNothing);
        }
        if folding == Folding::Opaque && size.comp > Self::MOST_OPAQUE_ADDITIONS {
            return Err(InvalidSize::TooManyAdditions);
        }
        let mut random = fastrand::Rng::with_seed(seed);
        Ok(Self {
            iterations,
            size,
            folding,
            read: Buffer::for_reading(size.read, || random.u8(..)),
        })
    }

    fn work<P: Platform>(&self, write: &mut [u8]) {
        let read = self.read.bytes();
        let additions = self.size.additions_per_byte();
        P::read(read);
        // Each byte takes five instructions: a load, a store, and three for the two loops. Each opaque addition takes
        // three: the addition itself, and two for its loop.
        let moved = 5 * read.len().max(write.len()) as u64;
        match self.folding {
            Folding::Folded => {
                copy_bytes(read, write, |byte| byte.wrapping_add(additions as u8));
                P::compute(moved + read.len() as u64);
            }
            Folding::Opaque => {
                copy_bytes(read, write, |byte| opaque_additions(byte, additions));
                P::compute(moved + 3 * additions * read.len() as u64);
            }
        }
        P::write(write);
    }

    /// Computes by a formula the byte that an iteration must write at `at`.
    fn right_byte(&self, at: usize) -> u8 {
        let read = self.read.bytes();
        read[at.min(read.len() - 1)].wrapping_add(self.size.additions_per_byte() as u8)
    }

    fn is_right(&self, written: &[u8]) -> bool {
        (0..written.len()).all(|at| written[at] == self.right_byte(at))
    }
}

/// Runs the document's loops: computes on each byte that is read, and writes the result while there is room. If the
/// task writes more bytes than it reads, the last result fills the rest.
///
/// The function is never inlined, so that every loop and every partitioner run the same instructions.
#[inline(never)]
fn copy_bytes(read: &[u8], write: &mut [u8], compute: impl Fn(u8) -> u8) {
    let mut written = 0;
    let mut integer = 0;
    for &byte in read {
        integer = compute(byte);
        if written < write.len() {
            write[written] = integer;
            written += 1;
        }
    }
    write[written..].fill(integer);
}

impl Load for UnitTask {
    fn iterations(&self) -> usize {
        self.iterations
    }

    #[inline]
    fn run<P: Platform>(&self, _index: usize) {
        with_write_buffer(self.size.write, |write| self.work::<P>(write));
    }

    fn run_and_check<P: Platform>(&self, _index: usize) -> bool {
        with_write_buffer(self.size.write, |write| {
            // First every byte is made wrong, so the check fails if the task leaves out a byte.
            for (at, byte) in write.iter_mut().enumerate() {
                *byte = !self.right_byte(at);
            }
            self.work::<P>(write);
            self.is_right(write)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit;
    use manycore_platform::Native;

    /// The document's task, literally, with its inner loop.
    fn document(read_at: &[u8], unit_write: usize, unit_computation: u64) -> Vec<u8> {
        let mut write_at = Vec::new();
        let mut integer = 0u8;
        for &byte in read_at {
            integer = byte;
            for _ in 0..unit_computation / read_at.len() as u64 {
                integer = integer.wrapping_add(1);
            }
            if write_at.len() < unit_write {
                write_at.push(integer);
            }
        }
        write_at.resize(unit_write, integer);
        write_at
    }

    #[test]
    fn folded_and_opaque_write_what_the_document_writes() {
        for (read, write, comp) in [(1, 1, 0), (64, 1, 6400), (64, 200, 999), (200, 64, 70_000)] {
            for folding in [Folding::Folded, Folding::Opaque] {
                let size = TaskSize { read, write, comp };
                let task = UnitTask::new(3, size, folding, 9).unwrap();
                let mut bytes = vec![0; write];
                task.work::<Native>(&mut bytes);
                assert_eq!(bytes, document(task.read.bytes(), write, comp), "{size:?}");
                audit::<Native, _>(&task, |n, body| (0..n).for_each(body)).unwrap();
            }
        }
    }

    #[test]
    fn two_to_the_sixty_folded_additions_take_no_time() {
        let size = TaskSize {
            read: 1024,
            write: 1024,
            comp: 1 << 60,
        };
        let task = UnitTask::new(1024, size, Folding::Folded, 9).unwrap();
        task.sequential::<Native>();
    }

    #[test]
    fn the_check_sees_one_wrong_byte() {
        let size = TaskSize {
            read: 64,
            write: 100,
            comp: 64,
        };
        let task = UnitTask::new(1, size, Folding::Opaque, 9).unwrap();
        let mut bytes = vec![0; size.write];
        task.work::<Native>(&mut bytes);
        assert!(task.is_right(&bytes));
        for at in [0, 63, 64, 99] {
            bytes[at] ^= 1;
            assert!(!task.is_right(&bytes), "byte {at}");
            bytes[at] ^= 1;
        }
    }

    #[test]
    fn the_seed_decides_the_bytes() {
        let size = TaskSize {
            read: 64,
            write: 0,
            comp: 0,
        };
        let bytes = |seed| {
            let task = UnitTask::new(1, size, Folding::Folded, seed).unwrap();
            task.read.bytes().to_vec()
        };
        assert_eq!(bytes(1), bytes(1));
        assert_ne!(bytes(1), bytes(2));
    }
}
