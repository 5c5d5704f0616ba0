//! The clients of a server. Each requests one parallel loop a period, on a schedule that does not
//! depend on the answers.

use crate::child::clocks;
use crate::peer::{Clients, Loops, Peer};
use crate::protocol::Outcome;
use crate::tasks;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The requests of all clients, the same for every contestant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Traffic {
    pub clients: usize,
    /// Iterations of a request's loop.
    pub iterations: usize,
    /// Dependent multiplications of an iteration.
    pub steps: u32,
    /// The greatest random delay of a request after the start of its period.
    pub jitter_us: u64,
    /// The seed of the clients' phases and of the jitter.
    pub seed: u64,
    /// The numbers of periods before counting, and of counted periods.
    pub warm_up: usize,
    pub counted: usize,
}

/// The time between scheduled requests of a client, without the jitter.
pub const PERIOD: Duration = Duration::from_millis(2);
/// Clients begin at even distances. Each is late by a random time, up to a fourth of a period.
const PHASE: Duration = Duration::from_micros(500);
/// The time to start all clients' threads.
const LEAD: Duration = Duration::from_millis(10);
/// After this multiple of the scheduled time, clients give up on a slow server.
const PATIENCE: u32 = 3;

/// The observations of one client.
#[derive(Default)]
struct Seen {
    /// Nanoseconds from a counted request's scheduled arrival to its answer.
    latencies: Vec<f64>,
    /// The number of counted requests that were not served. Their latency is their wait.
    unserved: usize,
}

/// A reading of the processor time, and its time.
struct Mark {
    processor: Duration,
    at: Instant,
}

impl Mark {
    fn now() -> Result<Self> {
        Ok(Self {
            processor: clocks::cpu_time()?,
            at: Instant::now(),
        })
    }
}

impl Traffic {
    /// Runs the clients against a peer.
    ///
    /// # Errors
    ///
    /// If the peer cannot serve them, or the system reports no processor time.
    pub fn run(&self, peer: &mut dyn Peer, policy: &str) -> Result<Outcome> {
        let begin = Instant::now() + LEAD;
        let seen = Mutex::new(Seen::default());
        let first_mark = Mutex::new(None);
        let client = |number: usize, loops: &mut dyn Loops| {
            // Otherwise a sleep ends up to 50 us late, which would add to all latencies.
            prompt_timers();
            let own = self.client(number, begin, loops, &mut || {
                *lock(&first_mark) = Some(Mark::now());
            });
            let mut all = lock(&seen);
            all.latencies.extend(own.latencies);
            all.unserved += own.unserved;
        };
        peer.serve(
            policy,
            Clients {
                count: self.clients,
                session: &client,
            },
        )?;
        let end = Mark::now()?;
        let start = first_mark.into_inner().ok().flatten();
        let start = start.context("no client has started")??;
        let seen = seen.into_inner().context("a client panicked")?;
        let processor = end.processor.saturating_sub(start.processor);
        Ok(Outcome {
            latencies: seen.latencies,
            cores: processor.as_secs_f64() / (end.at - start.at).as_secs_f64(),
            processor_ms: processor.as_secs_f64() * 1e3,
            unserved: seen.unserved,
            disturbed: false,
        })
    }

    /// Runs one client. Client 0 calls `warmed_up` at the end of the warm-up.
    fn client(
        &self,
        number: usize,
        begin: Instant,
        loops: &mut dyn Loops,
        warmed_up: &mut dyn FnMut(),
    ) -> Seen {
        let work = vec![self.steps; self.iterations];
        let end = begin + PATIENCE * PERIOD * (self.warm_up + self.counted) as u32;
        let mut seen = Seen::default();
        for (request, arrival) in self.arrivals(number).enumerate() {
            let arrival = begin + arrival;
            if number == 0 && request == self.warm_up {
                warmed_up();
            }
            std::thread::sleep(arrival.saturating_duration_since(Instant::now()));
            let served = Instant::now() < end;
            if served {
                loops.call(self.iterations, tasks::steps(&work));
            }
            if request >= self.warm_up {
                let waited = arrival.elapsed();
                seen.latencies.push(waited.as_nanos() as f64);
                seen.unserved += usize::from(!served);
            }
        }
        seen
    }

