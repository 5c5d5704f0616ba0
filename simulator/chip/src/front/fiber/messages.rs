//! The optical broadcast network, as simulated code uses it.

use super::context::{in_order, suspend, with};
use super::platform::Simulated;
use crate::broadcast::{Broadcast, Delivery, Filter, Message};
use crate::network::Channel;
use std::num::NonZeroU32;

impl Simulated {
    /// The number of messages of `channel` in this core's message buffer.
    pub fn pending(channel: Channel) -> usize {
        in_order();
        with(|engine, core| engine.pending(core, channel))
    }
}

impl Broadcast for Simulated {
    type Channel = Channel;

    fn create_channel() -> Option<Channel> {
        in_order();
        with(|engine, _| engine.create_channel())
    }

    fn open_port(channel: Channel) {
        in_order();
        with(|engine, core| engine.open_port(core, channel, None));
    }

    fn open_counting_port(channel: Channel, every: NonZeroU32) {
        in_order();
        with(|engine, core| engine.open_port(core, channel, Some(every)));
    }

    fn close_port(channel: Channel) {
        in_order();
        with(|engine, core| engine.close_port(core, channel));
    }

    fn set_filter(filter: Filter) {
        in_order();
        with(|engine, core| engine.set_filter(core, filter));
    }

    fn send(channel: Channel, message: Message) {
        in_order();
        with(|engine, core| engine.send(core, channel, message));
    }

    fn receive(channel: Channel) -> Option<Delivery> {
        in_order();
        with(|engine, core| engine.receive(core, channel))
    }

    fn wait_and_receive(channel: Channel) -> Delivery {
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
