//! Sets of CPUs that kernel threads may use. The system calls bypass the functions that this library redefines.

use super::next;
use std::ffi::c_ulong;

/// A set of CPUs, in the kernel's format.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Cpus([c_ulong; MOST / BITS]);

/// Linux supports at most this number of CPUs. The kernel refuses to report a mask to a smaller set than it needs for
/// all CPUs that the machine may have.
const MOST: usize = 8192;
const BITS: usize = c_ulong::BITS as usize;
const SIZE: usize = size_of::<Cpus>();

impl Cpus {
    const NONE: Self = Self([0; MOST / BITS]);
    pub(super) const ALL: Self = Self([c_ulong::MAX; MOST / BITS]);

    /// A set of these numbers. Numbers that are too large for the kernel are left out.
    pub(crate) fn of(numbers: &[usize]) -> Self {
        let mut set = Self::NONE;
        for &cpu in numbers.iter().filter(|&&cpu| cpu < MOST) {
            set.0[cpu / BITS] |= 1 << (cpu % BITS);
        }
        set
    }

    /// The CPUs of the caller. If this library replaces the C library's function, a rank gets its own set, and not its
    /// worker's set.
    pub(crate) fn of_caller() -> Self {
        let mut set = Self::NONE;
        // SAFETY: the call writes at most `SIZE` bytes. A set has no invalid values.
        unsafe { libc::sched_getaffinity(0, SIZE, (&raw mut set.0).cast()) };
        set
    }

    /// The CPUs of the kernel thread with this number. 0 is the calling thread.
    pub(crate) fn of_thread(thread: libc::pid_t) -> Option<Self> {
        let mut set = Self::NONE;
        let arguments = [thread as usize, SIZE, &raw mut set.0 as usize, 0, 0, 0];
        // SAFETY: the kernel writes at most `SIZE` bytes. A set has no invalid values.
        let got = unsafe { next::syscall(libc::SYS_sched_getaffinity, arguments) };
        (got > 0).then_some(set)
    }

    /// Binds the kernel thread with this number to these CPUs. 0 is the calling thread. Returns whether the kernel has
    /// agreed. The kernel refuses if none of the CPUs is online and in the cpuset of the process.
    pub(crate) fn put_on(&self, thread: libc::pid_t) -> bool {
        let arguments = [thread as usize, SIZE, &raw const self.0 as usize, 0, 0, 0];
        // SAFETY: the kernel only reads the set.
        unsafe { next::syscall(libc::SYS_sched_setaffinity, arguments) == 0 }
    }

    /// Takes a CPU out of the set.
    pub(crate) fn remove(&mut self, cpu: usize) {
        if let Some(word) = self.0.get_mut(cpu / BITS) {
            *word &= !(1 << (cpu % BITS));
        }
    }

    /// The number of CPUs.
    pub(crate) fn count(&self) -> usize {
        let words = self.0.iter();
        words.map(|word| word.count_ones() as usize).sum()
    }

    /// The numbers of the CPUs.
    pub(crate) fn numbers(&self) -> Vec<usize> {
        let words = (0..MOST).step_by(BITS).zip(self.0);
        words
            .filter(|&(_, word)| word != 0)
            .flat_map(|(first, word)| {
                (first..first + BITS).filter(move |cpu| word >> (cpu - first) & 1 != 0)
            })
            .collect()
    }
}

/// Runs `body` on these CPUs. The threads that `body` starts inherit the CPUs. `None` stands for the CPUs of the
/// calling thread.
pub(crate) fn with_cpus<R>(cpus: Option<Cpus>, body: impl FnOnce() -> R) -> R {
    let before = cpus.and_then(|cpus| {
        let before = Cpus::of_thread(0)?;
        cpus.put_on(0).then_some(before)
    });
    let result = body();
    if let Some(before) = before {
        before.put_on(0);
    }
    result
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_started_has_the_cpus() {
        let all = Cpus::of_thread(0).expect("a thread has CPUs").numbers();
        let one = Cpus::of(&all[..1]);
        let of_new = with_cpus(Some(one), || {
            let thread = std::thread::spawn(|| Cpus::of_thread(0).map(|cpus| cpus.numbers()));
            thread.join().expect("it does not panic")
        });
        assert_eq!(of_new.as_deref(), Some(&all[..1]));
        assert_eq!(Cpus::of_thread(0).map(|cpus| cpus.numbers()), Some(all));
    }

    #[test]
    fn machines_of_all_sizes() {
        let numbers = [0, 63, 64, 1_023, 1_024, MOST - 1];
        let set = Cpus::of(&numbers);
        assert_eq!((set.numbers(), set.count()), (numbers.to_vec(), 6));
        assert_eq!(Cpus::of(&[MOST, usize::MAX]).numbers(), []);
        let mut fewer = set;
        fewer.remove(64);
        fewer.remove(MOST);
        assert_eq!(fewer.numbers(), [0, 63, 1_023, 1_024, MOST - 1]);
        assert_eq!(
            Cpus::of_caller().numbers(),
            Cpus::of_thread(0).expect("a thread has CPUs").numbers()
        );
    }

    #[test]
    fn no_cpu_is_refused() {
        assert!(!Cpus::of(&[]).put_on(0));
    }
}
