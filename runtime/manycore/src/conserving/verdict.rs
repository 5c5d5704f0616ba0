//! How long permits were idle while work was available. `mod.rs` explains permits, items and leaves.

use super::bounds::{
    EVERY_PERMIT, PERMITS_ARE_UNIQUE, REPLACED, WAITING_IS_IDLE, until_all_came, until_one_comes,
};
use super::recorder::{Item, Kind, Log, PermitLog, Span};
use std::fmt;

/// A permit was idle while an item was available.
#[derive(Clone, Copy, Debug)]
pub(super) struct IdleSpan {
    /// When the idle time began, in cycles.
    pub(super) from: u64,
    /// The idle time, in cycles.
    pub(super) cycles: u64,
    pub(super) permit: usize,
    pub(super) item: Item,
}

/// Idle times that are shorter than this, in cycles, are ignored.
const SHORT: u64 = 5_000;

/// The longest idle times of a run.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// The longest idle time during which no thread began a leaf with an idle permit.
    pub(super) none_came: Option<IdleSpan>,
    /// The longest idle time of one permit. Meanwhile threads may have begun leaves with other permits.
    pub(super) not_all_came: Option<IdleSpan>,
}

impl Verdict {
    /// If an idle time exceeds its bound for `threads` threads and `cores` cores, describes that idle time.
    pub(super) fn late(&self, threads: usize, cores: usize) -> Option<String> {
        let longer = |idle: &Option<IdleSpan>, bound| idle.filter(|idle| idle.cycles > bound);
        if let Some(idle) = longer(&self.none_came, until_one_comes(threads, cores)) {
            return Some(format!("{idle}, and no thread came"));
        }
        let idle = longer(&self.not_all_came, until_all_came(threads, cores))?;
        Some(format!("{idle}, though others came"))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            ("no thread came", self.none_came),
            ("not all came", self.not_all_came),
        ];
        for (what, idle) in all {
            match idle {
                Some(idle) => writeln!(f, "longest time in which {what}: {idle}")?,
                None => writeln!(f, "there was no time in which {what}")?,
            }
        }
        Ok(())
    }
}

/// Returns the longest idle times of a run that ended at `end`.
pub(super) fn longest(log: &Log, end: u64) -> Verdict {
    let idle: Vec<_> = log
        .permits
        .iter()
        .map(|permit| idle_of(permit, end))
        .collect();
    let first = if EVERY_PERMIT { 0 } else { 1 };
    let mut came: Vec<u64> = idle[first..].iter().flatten().map(|span| span.to).collect();
    came.sort_unstable();
    let mut verdict = Verdict::default();
    for item in &log.items {
        let to_be_had = Span {
            from: item.from,
            to: item.until.unwrap_or(end),
        };
        let permits = match item.only {
            Some(only) => only.max(first)..only + 1,
            None => first..idle.len(),
        };
        for permit in permits {
            for span in common(&idle[permit], to_be_had) {
                let idle = |span: Span| IdleSpan {
                    from: span.from,
                    cycles: span.to - span.from,
                    permit,
                    item: *item,
                };
                keep_longer(&mut verdict.not_all_came, idle(span));
                if is_longer(&verdict.none_came, span) {
                    for part in parts(span, &came) {
                        keep_longer(&mut verdict.none_came, idle(part));
                    }
                }
            }
        }
    }
    verdict
}

fn is_longer(kept: &Option<IdleSpan>, span: Span) -> bool {
    kept.is_none_or(|kept| span.to - span.from > kept.cycles)
}

fn keep_longer(kept: &mut Option<IdleSpan>, idle: IdleSpan) {
    if kept.is_none_or(|kept| idle.cycles > kept.cycles) {
        *kept = Some(idle);
    }
}

/// Cuts `span` at the times in `cuts`, which are in order.
fn parts(span: Span, cuts: &[u64]) -> impl Iterator<Item = Span> {
    let inside = |at: u64| cuts.partition_point(|&cut| cut < at);
    let ends = cuts[inside(span.from)..inside(span.to)].iter().copied();
    let mut from = span.from;
    ends.chain([span.to]).map(move |to| {
        let part = Span { from, to };
        from = to;
        part
    })
}

/// Describes a leaf that ran without a permit of its own, if there was one.
pub(super) fn broken_permits(log: &Log) -> Option<String> {
    if !PERMITS_ARE_UNIQUE {
        return None;
    }
    if log.homeless > 0 {
        return Some(format!("{} leaves ran with no permit", log.homeless));
    }
    let (permit, at) = log.shared_permits.first()?;
    Some(format!("two leaves ran with permit {permit} at cycle {at}"))
}

