//! Finds out while the program runs whether the ranks of a team are faster *carried* (executed by workers, a kernel
//! thread for each core) or at their *homes* (each on its own kernel thread).
//!
//! Some programs lose by being carried, for reasons that this library does not foresee: ranks wait in an unknown way,
//! or making them leave a worker costs more than it gains. So both ways are timed. The *settled* way is the way in use.
//! A *trial* is a few pairs of short windows: each pair tries first the other way, then the settled way. A pair
//! compares the same *intervals* of the program, the code from one barrier to the next. Its result is a quotient: the
//! time that the intervals of the first window would have taken at the mean times of the second window, divided by the
//! time that they took. The other way becomes the settled one if most pairs are for it, and if it wins by a tenth in
//! all pairs together. So one sample decides nothing.
//!
//! # What trials cost
//!
//! The first trial begins when the team has run for some 32 times as long as a trial takes. If ranks have repeatedly
//! waited by yielding or have blocked (*trouble*), 8 times as long is enough. After each trial that changes nothing,
//! the next one waits for longer. So all trials together take at most an eighth of the time, and mostly a few
//! hundredths.
//!
//! Ranks that spin on memory are never sent home: at home each rank would wait for time slices of the system, and one
//! interval could take a thousand times as long. So after ranks have spun, the next thousands of intervals have no
//! trial.
//!
//! The first intervals of a window do not count, since ranks still change to the new way then.
//!
//! If ranks block in several intervals before the first trial, they are sent home at once. The first trial then tries
//! to carry them. This is safe: at home a program takes about as long as with threads of the system.

use manycore_platform::{Native, Platform};
use std::time::Duration;

/// The threads that execute the ranks of a team.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// Workers execute the ranks.
    Carried,
    /// Each rank runs on its own kernel thread, as a thread of the system.
    AtHome,
}

/// The shortest window, and the least number of intervals that count in a window.
const WINDOW: Duration = Duration::from_millis(4);
const LEAST: u32 = 3;
/// Intervals at the beginning of a window that do not count.
const SKIPPED: u32 = 2;
/// The pairs of windows in a trial, and how many of them must be for the other way.
const PAIRS: u32 = 4;
const MAJORITY: u32 = 3;
/// The least result for the other way, in hundredths: of one pair, and of all pairs together.
const PAIR: u64 = 106;
const ALL: u64 = 110;
/// The number of intervals of the program whose times are summed separately.
const PLACES: usize = 64;
/// The time until the next trial, as a multiple of the time of a trial: without trouble, with trouble, and at most.
const REST: u64 = 32;
const TROUBLED: u64 = 8;
const MOST: u64 = 1 << 12;
/// The weight of trouble that is a reason for a trial. An interval with trouble adds 2, and one without takes 1 away.
const TROUBLE: u32 = 6;
/// The number of intervals without trials after ranks have spun.
const SPUN: u32 = 1 << 13;
/// Without trouble the clock is read once in this number of intervals.
const SAMPLE: u32 = 16;
/// The time until the first trial, if ranks were sent home without a trial.
const UNTRIED: Duration = Duration::from_millis(50);
/// An interval counts as no longer than this. It may contain a step of the processor's counter.
const LONGEST: Duration = Duration::from_secs(3600);

/// Signs that the ranks of an interval lose by being carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Signs {
    None,
    /// Ranks have waited for each other by yielding.
    Waited,
    /// Ranks have spun on memory.
    Spun,
    /// Ranks have blocked in the kernel.
    Blocked,
}

/// The weight of trouble after one more interval.
fn weigh(weight: u32, has_trouble: bool) -> u32 {
    if has_trouble {
        (weight + 2).min(2 * TROUBLE)
    } else {
        weight.saturating_sub(1)
    }
}

#[derive(Clone, Copy, Default)]
struct Sum {
    count: u64,
    ticks: u64,
}

/// The times of the intervals that begin at one address (`site`), in both windows of a pair.
#[derive(Clone, Copy, Default)]
struct Place {
    site: usize,
    other: Sum,
    settled: Sum,
}

/// The state of a trial.
#[derive(Clone, Copy, Default)]
struct Trial {
    pairs: u32,
    votes: u32,
    /// The time that intervals took in the other way, and the time that the settled way would have needed for them.
    took: u64,
    expected: u64,
    /// The value of `Trials::total` when the trial began.
    since: u64,
}

/// The trials and times of one team. See the module.
pub(super) struct Trials {
    settled: Way,
    now: Way,
    places: [Place; PLACES],
    /// The address of the interval that runs now, and when the interval began.
    last: Option<(usize, u64)>,
    /// The number of intervals that have ended in this window, and their time.
    ended: u32,
    spent: u64,
    trial: Option<Trial>,
    /// The time of all intervals so far.
    total: u64,
    /// The value of `total` from which a trial may begin, without and with trouble.
    next: [u64; 2],
    /// The time until the next trial, as for [`REST`], without and with trouble.
    rests: [u64; 2],
    /// The weight of trouble in the last intervals.
    trouble: u32,
    blocks: u32,
    /// How many intervals have begun since the clock was last read.
    unread: u32,
    /// For how many more intervals [`SPUN`] forbids a trial.
    spun: u32,
    was_tried: bool,
}

