//! A guest's requests to the optical network.

use super::core::Core;
use crate::broadcast::{Delivery, Filter, Message};
use crate::network::Channel;
use std::num::NonZeroU32;

impl Core<'_> {
    /// Creates a channel of the optical network. Returns `None` if the machine has no such network.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     assert!(core.create_channel().is_some());
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_channel(&mut self) -> Option<Channel> {
        self.engine.create_channel()
    }

    /// Subscribes this core to a channel. With `every`, the core counts the messages and receives only every `every`-th
    /// message.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     let channel = core.create_channel().expect("the machine has the network");
    ///     core.open_port(channel, None);
    ///     assert!(core.receive(channel).is_none());
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_port(&mut self, channel: Channel, every: Option<NonZeroU32>) {
        self.engine.open_port(self.core, channel, every);
    }

    /// Unsubscribes this core.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     let channel = core.create_channel().expect("the machine has the network");
    ///     core.open_port(channel, None);
    ///     core.close_port(channel);
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close_port(&mut self, channel: Channel) {
        self.engine.close_port(self.core, channel);
    }

    /// Chooses the messages that this core receives from now on.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     // Only messages whose signature has the lowest bit.
    ///     let operation = MatchOperation::And;
    ///     core.set_filter(Filter { mask: 1, operation, signature: 1 });
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_filter(&mut self, filter: Filter) {
        self.engine.set_filter(self.core, filter);
    }

    /// Broadcasts a message.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     let channel = core.create_channel().expect("the machine has the network");
    ///     let before = core.clock();
    ///     core.send(channel, Message { payload: 7, ..Message::default() });
    ///     assert!(core.clock() > before);
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn send(&mut self, channel: Channel, message: Message) {
        self.engine.send(self.core, channel, message);
    }

    /// Takes the next message of a channel from this core's buffer.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     let channel = core.create_channel().expect("the machine has the network");
    ///     core.open_port(channel, None);
    ///     // No message was sent.
    ///     assert!(core.receive(channel).is_none());
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn receive(&mut self, channel: Channel) -> Option<Delivery> {
        self.engine.receive(self.core, channel)
    }

    /// Waits until a message may be in the buffer. The guest must suspend, and call
    /// [`receive`](Self::receive) again when it is resumed.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let mut channel = None;
    /// let main = move |core: &mut Core<'_>| {
    ///     let channel = *channel.get_or_insert_with(|| {
    ///         let channel = core.create_channel().expect("the machine has the network");
    ///         core.open_port(channel, None);
    ///         let sender = move |core: &mut Core<'_>| {
    ///             core.send(channel, Message { payload: 42, ..Message::default() });
    ///             State::Ended
    ///         };
    ///         core.spawn("sender".into(), Box::new(sender), &[1]).expect("core 1 is there");
    ///         channel
    ///     });
    ///     match core.receive(channel) {
    ///         Some(delivery) => {
    ///             assert_eq!(delivery.message.payload, 42);
    ///             State::Exited
    ///         }
    ///         None => {
    ///             core.listen(channel);
    ///             State::Suspended
    ///         }
    ///     }
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn listen(&mut self, channel: Channel) {
        self.engine.listen(self.core, channel);
    }
}
