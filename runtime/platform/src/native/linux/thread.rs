//! The placement of threads, and the precision of their timers.

use super::cpus::{CpuSet, MOST, THIS};
use std::io;

pub(in crate::native) fn bind(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= MOST {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        set.insert(cpu);
    }
    set.bind()
}

/// Makes the timers of this thread precise. Linux lets a timer expire up to 50 us late to batch wake-ups. That is too
/// late for a worker that sleeps until just before the next loop.
pub(in crate::native) fn sharpen_timer() {
    // Miri has no such call. If a system refuses the call, timers stay imprecise.
    if cfg!(not(miri)) {
        // SAFETY: the call takes a number of nanoseconds, and no memory.
        let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
    }
}

pub(in crate::native) fn core() -> usize {
    // Miri has no `sched_getcpu`.
    if cfg!(miri) {
        0
    } else {
        // SAFETY: the call has no arguments.
        let cpu = unsafe { libc::sched_getcpu() };
        usize::try_from(cpu).unwrap_or(0)
    }
}

pub(in crate::native) fn preemptions() -> u64 {
    // Miri has no `getrusage`.
    if cfg!(miri) {
        return 0;
    }
    // SAFETY: the structure has only numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the call fills in the structure, and cannot fail, since the calling thread exists.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    usage.ru_nivcsw as u64
}

pub(in crate::native) fn thread_number() -> u64 {
    if cfg!(miri) {
        return 0;
    }
    // `gettid` is not in the C libraries before 2.30.
    // SAFETY: the call has no arguments.
    u64::try_from(unsafe { libc::syscall(libc::SYS_gettid) }).unwrap_or(0)
}

