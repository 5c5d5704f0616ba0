//! The optical broadcast network (Park, MIT 2013, chapters 3 and 4; ATAC).
//!
//! Each core sends on its own wavelength, so senders never compete. At a receiver, a message passes the core's filter
//! into a *lambda queue*, the queue of its wavelength. A controller moves one message at a time from the queues to the
//! message buffer, where the core finds it by channel. The thesis estimates the wait for the controller with a queue
//! model. Here the wait is exact.
//!
//! A message schedules no events: a method that reads a receiver's state first brings the receiver
//! up to date. Calls come in the order of time. Calls in the same cycle take effect in the order of
//! calls.

mod bitset;
mod lambda;
mod message;
mod receiver;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::rc::Rc;

pub use message::Channel;

use crate::broadcast::{Delivery, Filter, Message};
use message::Flight;
use receiver::Receiver;

use super::{Cycles, Invalid};
use crate::account::OpticalCounters;
use crate::config;

/// The bytes of a word, the unit of energy.
const WORD: usize = 8;

/// The network, with each core's interface to it.
#[derive(Debug)]
pub(crate) struct Optical {
    transport: Cycles,
    bytes_per_cycle: usize,
    /// The number of messages sent so far.
    sent: u64,
    /// The number of words of these messages, and of words that arrived at ports.
    words: OpticalCounters,
    /// The time when each core's wavelength becomes free.
    wavelengths: Box<[Cycles]>,
    receivers: Box<[Receiver]>,
    channels: Vec<Subscription>,
}

#[derive(Debug, Default)]
struct Subscription {
    /// The cores with a port, in ascending order.
    cores: Vec<u32>,
    /// Messages that had not arrived at the last send. A port that is opened before such a message arrives gets the
    /// message too.
    flying: VecDeque<Rc<Flight>>,
}

/// The statistics of a core's interface to the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Messages that arrived at the filter, on channels of the core.
    pub(crate) arrived: u64,
    /// Messages that the controller moved to the message buffer.
    pub(crate) moved: u64,
    /// The sum of these messages' cycles from arrival to the message buffer.
    pub(crate) delay: Cycles,
}

impl Optical {
    pub(crate) fn new(cores: u32, config: &config::Optical) -> Result<Self, Invalid> {
        if config.bytes_per_cycle == 0 {
            return Err(Invalid::Zero("optical.bytes-per-cycle"));
        }
        let levels = cores.next_power_of_two().ilog2();
        let adder = config.adder * Cycles::from(levels);
        Ok(Self {
            transport: config.transport,
            bytes_per_cycle: config.bytes_per_cycle as usize,
            sent: 0,
            words: OpticalCounters::default(),
            wavelengths: vec![0; cores as usize].into(),
            receivers: vec![Receiver::new(config.controller, adder); cores as usize].into(),
            channels: Vec::new(),
        })
    }

    pub(crate) fn create_channel(&mut self) -> Channel {
        self.channels.push(Subscription::default());
        Channel(self.channels.len() as u32 - 1)
    }

    /// Subscribes the core to messages that arrive from `at` on. With `every`, the port counts
    /// messages and passes on only every `every`-th of them, which the adder tree delays. A core
    /// has one port of a channel. Opening it again changes only the counting.
    pub(crate) fn open_port(
        &mut self,
        at: Cycles,
        core: u32,
        channel: Channel,
        every: Option<NonZeroU32>,
    ) {
        let receiver = &mut self.receivers[core as usize];
        if !receiver.open(at, channel, every) {
            return;
        }
        let subscription = &mut self.channels[channel.0 as usize];
        if let Err(place) = subscription.cores.binary_search(&core) {
            subscription.cores.insert(place, core);
        }
        for flight in &subscription.flying {
            if flight.arrival >= at && flight.sender != core {
                receiver.expect(at, Rc::clone(flight));
            }
        }
    }

    /// Unsubscribes the core. Messages of the channel that the core has not taken are lost.
    pub(crate) fn close_port(&mut self, at: Cycles, core: u32, channel: Channel) {
        if self.receivers[core as usize].close(at, channel) {
            self.channels[channel.0 as usize]
                .cores
                .retain(|&other| other != core);
        }
    }

    /// Sets the core's filter for messages that arrive from `at` on.
    pub(crate) fn set_filter(&mut self, at: Cycles, core: u32, filter: Filter) {
        self.receivers[core as usize].set_filter(at, filter);
    }

    /// Broadcasts a message. The sender needs no port. Returns the time when the message arrives at
    /// the lambda queues of all other cores with a port. The message waits until the sender's
    /// wavelength is free, occupies it while its `data` are sent, and takes the transport's cycles.
    pub(crate) fn send(
        &mut self,
        at: Cycles,
        sender: u32,
        channel: Channel,
        message: Message,
    ) -> Cycles {
        let bytes = message.data.as_ref().map_or(0, |data| data.len());
        let wavelength = &mut self.wavelengths[sender as usize];
        *wavelength = at.max(*wavelength) + bytes.div_ceil(self.bytes_per_cycle) as Cycles;
        let arrival = *wavelength + self.transport;

        let number = self.sent;
        self.sent += 1;
        let flight = Rc::new(Flight {
            arrival,
            number,
            sender,
            channel,
            message,
            counted: false,
        });
        let subscription = &mut self.channels[channel.0 as usize];
        while subscription
            .flying
            .pop_front_if(|flight| flight.arrival < at)
            .is_some()
        {}
        subscription.flying.push_back(Rc::clone(&flight));
        let words = 1 + bytes.div_ceil(WORD) as u64;
        self.words.sent += words;
        for &core in &subscription.cores {
            if core != sender {
                self.words.received += words;
                self.receivers[core as usize].expect(at, Rc::clone(&flight));
            }
        }
        arrival
    }

    /// Takes the channel's oldest message from the core's message buffer, if there is one at `at`.
    pub(crate) fn receive(&mut self, at: Cycles, core: u32, channel: Channel) -> Option<Delivery> {
        let flight = self.receivers[core as usize].receive(at, channel)?;
        Some(Delivery {
            sender: flight.sender,
            message: flight.message.clone(),
        })
    }

    /// The time when the channel's next message is in the core's message buffer, if there are no
    /// further sends or changes. A message that is sent later changes that time only if it arrives
    /// at least `controller` cycles before. It can advance the time, or delay it if the controller
    /// picks that message first.
    pub(crate) fn next_ready(&mut self, at: Cycles, core: u32, channel: Channel) -> Option<Cycles> {
        self.receivers[core as usize].next_ready(at, channel)
    }

    pub(crate) fn pending(&mut self, at: Cycles, core: u32, channel: Channel) -> usize {
        self.receivers[core as usize].pending(at, channel)
    }

    pub(crate) fn reaches(&self, core: u32, channel: Channel) -> bool {
        let cores = &self.channels[channel.0 as usize].cores;
        cores.binary_search(&core).is_ok()
    }

    pub(crate) fn words(&self) -> OpticalCounters {
        self.words
    }

    /// The statistics of the core's interface before `at`.
    pub(crate) fn counters(&mut self, at: Cycles, core: u32) -> Counters {
        self.receivers[core as usize].counters(at)
    }
}
