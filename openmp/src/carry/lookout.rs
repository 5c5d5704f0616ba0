//! A thread that quickly finds workers that are blocked in the kernel. Workers are kernel threads that execute the
//! ranks of a team.
//!
//! A rank may wait in the kernel by a call that this library does not replace, for example for a lock of the C library
//! or for a file. Its worker is blocked then, and a core is idle while other ranks could run. The
//! [watchdog](super::watchdog) finds that only after milliseconds.
//!
//! This thread has the policy `SCHED_BATCH`: when it wakes, it preempts no thread. If all cores are busy, it waits for the
//! end of a time slice. If a worker blocks, that worker's core becomes free, and this thread runs there at once. The thread looks at the processor time of each worker that has a rank. If that time does not change
//! from one look to the next, and the system says that the kernel thread sleeps, the worker is blocked. After each look
//! that finds a blocked worker, one waiting rank continues on its own kernel thread, its [home](super::home).
//!
//! `SCHED_IDLE` would cost even less. But a process ends only after its last thread has had a core to end on. Beside
//! four busy processes the end of a process took 41 ms at the median, and up to 2.6 s: the system then gives an
//! idle-class thread 0.3% of a core.
//!
//! Like the watchdog, this thread takes no lock and allocates nothing. It may starve for ever: progress depends on the
//! watchdog alone.

use super::registry::{self, workers};
use super::watchdog;
use crate::system::small_file;
use crate::words::bell::WORKERS;
use std::ffi::CStr;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The time between two looks, while some ranks wait and others run.
const LOOK: Duration = Duration::from_micros(40);
/// After each number of looks that started no rank, the time between looks doubles.
const PATIENCE: u32 = 8;
/// The time between looks doubles at most this number of times, to 10 ms.
const RAREST: u32 = 8;
/// The time between two looks while a team runs and no rank waits.
const RARE: Duration = Duration::from_millis(1);
/// The time between two looks, if no team has run since the last look.
const INACTIVE: Duration = Duration::from_millis(20);
/// The most workers in one look. If there are more, the looks take turns: each worker costs a system call.
const MOST: usize = 64;

/// The last look at a worker: how often the worker had changed ranks, and the processor time of its kernel thread, in
/// ns.
#[derive(Clone, Copy, PartialEq, Default)]
struct Seen {
    switches: u64,
    time: i64,
}

/// The processor time of a kernel thread, in ns.
fn time_of(thread: libc::pid_t) -> Option<i64> {
    // The kernel's number for a clock of the time that the scheduler has given to a thread.
    const OF_THREAD: i32 = 6;
    let clock = !thread << 3 | OF_THREAD;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes the time.
    let known = unsafe { libc::clock_gettime(clock, &raw mut time) } == 0;
    known.then_some(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}

/// Whether the kernel thread sleeps, according to the system. Does not allocate memory.
pub(super) fn sleeps(thread: libc::pid_t) -> bool {
    let mut path = [0_u8; 48];
    let (begin, end) = (b"/proc/self/task/", b"/stat\0");
    path[..begin.len()].copy_from_slice(begin);
    let mut at = begin.len();
    let mut divisor = 1_000_000_000;
    while divisor > 0 {
        let digit = thread / divisor % 10;
        if thread / divisor > 0 {
            path[at] = b'0' + digit as u8;
            at += 1;
        }
        divisor /= 10;
    }
    path[at..at + end.len()].copy_from_slice(end);
    let mut text = [0_u8; 128];
    let Ok(path) = CStr::from_bytes_until_nul(&path) else {
        return false;
    };
    matches!(state(small_file::read(path, &mut text)), Some(b'S' | b'D'))
}

/// The letter of the thread's state. It follows the thread's name, which is in brackets and may itself have brackets.
fn state(stat: &[u8]) -> Option<u8> {
    let at = stat.iter().rposition(|&byte| byte == b')')?;
    stat.get(at + 2).copied()
}

/// Makes the calling thread wake in time, but take no core from another thread when it wakes. Returns whether that
/// succeeded.
fn be_modest() -> bool {
    // SAFETY: the system defines the structures. Both calls concern the calling thread alone.
    unsafe {
        let parameters: libc::sched_param = std::mem::zeroed();
        libc::prctl(libc::PR_SET_TIMERSLACK, 1_usize);
        libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameters) == 0
    }
}

/// The main function of the thread, and the table that it needs. On the thread's own stack the table might not fit: the
/// C library puts the program's thread-locals there too.
pub(super) fn begin() -> impl FnOnce() + Send + 'static {
    let mut seen = vec![Seen::default(); registry::MOST];
    move || look(&mut seen)
}

fn look(seen: &mut [Seen]) {
    // A usual thread would take cores from workers.
    if !be_modest() {
        return;
    }
    let (mut first, mut misses, mut meetings) = (0, 0_u32, 0);
    let mut regions = registry::Seen::default();
    loop {
        registry::rest(&mut regions);
        let now = registry::division().map_or(0, |it| it.meetings());
        let is_active = registry::is_in_region() || now != meetings;
        meetings = now;
        let is_contended = watchdog::is_contended();
        let pause = if !is_active {
            INACTIVE
        } else if is_contended {
            LOOK * (1 << (misses / PATIENCE).min(RAREST))
        } else {
            RARE
        };
        std::thread::sleep(pause);
        if !is_contended {
            misses = 0;
            continue;
        }
        let mut looked = workers().zip(&mut *seen).skip(first).take(MOST);
        let blocked = looked.any(|(worker, seen)| {
            let thread = worker.alarm.thread();
            let has_rank = !worker.current.load(Relaxed).is_null();
            if !has_rank || thread == 0 {
                return false;
            }
            let Some(time) = time_of(thread) else {
                return false;
            };
            let switches = worker.switches.load(Relaxed);
            let now = Seen { switches, time };
            let stands = std::mem::replace(seen, now) == now;
            stands && sleeps(thread)
        });
        first += MOST;
        if first >= workers().count() {
            first = 0;
        }
        misses = misses.saturating_add(1);
        if !blocked {
            continue;
        }
        if let Some((_, home)) = watchdog::take() {
            misses = 0;
            registry::division().inspect(|it| it.found_trouble());
            home.call();
        }
        // While this look owned a rank, a worker may have missed that rank.
        WORKERS.ring();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_found_behind_any_name() {
        assert_eq!(state(b"12 (a) R) b) S 1 2"), Some(b'S'));
        assert_eq!(state(b"12 (a) R 1"), Some(b'R'));
        assert_eq!(state(b"12 (a)"), None);
        assert_eq!(state(b""), None);
    }

    #[test]
    #[cfg(not(miri))]
    fn sleeping_threads_differ_from_running_threads() {
        // SAFETY: calls without arguments.
        let (this, process) = unsafe { (libc::gettid(), libc::getpid()) };
        assert!(!sleeps(this) && !sleeps(process + (1 << 24)));
        let before = time_of(this);
        (0..100_000).for_each(|at| _ = std::hint::black_box(at));
        assert!(time_of(this) > before && before.is_some());
        let (sender, receiver) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            // SAFETY: a call without arguments.
            sender
                .send(unsafe { libc::gettid() })
                .expect("it is received");
            _ = ended.recv();
        });
        let number = receiver.recv().expect("it is sent");
        while !sleeps(number) {
            std::thread::yield_now();
        }
        drop(end);
        other.join().expect("it ends");
    }
}
