//! Whether the system allows the threads that a carried team needs.
//!
//! A carried team (workers execute its threads) needs more threads than another team: the workers, and the threads that
//! observe the workers. It also needs more memory: each kernel thread that sleeps has a second stack. If a limit leaves
//! no room for these, teams are not carried. To find out, before the first team is carried, the process starts as many
//! threads as it will need, with stacks of at least the size that they will need, and ends them. A later test would be
//! too late: the kernel thread of a carried thread lives until the process ends.

use super::home;
use crate::environment::{settings, stack_size};
use crate::system::limits::{USUAL, has_room, is_memory_limited, limit};
use crate::system::masks::with_signals_blocked;
use crate::system::report::line;
use crate::system::threads::try_spawn;
use manycore_platform::Futex;
use std::fs;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Mutex, PoisonError};

/// The threads of the cores' watch, `watchdog`, `lookout` and `granularity`, the leader's home, and the thread with
/// worker 0's stack.
const BESIDE: usize = 6;
/// If a limit leaves more room than this, there is no need to try.
const AMPLE: u64 = 4096;
/// The size of the guards and the signal frames on the second stack of a rank.
const FRAMES: usize = 128 << 10;

/// The results of earlier calls.
struct Known {
    /// The threads of the largest team with room so far, or 0. This includes the threads beside the team. All of these
    /// threads exist.
    most: usize,
    /// The least number of threads without room.
    least: usize,
}

static KNOWN: Mutex<Known> = Mutex::new(Known {
    most: 0,
    least: usize::MAX,
});

/// Whether there is room for a team that needs `threads` threads and [`BESIDE`] more. The caller has claimed the team,
/// so that these threads will exist if there is room. A call for more threads than in all earlier calls starts them to
/// find out, if a limit is near.
pub(super) fn is_there(threads: usize) -> bool {
    let can = |more| !is_limited() || with_signals_blocked(|| can_begin(more));
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.has_room(threads + BESIDE, can)
}

impl Known {
    /// Whether there is room for `threads` threads. `can` tries to start a number of threads. The threads of the
    /// largest team so far still exist, so only the threads that a larger team has in addition are tried.
    fn has_room(&mut self, threads: usize, can: impl FnOnce(usize) -> bool) -> bool {
        if threads <= self.most || threads >= self.least {
            return threads <= self.most;
        }
        let more = threads - self.most;
        let has_room = can(more);
        if has_room {
            self.most = threads;
        } else {
            self.least = threads;
            if settings().displays {
                line(format_args!(
                    "no room for {more} threads more: threads are not carried"
                ));
            }
        }
        has_room
    }
}

/// Whether a limit may leave room for few threads.
fn is_limited() -> bool {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let free = |most: String| {
        let now = number(&most.replace("pids.max", "pids.current")).unwrap_or(0);
        Some(number(&most)?.saturating_sub(now))
    };
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let of_system = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    // The kernel counts all memory that a process has reserved if this number is 2.
    let is_strict = number("/proc/sys/vm/overcommit_memory") == Some(2);
    is_strict
        || is_memory_limited()
        || limit(libc::RLIMIT_NPROC)
            .is_some_and(|most| most.saturating_sub(threads_of(&of_system)) < AMPLE)
        || limits(&groups)
            .into_iter()
            .filter_map(free)
            .any(|free| free < AMPLE)
}

/// The number of threads of all users, from the text of `/proc/loadavg`. The user has no more threads.
fn threads_of(loads: &str) -> u64 {
    let number = |loads: &str| loads.split_once('/')?.1.split(' ').next()?.parse().ok();
    number(loads).unwrap_or(0)
}

/// The files with limits on threads of the process's control groups and of the groups around these, for both versions
/// of control groups. `groups` is the text of `/proc/self/cgroup`. In a container a file may be missing, or a path may
/// begin outside of what the container sees. So the outermost directory always counts.
fn limits(groups: &str) -> Vec<String> {
    let mut files = vec![];
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let point = match controllers {
            "" => "/sys/fs/cgroup",
            _ if controllers.split(',').any(|name| name == "pids") => "/sys/fs/cgroup/pids",
            _ => continue,
        };
        let mut path = path.trim_end_matches('/');
        loop {
            files.push(format!("{point}{path}/pids.max"));
            let Some((outer, _)) = path.rsplit_once('/') else {
                break;
            };
            path = outer;
        }
    }
    files
}

/// Whether the system allows `threads` more threads at once. All of them have ended their functions when this returns,
/// except for a wake-up that has no effect. The caller has the lock of [`KNOWN`].
fn can_begin(threads: usize) -> bool {
    static MAY_END: AtomicU32 = AtomicU32::new(0);
    static ENDED: AtomicU32 = AtomicU32::new(0);
    // Relaxed: the lock orders these stores after the last call, and starting a thread publishes them.
    MAY_END.store(0, Relaxed);
    ENDED.store(0, Relaxed);
    let body = || {
        while MAY_END.load(Acquire) == 0 {
            Futex::wait(&MAY_END, 0, None);
        }
        ENDED.fetch_add(1, Release);
        Futex::wake(&ENDED, 1);
    };
    let stack = Some(stack_size().unwrap_or(USUAL) + home::STACK + FRAMES);
    let begun = (0..threads)
        .take_while(|_| has_room(stack) && try_spawn("manycore-omp-t", stack, body).is_ok())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_of_all_groups_around_a_process() {
        assert_eq!(
            limits("0::/system.slice/solver.service\n"),
            [
                "/sys/fs/cgroup/system.slice/solver.service/pids.max",
                "/sys/fs/cgroup/system.slice/pids.max",
                "/sys/fs/cgroup/pids.max",
            ]
        );
        assert_eq!(
            limits("9:cpu,pids:/slurm/uid_1\n8:memory:/other\n0::/\nnonsense"),
            [
                "/sys/fs/cgroup/pids/slurm/uid_1/pids.max",
                "/sys/fs/cgroup/pids/slurm/pids.max",
                "/sys/fs/cgroup/pids/pids.max",
                "/sys/fs/cgroup/pids.max",
            ]
        );
    }

    #[test]
    fn the_threads_of_all_users() {
        assert_eq!(threads_of("0.20 0.18 0.12 1/2080 11206\n"), 2080);
        assert_eq!(threads_of(""), 0);
    }

    #[test]
    fn larger_teams_are_tried_again() {
        let mut known = Known {
            most: 0,
            least: usize::MAX,
        };
        let never = |_| panic!("the answer is known");
        assert!(known.has_room(13, |more| more == 13));
        assert!(known.has_room(13, never) && known.has_room(5, never));
        assert!(known.has_room(20, |more| more == 7));
        assert!(!known.has_room(48, |more| more != 28));
        assert!(!known.has_room(50, never) && known.has_room(20, never));
        assert!(known.has_room(30, |more| more == 10));
    }

    #[test]
    fn threads_are_tried_repeatedly() {
        let _known = KNOWN.lock();
        assert!((1..5).all(can_begin));
    }
}
