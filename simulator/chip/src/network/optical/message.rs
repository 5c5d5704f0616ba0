use crate::broadcast::Message;

use crate::network::Cycles;

/// A virtual channel: a number that the hardware puts on messages (Park 2013, section 3.1.3). It is
/// valid only for the network that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel(pub(super) u32);

/// A message on its way. All receivers of the message share this record.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) arrival: Cycles,
    /// The number of messages that were sent before this message.
    pub(super) number: u64,
    pub(super) sender: u32,
    pub(super) channel: Channel,
    pub(super) message: Message,
    /// Whether the message has passed the receiver's filter and completed the port's count of messages.
    pub(super) counted: bool,
}

impl Flight {
    /// The same message after it has completed the port's count. It arrives `delay` later.
    pub(super) fn after(&self, delay: Cycles) -> Self {
        Self {
            arrival: self.arrival + delay,
            number: self.number,
            sender: self.sender,
            channel: self.channel,
            message: self.message.clone(),
            counted: true,
        }
    }
}
