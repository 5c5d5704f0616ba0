//! The planner learns the work of ranks (parts of a program) and decides how intervals are run. An interval is the work
//! between two barriers, and an episode one run of an interval. The worker that completes an episode uses the planner
//! before it opens the next episode.

use super::estimate::Estimates;
use super::plan::{Cut, Plan, even_span, ideal_span, shared};
use super::{Policy, Site};
use manycore_platform::{Atomic, Ordering, Platform};

/// The number of remembered sites. A new site (where an interval begins) replaces the site that was learned first.
const SITES: usize = 32;
/// An interval is unstable if its estimates have been wrong by more than this part.
const UNSTABLE: f64 = 0.1;
/// After the first few times, learning takes at most the time divided by this.
const LEARNING_SHARE: u64 = 50;
const ALWAYS_LEARNED: u32 = 3;
/// A difference below the span divided by this is too slight for a cut or a change.
const SLIGHT: u64 = 64;
/// The highest cost of a cut (a rank divided between two workers), in ticks: some months, so there are no cuts. Sums
/// with this number do not overflow, and a quantum fits its word.
const MOST_SWITCH: u64 = 1 << 56;

/// How an interval is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// Ranks are divided by number.
    Even,
    /// Ranks are divided by the plan of this interval.
    Planned(usize),
    /// Ranks take turns of this many ticks.
    Turns(u64),
}

/// The planner's decisions, as workers read them.
///
/// All accesses are relaxed. The words are written before a release opens the episode, and read after an acquire of
/// the opening. A late worker may read the words of a later episode. In that case the worker can claim no rank (see
/// `README.md`), so its decisions have no effect.
pub struct Schedule<P: Platform> {
    way: P::AtomicU64,
    cores: P::AtomicU32,
}

/// The plan of each remembered interval.
pub struct Plans<P: Platform>(Box<[Entries<P>]>);

struct Entries<P: Platform> {
    /// The beginning of each core's part.
    cuts: Box<[P::AtomicU64]>,
    /// The ranks in the order of division.
    order: Box<[P::AtomicU32]>,
}

impl<P: Platform> Schedule<P> {
    /// Makes a schedule that divides ranks by number among `cores` cores.
    pub fn new(cores: usize) -> Self {
        Self {
            way: P::AtomicU64::new(encode(Division::Even)),
            cores: P::AtomicU32::new(cores as u32),
        }
    }

    fn set(&self, way: Division, cores: usize) {
        self.way.store(encode(way), Ordering::Relaxed);
        self.cores.store(cores as u32, Ordering::Relaxed);
    }

    /// Returns how ranks are divided in the episode, and among how many cores.
    pub fn get(&self) -> (Division, usize) {
        let cores = self.cores.load(Ordering::Relaxed) as usize;
        (decode(self.way.load(Ordering::Relaxed)), cores)
    }
}

fn encode(way: Division) -> u64 {
    match way {
        Division::Even => 0,
        Division::Planned(interval) => (interval as u64) << 2 | 1,
        Division::Turns(quantum) => quantum << 2 | 2,
    }
}

fn decode(way: u64) -> Division {
    match way & 3 {
        0 => Division::Even,
        1 => Division::Planned((way >> 2) as usize),
        _ => Division::Turns(way >> 2),
    }
}

/// The budget is in the low bits of a plan's entry, and the rank is in the bits above.
const BUDGET_BITS: u32 = 48;

impl<P: Platform> Plans<P> {
    /// Makes space for plans of up to `cores` cores and `ranks` ranks.
    pub fn new(cores: usize, ranks: usize) -> Self {
        let entries = |_| Entries {
            cuts: (0..=cores).map(|_| P::AtomicU64::new(0)).collect(),
            order: (0..ranks).map(|_| P::AtomicU32::new(0)).collect(),
        };
        Self((0..SITES).map(entries).collect())
    }

