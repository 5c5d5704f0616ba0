//! The caller slot (the right to be worker 0) under loom: a caller comes and goes while another thread posts a job. The
//! tests check that permit 0 (a right to run jobs) has one holder at a time, and that a thread
//! takes the job.

use super::state::{Left, Permits, State};
use super::word::CallerSlot;
use manycore_check::{Faulty, Loom, NoFence, Plain, caught, loom_model, team};
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

/// A mistake in the pool around the transitions.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    /// A caller that leaves a vacancy does not look for jobs.
    NoLook,
    /// A caller whose `leave` returns `false` does nothing more, although the slot is marked NEEDED or HELD.
    Unheard,
}

const NONE: u32 = 0;
const PUSHED: u32 = 1;
const TAKEN: u32 = 2;

struct Pool<P: Platform> {
    permits: Permits<P>,
    slot: CallerSlot<P>,
    /// Written by the holder of permit 0, and by no other thread.
    permit: Plain<u32>,
    job: P::AtomicU32,
    posted: P::AtomicU32,
}

impl<P: Platform> Pool<P> {
    fn change<R>(&self, section: impl FnOnce(&mut State<'_, P>) -> R) -> R {
        let mut state = self.permits.begin(&self.slot);
        let result = section(&mut state);
        state.end(|_| ());
        result
    }

    fn is_posted(&self) -> bool {
        self.posted.load(Ordering::Acquire) != 0
    }

    /// A thread of the pool has permit 0: it runs the job, and gives the slot back.
    fn hold(&self) {
        self.permit.write(self.permit.read() + 1);
        let taken = (self.job).compare_exchange(PUSHED, TAKEN, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_ok() {
            self.posted.fetch_sub(1, Ordering::AcqRel);
        }
        self.change(|permits| {
            if !self.is_posted() {
                permits.give_back(1, usize::MAX, || ());
            }
        });
    }

    fn fill(&self) {
        if self.change(|permits| permits.fill()).is_some() {
            self.hold();
        }
    }

    fn call(&self, mistake: Option<Mistake>) {
        if !self.slot.take() {
            return;
        }
        self.permit.write(self.permit.read() + 1);
        if self.slot.leave() || mistake == Some(Mistake::Unheard) {
            return;
        }
        let waits = || self.job.load(Ordering::Acquire) == PUSHED;
        match self.change(|permits| permits.leave(0, waits, || self.is_posted())) {
            Left::Nothing => {}
            Left::Vacancy => {
                P::fence(Ordering::SeqCst);
                if mistake != Some(Mistake::NoLook) && waits() {
                    self.fill();
                }
            }
            Left::Permit(..) => self.hold(),
        }
    }

    fn post(&self) {
        self.change(|permits| {
            self.posted.fetch_add(1, Ordering::Relaxed);
            permits.post();
        });
        self.job.store(PUSHED, Ordering::Release);
        P::fence(Ordering::SeqCst);
        if self.slot.is_vacant() {
            self.fill();
        }
    }
}

/// Makes `calls` calls while another thread posts a job. Fails if no thread takes the job.
fn job_is_taken<P: Platform>(calls: usize, mistake: Option<Mistake>) {
    let pool = Pool::<P> {
        permits: Permits::new(),
        slot: CallerSlot::new(),
        permit: Plain::new(0),
        job: Atomic::new(NONE),
        posted: Atomic::new(0),
    };
    team::<P>(2, |rank| match rank {
        0 => (0..calls).for_each(|_| pool.call(mistake)),
        _ => pool.post(),
    });
    assert_eq!(pool.job.load(Ordering::Relaxed), TAKEN, "no thread comes");
}

#[test]
fn a_thread_comes_for_the_job() {
    loom_model(None, || job_is_taken::<Loom>(1, None));
    loom_model(Some(3), || job_is_taken::<Loom>(2, None));
}

#[test]
fn each_mistake_is_caught() {
    let fence = || loom_model(Some(3), || job_is_taken::<Faulty<Loom, NoFence>>(1, None));
    assert!(caught(fence).contains("no thread comes"));
    for mistake in [Mistake::NoLook, Mistake::Unheard] {
        let why = caught(|| loom_model(Some(3), move || job_is_taken::<Loom>(1, Some(mistake))));
        assert!(why.contains("no thread comes"), "{mistake:?}: {why}");
    }
}
