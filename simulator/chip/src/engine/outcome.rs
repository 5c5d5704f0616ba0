//! The outcome of a run: its length, its hash, and the activities of its cycles.

use super::Engine;
use super::error::{SimulationError, Waiter, Waiting};
use super::thread::{State, Wait};
use crate::account::{Counters, Order, Report};
use serde::Serialize;

/// The length, the hash and the statistics of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Statistics {
    /// Cycles from the start of the program's main thread to its end.
    pub cycles: u64,
    /// The hash of all events. Equal machines and programs have equal hashes on any host.
    pub hash: u64,
    /// The number of events of the machine, which is a measure of the host's work.
    pub events: u64,
    /// The number of the program's threads, including the main thread.
    pub threads: usize,
    /// The work of the optical broadcast network, if the machine has one.
    pub messages: Option<Messages>,
    /// The activities of the cycles.
    pub report: Report,
    /// The counters of the machine's parts, if [`Simulation::counters`] was called.
    ///
    /// [`Simulation::counters`]: crate::Simulation::counters
    pub counters: Option<Counters>,
}

/// The counts of the optical broadcast network, summed over all receivers. The simulator of Park's thesis printed the
/// same statistics (2013, section 4.3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Messages {
    /// Messages that reached the filter of a core that has a port of their channel.
    pub arrived: u64,
    /// Messages that a controller moved to its message buffer.
    pub moved: u64,
    /// Cycles that these messages took from arrival to the buffer, summed.
    pub delay: u64,
}

const HOT_LINES: usize = 20;

impl Engine {
    pub(crate) fn finish(&mut self, end: u64) -> Statistics {
        let counters = self.counters(end);
        for port in &mut self.ports {
            port.settle(end);
            self.hash.fold(end, port.spent.sum());
            for (_, cycles) in port.spent.iter() {
                self.hash.fold(u64::from(port.core), cycles);
            }
        }
        let cores = self.ports.iter().map(|port| port.spent).collect();
        let messages = self.optical.as_mut().map(|optical| {
            let mut all = Messages::default();
            for core in 0..self.config.cores {
                let one = optical.counters(end, core);
                all.arrived += one.arrived;
                all.moved += one.moved;
                all.delay += one.delay;
            }
            all
        });
        Statistics {
            cycles: end,
            hash: self.hash.value(),
            events: self.events,
            threads: self.threads.len(),
            messages,
            counters,
            report: Report::new(end, cores, &self.lines, HOT_LINES, Order::Transfers),
        }
    }

    pub(super) fn deadlock(&self) -> SimulationError {
        SimulationError::Deadlock {
            at: self.agenda.now(),
            threads: self.waiting(),
        }
    }

    pub(super) fn runaway(&self) -> SimulationError {
        SimulationError::Runaway {
            limit: self.limit,
            threads: self.waiting(),
        }
    }

    fn waiting(&self) -> Waiting {
        use super::port::Mode;
        let name = |address: u64| match self.lines.name_at(address) {
            Some(name) => self.lines.names().text(name).to_owned(),
            None => format!("address {address:#x}"),
        };
        let threads = self.threads.iter().enumerate();
        let alive = threads.filter(|(_, thread)| thread.state != State::Ended);
        let describe = |(id, thread): (usize, &super::Thread)| {
            let core = self
                .ports
                .iter()
                .find(|port| port.thread == Some(id as u32));
            let mut unnamed = None;
            let mut name = |address: u64| {
                if self.lines.name_at(address).is_none() {
                    unnamed = Some(address);
                }
                name(address)
            };
            let what = match (thread.state, core) {
                (State::Blocked(Wait::Futex { address }), _) => {
                    format!("sleeps on the futex {}", name(address))
                }
                (State::Blocked(Wait::Join(other)), _) => {
                    format!("waits for thread {}", self.threads[other as usize].name)
                }
                (_, None) => "waits for a core".to_owned(),
                (_, Some(port)) => match port.mode {
                    Mode::Spinning { word, .. } => {
                        format!("spins on {} on core {}", name(word), port.core)
                    }
                    Mode::Listening { .. } => format!("waits for a message on core {}", port.core),
                    _ => format!("runs on core {}", port.core),
                },
            };
            Waiter {
                thread: thread.name.clone(),
                what,
                address: unnamed,
            }
        };
        Waiting(alive.map(describe).collect())
    }
}
