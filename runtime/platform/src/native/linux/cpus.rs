//! Sets of CPUs in the kernel's format.

use std::ffi::c_ulong;
use std::io;

/// The number of CPUs that a set can hold: as many as Linux supports. The kernel reports no mask to a set that is
/// smaller than the machine's own sets.
pub(super) const MOST: usize = 8192;

const BITS: usize = c_ulong::BITS as usize;

/// The kernel's name for the calling thread.
pub(super) const THIS: libc::pid_t = 0;

/// A set of CPUs with numbers below [`MOST`].
#[derive(Clone, Copy, PartialEq)]
pub(super) struct CpuSet([c_ulong; MOST / BITS]);

impl CpuSet {
    pub(super) fn new() -> Self {
        Self([0; MOST / BITS])
    }

    pub(super) fn all() -> Self {
        Self([c_ulong::MAX; MOST / BITS])
    }

    /// The CPUs that this thread may run on.
    pub(super) fn allowed() -> io::Result<Self> {
        Self::allowed_to(THIS)
    }

    pub(super) fn allowed_to(thread: libc::pid_t) -> io::Result<Self> {
        let mut set = Self::new();
        let words = (&raw mut set.0).cast();
        // SAFETY: `size_of_val` bytes are writable there, and each value is valid for a word.
        let got = unsafe { libc::sched_getaffinity(thread, size_of_val(&set.0), words) };
        if got == 0 {
            Ok(set)
        } else {
            Err(io::Error::last_os_error())
        }
    }

    pub(super) fn bind(&self) -> io::Result<()> {
        self.bind_thread(THIS)
    }

    /// Makes a thread run on the set's CPUs only.
    pub(super) fn bind_thread(&self, thread: libc::pid_t) -> io::Result<()> {
        let words = (&raw const self.0).cast();
        // SAFETY: `size_of_val` bytes are readable there.
        let set = unsafe { libc::sched_setaffinity(thread, size_of_val(&self.0), words) };
        if set == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// Panics if `cpu` is not below [`MOST`].
    pub(super) fn insert(&mut self, cpu: usize) {
        assert!(cpu < MOST, "CPU {cpu} is not below {MOST}");
        self.0[cpu / BITS] |= 1 << (cpu % BITS);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = (0..MOST).step_by(BITS).zip(&self.0);
        words
            .filter(|&(_, &word)| word != 0)
            .flat_map(|(first, &word)| {
                (first..first + BITS).filter(move |cpu| word >> (cpu - first) & 1 != 0)
            })
    }
}