    /// The arrivals of a client's requests, the same in each call.
    fn arrivals(&self, client: usize) -> impl Iterator<Item = Duration> {
        let jitter = Duration::from_micros(self.jitter_us);
        let mut random = fastrand::Rng::with_seed(self.seed << 32 | client as u64);
        let phase = PERIOD * client as u32 / self.clients as u32 + PHASE.mul_f64(random.f64());
        (0..self.warm_up + self.counted)
            .map(move |request| phase + PERIOD * request as u32 + jitter.mul_f64(random.f64()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no holder panics")
}

/// Asks the system to end this thread's sleeps on time.
fn prompt_timers() {
    #[cfg(target_os = "linux")]
    // If the system refuses, sleeps are 50 us less exact for every contestant.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// The number of steps that last about `ns` nanoseconds. It is from the fastest of several tries: a
/// slow phase of the machine would change all figures.
pub fn steps_for(ns: u64) -> u32 {
    const TRIED: u32 = 100_000;
    let time = || {
        let start = Instant::now();
        tasks::steps(&[TRIED]).run(0);
        start.elapsed().as_nanos() as f64
    };
    let fastest = (0..50).map(|_| time()).fold(f64::INFINITY, f64::min);
    (ns as f64 / fastest * f64::from(TRIED)).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::{self, Session};
    use anyhow::bail;

    const TRAFFIC: Traffic = Traffic {
        clients: 3,
        iterations: 4,
        steps: 10,
        jitter_us: 300,
        seed: 1,
        warm_up: 2,
        counted: 5,
    };

    #[test]
    fn every_counted_request_is_answered() {
        for (runtime, policy) in [
            ("serial", ""),
            ("manycore", "adaptive"),
            ("rayon", "outside"),
        ] {
            let mut peer = peer::open(runtime, 2).unwrap();
            let outcome = TRAFFIC.run(&mut *peer, policy).unwrap();
            assert_eq!(outcome.latencies.len(), 15, "{runtime}");
            assert_eq!(outcome.unserved, 0, "{runtime}");
            assert!(outcome.processor_ms > 0.0, "{runtime}");
        }
    }

    /// A server with loops that last longer than the whole schedule.
    struct Stuck;

    impl Loops for Stuck {
        fn call(&mut self, _: usize, _: tasks::Task<'_>) {
            std::thread::sleep(PERIOD * 10);
        }
        fn trivial(&mut self, _: usize) {}
        fn tiny(&mut self, _: usize) {}
    }

    impl Peer for Stuck {
        fn enter(&mut self, _: &str, _: Session<'_>) -> Result<()> {
            bail!("not asked for")
        }
        fn serve(&mut self, _: &str, clients: Clients<'_>) -> Result<()> {
            (0..clients.count).for_each(|client| (clients.session)(client, self));
            Ok(())
        }
    }

    #[test]
    fn unserved_requests_count_with_their_wait() {
        let outcome = TRAFFIC.run(&mut Stuck, "").unwrap();
        assert_eq!(outcome.latencies.len(), 15);
        assert!(outcome.unserved > 0);
        let last = outcome.latencies.last().unwrap();
        assert!(*last > (PERIOD * 7).as_nanos() as f64, "{last}");
    }

    #[test]
    fn clients_are_staggered_and_their_arrivals_repeat() {
        let all = |client| TRAFFIC.arrivals(client).collect::<Vec<_>>();
        assert_eq!(all(1), all(1));
        for client in 0..3 {
            let own = all(client);
            assert_eq!(own.len(), 7);
            for (request, arrival) in own.iter().enumerate() {
                let earliest = PERIOD * client as u32 / 3 + PERIOD * request as u32;
                let jitter = Duration::from_micros(300);
                assert!((earliest..earliest + PHASE + jitter).contains(arrival));
            }
            let regular = Traffic {
                jitter_us: 0,
                ..TRAFFIC
            };
            let regular: Vec<_> = regular.arrivals(client).collect();
            assert!(regular.windows(2).all(|pair| pair[1] - pair[0] == PERIOD));
        }
    }
}
