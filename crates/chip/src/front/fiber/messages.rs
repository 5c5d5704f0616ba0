//! The optical broadcast network, from simulated code.

use super::context::{in_order, suspend, with};
use crate::network::{Channel, Delivery, Filter, Message};

/// The broadcast network of the machine that the calling thread runs on: the
/// hardware under virtual channels (Park 2013, section 3.1). Ports and filters
/// are the core's on which the caller runs.
///
/// ```
/// use manycore_chip::network::Message;
/// use manycore_chip::{Broadcast, Simulated, Simulation, config::Config};
/// use manycore_platform::{Platform, ThreadSpec};
///
/// let machine = Config::preset("atac-64")?;
/// let run = Simulation::new(&machine).run(|| {
///     let channel = Broadcast::create_channel().expect("the preset has the network");
///     Broadcast::open_port(channel);
///     let spec = ThreadSpec { cpus: vec![9], ..ThreadSpec::default() };
///     let send = move || Broadcast::send(channel, Message { payload: 7, ..Message::default() });
///     let sender = Simulated::spawn(spec, Box::new(send)).expect("the core exists");
///     let delivery = Broadcast::wait_and_receive(channel);
///     Simulated::join(sender);
///     (delivery.sender, delivery.message.payload)
/// })?;
/// assert_eq!(run.value, (9, 7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

    /// Unsubscribes this core; messages it has not taken are gone.
    pub fn close_port(channel: Channel) {
        in_order();
        with(|engine, core| engine.close_port(core, channel));
    }

    /// Messages of `channel` in this core's message buffer.
    pub fn pending(channel: Channel) -> usize {
        in_order();
        with(|engine, core| engine.pending(core, channel))
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
