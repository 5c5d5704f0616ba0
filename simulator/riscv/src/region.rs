//! Regions of interest: the program's marks, and what is measured between two marks.

use manycore_chip::{Breakdown, CoreCounters};
use std::collections::BTreeMap;

/// A part of a run that the program has marked.
///
/// [`Timing`](crate::Timing) has the regions of a run, with an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The number that the program gives the region. `None` for a region between gem5's instructions that reset and
    /// dump the statistics.
    pub work: Option<u64>,
    /// The cycle at which the region begins.
    pub from: u64,
    /// The cycle at which the region ends. If the program does not end the region, this is the run's last cycle.
    pub to: u64,
    /// The activities of all cores in the region, in cycles.
    pub spent: Breakdown,
    /// The counters of all cores in the region, if the run counts
    /// ([`Simulation::counters`](manycore_chip::Simulation::counters)).
    pub counted: Option<CoreCounters>,
    /// The counters of each core in the region. Empty if the run does not count.
    pub cores: Vec<CoreCounters>,
}

/// A mark that the program sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The region of this number begins.
    Begin(u64),
    End(u64),
    /// gem5's statistics are reset.
    Reset,
    /// The statistics are printed.
    Dump,
    DumpReset,
}

/// A point in time of a run.
#[derive(Clone, Default)]
pub(crate) struct Moment {
    pub(crate) clock: u64,
    /// The activities of all cores from the run's start, in cycles.
    pub(crate) spent: Breakdown,
    /// The counters of each core, if the run counts.
    pub(crate) cores: Option<Vec<CoreCounters>>,
}

/// The regions of a run, which may overlap.
#[derive(Default)]
pub(crate) struct Regions {
    /// The open regions by number. Each has the number of its begins without an end, and the time of the first of these
    /// begins.
    open: BTreeMap<u64, (u32, Moment)>,
    /// The time when the statistics were reset, if they were not dumped since.
    reset: Option<Moment>,
    done: Vec<Region>,
}

impl Regions {
    /// Applies a mark that the program sets. If several threads mark a region, it lasts from the first begin to the
    /// last end. An end without a begin is ignored.
    pub(crate) fn set(&mut self, mark: Mark, now: Moment) {
        match mark {
            Mark::Begin(work) => self.open.entry(work).or_insert((0, now)).0 += 1,
            Mark::End(work) => {
                let Some((depth, from)) = self.open.get_mut(&work) else {
                    return;
                };
                *depth -= 1;
                if *depth == 0 {
                    let from = std::mem::take(from);
                    self.open.remove(&work);
                    self.close(Some(work), &from, &now);
                }
            }
            Mark::Reset => self.reset = Some(now),
            Mark::Dump => {
                let from = self.reset.take().unwrap_or_default();
                self.close(None, &from, &now);
            }
            Mark::DumpReset => {
                self.set(Mark::Dump, now.clone());
                self.set(Mark::Reset, now);
            }
        }
    }

    /// All regions of a run that ends now, in the order of their ends.
    pub(crate) fn finish(mut self, end: Moment) -> Vec<Region> {
        for (work, (_, from)) in std::mem::take(&mut self.open) {
            self.close(Some(work), &from, &end);
        }
        if let Some(from) = self.reset.take() {
            self.close(None, &from, &end);
        }
        self.done
    }

    fn close(&mut self, work: Option<u64>, from: &Moment, to: &Moment) {
        let cores: Option<Vec<CoreCounters>> = to.cores.as_ref().map(|cores| {
            let before = from.cores.iter().flatten().copied();
            let before = before.chain(std::iter::repeat(CoreCounters::default()));
            let both = cores.iter().zip(before);
            both.map(|(core, before)| core.since(&before)).collect()
        });
        self.done.push(Region {
            work,
            from: from.clock,
            to: to.clock,
            spent: to.spent.since(&from.spent),
            counted: cores
                .as_ref()
                .map(|cores| CoreCounters::sum(cores.iter().copied())),
            cores: cores.unwrap_or_default(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions(marks: &[(u64, Mark)]) -> Vec<(Option<u64>, u64, u64)> {
        let moment = |clock| Moment {
            clock,
            ..Moment::default()
        };
        let mut regions = Regions::default();
        for &(clock, mark) in marks {
            regions.set(mark, moment(clock));
        }
        let done = regions.finish(moment(100)).into_iter();
        done.map(|region| (region.work, region.from, region.to))
            .collect()
    }

    #[test]
    fn a_region_of_several_threads_lasts_from_the_first_begin_to_the_last_end() {
        use Mark::{Begin, End};
        let marks = [
            (5, End(1)),
            (10, Begin(1)),
            (12, Begin(1)),
            (20, Begin(2)),
            (30, End(1)),
            (40, End(1)),
            (50, Begin(1)),
            (60, End(1)),
        ];
        let expected = [
            (Some(1), 10, 40),
            (Some(1), 50, 60),
            // The program has not ended region 2.
            (Some(2), 20, 100),
        ];
        assert_eq!(regions(&marks), expected);
    }

    #[test]
    fn statistics_begin_at_the_last_reset_or_at_the_start() {
        use Mark::{Dump, DumpReset, Reset};
        let marks = [
            (10, Dump),
            (20, Reset),
            (30, Reset),
            (40, DumpReset),
            (70, Dump),
            (80, Reset),
        ];
        let expected = [
            (None, 0, 10),
            (None, 30, 40),
            (None, 40, 70),
            (None, 80, 100),
        ];
        assert_eq!(regions(&marks), expected);
    }
}
