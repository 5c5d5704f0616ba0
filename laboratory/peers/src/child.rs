//! A peer's process: one runtime carries out the orders that arrive on standard input.

mod check;
pub(crate) mod clocks;

use crate::load::{Load, Prepared};
use crate::peer::{self, Peer};
use crate::protocol::{Answer, Hello, Order, Outcome, Pace, Request};
use crate::recursion;
use crate::tasks;
use anyhow::{Result, ensure};
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

/// Carries out orders until the parent closes the pipe.
///
/// # Errors
///
/// If a line cannot be read, parsed or answered.
pub fn serve(runtime: &str, threads: usize) -> Result<()> {
    clocks::die_with_parent()?;
    let mut peer = match peer::open(runtime, threads) {
        Ok(peer) => peer,
        Err(error) => return say(&Hello::Err(format!("{error:#}"))),
    };
    say(&Hello::Ok(peer.version().map(str::to_owned)))?;
    let mut prepared = Prepared::new(Load::Empty { n: 0 });
    for line in io::stdin().lock().lines() {
        let request: Request = serde_json::from_str(&line?)?;
        let answer: Answer =
            obey(&mut *peer, &request, &mut prepared).map_err(|error| format!("{error:#}"));
        say(&answer)?;
    }
    Ok(())
}

fn say(message: &impl serde::Serialize) -> Result<()> {
    let mut line = serde_json::to_string(message)?;
    line.push('\n');
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    Ok(out.flush()?)
}

fn obey(peer: &mut dyn Peer, request: &Request, prepared: &mut Prepared) -> Result<Outcome> {
    let mut outcome = Ok(Outcome::default());
    match request.order {
        Order::Check { n } => peer.enter(&request.policy, &mut |loops| {
            outcome = check::every_index_once(loops, n).map(|()| Outcome::default());
        })?,
        Order::Loops {
            load,
            pace,
            warm_up_ms,
            sampling_ms,
        } => {
            // Orders often repeat a load, and its table can be large.
            if prepared.load() != load {
                *prepared = Prepared::new(load);
            }
            peer.enter(&request.policy, &mut |loops| {
                let together = together(load, pace);
                let mut caller = Caller::new(|| prepared.run(loops), pace, together);
                caller.call_for(warm_up_ms);
                outcome = clocks::watch(|| caller.call_for(sampling_ms));
            })?;
        }
        Order::Joins {
            recursion,
            warm_up_ms,
            sampling_ms,
        } => {
            // Freed after each order: the largest tree takes 256 MiB for each peer.
            let prepared = recursion::Prepared::new(recursion);
            let mut wrong = 0;
            peer.enter_joins(&request.policy, &mut |joins| {
                let call = || wrong += u32::from(!prepared.run(joins));
                let mut caller = Caller::new(call, Pace::Hot, 1);
                caller.call_for(warm_up_ms);
                outcome = clocks::watch(|| caller.call_for(sampling_ms));
            })?;
            ensure!(wrong == 0, "{recursion}: {wrong} results were wrong");
            if let Ok(outcome) = &mut outcome {
                let parts = f64::from(recursion.parts());
                outcome.latencies.iter_mut().for_each(|ns| *ns /= parts);
            }
        }
        Order::Serve(traffic) => outcome = traffic.run(peer, &request.policy),
        Order::Idle { ms } => {
            let warm_up = Prepared::new(Load::Spin { n: 2, ns: 10_000 });
            peer.enter(&request.policy, &mut |loops| {
                Caller::new(|| warm_up.run(loops), Pace::Hot, 1).call_for(5);
                std::thread::sleep(Duration::from_millis(100));
                outcome = clocks::watch(|| {
                    std::thread::sleep(Duration::from_millis(ms));
                    Vec::new()
                });
            })?;
        }
    }
    outcome
}

/// The number of loops in a sample. A sample has 32 loops of less than a microsecond, so that
/// reading the clock does not count.
fn together(load: Load, pace: Pace) -> u32 {
    let short = matches!(load, Load::Empty { .. } | Load::Trivial { .. });
    if short && pace == Pace::Hot { 32 } else { 1 }
}

/// The caller of a loop or recursion, and its pause between two calls.
struct Caller<F> {
    call: F,
    pace: Pace,
    /// The number of calls in a sample.
    together: u32,
    /// The start of the next periodic loop.
    next: Instant,
}

impl<F: FnMut()> Caller<F> {
    const GAP_NS: u64 = 1_000_000;
    const PERIOD: Duration = Duration::from_micros(1100);
    /// A limit, so that answers stay short.
    const MOST_SAMPLES: usize = 2000;

    fn new(call: F, pace: Pace, together: u32) -> Self {
        Self {
            call,
            pace,
            together,
            next: Instant::now(),
        }
    }

    /// Makes calls for about `ms` milliseconds, at least once. Returns the nanoseconds of a call in
    /// each sample.
    fn call_for(&mut self, ms: u64) -> Vec<f64> {
        let end = Instant::now() + Duration::from_millis(ms);
        let mut latencies = Vec::with_capacity(Self::MOST_SAMPLES);
        while latencies.is_empty() || latencies.len() < Self::MOST_SAMPLES && Instant::now() < end {
            self.wait();
            let start = tasks::now();
            for _ in 0..self.together {
                (self.call)();
            }
            let ticks = tasks::now() - start;
            latencies.push(ticks as f64 / tasks::ticks_per_ns() / f64::from(self.together));
        }
        latencies
    }

    fn wait(&mut self) {
        match self.pace {
            Pace::Hot => (),
            Pace::AfterGap => tasks::busy(Self::GAP_NS),
            Pace::Periodic => {
                let now = Instant::now();
                std::thread::sleep(self.next.saturating_duration_since(now));
                // After a late loop the next loop still waits a whole period.
                self.next = self.next.max(now) + Self::PERIOD;
            }
        }
    }
}
