//! A core's requests to the optical network (`network::optical`), at the core's clock.

use super::Engine;
use super::agenda::Event;
use super::port::Mode;
use crate::account::Activity;
use crate::broadcast::{Delivery, Filter, Message};
use crate::network::Channel;
use std::num::NonZeroU32;

impl Engine {
    /// Creates a channel. Returns `None` if the machine has no optical network.
    pub(crate) fn create_channel(&mut self) -> Option<Channel> {
        self.optical
            .as_mut()
            .map(|optical| optical.create_channel())
    }

    /// Subscribes the core to all messages of the channel or, if `every` is given, to every `every`-th message.
    pub(crate) fn open_port(&mut self, core: u32, channel: Channel, every: Option<NonZeroU32>) {
        let at = self.ports[core as usize].clock;
        if let Some(optical) = &mut self.optical {
            optical.open_port(at, core, channel, every);
        }
    }

    /// Unsubscribes the core. Messages of the channel that the core has not taken are lost.
    pub(crate) fn close_port(&mut self, core: u32, channel: Channel) {
        let at = self.ports[core as usize].clock;
        if let Some(optical) = &mut self.optical {
            optical.close_port(at, core, channel);
        }
    }

    pub(crate) fn pending(&mut self, core: u32, channel: Channel) -> usize {
        let at = self.ports[core as usize].clock;
        let optical = self.optical.as_mut();
        optical.map_or(0, |optical| optical.pending(at, core, channel))
    }

    /// Sets the filter of the messages that the core receives from now on.
    pub(crate) fn set_filter(&mut self, core: u32, filter: Filter) {
        let at = self.ports[core as usize].clock;
        if let (Some(optical), Some(costs)) = (&mut self.optical, &self.config.optical) {
            optical.set_filter(at, core, filter);
            self.ports[core as usize].pass(Activity::Message, costs.filter);
        }
    }

    /// Broadcasts a message. The sender continues in the next cycle.
    pub(crate) fn send(&mut self, core: u32, channel: Channel, message: Message) {
        let at = self.ports[core as usize].clock;
        self.hash.fold(at, 1 << 48 | u64::from(core));
        let Some(optical) = &mut self.optical else {
            return;
        };
        optical.send(at, core, channel, message);
        self.ports[core as usize].pass(Activity::Message, 1);
        for at in 0..self.listeners.len() {
            // Only listeners of this channel are affected: a core without a port of the channel
            // does not move the message to its buffer.
            let listener = self.listeners[at];
            let optical = self.optical.as_ref();
            if optical.is_some_and(|optical| optical.reaches(listener, channel)) {
                self.plan_message(listener);
            }
        }
        self.set_horizon(core);
    }

    /// Looks into the core's message buffer.
    pub(crate) fn receive(&mut self, core: u32, channel: Channel) -> Option<Delivery> {
        let check = self.config.optical.as_ref()?.check;
        let port = &mut self.ports[core as usize];
        let at = port.clock;
        port.pass(Activity::Message, check);
        self.optical.as_mut()?.receive(at, core, channel)
    }

    /// Waits until a message may be in the core's buffer. The caller must suspend, and then look again.
    pub(crate) fn listen(&mut self, core: u32, channel: Channel) {
        let port = &mut self.ports[core as usize];
        port.mode = Mode::Listening { channel };
        self.listeners.push(core);
        self.plan_message(core);
    }

    /// Plans an event for the time when the first message that was sent so far reaches the listening core. If a later
    /// message changes that time, sending that message makes a new plan.
    fn plan_message(&mut self, core: u32) {
        let port = &mut self.ports[core as usize];
        let Mode::Listening { channel } = port.mode else {
            return;
        };
        let at = port.clock.max(self.agenda.now());
        port.plan = port.plan.wrapping_add(1);
        let plan = port.plan;
        let ready = self
            .optical
            .as_mut()
            .and_then(|optical| optical.next_ready(at, core, channel));
        if let Some(ready) = ready {
            self.agenda
                .plan(ready.max(at), core, Event::Message { plan });
        }
    }

    pub(super) fn message_ready(&mut self, core: u32, plan: u32, at: u64) {
        let port = &mut self.ports[core as usize];
        if port.plan == plan && matches!(port.mode, Mode::Listening { .. }) {
            self.stop_listening(core, at);
            self.agenda.go_on(&mut self.ports[core as usize]);
        }
    }

    /// Ends the wait of a thread that continues or is preempted at `at`.
    pub(super) fn stop_listening(&mut self, core: u32, at: u64) {
        let port = &mut self.ports[core as usize];
        let from = port.clock;
        let at = at.max(from);
        port.pass_until(Activity::Message, at);
        port.mode = Mode::Running;
        port.plan = port.plan.wrapping_add(1);
        self.listeners.retain(|&one| one != core);
        self.record(core, Activity::Message, from, at);
    }
}
