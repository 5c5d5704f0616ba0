//! What a team does with its barrier: it shows that the barrier is one, warms up, and
//! goes through as many episodes as a sample takes, again and again.

use crate::contestant::Member;
use anyhow::{Result, ensure};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long everything takes, about.
#[derive(Clone, Copy)]
pub struct Plan {
    pub warm_up: Duration,
    pub sampling: Duration,
    pub sample: Duration,
}

/// Arrivals that are counted before anything is measured, by each member.
const CHECKS: usize = 100;

/// What the members of one team share.
pub struct Session {
    plan: Plan,
    threads: usize,
    arrivals: AtomicUsize,
    /// Members that went through the barrier and missed an arrival.
    misses: AtomicUsize,
    /// Of the next sample; none at the end.
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

    /// What the thread of that rank does. It returns when all are through.
    pub fn take_part(&self, rank: usize, member: &mut dyn Member) {
        self.check(member);
        if rank == 0 {
            let samples = self.lead(member);
            *self.samples.lock().expect("nobody panics with it") = samples;
        } else {
            self.follow(member);
        }
    }

    /// Nanoseconds an episode, one a sample.
    ///
    /// # Errors
    ///
    /// When somebody left the barrier before all had arrived.
    pub fn into_samples(self) -> Result<Vec<f64>> {
        let misses = self.misses.into_inner();
        ensure!(
            misses == 0,
            "{misses} times a member left before all {} had arrived, or there were fewer",
            self.threads
        );
        Ok(self.samples.into_inner().expect("nobody panics with it"))
    }

    fn check(&self, member: &mut dyn Member) {
        for arrivals in (1..=CHECKS).map(|round| round * self.threads) {
            // Relaxed, here and below: to order this is the barrier's business.
            self.arrivals.fetch_add(1, Ordering::Relaxed);
            member.wait(1);
            if self.arrivals.load(Ordering::Relaxed) != arrivals {
                self.misses.fetch_add(1, Ordering::Relaxed);
            }
            member.wait(1);
        }
    }

    fn lead(&self, member: &mut dyn Member) -> Vec<f64> {
        let (mut taken, mut gone) = (Duration::ZERO, 0);
        let mut episodes = 1;
        let started = Instant::now();
        while started.elapsed() < self.plan.warm_up {
            taken += self.time(member, episodes);
            gone += u64::from(episodes);
            // By the mean, since on shared CPUs few episodes take most of the time.
            episodes = self.in_a_sample(taken, gone).min(2 * episodes);
        }
        let mut samples = vec![];
        let started = Instant::now();
        while samples.is_empty() || started.elapsed() < self.plan.sampling {
            let time = self.time(member, episodes);
            samples.push(time.as_nanos() as f64 / f64::from(episodes));
        }
        self.announce(member, 0);
        samples
    }

    /// Episodes in a sample, when so many took so long.
    fn in_a_sample(&self, taken: Duration, gone: u64) -> u32 {
        let one = taken.as_secs_f64() / gone as f64;
        // Too many are cut off, also where the clock saw nothing pass.
        ((self.plan.sample.as_secs_f64() / one) as u32).clamp(1, 1 << 20)
    }

    /// From the leader's leaving one episode to its leaving the last of so many more.
    fn time(&self, member: &mut dyn Member, episodes: u32) -> Duration {
        self.announce(member, episodes);
        let began = Instant::now();
        member.wait(episodes);
        began.elapsed()
    }

    /// Nobody reads the number that was there before: all that did have arrived at an
    /// episode of that sample, since it had one.
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

    /// Lets everybody pass.
    struct Open;

    impl Member for Open {
        fn wait(&mut self, _: u32) {}
    }

    #[test]
    fn what_holds_nobody_back_is_caught() {
        let session = Session::new(2, SHORT);
        session.take_part(0, &mut Open);
        session.take_part(1, &mut Open);
        let said = session.into_samples().unwrap_err().to_string();
        assert!(said.contains("before all 2 had arrived"), "{said}");
    }
}
