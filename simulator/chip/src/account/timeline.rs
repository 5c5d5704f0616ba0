//! The activities of each core over time.

use super::{Activity, Cycles, Name};

/// A time in which a core had one activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) core: u32,
    pub(crate) thread: Option<u32>,
    pub(crate) activity: Activity,
    /// The name of the activity's object, if it has one.
    pub(crate) name: Option<Name>,
    pub(crate) from: Cycles,
    pub(crate) to: Cycles,
}

impl Segment {
    /// Merges `next` if it continues the same activity.
    fn extend(&mut self, next: &Self) -> bool {
        let same = Self {
            from: self.from,
            to: next.to,
            ..*self
        };
        let continues = self.to == next.from
            && same
                == Self {
                    from: self.from,
                    ..*next
                };
        if continues {
            *self = same;
        }
        continues
    }
}

/// The segments of a run, up to `cap` segments. Further segments are only counted, since a run can
/// be longer than memory allows.
#[derive(Debug)]
pub(crate) struct Timeline {
    cap: usize,
    segments: Vec<Segment>,
    /// Each core's latest segment, which may be extended.
    open: Vec<Option<Segment>>,
    missing: Missing,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Missing {
    pub(super) segments: u64,
    pub(super) cycles: Cycles,
    /// The start of the first missing segment.
    pub(super) from: Option<Cycles>,
}

impl Timeline {
    /// A timeline of at most `cap` segments. With zero, the timeline is off, and [`record`](Self::record) only takes a
    /// branch.
    pub(crate) fn new(cores: usize, cap: usize) -> Self {
        let open = if cap == 0 {
            Vec::new()
        } else {
            vec![None; cores]
        };
        Self {
            cap,
            segments: Vec::new(),
            open,
            missing: Missing::default(),
        }
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.cap > 0
    }

    /// Adds a segment that starts where the core's last segment ended, or later.
    #[inline]
    pub(crate) fn record(&mut self, segment: Segment) {
        if self.cap > 0 {
            self.add(segment);
        }
    }

    #[cold]
    fn add(&mut self, segment: Segment) {
        if segment.from == segment.to {
            return;
        }
        let open = &mut self.open[segment.core as usize];
        if let Some(last) = open {
            debug_assert!(last.to <= segment.from, "{segment:?} is before {last:?}");
            if last.extend(&segment) {
                return;
            }
        }
        if let Some(done) = open.replace(segment) {
            self.keep(done);
        }
    }

    fn keep(&mut self, segment: Segment) {
        if self.segments.len() < self.cap {
            self.segments.push(segment);
        } else {
            let missing = &mut self.missing;
            missing.segments += 1;
            missing.cycles += segment.to - segment.from;
            missing.from = Some(
                missing
                    .from
                    .map_or(segment.from, |from| from.min(segment.from)),
            );
        }
    }

    /// The segments, sorted by start and core, and the counts of missing segments.
    pub(super) fn finish(mut self) -> (Vec<Segment>, Missing) {
        let mut open: Vec<_> = std::mem::take(&mut self.open)
            .into_iter()
            .flatten()
            .collect();
        // The earliest segments come first, because not all may fit.
        open.sort_by_key(|segment| (segment.from, segment.core));
        for segment in open {
            self.keep(segment);
        }
        self.segments
            .sort_by_key(|segment| (segment.from, segment.core));
        (self.segments, self.missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segment(core: u32, activity: Activity, from: Cycles, to: Cycles) -> Segment {
        Segment {
            core,
            thread: Some(core),
            activity,
            name: None,
            from,
            to,
        }
    }

    #[test]
    fn equal_neighbours_merge() {
        let mut timeline = Timeline::new(2, 100);
        timeline.record(segment(0, Activity::Compute, 0, 10));
        timeline.record(segment(1, Activity::Compute, 0, 7));
        timeline.record(segment(0, Activity::Compute, 10, 30));
        timeline.record(segment(0, Activity::Switch, 30, 40));
        timeline.record(segment(1, Activity::Compute, 8, 9));
        let expected = [
            segment(0, Activity::Compute, 0, 30),
            segment(1, Activity::Compute, 0, 7),
            segment(1, Activity::Compute, 8, 9),
            segment(0, Activity::Switch, 30, 40),
        ];
        assert_eq!(timeline.finish(), (expected.to_vec(), Missing::default()));
    }

    proptest! {
        /// For each `cap`, a cycle is either kept or counted as missing.
        #[test]
        fn kept_and_missing_cycles_are_all_cycles(
            steps in prop::collection::vec((0_u32..3, 0_usize..3, 0_u64..50), 0..100),
            cap in 1_usize..60,
        ) {
            let mut timeline = Timeline::new(3, cap);
            let mut now = [0; 3];
            for (core, activity, cycles) in steps {
                let from = now[core as usize];
                now[core as usize] += cycles;
                timeline.record(segment(core, Activity::ALL[activity], from, from + cycles));
            }
            let (segments, missing) = timeline.finish();
            prop_assert!(segments.len() <= cap);
            prop_assert!(missing.segments == 0 || segments.len() == cap);
            let kept: Cycles = segments.iter().map(|segment| segment.to - segment.from).sum();
            prop_assert_eq!(kept + missing.cycles, now.iter().sum::<Cycles>());
            prop_assert!(segments.is_sorted_by_key(|segment| (segment.from, segment.core)));
        }
    }
}