impl Trials {
    pub(super) fn new() -> Self {
        Self {
            settled: Way::Carried,
            now: Way::Carried,
            places: [Place::default(); PLACES],
            last: None,
            ended: 0,
            spent: 0,
            trial: None,
            total: 0,
            next: [0; 2],
            rests: [REST, TROUBLED],
            trouble: 0,
            blocks: 0,
            unread: 0,
            spun: 0,
            was_tried: false,
        }
    }

    /// The sums of the intervals that begin at this address. If two addresses share a place, the later one replaces the
    /// other.
    fn place(&mut self, site: usize) -> &mut Place {
        let hash = (site as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58;
        let place = &mut self.places[hash as usize];
        if place.site != site {
            *place = Place {
                site,
                ..Place::default()
            };
        }
        place
    }

    /// An interval begins, after one with these `signs`. Returns whether the caller is done: the ranks are carried, and
    /// the clock need not be read.
    #[inline]
    pub(super) fn passes_over(&mut self, signs: Signs) -> bool {
        let is_calm = self.trial.is_none()
            && self.settled == Way::Carried
            && signs == Signs::None
            && self.trouble + self.spun == 0;
        self.unread += 1;
        is_calm && self.unread < SAMPLE
    }

    /// Ends the interval that runs, some time before the next one begins.
    pub(super) fn interrupt(&mut self, now: impl FnOnce() -> u64) {
        if self.trial.is_some() {
            self.end(now());
        }
    }

    /// Ends the interval that runs.
    fn end(&mut self, now: u64) {
        let Some((site, since)) = self.last.take() else {
            return;
        };
        let ticks = now
            .saturating_sub(since)
            .min(Native::duration_to_ticks(LONGEST));
        self.total += ticks;
        self.spent += ticks;
        self.ended += self.unread.max(1);
        if self.trial.is_some() && self.ended > SKIPPED {
            let is_settled = self.now == self.settled;
            let place = self.place(site);
            let sum = if is_settled {
                &mut place.settled
            } else {
                &mut place.other
            };
            sum.count += 1;
            sum.ticks += ticks;
        }
    }

    /// Begins an interval at `now`, after one with these `signs`. Returns the way of its ranks, and whether this way
    /// has just become the settled one.
    pub(super) fn begin(&mut self, site: usize, now: u64, signs: Signs) -> (Way, bool) {
        self.end(now);
        self.unread = 0;
        self.last = Some((site, now));
        self.spun = if signs == Signs::Spun {
            SPUN
        } else {
            self.spun.saturating_sub(1)
        };
        let has_trouble = matches!(signs, Signs::Waited | Signs::Blocked);
        self.trouble = weigh(self.trouble, has_trouble);
        self.blocks = weigh(self.blocks, signs == Signs::Blocked);
        let window = Native::duration_to_ticks(WINDOW);
        let is_settled_now = match self.trial {
            Some(trial) if self.ended >= SKIPPED + LEAST && self.spent >= window => {
                self.end_window(trial)
            }
            Some(_) => false,
            None if self.spun > 0 && self.settled == Way::Carried => false,
            None => self.try_to_begin(window),
        };
        (self.now, is_settled_now)
    }

    /// Begins a trial, if it is time for one. Returns whether the settled way has changed.
    fn try_to_begin(&mut self, window: u64) -> bool {
        let mean = self.spent / u64::from(self.ended.max(1));
        let trial = 2 * u64::from(PAIRS) * window.max(u64::from(SKIPPED + LEAST) * mean);
        let [without, with] = self.next;
        let is_troubled = self.trouble >= TROUBLE && self.total >= with.max(TROUBLED * trial);
        if self.blocks >= TROUBLE && !self.was_tried {
            self.was_tried = true;
            self.settled = self.other();
            self.next = [self.total + Native::duration_to_ticks(UNTRIED); 2];
            self.go(self.settled);
            return true;
        }
        // After ranks were sent home, the first trial begins as soon as it may.
        let first = if without > 0 { 0 } else { REST * trial };
        if is_troubled || self.total >= without.max(first) {
            self.was_tried = true;
            self.trial = Some(Trial {
                since: self.total,
                ..Trial::default()
            });
            self.go(self.other());
        } else if self.ended >= 64 {
            // Makes old intervals count less in the mean.
            (self.ended, self.spent) = (self.ended / 2, self.spent / 2);
        }
        false
    }

    fn other(&self) -> Way {
        match self.settled {
            Way::Carried => Way::AtHome,
            Way::AtHome => Way::Carried,
        }
    }

    /// Begins a window.
    fn go(&mut self, way: Way) {
        self.now = way;
        (self.ended, self.spent) = (0, 0);
    }

    /// Ends a window. Returns whether a trial has ended and changed the settled way.
    fn end_window(&mut self, mut trial: Trial) -> bool {
        if self.now != self.settled {
            self.go(self.settled);
            return false;
        }
        let (mut took, mut expected) = (0, 0);
        for place in &mut self.places {
            // In this order the product does not overflow within years.
            let all = place.settled.ticks * place.other.count;
            if let Some(all) = all.checked_div(place.settled.count) {
                took += place.other.ticks;
                expected += all;
            }
            *place = Place {
                site: place.site,
                ..Place::default()
            };
        }
        let is_better = |took: u64, expected: u64, by: u64| took > 0 && expected * 100 > took * by;
        trial.pairs += 1;
        trial.votes += u32::from(is_better(took, expected, PAIR));
        trial.took += took;
        trial.expected += expected;
        let left = PAIRS - trial.pairs;
        if left > 0 && trial.votes + left >= MAJORITY {
            self.trial = Some(trial);
            self.go(self.other());
            return false;
        }
        let changes = trial.votes >= MAJORITY && is_better(trial.took, trial.expected, ALL);
        let length = self.total - trial.since;
        if changes {
            self.settled = self.other();
            self.rests = [REST, TROUBLED];
        }
        for (next, rest) in self.next.iter_mut().zip(&mut self.rests) {
            *next = self.total + *rest * length;
            *rest = (2 * *rest).min(MOST);
        }
        (self.trial, self.trouble) = (None, 0);
        self.go(self.settled);
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a program for some seconds. `took` returns how many microseconds an interval takes in a way. Returns
    /// the time in each way, the settled way at the end, and the number of changes.
    fn run(
        seconds: u64,
        signs: Signs,
        mut took: impl FnMut(u64, Way) -> u64,
    ) -> ([u64; 2], Way, u32) {
        let us = |us| Native::duration_to_ticks(Duration::from_micros(us));
        let (mut trials, mut now, mut spent, mut changes) = (Trials::new(), 1, [0; 2], 0);
        for interval in 0.. {
            let (way, changed) = trials.begin(8 * (interval as usize % 5), now, signs);
            changes += u32::from(changed);
            let took = us(took(interval, way));
            spent[usize::from(way == Way::AtHome)] += took;
            now += took;
            if now > us(seconds * 1_000_000) {
                break;
            }
        }
        (spent, trials.settled, changes)
    }

    #[test]
    fn a_program_that_loses_by_being_carried_is_not_carried() {
        let took = |_, way| if way == Way::Carried { 300 } else { 100 };
        let ([carried, home], way, changes) = run(20, Signs::None, took);
        assert_eq!((way, changes), (Way::AtHome, 1));
        assert!(carried < home / 8, "{carried} {home}");
        // The change happens sooner with signs of trouble.
        for signs in [Signs::Waited, Signs::Blocked] {
            let ([carried, home], way, changes) = run(2, signs, took);
            assert_eq!((way, changes), (Way::AtHome, 1));
            assert!(carried < home / 5, "{carried} {home}");
        }
    }

    #[test]
    fn a_program_that_gains_is_tried_for_a_bounded_share() {
        for us in [5, 100, 2_000, 30_000] {
            let took = |_, way| if way == Way::Carried { us } else { us * 4 / 3 };
            let ([carried, home], way, changes) = run(40, Signs::None, took);
            assert_eq!((way, changes), (Way::Carried, 0), "{us}");
            assert!(home < carried / 25, "{us}: {carried} {home}");
        }
        // Signs of trouble do not keep trials going.
        let took = |_, way| if way == Way::Carried { 100 } else { 133 };
        for signs in [Signs::Waited, Signs::Blocked] {
            let ([carried, home], way, _) = run(40, signs, took);
            assert_eq!(way, Way::Carried);
            assert!(home < carried / 25, "{carried} {home}");
        }
    }

    #[test]
    fn ranks_that_spin_are_not_sent_home() {
        let took = |_, way| if way == Way::Carried { 100 } else { 100_000 };
        let ([_, home], way, changes) = run(20, Signs::Spun, took);
        assert_eq!((home, way, changes), (0, Way::Carried, 0));
    }

    #[test]
    fn noise_decides_nothing() {
        // In both ways, another process has the core at times.
        let took = |interval: u64, _| {
            if interval.is_multiple_of(37) {
                4_000
            } else {
                100
            }
        };
        let (_, way, changes) = run(60, Signs::None, took);
        assert_eq!((way, changes), (Way::Carried, 0));
    }

    #[test]
    fn a_program_that_changes_is_followed() {
        let took = |interval, way| match (way, interval < 20_000) {
            (Way::Carried, true) | (Way::AtHome, false) => 300,
            _ => 100,
        };
        let (_, way, changes) = run(120, Signs::None, took);
        assert_eq!((way, changes), (Way::Carried, 2));
    }
}