/// Returns the times before `end` during which the permit was idle.
fn idle_of(permit: &PermitLog, end: u64) -> Vec<Span> {
    let without_job = pauses(&permit.jobs, end);
    if !WAITING_IS_IDLE {
        return without_job;
    }
    let has_no_job = |at: u64| {
        let next = without_job.partition_point(|span| span.to <= at);
        without_job
            .get(next)
            .is_some_and(|span| span.from < at + SHORT)
    };
    let mut idle = pauses(&permit.leaves, end);
    // Returns the end of the caller's wait that begins with the pause at `at`, if there is one.
    let waits_until = |at: u64| {
        let mut begun = permit.waits.iter();
        let wait = begun.find(|wait| (at..at + SHORT).contains(&wait.from));
        wait.map(|wait| wait.to)
    };
    for span in &mut idle {
        let replaced = span.from + REPLACED;
        if !has_no_job(span.from) {
            span.from = replaced;
        } else if let Some(end) = waits_until(span.from) {
            span.from = replaced.min(end);
        }
    }
    idle.retain(|span| span.from < span.to);
    idle
}

/// Returns the times until `end` that are not in `busy`, in order.
fn pauses(busy: &[Span], end: u64) -> Vec<Span> {
    let mut busy = busy.to_vec();
    busy.sort_by_key(|span| span.from);
    busy.push(Span { from: end, to: end });
    let mut pauses = Vec::new();
    let mut from = 0;
    for span in busy {
        if span.from >= from + SHORT {
            let to = span.from;
            pauses.push(Span { from, to });
        }
        from = from.max(span.to);
    }
    pauses
}

/// Returns the overlaps of `one` with `spans`, which are in order.
fn common(spans: &[Span], one: Span) -> impl Iterator<Item = Span> {
    let first = spans.partition_point(|span| span.to <= one.from);
    let spans = spans[first..].iter();
    spans
        .take_while(move |span| span.from < one.to)
        .map(move |span| Span {
            from: span.from.max(one.from),
            to: span.to.min(one.to),
        })
}