    fn set(&self, interval: usize, plan: &Plan) {
        let entries = &self.0[interval];
        for (entry, cut) in entries.cuts.iter().zip(&plan.cuts) {
            let budget = cut.budget.min((1 << BUDGET_BITS) - 1);
            let cut = (cut.rank as u64) << BUDGET_BITS | budget;
            entry.store(cut, Ordering::Relaxed);
        }
        for (entry, &rank) in entries.order.iter().zip(&plan.order) {
            entry.store(rank as u32, Ordering::Relaxed);
        }
    }

    /// The rank at a place in the order of division.
    pub fn rank(&self, interval: usize, place: usize) -> usize {
        self.0[interval].order[place].load(Ordering::Relaxed) as usize
    }

    /// The beginning of a core's part. For the number after the last core, returns the end.
    pub fn get(&self, interval: usize, core: usize) -> Cut {
        let entry = self.0[interval].cuts[core].load(Ordering::Relaxed);
        Cut {
            rank: (entry >> BUDGET_BITS) as usize,
            budget: entry & ((1 << BUDGET_BITS) - 1),
        }
    }
}

/// What is known about the work after one site.
struct Interval {
    site: Site,
    estimates: Estimates,
    /// The time spent in this interval since the planner last learned from it.
    unlearned: u64,
    /// The number of cores of the plan, or 0 if there is no plan yet.
    cores: usize,
    way: Division,
    plan: Plan,
}

/// Plans the intervals of one run of a team, by the times measured in earlier intervals.
pub struct Planner {
    policy: Policy,
    ranks: usize,
    /// The cost of a cut, in ticks.
    switch: u64,
    /// The extra time of a cut rank on its first core.
    overhead: u64,
    /// Whether unstable intervals are planned too.
    always: bool,
    intervals: Vec<Interval>,
    current: usize,
    oldest: usize,
    opened: u64,
    work: Vec<u64>,
    plan: Plan,
}

impl Planner {
    /// Makes a planner that knows nothing yet. `switch` is the cost of a cut, in ticks.
    pub fn new(policy: Policy, ranks: usize, switch: u64) -> Self {
        let mut planner = Self {
            policy,
            ranks,
            switch: switch.min(MOST_SWITCH),
            overhead: 0,
            always: false,
            intervals: vec![],
            current: 0,
            oldest: 0,
            opened: 0,
            work: vec![],
            plan: Plan::default(),
        };
        planner.remember(Site::START);
        planner
    }

    /// Plans unstable intervals too. This is for a runtime that could otherwise only leave ranks uncut.
    pub fn always(mut self) -> Self {
        self.always = true;
        self
    }

    /// Makes a cut rank `overhead` ticks longer on its first core. The times that
    /// [`close`](Self::close) gets do not contain this.
    pub fn charge(&mut self, overhead: u64) {
        self.overhead = overhead;
    }

    /// Begins the first interval now.
    pub fn begin<P: Platform>(&mut self) {
        self.opened = P::now();
    }

    /// Learns from the episode that is over. `took` is the time of each rank.
    pub fn close<P: Platform>(&mut self, took: impl Iterator<Item = u64>) {
        if self.policy == Policy::Fifo {
            return;
        }
        let now = P::now();
        let interval = &mut self.intervals[self.current];
        interval.unlearned += now.saturating_sub(self.opened);
        // Reading a rank's time is a cache miss, about 30 ns.
        let cost = P::ticks_per_ns() * 30.0 * self.ranks as f64;
        if interval.estimates.times() < ALWAYS_LEARNED
            || interval.unlearned > LEARNING_SHARE * cost as u64
        {
            interval.estimates.learn(took);
            interval.unlearned = 0;
            interval.cores = 0;
        }
    }

