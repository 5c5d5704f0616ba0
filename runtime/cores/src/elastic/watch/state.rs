//! The state of a watch: what it has observed, and what it decides.

use super::neighbours::Neighbours;
use super::pace::{Pace, QuotaPace, is_for_one};
use super::sources::Sources;
use crate::topology::Quota;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// How often the watch reads the affinity mask, which takes some 50 us of processor time.
pub(super) const MASK: Duration = Duration::from_millis(10);
/// How often the watch reads the control groups' files, and how often it looks up the groups themselves.
pub(super) const FILES: Duration = Duration::from_millis(100);
pub(super) const GROUPS: Duration = Duration::from_millis(500);
/// While the watch paces a quota, it reads files and looks up groups more often by this factor.
const PACED: u32 = 5;
/// The watch rests when it has not been needed for this long.
const REST: Duration = Duration::from_secs(1);
/// How long a smaller quota must last before the watch obeys it. A larger quota, or the loss of a CPU, counts at once.
pub(super) const HOLD: Duration = Duration::from_millis(50);

pub(super) struct WatchState {
    pub(super) sources: Sources,
    pub(super) cap: Option<NonZeroUsize>,
    /// The use by other processes. `None` while the watch does not heed them.
    pub(super) neighbours: Option<Neighbours>,
    /// The quota that the watch obeys.
    pub(super) quota: Option<Quota>,
    /// The time since which the system has granted less than `quota`.
    smaller_since: Option<Instant>,
    pace: QuotaPace,
    /// The last decision of the pace. `None` if there is no quota below `cpus`, or if it is for one worker.
    pub(super) paced: Option<Pace>,
    /// When files and groups are due, on the clock of the sources.
    files_at: Duration,
    groups_at: Duration,
    pub(super) is_idle: Option<IsIdle>,
    /// The time since which each call of `is_idle` has returned `true`.
    idle_since: Option<Duration>,
    /// Whether the thread sleeps until it is woken.
    pub(super) rests: bool,
    pub(super) stop: bool,
}

/// A user's function that returns whether the watch is not needed. The argument says whether the watch will rest if
/// the function returns `true`.
type IsIdle = fn(bool) -> bool;

impl WatchState {
    pub(super) fn new(sources: Sources) -> Self {
        let quota = sources.quota();
        Self {
            sources,
            cap: None,
            neighbours: None,
            quota,
            smaller_since: None,
            pace: QuotaPace::new(),
            paced: None,
            files_at: FILES,
            groups_at: GROUPS,
            is_idle: None,
            idle_since: None,
            rests: false,
            stop: false,
        }
    }

    /// Reads the sources that are due, and sets the pace. Returns when to look again.
    pub(super) fn look(&mut self, now: Duration) -> Duration {
        // The counter is read first, so that its value belongs to `now`.
        self.keep_pace(now);
        self.sources.read_mask();
        let often = if self.paced.is_some() { PACED } else { 1 };
        if now >= self.groups_at {
            self.sources.find();
            self.groups_at = now + GROUPS / often;
        }
        if now >= self.files_at {
            self.sources.read_files();
            self.follow_quota(Instant::now());
            self.files_at = now + FILES / often;
        }
        self.count_neighbours(now);
        self.paced.map_or(now + MASK, |pace| pace.next)
    }

    /// Whether the watch was not needed for [`REST`]. `is_idle` says whether it is not needed now.
    pub(super) fn may_rest(&mut self, now: Duration, is_idle: bool) -> bool {
        if !is_idle {
            self.idle_since = None;
            return false;
        }
        let since = *self.idle_since.get_or_insert(now);
        now.saturating_sub(since) >= REST
    }

    /// Forgets the counts from before a rest, and makes all sources due.
    pub(super) fn has_rested(&mut self) {
        self.idle_since = None;
        (self.files_at, self.groups_at) = (Duration::ZERO, Duration::ZERO);
        if let Some(neighbours) = &mut self.neighbours {
            *neighbours = Neighbours::default();
        }
    }

    fn count_neighbours(&mut self, now: Duration) {
        let due = self.neighbours.as_mut().filter(|it| it.is_due(now));
        if let Some((neighbours, load)) = due.zip(self.sources.load(now)) {
            neighbours.learn(load);
        }
    }

    /// Obeys a larger quota at once, and a smaller quota when it has lasted for [`HOLD`].
    pub(super) fn follow_quota(&mut self, now: Instant) {
        let (old, new) = (self.quota, self.sources.quota());
        let cpus = |quota: Option<Quota>| quota.map_or(f64::INFINITY, |quota| quota.cpus);
        let mut lasted = || now.duration_since(*self.smaller_since.get_or_insert(now));
        if cpus(new) >= cpus(old) || lasted() >= HOLD {
            (self.quota, self.smaller_since) = (new, None);
        }
    }

    fn keep_pace(&mut self, now: Duration) {
        match self.quota {
            Some(quota) if quota.cpus < self.sources.cpus() as f64 && !is_for_one(quota.cpus) => {
                let usage = self.sources.usage(&quota, now);
                self.paced = Some(self.pace.look(quota.cpus, quota.period, usage));
            }
            _ if self.paced.is_some() => (self.pace, self.paced) = (QuotaPace::new(), None),
            _ => {}
        }
    }

    /// The allotment's new number of cores, computed from the last reads.
    pub(super) fn capped(&self) -> usize {
        let cap = self.cap.map_or(usize::MAX, NonZeroUsize::get);
        let paced = match (self.paced, self.quota) {
            (Some(pace), _) => pace.workers,
            (None, Some(quota)) if is_for_one(quota.cpus) => 1,
            _ => usize::MAX,
        };
        let cpus = self.sources.cpus();
        let left = (self.neighbours.as_ref()).map_or(cpus, |neighbours| neighbours.leave(cpus));
        // 65,535 is the largest allotment.
        left.min(cap).min(paced).min(65_535)
    }

    /// The first number of cores.
    pub(super) fn cores(&mut self) -> usize {
        self.keep_pace(self.sources.now());
        self.capped()
    }
}