/// Reads the thread's state from `/proc`. `S` and `D` mean that the thread sleeps.
pub(in crate::native) fn is_blocked(thread: u64) -> bool {
    if thread == 0 || cfg!(miri) {
        return false;
    }
    let stat = std::fs::read(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
    // The name is in brackets and may have any characters.
    let end_of_name = stat.iter().rposition(|&byte| byte == b')');
    let state = end_of_name.and_then(|end| stat.get(end + 2));
    matches!(state, Some(b'S' | b'D'))
}

/// Forbids the core and allows it again. When the core is forbidden, the kernel moves the thread. When it is allowed
/// again, the kernel leaves the thread where it is.
pub(in crate::native) fn leave_core(core: usize) {
    if !cfg!(miri) && self::core() == core {
        if let Some(moved) = forbid(THIS, &|cpu| cpu == core) {
            moved.allow();
        }
    }
}

pub(in crate::native) fn begin_on(cpus: &[usize]) {
    if cfg!(miri) {
        return;
    }
    let Ok(before) = CpuSet::allowed() else {
        return;
    };
    let mut here = CpuSet::new();
    (before.iter().filter(|cpu| cpus.contains(cpu))).for_each(|cpu| here.insert(cpu));
    // The kernel refuses an empty set.
    if here.bind().is_ok() {
        let thread = THIS;
        Moved {
            thread,
            before,
            here,
        }
        .allow();
    }
}

pub(in crate::native) fn wake_elsewhere(
    thread: u64,
    is_taken: &dyn Fn(usize) -> bool,
    wake: &mut dyn FnMut(),
) {
    let thread = libc::pid_t::try_from(thread)
        .ok()
        .filter(|&thread| thread > 0 && !cfg!(miri));
    let moved = thread.and_then(|thread| forbid(thread, is_taken));
    wake();
    if let Some(moved) = moved {
        moved.allow();
    }
}

/// A thread that may run only on some of its CPUs for a moment.
struct Moved {
    thread: libc::pid_t,
    before: CpuSet,
    here: CpuSet,
}

/// Makes a thread run only on CPUs that are not taken, if it may run on any of these.
fn forbid(thread: libc::pid_t, is_taken: &dyn Fn(usize) -> bool) -> Option<Moved> {
    let before = CpuSet::allowed_to(thread).ok()?;
    let mut here = CpuSet::new();
    let free = before.iter().filter(|&cpu| !is_taken(cpu));
    free.for_each(|cpu| here.insert(cpu));
    let moves = here != before && here.iter().next().is_some();
    let moved = Moved {
        thread,
        before,
        here,
    };
    (moves && moved.here.bind_thread(thread).is_ok()).then_some(moved)
}

impl Moved {
    /// Makes the thread run on the CPUs of `before` again, unless its mask has changed meanwhile: another process may
    /// have set the mask (`taskset`). The kernel has no call that compares and sets, so a mask that is set during this
    /// call may be lost.
    fn allow(self) {
        let Self {
            thread,
            before,
            here,
        } = self;
        if CpuSet::allowed_to(thread).is_ok_and(|now| now != here) {
            return;
        }
        // The kernel keeps a mask that was set, even if the thread's control group gets CPUs later. If only the group
        // limits the thread, a mask of all CPUs is as good.
        let unlimited = CpuSet::all().bind_thread(thread);
        if unlimited.is_err() || CpuSet::allowed_to(thread).is_ok_and(|now| now != before) {
            // This fails only if a cpuset has been narrowed meanwhile. In that case the mask that is set now allows no
            // more CPUs than the cpuset.
            let _ = before.bind_thread(thread);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg_attr(miri, ignore = "Miri has no cores")]
    fn a_thread_begins_on_a_core_and_may_leave_it() {
        let before = super::CpuSet::allowed().unwrap();
        for cpu in before.iter() {
            super::begin_on(&[cpu]);
            assert!(super::CpuSet::allowed().unwrap() == before);
        }
        // There are no such CPUs, so nothing happens.
        super::begin_on(&[]);
        super::begin_on(&[super::MOST + 1]);
        assert!(super::CpuSet::allowed().unwrap() == before);
    }

    use super::*;

    #[test]
    fn a_thread_that_is_woken_elsewhere_may_run_everywhere_again() {
        use std::sync::mpsc::channel;
        let before = CpuSet::allowed().expect("the system gives the mask");
        let first = before.iter().next().expect("the thread may run somewhere");
        let ((number, numbers), (go, gone)) = (channel(), channel());
        let other = std::thread::spawn(move || {
            number.send(thread_number()).expect("the test waits");
            gone.recv().expect("the test sends");
            CpuSet::allowed().expect("the system gives the mask")
        });
        let thread = numbers.recv().expect("the thread sends");
        let mut within = before;
        wake_elsewhere(thread, &|cpu| cpu == first, &mut || {
            within = CpuSet::allowed_to(thread as libc::pid_t).unwrap_or(before);
        });
        // All CPUs are taken, so the thread may run anywhere.
        wake_elsewhere(thread, &|_| true, &mut || {
            go.send(()).expect("the thread waits")
        });
        let forbidden = before
            .iter()
            .filter(|&cpu| within.iter().all(|other| other != cpu));
        let is_only = before.iter().count() == 1;
        let expected = Some(first).filter(|_| !is_only && !cfg!(miri));
        assert!(forbidden.eq(expected));
        assert!(other.join().expect("the thread ends") == before);
        // No such thread exists, so the call only wakes.
        let mut calls = 0;
        for thread in [0, 1 << 40] {
            wake_elsewhere(thread, &|_| true, &mut || calls += 1);
        }
        assert_eq!(calls, 2);
    }

    #[test]
    fn a_mask_that_is_set_meanwhile_stays() {
        let other = std::thread::spawn(|| {
            let all = CpuSet::allowed().expect("the system gives the mask");
            let first = all.iter().next().expect("the thread may run somewhere");
            if all.iter().count() == 1 {
                return;
            }
            let mut only = CpuSet::new();
            only.insert(first);
            wake_elsewhere(thread_number(), &|cpu| cpu == first, &mut || {
                only.bind().expect("the CPU is allowed");
            });
            assert!(CpuSet::allowed().is_ok_and(|now| now == only));
        });
        other.join().expect("the mask is as it was set");
    }

    #[test]
    fn a_mask_that_was_narrowed_stays_narrow() {
        let narrow = std::thread::spawn(|| {
            let all = CpuSet::allowed().expect("the system gives the mask");
            let mut some = CpuSet::new();
            all.iter().skip(1).for_each(|cpu| some.insert(cpu));
            if some.iter().next().is_none() || some.bind().is_err() {
                return;
            }
            wake_elsewhere(thread_number(), &|cpu| cpu == core(), &mut || ());
            leave_core(core());
            assert!(CpuSet::allowed().is_ok_and(|now| now == some));
        });
        narrow.join().expect("the mask is as it was");
    }
}