impl fmt::Display for IdleSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            from,
            cycles,
            permit,
            item,
        } = self;
        let what = match item.kind {
            Kind::Call => "a call from outside",
            Kind::Loop => "a loop",
            Kind::Half => "the second half of a join",
            Kind::Scoped => "a job of a scope",
            Kind::Detached => "a spawned job",
            Kind::Broadcast => "its call of a broadcast",
        };
        write!(
            f,
            "permit {permit} was idle for {cycles} cycles from {from} while {what} waited"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::bounds::{REPLACED, WAITING_IS_IDLE, until_all_came, until_one_comes};
    use super::super::recorder::{Kind, Recorder, Span};
    use super::{Verdict, longest};

    const THREADS: usize = 3;
    const END: u64 = 10_000_000;

    /// Judges a run of three permits. Permit 0 is always busy, and the other permits are busy as `busy` says.
    fn judge(busy: &[(usize, u64, u64)], items: impl Fn(&Recorder)) -> Verdict {
        let recorder = Recorder::new(THREADS);
        for &(permit, from, to) in [(0, 0, END)].iter().chain(busy) {
            recorder.leaf(Some(permit), from, to);
            recorder.job(Some(permit), from, to);
        }
        items(&recorder);
        longest(&recorder.take(), END)
    }

    fn cycles(verdict: &Verdict) -> (u64, u64) {
        let cycles = |idle: Option<super::IdleSpan>| idle.map_or(0, |idle| idle.cycles);
        (cycles(verdict.none_came), cycles(verdict.not_all_came))
    }

    fn job(recorder: &Recorder, only: Option<usize>, from: u64, until: u64) {
        let item = recorder.offer(Kind::Detached, only, from);
        recorder.begin(item, until);
    }

    #[test]
    fn idle_and_busy_permits_are_not_late() {
        let verdict = judge(&[], |_| ());
        assert_eq!(cycles(&verdict), (0, 0));
        let busy = [(1, 0, END), (2, 0, 500_000), (2, 510_000, END)];
        let verdict = judge(&busy, |log| job(log, None, 100, 900_000));
        assert_eq!(cycles(&verdict), (10_000, 10_000));
        assert_eq!(verdict.late(THREADS, THREADS), None);
    }

    #[test]
    fn a_job_that_no_worker_begins_is_late() {
        let busy = [(1, 0, END), (2, 0, 500_000)];
        let verdict = judge(&busy, |log| job(log, None, 100_000, 4_500_000));
        assert_eq!(cycles(&verdict), (4_000_000, 4_000_000));
        let late = verdict.late(THREADS, THREADS).unwrap();
        assert!(
            late.contains("permit 2 was idle for 4000000 cycles from 500000"),
            "{late}"
        );
        let never = judge(&busy, |log| _ = log.offer(Kind::Call, None, 9_000_000));
        assert_eq!(cycles(&never), (1_000_000, 1_000_000));
    }

    /// Threads begin many leaves with permit 1, and none with permit 2.
    #[test]
    fn others_that_come_excuse_an_idle_permit_until_the_second_bound() {
        let step = until_one_comes(THREADS, THREADS) - 1_000;
        let busy: Vec<_> = (1..40).map(|i| (1, i * step - 10_000, i * step)).collect();
        let verdict = judge(&busy, |log| job(log, None, 0, 2 * step));
        assert_eq!(cycles(&verdict), (step, 2 * step));
        assert_eq!(verdict.late(THREADS, THREADS), None);
        let until = until_all_came(THREADS, THREADS) + 1;
        let verdict = judge(&busy, |log| job(log, None, 0, until));
        let late = verdict.late(THREADS, THREADS).unwrap();
        assert!(late.contains("though others came"), "{late}");
    }

    #[test]
    fn a_call_of_a_broadcast_is_for_its_own_permit() {
        let busy = [(1, 0, END)];
        let verdict = judge(&busy, |log| job(log, Some(1), 0, 5_000_000));
        assert_eq!(cycles(&verdict), (0, 0));
        let verdict = judge(&busy, |log| job(log, Some(2), 0, 5_000_000));
        assert_eq!(cycles(&verdict), (5_000_000, 5_000_000));
    }

    /// A job waits from cycle 500,000 on, while an unrelated job is available.
    #[test]
    fn a_thread_that_waits_is_replaced() {
        let recorder = Recorder::new(2);
        for (from, to) in [(0, 500_000), (5_000_000, 5_100_000)] {
            recorder.leaf(Some(1), from, to);
        }
        for permit in 0..2 {
            recorder.job(Some(permit), 0, 5_100_000);
        }
        recorder.leaf(Some(0), 0, END);
        job(&recorder, None, 100_000, 5_100_000);
        let idle = cycles(&longest(&recorder.take(), END)).0;
        let late = if WAITING_IS_IDLE {
            4_500_000 - REPLACED
        } else {
            0
        };
        assert_eq!(idle, late);
    }

    /// Several waits end one after the other. The waiting threads take turns with one permit, and use it only to return
    /// from their waits.
    #[test]
    fn a_thread_that_returns_from_a_wait_has_come() {
        let step = until_one_comes(THREADS, THREADS) - 1_000;
        let busy = [(1, 0, END), (2, 0, 100_000)];
        let verdict = judge(&busy, |log| {
            for turn in 1..5 {
                log.leaf(Some(2), 100_000 + turn * step, 100_000 + turn * step);
            }
            job(log, None, 0, 100_000 + 5 * step);
        });
        assert_eq!(cycles(&verdict), (step, step));
        assert_eq!(verdict.late(THREADS, THREADS), None);
    }

    /// In two of the three cases a caller from outside waits for its loop. Only the beginning of such a wait is
    /// excused, and no time after the wait.
    #[test]
    fn a_caller_that_waits_is_replaced() {
        for (wait, excused) in [
            (Some(5_000_000), REPLACED),
            (Some(1_000_000 + 100_000), 100_000),
            (None, 0),
        ] {
            let verdict = judge(&[(1, 0, 1_000_000)], |log| {
                if let Some(to) = wait {
                    log.wait(
                        1,
                        Span {
                            from: 1_000_000,
                            to,
                        },
                    );
                }
                // This wait began before the pause, so it excuses nothing.
                log.wait(
                    1,
                    Span {
                        from: 500_000,
                        to: END,
                    },
                );
                job(log, Some(1), 0, 5_000_000);
            });
            assert_eq!(cycles(&verdict).0, 4_000_000 - excused, "{wait:?}");
        }
    }

    /// A loop is available from the end of its first iteration until its last one begins.
    #[test]
    fn a_loops_first_iteration_is_excused() {
        let verdict = judge(&[], |log| {
            let called = log.call_loop(3);
            for (begin, end) in [
                (0, 1_000_000),
                (1_000_000, 1_200_000),
                (1_200_000, 9_000_000),
            ] {
                log.begin_iteration(called, begin);
                log.end_iteration(called, end);
            }
        });
        assert_eq!(cycles(&verdict), (200_000, 200_000));
    }

    #[test]
    fn two_leaves_with_one_permit_are_noticed() {
        let recorder = Recorder::new(2);
        for (permit, from, to) in [(1, 0, 100), (1, 100, 200), (0, 50, 150), (1, 190, 300)] {
            recorder.leaf(Some(permit), from, to);
        }
        recorder.leaf(None, 500, 600);
        let log = recorder.take();
        assert_eq!((log.shared_permits, log.homeless), (vec![(1, 190)], 1));
    }
}
