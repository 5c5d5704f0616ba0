//! A channel through memory: a queue a port, under a lock.

use crate::pool::lock::Lock;
use manycore_platform::{Atomic, AtomicInteger, Filter, Futex, Message, Ordering, Platform};
use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The ports of a channel.
pub(super) struct Shared<P: Platform> {
    ports: Arc<Lock<P, Vec<Arc<Queue<P>>>>>,
}

struct Queue<P: Platform> {
    state: Lock<P, State>,
    /// Counts arrivals, for who sleeps.
    arrivals: P::Futex,
}

struct State {
    messages: VecDeque<Message>,
    filter: Filter,
    every: NonZeroU32,
    count: u32,
}

pub(super) struct Inbox<P: Platform> {
    ports: Arc<Lock<P, Vec<Arc<Queue<P>>>>>,
    mine: Arc<Queue<P>>,
}

impl<P: Platform> Shared<P> {
    pub(super) fn new() -> Self {
        Self {
            ports: Arc::new(Lock::new(Vec::new())),
        }
    }

    pub(super) fn open(&self, every: NonZeroU32) -> Inbox<P> {
        let mine = Arc::new(Queue {
            state: Lock::new(State {
                messages: VecDeque::new(),
                filter: Filter::ALL,
                every,
                count: 0,
            }),
            arrivals: <P::Futex as Atomic<u32>>::new(0),
        });
        self.ports.with(|ports| ports.push(Arc::clone(&mine)));
        Inbox {
            ports: Arc::clone(&self.ports),
            mine,
        }
    }
}

impl<P: Platform> Inbox<P> {
    pub(super) fn send(&mut self, message: Message) {
        let ports = self.ports.with(|ports| ports.clone());
        for port in ports.iter().filter(|port| !Arc::ptr_eq(port, &self.mine)) {
            port.state.with(|state| {
                if state.filter.passes(message.signature) {
                    state.count = (state.count + 1) % state.every;
                    if state.count == 0 {
                        state.messages.push_back(message.clone());
                    }
                }
            });
            // The receiver reads the count before it looks: a message that comes
            // after its look changes what it sleeps on.
            port.arrivals.fetch_add(1, Ordering::Release);
            port.arrivals.wake(1);
        }
    }

    pub(super) fn receive(&mut self) -> Option<Message> {
        self.mine.state.with(|state| state.messages.pop_front())
    }

    pub(super) fn wait_and_receive(&mut self) -> Message {
        loop {
            let arrivals = self.mine.arrivals.load(Ordering::Acquire);
            if let Some(message) = self.receive() {
                return message;
            }
            self.mine.arrivals.wait(arrivals, None);
        }
    }

    pub(super) fn set_filter(&mut self, filter: Filter) {
        self.mine.state.with(|state| state.filter = filter);
    }
}

impl<P: Platform> Drop for Inbox<P> {
    fn drop(&mut self) {
        self.ports
            .with(|ports| ports.retain(|port| !Arc::ptr_eq(port, &self.mine)));
    }
}
