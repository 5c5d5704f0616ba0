//! The session of a team: it checks that the barrier holds back each member, warms up, and takes
//! samples of many episodes.

use super::contestant::Member;
use anyhow::{Result, ensure};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The approximate durations of a session's parts.
#[derive(Clone, Copy)]
pub struct Plan {
    pub warm_up: Duration,
    pub sampling: Duration,
    pub sample: Duration,
}

/// Checked episodes before the measurements.
const CHECKS: usize = 100;

/// The data that the members of one team share.
pub struct Session {
    plan: Plan,
    threads: usize,
    arrivals: AtomicUsize,
    /// How often a member left the barrier before all had arrived.
    misses: AtomicUsize,
    /// The number of episodes of the next sample; 0 at the end.
    episodes: AtomicU32,
    /// Nanoseconds an episode.
    samples: Mutex<Vec<f64>>,
}

impl Session {
    pub fn new(threads: usize, plan: Plan) -> Self {
        Self {
            plan,
            threads,
            arrivals: AtomicUsize::new(0),
            misses: AtomicUsize::new(0),
            episodes: AtomicU32::new(0),
            samples: Mutex::default(),
        }
    }

    /// Runs the session on the thread of `rank`. Returns when all members have finished.
    pub fn take_part(&self, rank: usize, member: &mut dyn Member) {
        self.check(member);
        if rank == 0 {
            let samples = self.lead(member);
            *self.samples.lock().expect("no holder panics") = samples;
        } else {
            self.follow(member);
        }
    }

    /// The samples, in nanoseconds an episode.
    ///
    /// # Errors
    ///
    /// If a member left the barrier before all had arrived.
    pub fn into_samples(self) -> Result<Vec<f64>> {
        let misses = self.misses.into_inner();
        ensure!(
            misses == 0,
            "{misses} times a member left the barrier before all {} members had arrived, or the \
             team had fewer members",
            self.threads
        );
        Ok(self.samples.into_inner().expect("no holder panics"))
    }

    fn check(&self, member: &mut dyn Member) {
        for arrivals in (1..=CHECKS).map(|round| round * self.threads) {
            // Relaxed, here and below: the barrier must order these accesses.
            self.arrivals.fetch_add(1, Ordering::Relaxed);
            member.wait(1);
            if self.arrivals.load(Ordering::Relaxed) != arrivals {
                self.misses.fetch_add(1, Ordering::Relaxed);
            }
            member.wait(1);
        }
    }

    fn lead(&self, member: &mut dyn Member) -> Vec<f64> {
        let mut episodes = 1;
        let started = Instant::now();
        while started.elapsed() < self.plan.warm_up {
            let time = self.time(member, episodes);
            episodes = self.next(episodes, time);
        }
        let mut samples = vec![];
        let started = Instant::now();
        while samples.is_empty() || started.elapsed() < self.plan.sampling {
            let time = self.time(member, episodes);
            samples.push(time.as_nanos() as f64 / f64::from(episodes));
            episodes = self.next(episodes, time);
        }
        self.announce(member, 0);
        samples
    }

    /// The number of episodes of the next sample, after a sample of `episodes` that took `took`: at
    /// most twice as many, at least half. On shared CPUs a sample can be a thousand times as slow
    /// as the one before.
    fn next(&self, episodes: u32, took: Duration) -> u32 {
        let fitting = self.plan.sample.div_duration_f64(took) * f64::from(episodes);
        // The cast saturates; the last bound covers that.
        (fitting as u32)
            .clamp(episodes / 2, 2 * episodes)
            .clamp(1, 1 << 20)
    }

    /// The time of `episodes` episodes on the leader.
    fn time(&self, member: &mut dyn Member, episodes: u32) -> Duration {
        self.announce(member, episodes);
        let began = Instant::now();
        member.wait(episodes);
        began.elapsed()
    }

    /// Publishes the number of episodes. Every member has read the previous number, since it has
    /// arrived at an episode of that sample.
    fn announce(&self, member: &mut dyn Member, episodes: u32) {
        self.episodes.store(episodes, Ordering::Relaxed);
        member.wait(1);
    }

    fn follow(&self, member: &mut dyn Member) {
        loop {
            member.wait(1);
            match self.episodes.load(Ordering::Relaxed) {
                0 => return,
                episodes => member.wait(episodes),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    const SHORT: Plan = Plan {
        warm_up: Duration::ZERO,
        sampling: Duration::ZERO,
        sample: Duration::from_millis(1),
    };

    #[test]
    fn a_barrier_is_measured() {
        let (session, barrier) = (Session::new(3, SHORT), Barrier::new(3));
        std::thread::scope(|scope| {
            for rank in 0..3 {
                let (session, barrier) = (&session, &barrier);
                scope.spawn(move || session.take_part(rank, &mut &*barrier));
            }
        });
        let samples = session.into_samples().unwrap();
        assert!(matches!(samples[..], [ns] if ns > 0.0), "{samples:?}");
    }

    #[test]
    fn samples_at_most_double_or_halve() {
        let session = Session::new(1, SHORT);
        let next = |episodes, us| session.next(episodes, Duration::from_micros(us));
        assert_eq!(next(1_000, 800), 1_250);
        assert_eq!(next(1_000, 0), 2_000);
        assert_eq!(next(1_000, 900_000), 500);
        assert_eq!(next(1, 900_000), 1);
        assert_eq!(next(1 << 20, 1), 1 << 20);
    }

    /// A barrier that never waits.
    struct Open;

    impl Member for Open {
        fn wait(&mut self, _: u32) {}
    }

    #[test]
    fn a_barrier_that_holds_no_thread_back_is_caught() {
        let session = Session::new(2, SHORT);
        session.take_part(0, &mut Open);
        session.take_part(1, &mut Open);
        let said = session.into_samples().unwrap_err().to_string();
        assert!(said.contains("before all 2 members had arrived"), "{said}");
    }
}
