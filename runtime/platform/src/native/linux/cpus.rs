//! Sets of CPUs in the kernel's format.

use std::io;
use std::mem::MaybeUninit;

/// The number of CPUs that a set can hold.
pub(super) const MOST: usize = libc::CPU_SETSIZE as usize;

/// The kernel's name for the calling thread.
pub(super) const THIS: libc::pid_t = 0;

/// A set of CPUs with numbers below [`MOST`].
#[derive(Clone, Copy)]
pub(super) struct CpuSet(libc::cpu_set_t);

impl CpuSet {
    pub(super) fn new() -> Self {
        // SAFETY: the type is an array of words, and zero is valid for each word.
        Self(unsafe { MaybeUninit::zeroed().assume_init() })
    }

    pub(super) fn all() -> Self {
        let mut set = Self::new();
        (0..MOST).for_each(|cpu| set.insert(cpu));
        set
    }

    /// The CPUs that this thread may run on.
    pub(super) fn allowed() -> io::Result<Self> {
        Self::allowed_to(THIS)
    }

    pub(super) fn allowed_to(thread: libc::pid_t) -> io::Result<Self> {
        let mut set = Self::new();
        // SAFETY: `size_of_val` bytes are writable there.
        let got = unsafe { libc::sched_getaffinity(thread, size_of_val(&set.0), &raw mut set.0) };
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
        // SAFETY: `size_of_val` bytes are readable there.
        let set =
            unsafe { libc::sched_setaffinity(thread, size_of_val(&self.0), &raw const self.0) };
        if set == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// Panics if `cpu` is not below [`MOST`].
    pub(super) fn insert(&mut self, cpu: usize) {
        assert!(cpu < MOST, "CPU {cpu} is not below {MOST}");
        // SAFETY: `cpu` is within the set.
        unsafe { libc::CPU_SET(cpu, &mut self.0) };
    }

    pub(super) fn equals(&self, other: &Self) -> bool {
        // SAFETY: both are sets.
        unsafe { libc::CPU_EQUAL(&self.0, &other.0) }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        // SAFETY: `cpu` is within the set.
        (0..MOST).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &self.0) })
    }
}
