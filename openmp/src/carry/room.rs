//! Whether the system allows the threads that a carried team needs.
//!
//! A carried team (workers execute its threads) needs more threads than another team: the workers, and the threads that
//! observe the workers. If a limit leaves no room for these, teams are not carried. To find out, before the first team
//! is carried, the process starts as many threads as it will need, and ends them. A later test would be too late: the
//! kernel thread of a carried thread lives until the process ends.

use crate::environment::settings;
use crate::system::masks::with_signals_blocked;
use crate::system::report::line;
use crate::system::threads::try_spawn;
use manycore_platform::Futex;
use std::fs;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};

/// The threads of the cores' watch, `watchdog`, `lookout` and `granularity`, the leader's home, and the thread with
/// worker 0's stack.
const BESIDE: usize = 6;
/// A larger limit counts as no limit.
const AMPLE: u64 = 4096;
/// The stack size of the threads that are started to find out.
const STACK: usize = 64 << 10;

/// The files with the control group's limit on threads, for both versions of control groups.
const LIMITS: [&str; 2] = ["/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"];

/// Whether there is room for `threads` threads and [`BESIDE`] more. The first call starts these threads to find out.
/// Later calls return the same answer.
pub(super) fn is_there(threads: usize) -> bool {
    static ROOM: OnceLock<bool> = OnceLock::new();
    *ROOM.get_or_init(|| {
        let has_room = !is_limited() || with_signals_blocked(|| can_begin(threads + BESIDE));
        if !has_room && settings().displays {
            line(format_args!(
                "no room for {} threads more: threads are not carried",
                threads + BESIDE
            ));
        }
        has_room
    })
}

/// Whether a limit is small enough to matter.
fn is_limited() -> bool {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the call writes the limit.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_NPROC, &raw mut limit) } == 0;
    let of_group = |path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    (known && limit.rlim_cur < AMPLE)
        || LIMITS
            .into_iter()
            .filter_map(of_group)
            .any(|most| most < AMPLE)
}

/// Whether the system allows `threads` more threads at once. All of them have ended their functions when this returns.
fn can_begin(threads: usize) -> bool {
    static MAY_END: AtomicU32 = AtomicU32::new(0);
    static ENDED: AtomicU32 = AtomicU32::new(0);
    let body = || {
        while MAY_END.load(Acquire) == 0 {
            Futex::wait(&MAY_END, 0, None);
        }
        ENDED.fetch_add(1, Release);
        Futex::wake(&ENDED, 1);
    };
    let begun = (0..threads)
        .take_while(|_| try_spawn("manycore-omp-t", Some(STACK), body).is_ok())
        .count();
    MAY_END.store(1, Release);
    Futex::wake(&MAY_END, u32::MAX);
    loop {
        let ended = ENDED.load(Acquire);
        if ended as usize == begun {
            return begun == threads;
        }
        Futex::wait(&ENDED, ended, None);
    }
}
