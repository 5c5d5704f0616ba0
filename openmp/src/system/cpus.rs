//! Sets of CPUs that kernel threads may use. The system calls bypass the functions that this library redefines.

use super::next;

/// A set of CPUs, in the kernel's format.
#[derive(Clone, Copy)]
pub(crate) struct Cpus(libc::cpu_set_t);

impl Cpus {
    /// A set of these numbers. Numbers that are too large for the kernel's format are left out.
    pub(crate) fn of(numbers: &[usize]) -> Self {
        // SAFETY: a zeroed set is an empty set. The numbers are within its size.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            for &cpu in numbers.iter().filter(|&&cpu| cpu < MOST) {
                libc::CPU_SET(cpu, &mut set);
            }
            Self(set)
        }
    }

    /// The CPUs of the kernel thread with this number. 0 is the calling thread.
    pub(crate) fn of_thread(thread: libc::pid_t) -> Option<Self> {
        // SAFETY: a zeroed set is an empty set, which the kernel fills.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            let arguments = [thread as usize, SIZE, &raw mut set as usize, 0, 0, 0];
            (next::syscall(libc::SYS_sched_getaffinity, arguments) > 0).then_some(Self(set))
        }
    }

    /// Binds the kernel thread with this number to these CPUs. 0 is the calling thread. Returns whether the kernel has
    /// agreed. The kernel refuses if none of the CPUs is online and in the cpuset of the process.
    pub(crate) fn put_on(&self, thread: libc::pid_t) -> bool {
        let arguments = [thread as usize, SIZE, &raw const self.0 as usize, 0, 0, 0];
        // SAFETY: the kernel only reads the set.
        unsafe { next::syscall(libc::SYS_sched_setaffinity, arguments) == 0 }
    }

    /// The numbers of the CPUs.
    #[cfg(all(test, not(miri)))]
    fn numbers(&self) -> Vec<usize> {
        // SAFETY: the macro reads the set within its size.
        let has = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &self.0) };
        (0..MOST).filter(has).collect()
    }
}

const MOST: usize = libc::CPU_SETSIZE as usize;
const SIZE: usize = size_of::<libc::cpu_set_t>();

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
    fn no_cpu_is_refused() {
        assert!(!Cpus::of(&[]).put_on(0));
    }
}
