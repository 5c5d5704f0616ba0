//! The optical broadcast network, from simulated code.

use super::context::{in_order, suspend, with};
use crate::network::Channel;
use manycore_platform::{Broadcast, Delivery, Filter, Message};
use std::num::NonZeroU32;

/// The broadcast network of the machine that the calling thread runs on: the
/// hardware under virtual channels (Park 2013, section 3.1). Ports and filters
/// are the core's on which the caller runs.
///
/// ```
/// use manycore_chip::{OpticalNetwork, Simulated, Simulation, config::Config};
/// use manycore_platform::{Broadcast, Message, Platform, ThreadSpec};
///
/// let machine = Config::preset("atac-64")?;
/// let run = Simulation::new(&machine).run(|| {
///     let channel = OpticalNetwork::create_channel().expect("the preset has the network");
///     OpticalNetwork::open_port(channel);
///     let spec = ThreadSpec { cpus: vec![9], ..ThreadSpec::default() };
///     let send = move || OpticalNetwork::send(channel, Message { payload: 7, ..Message::default() });
///     let sender = Simulated::spawn(spec, Box::new(send)).expect("the core exists");
///     let delivery = OpticalNetwork::wait_and_receive(channel);
///     Simulated::join(sender);
///     (delivery.sender, delivery.message.payload)
/// })?;
/// assert_eq!(run.value, (9, 7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OpticalNetwork;

impl OpticalNetwork {
    /// Messages of `channel` in this core's message buffer.
    pub fn pending(channel: Channel) -> usize {
        in_order();
        with(|engine, core| engine.pending(core, channel))
    }
}

impl Broadcast for OpticalNetwork {
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