    /// Decides how `cores` run the interval after `site`.
    pub fn open<P: Platform>(
        &mut self,
        site: Site,
        cores: usize,
        schedule: &Schedule<P>,
        plans: &Plans<P>,
    ) {
        self.current = self.find(site);
        let interval = &mut self.intervals[self.current];
        if interval.cores != cores && interval.estimates.times() > 0 {
            interval.estimates.work(&mut self.work);
            let span = ideal_span(&self.work, cores) + shared(self.overhead, cores);
            let mut slight = (2 * self.switch).max(span / SLIGHT);
            if self.always {
                // Noise between equal ranks is no reason for a plan either.
                slight = slight.max((span as f64 * interval.estimates.error() / 2.0) as u64);
            }
            interval.way = match self.policy {
                Policy::Fifo => Division::Even,
                // With less than this, a cut would gain too little.
                _ if even_span(&self.work, cores).saturating_sub(span) <= slight => Division::Even,
                Policy::Wrap if self.always || interval.estimates.error() <= UNSTABLE => {
                    let least = (2 * self.switch).max(span / (2 * SLIGHT)) + self.overhead;
                    self.plan.make(&self.work, cores, least, self.overhead);
                    if differ(&self.plan, &interval.plan, span / SLIGHT) {
                        plans.set(self.current, &self.plan);
                        std::mem::swap(&mut self.plan, &mut interval.plan);
                    }
                    Division::Planned(self.current)
                }
                _ => {
                    let quantum = (self.switch as f64 * span as f64).sqrt() as u64;
                    Division::Turns(quantum.max(2 * self.switch))
                }
            };
            interval.cores = cores;
        }
        schedule.set(interval.way, cores);
        if self.policy != Policy::Fifo {
            self.opened = P::now();
        }
    }

    /// The number of the open interval. When an interval is forgotten, another interval gets its number.
    pub fn interval(&self) -> usize {
        self.current
    }

    /// The estimated work of each rank in the open interval, in ticks.
    pub fn work(&self, into: &mut Vec<u64>) {
        self.intervals[self.current].estimates.work(into);
    }

    /// The interval after `site`. The search begins after the current interval, because programs
    /// repeat a sequence of sites.
    fn find(&mut self, site: Site) -> usize {
        let known = self.intervals.len();
        let after = (1..=known).map(|ahead| (self.current + ahead) % known);
        let found = { after }.find(|&interval| self.intervals[interval].site == site);
        found.unwrap_or_else(|| self.remember(site))
    }

    fn remember(&mut self, site: Site) -> usize {
        let interval = Interval {
            site,
            estimates: Estimates::new(self.ranks),
            unlearned: 0,
            cores: 0,
            way: Division::Even,
            plan: Plan::default(),
        };
        if self.intervals.len() < SITES {
            self.intervals.push(interval);
            return self.intervals.len() - 1;
        }
        let place = self.oldest;
        self.oldest = (place + 1) % SITES;
        self.intervals[place] = interval;
        place
    }
}

