//! The watchdog: a thread that makes ranks continue at their [homes](super::home) (on their own kernel threads) if no
//! worker changes ranks and not all workers compute.
//!
//! The watchdog takes no lock and allocates nothing: a rank that was cut (made to leave its worker) may hold a lock
//! that all others wait for, even a lock of the program's allocator. For the same reason the watchdog starts no thread.

use super::division::STALL;
use super::granularity::Granularity;
use super::home::{self, Home};
use super::lookout;
use super::rank::Rank;
use super::registry::{self, Seen, ranks, workers};
use super::worker::Worker;
use crate::system::clock::has_passed;
use crate::system::masks::with_signals_blocked;
use crate::system::threads::spawn;
use crate::words::bell::WORKERS;
use manycore_platform::{Futex, Native, Platform};
use std::sync::Once;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

/// If a worker has not answered its alarm, it may only wait for a core, so the watchdog waits too. But the worker's rank
/// may block the signal, and then the worker never answers. So after this number of looks the watchdog starts a rank at
/// its home anyway.
const STARVED: u32 = 40;

/// The time between two looks while no rank waits for a worker.
const IDLE: Duration = Duration::from_millis(20);

/// Starts the watchdog and the other helping threads. A thread may allocate as it begins: the loader may make the
/// thread-locals of a library that the program has opened by `dlopen`. So the caller waits until the watchdog and the
/// leader's home have begun. No rank runs yet, so none holds the allocator's lock.
pub(super) fn start(leader: &'static Rank) {
    static ONCE: Once = Once::new();
    static BEGUN: AtomicU32 = AtomicU32::new(0);
    const THREADS: u32 = 2;
    let begins = || {
        // By this release and the acquire below, the caller sees the home when the home's thread has begun.
        BEGUN.fetch_add(1, Release);
        Futex::wake(&BEGUN, 1);
    };
    let begin = || {
        home::lend(leader, begins);
        spawn(c"omp-watchdog", Some(64 << 10), move || {
            begins();
            look();
        });
        spawn(c"omp-granularity", Some(64 << 10), Granularity::count);
        spawn(c"omp-lookout", Some(64 << 10), lookout::begin());
    };
    ONCE.call_once(|| {
        with_signals_blocked(begin);
        loop {
            let begun = BEGUN.load(Acquire);
            if begun == THREADS {
                break;
            }
            Futex::wait(&BEGUN, begun, None);
        }
    });
}

/// Whether some ranks run while others wait.
pub(super) fn is_contended() -> bool {
    let is_any = |waits: bool| ranks().any(|rank| rank.word.is_waiting() == waits);
    registry::is_owned() && is_any(false) && is_any(true)
}

/// The state of a worker, as the watchdog sees it.
#[derive(Clone, Copy, PartialEq)]
enum Sight {
    /// The worker has no rank.
    Idle,
    /// The worker executes a rank whose time is not over.
    Computes,
    /// The rank has had the worker for too long, or the worker has lost its core.
    Late,
}

impl Sight {
    fn of(worker: &Worker) -> Self {
        // SAFETY: ranks live for ever. Values read from the rank may be outdated.
        let rank = unsafe { worker.current.load(Relaxed).as_ref() };
        let (Some(rank), Some(division)) = (rank, registry::division()) else {
            return Self::Idle;
        };
        let since = rank.since.load(Relaxed);
        if worker.is_revoked() || has_passed(division.stall(), since, Native::now()) {
            Self::Late
        } else {
            Self::Computes
        }
    }
}

/// Rings the alarm of each worker that is late, so that its rank leaves.
fn ring() {
    for worker in workers().filter(|it| Sight::of(it) == Sight::Late) {
        worker.alarm.ring(worker.address());
    }
}

/// Whether each worker that has a core executes a rank whose time is not over. Then no waiting rank goes home: it would
/// only take turns with the ranks that run.
fn all_compute() -> bool {
    workers().all(|worker| match Sight::of(worker) {
        Sight::Idle => worker.is_revoked(),
        Sight::Computes => !lookout::sleeps(worker.alarm.thread()),
        Sight::Late => false,
    })
}

/// Takes this rank for its home, if the rank can continue and `wants` it. Returns the home.
fn take_for_home(rank: &Rank, wants: impl Fn() -> bool) -> Option<&'static Home> {
    let home = rank.home()?;
    let may = || !rank.pinned.load(Relaxed);
    let goes_on = || wants() && rank.goes_on();
    rank.word.take(&WORKERS, may, goes_on).then_some(home)
}

/// Takes a rank that can continue. Returns the rank and its home. Prefers a cut rank, since it may hold the lock that
/// the others wait for.
pub(super) fn take() -> Option<(&'static Rank, &'static Home)> {
    let take = |only_cut: bool| {
        ranks().find_map(|rank| {
            let home = take_for_home(rank, || rank.was_preempted.get() || !only_cut)?;
            Some((rank, home))
        })
    };
    take(true).or_else(|| take(false))
}

/// Makes all ranks that can continue do so at their homes.
pub(super) fn send_home() {
    for rank in ranks().filter(|rank| rank.word.is_waiting()) {
        take_for_home(rank, || true).inspect(|home| home.call());
    }
    // While this look owned a rank that could not continue, a worker may have missed that rank.
    WORKERS.ring();
}

/// The main function of the watchdog.
fn look() -> ! {
    let changes = || {
        workers()
            .map(|worker| worker.switches.load(Relaxed))
            .sum::<u64>()
    };
    let mut last = changes();
    let mut looks = 0;
    let mut seen = Seen::default();
    loop {
        registry::rest(&mut seen);
        let contended = is_contended();
        std::thread::sleep(if contended { STALL } else { IDLE });
        let now = changes();
        let stalled = contended && now == last && is_contended() && !all_compute();
        last = now;
        // Summoned ranks may have been at an instruction where they could not leave. So their alarms are rung again.
        ranks().for_each(Rank::ring);
        if contended {
            ring();
        }
        looks = if stalled { looks + 1 } else { 0 };
        // The signals after the first look have made workers change ranks, if they can. If a worker only waits for a
        // core that another process has, a home would have to wait as well.
        let unanswered = workers().any(|worker| worker.alarm.is_unanswered());
        if looks < 2 || (unanswered && looks < STARVED) {
            continue;
        }
        looks = 0;
        if let Some((rank, home)) = take() {
            if rank.was_preempted.get() {
                registry::division().inspect(|it| it.found_blocking());
            }
            home.call();
        }
        // While this look owned a rank, a worker may have missed that rank.
        WORKERS.ring();
    }
}
