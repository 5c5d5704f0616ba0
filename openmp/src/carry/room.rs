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
use std::iter::repeat_n;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The threads of the cores' watch, `watchdog`, `lookout` and `granularity`, the leader's home, and the thread with
/// worker 0's stack.
const BESIDE: usize = 6;
/// If a limit leaves more room than this, there is no need to try.
const AMPLE: u64 = 4096;
/// The size of the guards and the signal frames on the second stack of a rank.
const FRAMES: usize = 128 << 10;

/// The results of earlier calls.
struct Known {
    /// The size of the largest team with room so far, and the number of threads beside it. All of these threads exist.
    ranks: usize,
    beside: usize,
    /// The size of the smallest team without room.
    least: usize,
}

static KNOWN: Mutex<Known> = Mutex::new(Known::NOTHING);

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether there is room for a team of `size` with `workers` workers. The caller has claimed the team, so that its
/// threads will exist if there is room. A call for more threads than in all earlier calls starts them to find out, if a
/// limit is near or an earlier team had no room.
pub(super) fn is_there(size: usize, workers: usize) -> bool {
    let mut known = known();
    let has_failed = known.least < usize::MAX;
    let can = |ranks, beside| {
        let is_near = has_failed || is_limited();
        !is_near || with_signals_blocked(|| can_begin(ranks, beside))
    };
    known.has_room(size, workers + BESIDE, can)
}

/// Notes that there was no room for a team of `size`, although [`is_there`] found room. Only `ranks` ranks exist.
pub(super) fn was_missing(size: usize, ranks: usize) {
    known().lacks_room(size, ranks);
}

impl Known {
    const NOTHING: Self = Self {
        ranks: 0,
        beside: 0,
        least: usize::MAX,
    };

    /// Whether there is room for a team of `size` and `beside` threads beside it. `can` tries to start numbers of ranks
    /// and of other threads. The threads of the largest team so far still exist, so only the threads that a larger team
    /// has in addition are tried.
    fn has_room(
        &mut self,
        size: usize,
        beside: usize,
        can: impl FnOnce(usize, usize) -> bool,
    ) -> bool {
        if size >= self.least {
            return false;
        }
        let more = (
            size.saturating_sub(self.ranks),
            beside.saturating_sub(self.beside),
        );
        let has_room = more == (0, 0) || can(more.0, more.1);
        if has_room {
            self.ranks += more.0;
            self.beside += more.1;
        } else {
            self.is_least(size);
        }
        has_room
    }

    /// There was no room for a team of `size`: only `ranks` ranks exist. Whether the threads beside them exist is not
    /// known.
    fn lacks_room(&mut self, size: usize, ranks: usize) {
        (self.ranks, self.beside) = (ranks, 0);
        self.is_least(size);
    }

    fn is_least(&mut self, size: usize) {
        self.least = size;
        if settings().displays {
            line(format_args!(
                "no room for the threads of a team of {size}: it is not carried"
            ));
        }
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
    is_memory_limited()
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

/// Whether the system allows the threads of this number of further ranks, and `beside` other threads, at once. All of
/// them have ended their functions when this returns, except for a wake-up that has no effect. The caller has the lock
/// of [`KNOWN`].
fn can_begin(ranks: usize, beside: usize) -> bool {
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
    let of_rank = (stack_size().unwrap_or(USUAL)).saturating_add(home::STACK + FRAMES);
    let stacks = repeat_n(of_rank, ranks).chain(repeat_n(home::STACK, beside));
    let begun = (stacks.map(Some))
        .take_while(|&stack| has_room(stack) && try_spawn(c"omp-trial", stack, body).is_ok())
        .count();
    MAY_END.store(1, Release);
    Futex::wake(&MAY_END, u32::MAX);
    loop {
        let ended = ENDED.load(Acquire);
        if ended as usize == begun {
            return begun == ranks + beside;
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
        let mut known = Known::NOTHING;
        let never = |_, _| panic!("the answer is known");
        assert!(known.has_room(13, 8, |ranks, beside| (ranks, beside) == (13, 8)));
        assert!(known.has_room(13, 8, never) && known.has_room(5, 7, never));
        assert!(known.has_room(20, 8, |ranks, beside| (ranks, beside) == (7, 0)));
        assert!(!known.has_room(48, 9, |ranks, beside| (ranks, beside) != (28, 1)));
        assert!(!known.has_room(50, 8, never) && known.has_room(20, 8, never));
        assert!(known.has_room(30, 9, |ranks, beside| (ranks, beside) == (10, 1)));
    }

    #[test]
    fn a_team_that_found_no_room_is_not_tried_again() {
        let mut known = Known::NOTHING;
        let never = |_, _| panic!("the answer is known");
        assert!(known.has_room(40, 8, |_, _| true));
        known.lacks_room(40, 12);
        assert!(!known.has_room(40, 8, never));
        assert!(known.has_room(20, 8, |ranks, beside| (ranks, beside) == (8, 8)));
    }

    #[test]
    fn threads_are_tried_repeatedly() {
        let _known = KNOWN.lock();
        assert!((1..5).all(|threads| can_begin(threads, 5 - threads)));
    }
}
