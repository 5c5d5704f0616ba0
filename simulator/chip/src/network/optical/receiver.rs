use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::rc::Rc;

use super::Counters;
use super::lambda::LambdaQueues;
use super::message::{Channel, Flight};
use crate::broadcast::Filter;
use crate::network::Cycles;

/// A core's interface to the network: filter, ports, lambda queues (one for each sender's wavelength), controller and
/// message buffer. A method that reads this state first brings it up to date.
///
/// In one cycle, first ports and filters change, then messages arrive and are filtered, then a free controller picks a
/// message. So a controller that is free or becomes free in a cycle can pick a message that arrives in that cycle. The
/// controller serves the first occupied queue after the wavelength that it served last. It moves one message in
/// `controller` cycles. After these cycles, the message is in the message buffer, and the controller is free.
#[derive(Clone, Debug, Default)]
pub(super) struct Receiver {
    /// Cycles to move one message.
    controller: Cycles,
    /// Cycles to count the messages that arrived.
    adder: Cycles,
    filter: Filter,
    /// Messages that were sent and not yet filtered, ordered by arrival and then by sending.
    flying: VecDeque<Rc<Flight>>,
    lambda: LambdaQueues,
    /// The time at which the controller can pick its next message. All messages in the lambda queues arrive by this
    /// time.
    free_at: Cycles,
    /// The wavelength after the last served wavelength.
    position: u32,
    /// The ports, sorted by channel.
    ports: Vec<Port>,
    counters: Counters,
}

#[derive(Clone, Debug)]
struct Port {
    channel: Channel,
    /// The number of this channel's messages in `flying`.
    flying: usize,
    /// The number of this channel's messages in the lambda queues.
    waiting: usize,
    /// If this is `Some`, the port counts its messages.
    counter: Option<Counter>,
    /// The messages, with the times when they are in the buffer.
    buffer: VecDeque<(Cycles, Rc<Flight>)>,
}

#[derive(Clone, Copy, Debug)]
struct Counter {
    every: NonZeroU32,
    count: u32,
}

impl Counter {
    fn new(every: NonZeroU32) -> Self {
        Self { every, count: 0 }
    }

    /// Counts one message. Returns whether it completes a count.
    fn completes(&mut self) -> bool {
        self.count = (self.count + 1) % self.every;
        self.count == 0
    }
}

impl Receiver {
    pub(super) fn new(controller: Cycles, adder: Cycles) -> Self {
        Self {
            controller,
            adder,
            ..Self::default()
        }
    }

    fn port(&mut self, channel: Channel) -> Option<&mut Port> {
        // Most receivers have one port, which one comparison finds.
        let at = match self.ports.first() {
            Some(port) if port.channel == channel => 0,
            _ => self
                .ports
                .binary_search_by_key(&channel, |port| port.channel)
                .ok()?,
        };
        Some(&mut self.ports[at])
    }

    /// Opens a port, or sets how an open port counts. Returns whether the port was closed before.
    pub(super) fn open(&mut self, at: Cycles, channel: Channel, every: Option<NonZeroU32>) -> bool {
        self.advance(at);
        let counter = every.map(Counter::new);
        match self
            .ports
            .binary_search_by_key(&channel, |port| port.channel)
        {
            Ok(place) => {
                self.ports[place].counter = counter;
                false
            }
            Err(place) => {
                let port = Port {
                    channel,
                    counter,
                    flying: 0,
                    waiting: 0,
                    buffer: VecDeque::new(),
                };
                self.ports.insert(place, port);
                true
            }
        }
    }

    /// Closes the port and drops its messages. Returns whether there was a port.
    pub(super) fn close(&mut self, at: Cycles, channel: Channel) -> bool {
        self.advance(at);
        let Ok(place) = self
            .ports
            .binary_search_by_key(&channel, |port| port.channel)
        else {
            return false;
        };
        let port = self.ports.remove(place);
        if port.flying > 0 {
            self.flying.retain(|flight| flight.channel != channel);
        }
        if port.waiting > 0 {
            self.lambda.purge(channel);
        }
        true
    }

    pub(super) fn set_filter(&mut self, at: Cycles, filter: Filter) {
        self.advance(at);
        self.filter = filter;
    }

    /// Adds a message that was sent at `at` on a channel of this core.
    pub(super) fn expect(&mut self, at: Cycles, flight: Rc<Flight>) {
        if self.flying.len() == self.flying.capacity() {
            // Before the queue grows, filter the messages that have arrived. Otherwise a core that
            // never receives would keep the messages that its filter stops.
            self.advance(at);
        }
        if let Some(port) = self.port(flight.channel) {
            port.flying += 1;
        }
        self.insert(flight);
    }