/// Whether two plans differ by more than `slightly` ticks.
fn differ(these: &Plan, those: &Plan, slightly: u64) -> bool {
    let differs = |(this, that): (&Cut, &Cut)| {
        this.rank != that.rank
            || (this.budget == 0) != (that.budget == 0)
            || this.budget.abs_diff(that.budget) > slightly
    };
    these.order != those.order
        || these.cuts.len() != those.cuts.len()
        || these.cuts.iter().zip(&those.cuts).any(differs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_platform::Native;

    const RANKS: usize = 3;

    struct Trial {
        planner: Planner,
        schedule: Schedule<Native>,
        plans: Plans<Native>,
    }

    impl Trial {
        fn new(policy: Policy) -> Self {
            Self {
                planner: Planner::new(policy, RANKS, 100),
                schedule: Schedule::new(2),
                plans: Plans::new(2, RANKS),
            }
        }

        /// Ends an episode. Returns how the next episode, which begins at `site`, is divided.
        fn episode(&mut self, took: u64, site: Site, cores: usize) -> Division {
            self.planner.close::<Native>([took; RANKS].into_iter());
            // The interval seems long enough for the planner to learn from each episode.
            self.planner.opened = 0;
            (self.planner).open(site, cores, &self.schedule, &self.plans);
            self.planner.opened = 0;
            assert_eq!(self.schedule.get().1, cores);
            self.schedule.get().0
        }
    }

    #[test]
    fn each_site_is_learned_by_itself() {
        let mut trial = Trial::new(Policy::Wrap);
        let (long, short) = (Site::named("long"), Site::named("short"));
        assert_eq!(trial.episode(100, long, 2), Division::Even);
        assert_eq!(trial.episode(1_000_000, short, 2), Division::Even);
        let Division::Planned(plan) = trial.episode(50, long, 2) else {
            panic!("{:?}", trial.schedule.get());
        };
        let cut = trial.plans.get(plan, 1);
        assert_eq!(
            cut,
            Cut {
                rank: 1,
                budget: 500_000
            }
        );
        // The interval is too short for cuts.
        assert_eq!(trial.episode(1_000_000, short, 2), Division::Even);
        // A single core has no core to share with.
        assert_eq!(trial.episode(50, long, 1), Division::Even);
    }

    #[test]
    fn ranks_take_turns_while_an_interval_is_unstable() {
        let mut trial = Trial::new(Policy::Wrap);
        let site = Site::named("changing");
        trial.episode(100, site, 2);
        for time in 0..10 {
            let way = trial.episode(1_000_000 + 400_000 * (time % 2), site, 2);
            if time == 1 || time > 4 {
                assert!(matches!(way, Division::Turns(_)), "{time}: {way:?}");
            }
        }
        let ways: Vec<_> = (0..10).map(|_| trial.episode(1_400_000, site, 2)).collect();
        assert!(matches!(ways[9], Division::Planned(_)), "{ways:?}");
    }

    #[test]
    fn with_always_it_plans_unless_noise_exceeds_the_gain() {
        for (ranks, planned) in [(3, true), (4, false)] {
            let mut planner = Planner::new(Policy::Wrap, ranks, 100).always();
            let (schedule, plans) = (Schedule::<Native>::new(2), Plans::new(2, ranks));
            for time in 0..10 {
                let noise = |rank: usize| 1_000_000 + 300_000 * u64::from((rank + time) % 3 == 0);
                planner.close::<Native>((0..ranks).map(noise));
                planner.opened = 0;
                planner.open(Site::START, 2, &schedule, &plans);
                planner.opened = 0;
            }
            let way = schedule.get().0;
            assert_eq!(
                matches!(way, Division::Planned(_)),
                planned,
                "{ranks}: {way:?}"
            );
        }
    }

    #[test]
    fn the_policy_decides_the_division() {
        for (policy, turns) in [(Policy::Fifo, false), (Policy::RoundRobin, true)] {
            let mut trial = Trial::new(policy);
            trial.episode(1_000_000, Site::START, 2);
            let way = trial.episode(1_000_000, Site::START, 2);
            // sqrt(100 * 1,500,000)
            let expected = if turns {
                Division::Turns(12_247)
            } else {
                Division::Even
            };
            assert_eq!(way, expected);
        }
    }

    #[test]
    fn at_the_highest_cost_no_rank_is_cut() {
        for policy in [Policy::Wrap, Policy::RoundRobin] {
            let mut trial = Trial::new(policy);
            trial.planner = Planner::new(policy, RANKS, u64::MAX);
            for _ in 0..5 {
                let way = trial.episode(1_000_000, Site::START, 2);
                assert_eq!(way, Division::Even);
            }
        }
    }

    #[test]
    fn more_sites_than_are_remembered() {
        let mut trial = Trial::new(Policy::Wrap);
        let names: Vec<String> = (0..100).map(|name| name.to_string()).collect();
        for name in names {
            trial.episode(1_000_000, Site::named(name.leak()), 2);
        }
        assert_eq!(trial.planner.intervals.len(), SITES);
    }
}
