//! Spare workers, for ranks that wait while no worker changes ranks.

use super::pulse::Pulse;
use super::worker::Worker;
use super::{HALL, STALL, division, kernel, ranks};
use crate::lock::Guarded;
use manycore_platform::{Native, Platform};
use std::sync::Once;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The workers there are.
static WORKERS: Guarded<Vec<&'static Worker>> = Guarded::new(vec![]);
/// Indices of spare workers begin here: they own no share.
pub(super) const FIRST: usize = usize::MAX / 2;

/// Looks after which a spare helps although a worker may only be waiting for a core: its rank may be
/// where no signal reaches it.
const STARVED: u32 = 40;

/// How often it is looked whether there is anything to look at.
const IDLE: Duration = Duration::from_millis(20);

/// The worker's changes are looked at from now on.
pub(super) fn watch(worker: &'static Worker) {
    WORKERS.with(|workers| workers.push(worker));
}

/// Begins to look for stalls.
pub(super) fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(begin);
}

/// Starts a thread that looks.
fn begin() {
    super::with_signals_blocked(|| crate::crew::spawn("manycore-omp-s", Some(super::STACK), look));
}

/// Whether ranks run, and others could.
fn is_contended() -> bool {
    let is_any = |waits: bool| ranks().any(|rank| rank.word.is_waiting() == waits);
    HALL.owned.load(Relaxed) && is_any(false) && is_any(true)
}

/// Makes the workers change ranks that have not for too long, and those leave theirs that have no core any more.
fn ring(now: u64) {
    let Some(division) = division::of_hall() else {
        return;
    };
    let ring = |worker: &'static Worker| {
        // SAFETY: ranks live for ever. What is read of this one may be of another time.
        let rank = unsafe { worker.current.load(Relaxed).as_ref() };
        let stalled = rank.is_some_and(|rank| {
            let since = rank.since.load(Relaxed);
            worker.is_revoked() || now.saturating_sub(since) > division.stall()
        });
        if stalled {
            worker.alarm.ring(worker);
        }
    };
    WORKERS.with(|workers| workers.iter().copied().for_each(ring));
}

/// Looks for stalls. One thread does at a time: when it runs a rank, another begins to look.
fn look() {
    let changes = || WORKERS.with(|all| all.iter().map(|w| w.switches.load(Relaxed)).sum::<u64>());
    let spare = Worker::new(FIRST);
    kernel::enter(&spare, spare.thread_pointer);
    let mut last = changes();
    let mut looks = 0;
    let mut pulse = Pulse::new();
    loop {
        let contended = is_contended();
        std::thread::sleep(if contended { STALL } else { IDLE });
        let now = changes();
        let stalled = contended && now == last && is_contended();
        last = now;
        pulse.look();
        if contended {
            ring(Native::now());
        }
        looks = if stalled { looks + 1 } else { 0 };
        // The first look has made workers change, if they can. One that waits for a core of another
        // process would not gain by a spare, which would wait as well.
        let unanswered = WORKERS.with(|all| all.iter().any(|it| it.alarm.is_unanswered()));
        if looks < 2 || (unanswered && looks < STARVED) {
            continue;
        }
        if let Some(rank) = spare.take_any() {
            begin();
            // Until it waits again. Meanwhile this thread may be blocked for long.
            spare.run(rank, None);
            kernel::leave();
            return;
        }
        HALL.rest.pass_on();
    }
}
