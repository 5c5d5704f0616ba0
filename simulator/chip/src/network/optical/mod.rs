//! The optical broadcast network (Park, MIT 2013, chapters 3 and 4; ATAC).
//!
//! Every core sends on a wavelength of its own, so that senders never compete.
//! At each receiver a message passes the core's filter into the lambda queue
//! of its wavelength, and from there a controller moves one message at a time
//! to the message buffer, where the core finds it by channel. The thesis
//! estimates the wait for the controller with a queue model; here it is exact.
//!
//! A send costs no event later on: a receiver does what has happened to it
//! when it is asked. Calls come in order of time; calls of one cycle take
//! effect in call order.

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

/// Bytes of a word, as energy is accounted for.
const WORD: usize = 8;

/// The network and every core's end of it.
#[derive(Debug)]
pub(crate) struct Optical {
    transport: Cycles,
    bytes_per_cycle: usize,
    /// Messages sent so far.
    sent: u64,
    /// Words that they had, and that arrived at ports.
    words: OpticalCounters,
    /// When each core's wavelength has carried all that it was given.
    wavelengths: Box<[Cycles]>,
    receivers: Box<[Receiver]>,
    channels: Vec<Subscription>,
}

#[derive(Debug, Default)]
struct Subscription {
    /// Cores with a port, in order.
    cores: Vec<u32>,
    /// Messages that had not arrived at the last send, for ports opened while
    /// they fly.
    flying: VecDeque<Rc<Flight>>,
}

/// The statistics of a core's end of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Messages that arrived at the filter, on channels of the core.
    pub(crate) arrived: u64,
    /// Messages that the controller moved to the message buffer.
    pub(crate) moved: u64,
    /// Cycles that they took from arrival to the message buffer, in all.
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

    /// A new channel.
    pub(crate) fn create_channel(&mut self) -> Channel {
        self.channels.push(Subscription::default());
        Channel(self.channels.len() as u32 - 1)
    }

    /// Subscribes the core to what arrives from `at` on, or to the count of
    /// it: then only every `every`-th message is passed on, once the adder tree is
    /// through. A core has one port of a channel; to open it again changes
    /// nothing but the counting.
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

    /// Unsubscribes the core; messages of the channel that it has not taken
    /// are gone.
    pub(crate) fn close_port(&mut self, at: Cycles, core: u32, channel: Channel) {
        if self.receivers[core as usize].close(at, channel) {
            self.channels[channel.0 as usize]
                .cores
                .retain(|&other| other != core);
        }
    }

    /// Sets the core's filter for what arrives from `at` on.
    pub(crate) fn set_filter(&mut self, at: Cycles, core: u32, filter: Filter) {
        self.receivers[core as usize].set_filter(at, filter);
    }

    /// Broadcasts a message; the sender needs no port. Returns when it is at the lambda queues of all others that have one: after the
    /// transport and, for long data, the cycles it keeps the sender's
    /// wavelength, behind what that still has to carry.
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

    /// Takes the message of the channel that has been longest in the core's
    /// message buffer, if there is one at `at`.
    pub(crate) fn receive(&mut self, at: Cycles, core: u32, channel: Channel) -> Option<Delivery> {
        let flight = self.receivers[core as usize].receive(at, channel)?;
        Some(Delivery {
            sender: flight.sender,
            message: flight.message.clone(),
        })
    }

    /// When the channel's next message is in the core's message buffer, if
    /// nothing is sent nor set from now on. A later send can put the time off
    /// (its message is picked first) or bring it forward, but only if it
    /// arrives at least `controller` cycles before that time.
    pub(crate) fn next_ready(&mut self, at: Cycles, core: u32, channel: Channel) -> Option<Cycles> {
        self.receivers[core as usize].next_ready(at, channel)
    }

    /// Messages of the channel in the core's message buffer.
    pub(crate) fn pending(&mut self, at: Cycles, core: u32, channel: Channel) -> usize {
        self.receivers[core as usize].pending(at, channel)
    }

    /// Whether the core has a port of the channel.
    pub(crate) fn reaches(&self, core: u32, channel: Channel) -> bool {
        let cores = &self.channels[channel.0 as usize].cores;
        cores.binary_search(&core).is_ok()
    }

    /// Words that were sent and received.
    pub(crate) fn words(&self) -> OpticalCounters {
        self.words
    }

    /// The statistics of the core's end before `at`.
    pub(crate) fn counters(&mut self, at: Cycles, core: u32) -> Counters {
        self.receivers[core as usize].counters(at)
    }
}
