//! The optical broadcast network, from simulated code.

use super::context::{in_order, suspend, with};
use crate::network::{Channel, Delivery, Filter, Message};

/// The broadcast network of the machine that the calling thread runs on: the
/// hardware under virtual channels (Park 2013, section 3.1). Ports and filters
/// are the core's on which the caller runs.
#[derive(Clone, Copy, Debug)]
pub struct Broadcast;

impl Broadcast {
    /// A channel that nobody has; `None` if the machine has no such network.
    pub fn create_channel() -> Option<Channel> {
        in_order();
        with(|engine, _| engine.create_channel())
    }

    /// Subscribes this core to `channel`.
    pub fn open_port(channel: Channel) {
        in_order();
        with(|engine, core| engine.open_port(core, channel));
    }

    /// Sets this core's filter, for all its channels.
    pub fn set_filter(filter: Filter) {
        in_order();
        with(|engine, core| engine.set_filter(core, filter));
    }

    /// Broadcasts `message` to all other cores with a port of `channel`.
    pub fn send(channel: Channel, message: Message) {
        in_order();
        with(|engine, core| engine.send(core, channel, message));
    }

    /// Takes the channel's oldest message from this core's message buffer, if
    /// there is one.
    pub fn receive(channel: Channel) -> Option<Delivery> {
        in_order();
        with(|engine, core| engine.receive(core, channel))
    }

    /// The same, waiting for one.
    pub fn wait_and_receive(channel: Channel) -> Delivery {
        loop {
            if let Some(delivery) = Self::receive(channel) {
                return delivery;
            }
            in_order();
            with(|engine, core| engine.listen(core, channel));
            suspend();
        }
    }
}