    fn insert(&mut self, flight: Rc<Flight>) {
        let order = |flight: &Flight| (flight.arrival, flight.number);
        let flying = self.flying.iter().rev();
        let later = flying.take_while(|other| order(other) > order(&flight));
        match later.count() {
            0 => self.flying.push_back(flight),
            later => self.flying.insert(self.flying.len() - later, flight),
        }
    }

    /// Does everything that happens before the cycle `now`. Later sends and changes take effect in the cycle `now` or
    /// after it, so the result is final.
    fn advance(&mut self, now: Cycles) {
        while self.move_one(now).is_some() {}
        self.arrive(now);
    }

    fn arrive(&mut self, now: Cycles) {
        while let Some(flight) = self.flying.pop_front_if(|flight| flight.arrival < now) {
            self.counters.arrived += u64::from(!flight.counted);
            let passes = flight.counted || self.filter.passes(flight.message.signature);
            let adder = self.adder;
            let Some(port) = self.port(flight.channel) else {
                continue;
            };
            if !passes {
                port.flying -= 1;
            } else if let Some(counter) = &mut port.counter
                && !flight.counted
            {
                if counter.completes() {
                    // This message completes its count, so it continues, through the adder tree. The other messages of
                    // the count do not.
                    self.insert(Rc::new(flight.after(adder)));
                } else {
                    port.flying -= 1;
                }
            } else {
                port.flying -= 1;
                port.waiting += 1;
                if self.lambda.len() == 0 {
                    self.free_at = self.free_at.max(flight.arrival);
                }
                self.lambda.push(flight);
            }
        }
    }

    /// Lets the controller pick its next message if it does so before `now`.
    fn move_one(&mut self, now: Cycles) -> Option<(Channel, Cycles)> {
        while self.lambda.len() == 0 {
            let next = self.flying.front()?.arrival;
            if next >= now {
                return None;
            }
            self.arrive(next + 1);
        }
        if self.free_at >= now {
            return None;
        }
        self.arrive(self.free_at + 1);
        let flight = self.lambda.pop(self.position)?;
        self.position = flight.sender + 1;
        self.free_at += self.controller;
        self.counters.moved += 1;
        self.counters.delay += self.free_at - flight.arrival;
        let (channel, ready) = (flight.channel, self.free_at);
        let port = self.port(channel)?;
        port.waiting -= 1;
        port.buffer.push_back((ready, flight));
        Some((channel, ready))
    }

    /// Brings the message buffer up to date for a look at `at`.
    fn look(&mut self, at: Cycles) {
        // A controller that takes no time picks and moves a message in the same cycle.
        self.advance(if self.controller == 0 { at + 1 } else { at });
    }

    pub(super) fn receive(&mut self, at: Cycles, channel: Channel) -> Option<Rc<Flight>> {
        self.look(at);
        let buffer = &mut self.port(channel)?.buffer;
        buffer
            .pop_front_if(|(ready, _)| *ready <= at)
            .map(|(_, flight)| flight)
    }

    pub(super) fn pending(&mut self, at: Cycles, channel: Channel) -> usize {
        self.look(at);
        let Some(port) = self.port(channel) else {
            return 0;
        };
        // Only the last picked message can still be moving.
        let moving = port.buffer.back().is_some_and(|(ready, _)| *ready > at);
        port.buffer.len() - usize::from(moving)
    }

    pub(super) fn next_ready(&mut self, at: Cycles, channel: Channel) -> Option<Cycles> {
        self.look(at);
        let port = self.port(channel)?;
        if let Some((ready, _)) = port.buffer.front() {
            return Some(*ready);
        }
        let (flying, waiting) = (port.flying, port.waiting);
        if flying + waiting == 0 {
            return None;
        }
        if let Some(counter) = port.counter {
            // While a thread listens, the engine calls this at each send. Most sends complete no count, so they return
            // before the search below.
            let count = counter.count as usize + flying;
            let mut counted = self.flying.iter().filter(|flight| flight.counted);
            if waiting == 0
                && count < counter.every.get() as usize
                && !counted.any(|flight| flight.channel == channel)
            {
                return None;
            }
        } else if flying == self.flying.len() && waiting == self.lambda.len() {
            // The next picked message is of this channel.
            let pick = match waiting {
                0 => {
                    let mut passing = self.flying.iter();
                    let first = passing.find(|f| self.filter.passes(f.message.signature))?;
                    self.free_at.max(first.arrival)
                }
                _ => self.free_at,
            };
            return Some(pick + self.controller);
        }
        let mut future = self.clone();
        std::iter::from_fn(|| future.move_one(Cycles::MAX))
            .find(|(moved, _)| *moved == channel)
            .map(|(_, ready)| ready)
    }

    pub(super) fn counters(&mut self, at: Cycles) -> Counters {
        self.advance(at);
        self.counters
    }
}
