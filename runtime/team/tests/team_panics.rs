//! The ranks of a team panic. The destructors of payloads and bodies panic, too. No rank has its own stack, so
//! Miri can run this.

use manycore_cores::elastic::Allotment;

use manycore_team::{Site, Step, Team, Turn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::yield_now;

/// Records its drop, and panics.
struct Bomb<'a>(&'a AtomicBool);

impl Drop for Bomb<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
        resume_unwind(Box::new("a payload was dropped"));
    }
}

/// The caller's rank panics second, with a payload whose destructor panics. A third rank still runs on its
/// body, which belongs to the caller.
#[test]
fn a_later_payload_that_panics_does_not_end_the_run() {
    static DROPPED: AtomicBool = AtomicBool::new(false);
    let (started, has_ended) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut team: Team = Team::new(3, Allotment::new(3)).unwrap();
    let fails = AssertUnwindSafe(|| {
        team.run(3, |_| {
            let mut owned = [7_u64; 10];
            let (started, has_ended) = (&started, &has_ended);
            move |turn: &Turn<'_>| {
                started.fetch_add(1, SeqCst);
                // When three have started, each worker has a rank.
                while started.load(SeqCst) < 3 {
                    yield_now();
                }
                match turn.worker() {
                    1 => resume_unwind(Box::new("first")),
                    0 => {
                        while !turn.is_over() {
                            yield_now();
                        }
                        resume_unwind(Box::new(Bomb(&DROPPED)))
                    }
                    _ => {
                        while !DROPPED.load(SeqCst) {
                            yield_now();
                        }
                        for _ in 0..200 {
                            owned[3] += 1;
                            yield_now();
                        }
                        has_ended.store(true, SeqCst);
                        Step::Done
                    }
                }
            }
        });
    });
    let payload = catch_unwind(fails).unwrap_err();
    assert!(
        has_ended.load(SeqCst),
        "`run` has returned before its ranks have ended"
    );
    assert_eq!(payload.downcast_ref(), Some(&"first"));
    // The team remains usable.
    let report = team.run(2, |_| |_: &Turn<'_>| Step::Done);
    assert_eq!(report.switches, 2);
}

/// Counts its drop, and then panics if it is set to.
struct Body<'a> {
    dropped: &'a AtomicUsize,
    explodes: bool,
}

impl Drop for Body<'_> {
    fn drop(&mut self) {
        let before = self.dropped.fetch_add(1, SeqCst);
        if self.explodes {
            resume_unwind(Box::new(before));
        }
    }
}

/// All bodies are dropped, even if their destructors panic. The caller receives the first panic.
#[test]
fn bodies_that_panic_when_they_are_dropped() {
    let mut team: Team = Team::new(2, Allotment::new(2)).unwrap();
    for a_rank_panics in [false, true] {
        let dropped = AtomicUsize::new(0);
        let fails = AssertUnwindSafe(|| {
            team.run(4, |rank| {
                let body = Body {
                    dropped: &dropped,
                    explodes: rank % 2 == 1,
                };
                let mut has_met = false;
                move |_: &Turn<'_>| {
                    let _owned = &body;
                    if has_met {
                        return Step::Done;
                    }
                    if a_rank_panics && rank == 3 {
                        resume_unwind(Box::new("a rank"));
                    }
                    has_met = true;
                    Step::Arrived(Site::here())
                }
            });
        });
        let payload = catch_unwind(fails).unwrap_err();
        assert_eq!(dropped.load(SeqCst), 4);
        if a_rank_panics {
            assert_eq!(payload.downcast_ref(), Some(&"a rank"));
        } else {
            assert_eq!(payload.downcast_ref(), Some(&1_usize));
        }
    }
}

/// The maker of bodies panics: existing bodies are dropped, and no rank begins.
#[test]
fn a_maker_that_panics() {
    let mut team: Team = Team::new(2, Allotment::new(2)).unwrap();
    let dropped = AtomicUsize::new(0);
    let fails = AssertUnwindSafe(|| {
        team.run(4, |rank| {
            if rank == 2 {
                resume_unwind(Box::new("the maker"));
            }
            let body = Body {
                dropped: &dropped,
                explodes: false,
            };
            move |_: &Turn<'_>| -> Step {
                let _owned = &body;
                unreachable!("no rank begins")
            }
        });
    });
    let payload = catch_unwind(fails).unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"the maker"));
    assert_eq!(dropped.load(SeqCst), 2);
    team.run(1, |_| |_: &Turn<'_>| Step::Done);
}
