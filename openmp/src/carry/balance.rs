//! Moves the boundary between the parts of two workers (kernel threads that execute the ranks of a team) towards the
//! worker that finishes later.
//!
//! A [plan](super::division) knows the ranks' times, but not the other costs between two barriers. For example, a rank
//! that continues on another worker misses its cached memory, signals arrive later on one core, or two ranks slow each
//! other down. All these costs have one effect: of two neighbouring workers, one finishes later. Both workers run a
//! part of the rank at their boundary. The balance gives the worker that finishes earlier a little more of that rank,
//! until each worker is the later one equally often. The balance moves by a fixed step, not by a share of the
//! difference in time: large differences often come from another process, and would teach nothing.

/// A step is the rank's time divided by this.
const STEP: u64 = 128;

/// The offsets of the boundaries in one interval, the code after a barrier.
#[derive(Clone, Default)]
pub(super) struct Balance {
    site: usize,
    /// For each worker, the difference in ticks between the planned part of the rank that it begins and its actual
    /// part.
    moved: Vec<i64>,
    /// The greatest possible move of each boundary. 0 if the boundary is not in a rank.
    room: Vec<u64>,
}

impl Balance {
    /// Begins an episode (a run) of the interval after `site` on this number of workers. If the interval or the number
    /// has changed, there are no offsets at first.
    pub(super) fn begin(&mut self, site: usize, workers: usize) {
        if self.site != site || self.moved.len() != workers {
            self.site = site;
            self.moved.clear();
            self.moved.resize(workers, 0);
        }
        self.room.clear();
        self.room.resize(workers, 0);
    }

    /// Returns the worker's part of the rank that it begins. The plan gives the worker `planned` of the rank's `whole`
    /// ticks.
    pub(super) fn head(&mut self, worker: usize, planned: u64, whole: u64) -> u64 {
        let room = planned.min(whole.saturating_sub(planned)) / 2;
        self.room[worker] = room;
        let moved = self.moved[worker];
        let most = i64::try_from(room).unwrap_or(i64::MAX);
        planned.saturating_add_signed(-moved.clamp(-most, most))
    }

    /// The number of ranks that are to be cut (executed partly by one worker and partly by the next).
    pub(super) fn cuts(&self) -> u32 {
        self.room.iter().filter(|&&room| room > 0).count() as u32
    }

    /// Learns from an episode in which workers divided ranks between them. `done` returns the time at which a worker had
    /// finished.
    pub(super) fn learn(&mut self, done: impl Fn(usize) -> u64) {
        for worker in 1..self.moved.len() {
            let step = (2 * self.room[worker] / STEP).cast_signed();
            let most = self.room[worker].cast_signed();
            let towards = match done(worker).cmp(&done(worker - 1)) {
                std::cmp::Ordering::Greater => step,
                std::cmp::Ordering::Less => -step,
                std::cmp::Ordering::Equal => 0,
            };
            if most > 0 {
                self.moved[worker] = (self.moved[worker] + towards).clamp(-most, most);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs episodes with a rank of 1,000 ticks that worker 1 begins and worker 0 finishes. Worker 0 has 700 other
    /// ticks. Worker 1 has 700 other ticks, and `more` ticks that the plan does not contain. Returns worker 1's part of
    /// the rank at the end.
    fn learned(more: u64, noise: impl Fn(u64) -> u64) -> u64 {
        let mut balance = Balance::default();
        let mut head = 0;
        for time in 0..500 {
            balance.begin(1, 2);
            head = balance.head(1, 500, 1_000);
            let done = [
                1_700 - head + noise(2 * time),
                700 + more + head + noise(2 * time + 1),
            ];
            balance.learn(|worker| done[worker]);
        }
        head
    }

    #[test]
    fn workers_are_done_together_after_a_while() {
        for more in [0, 40, 100, 300] {
            let expected = 500 - more / 2;
            assert!(learned(more, |_| 0).abs_diff(expected) <= 8, "{more}");
        }
        // The boundary moves by at most half of the plan.
        assert_eq!(learned(900, |_| 0), 250);
    }

    #[test]
    fn rare_delays_move_nothing() {
        let rarely = |time: u64| if time.is_multiple_of(10) { 5_000 } else { 0 };
        assert!(learned(40, rarely).abs_diff(480) <= 40);
    }

    #[test]
    fn another_interval_begins_anew() {
        let mut balance = Balance::default();
        balance.begin(1, 2);
        balance.head(1, 500, 1_000);
        balance.learn(|worker| worker as u64);
        balance.begin(1, 2);
        assert!(balance.head(1, 500, 1_000) < 500);
        balance.begin(2, 2);
        assert_eq!(balance.head(1, 500, 1_000), 500);
        balance.learn(|worker| 1 - worker as u64);
        balance.begin(2, 3);
        assert_eq!(balance.head(1, 500, 1_000), 500);
    }

    #[test]
    fn where_nothing_is_cut_nothing_is_learned() {
        let mut balance = Balance::default();
        balance.begin(1, 2);
        balance.learn(|worker| worker as u64);
        assert_eq!(balance.head(1, 500, 1_000), 500);
    }
}
