//! The watchdog: ranks go on at their [homes](super::home) while no worker changes ranks and not all compute.
//!
//! The watch takes no lock and allocates nothing: a rank that was cut may have a lock that all others wait for, the
//! program's allocator's too. For the same reason it starts no thread.

use super::division::STALL;
use super::granularity::Granularity;
use super::home::{self, Home};
use super::lookout;
use super::rank::Rank;
use super::registry::{self, Seen, ranks, workers};
use super::worker::Worker;
use crate::system::masks::with_signals_blocked;
use crate::system::threads::spawn;
use crate::words::bell::WORKERS;
use manycore_platform::{Futex, Native, Platform};
use std::sync::Once;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

/// Looks after which a home helps although a worker may only be waiting for a core: its rank may be
/// where no signal reaches it.
const STARVED: u32 = 40;

/// How often it is looked whether there is anything to look at.
const IDLE: Duration = Duration::from_millis(20);

/// Begins to look for stalls. A thread allocates as it begins: so the caller waits until the watch and the leader's home have
/// begun. No rank runs yet.
pub(super) fn start(leader: &'static Rank) {
    static ONCE: Once = Once::new();
    static BEGUN: AtomicU32 = AtomicU32::new(0);
    const THREADS: u32 = 2;
    let begins = || {
        // Release, and acquire below: a home is known when its thread has begun.
        BEGUN.fetch_add(1, Release);
        Futex::wake(&BEGUN, 1);
    };
    let begin = || {
        home::lend(leader, begins);
        spawn("manycore-omp-s", Some(64 << 10), move || {
            begins();
            look();
        });
        spawn("manycore-omp-p", Some(64 << 10), Granularity::count);
        spawn("manycore-omp-i", Some(64 << 10), lookout::look);
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

/// Whether ranks run, and others could.
pub(super) fn is_contended() -> bool {
    let is_any = |waits: bool| ranks().any(|rank| rank.word.is_waiting() == waits);
    registry::is_owned() && is_any(false) && is_any(true)
}

/// What a worker does, as the watch sees it.
#[derive(Clone, Copy, PartialEq)]
enum Sight {
    /// It has no rank.
    Idle,
    /// It executes a rank, and the rank's time is not over.
    Computes,
    /// Its rank has had the worker for too long, or the worker has no core any more.
    Late,
}

impl Sight {
    fn of(worker: &Worker, now: u64) -> Self {
        // SAFETY: ranks live for ever. The values read from this one may belong to another time.
        let rank = unsafe { worker.current.load(Relaxed).as_ref() };
        let (Some(rank), Some(division)) = (rank, registry::division()) else {
            return Self::Idle;
        };
        let took = now.saturating_sub(rank.since.load(Relaxed));
        if worker.is_revoked() || took > division.stall() {
            Self::Late
        } else {
            Self::Computes
        }
    }
}

/// Makes the workers that are late leave their ranks.
fn ring(now: u64) {
    for worker in workers().filter(|it| Sight::of(it, now) == Sight::Late) {
        worker.alarm.ring(worker.address());
    }
}

/// Whether each worker that has a core executes a rank whose time is not over. Then no waiting rank goes home: it would only
/// take turns with those ranks there.
fn all_compute(now: u64) -> bool {
    workers().all(|worker| match Sight::of(worker, now) {
        Sight::Idle => worker.is_revoked(),
        Sight::Computes => !lookout::sleeps(worker.alarm.thread()),
        Sight::Late => false,
    })
}

/// Takes a rank that can go on, and finds its home. A cut rank comes first, since it may have the
/// lock for which the others wait.
pub(super) fn take() -> Option<(&'static Rank, &'static Home)> {
    let take = |only_cut: bool| {
        ranks().find_map(|rank| {
            let home = rank.home()?;
            let may = || !rank.pinned.load(Relaxed);
            let goes_on = || (rank.was_preempted.get() || !only_cut) && rank.goes_on();
            rank.word
                .take(&WORKERS, may, goes_on)
                .then_some((rank, home))
        })
    };
    take(true).or_else(|| take(false))
}

/// All ranks that can go on do so at their homes.
pub(super) fn send_home() {
    let may = |rank: &Rank| !rank.pinned.load(Relaxed);
    for rank in ranks().filter(|rank| rank.word.is_waiting()) {
        if let Some(home) = rank.home()
            && (rank.word).take(&WORKERS, || may(rank), || rank.goes_on())
        {
            home.call();
        }
    }
}

/// Looks for stalls.
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
        let time = Native::now();
        let stalled = contended && now == last && is_contended() && !all_compute(time);
        last = now;
        if contended {
            ring(time);
        }
        looks = if stalled { looks + 1 } else { 0 };
        // The first look has made workers change, if they can. A worker that waits for a core of another
        // process would not gain by a home, which would wait as well.
        let unanswered = workers().any(|worker| worker.alarm.is_unanswered());
        if looks < 2 || (unanswered && looks < STARVED) {
            continue;
        }
        looks = 0;
        match take() {
            Some((rank, home)) => {
                if rank.was_preempted.get() {
                    registry::division().inspect(|it| it.found_blocking());
                }
                home.call();
            }
            None => WORKERS.ring(),
        }
    }
}
