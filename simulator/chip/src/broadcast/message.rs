use std::sync::Arc;

/// A broadcast message of a core (Park 2013, figure 3-3). The network adds the size of the data,
/// the channel and the wavelength.
///
/// ```
/// use manycore_chip::Message;
///
/// let arrived = Message { payload: 3, ..Message::default() };
/// assert!(arrived.data.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// One word for the receivers.
    pub payload: u64,
    /// The part of the message that filters compare.
    pub signature: u32,
    /// A second word for the receivers, which the hardware ignores.
    pub tag: u32,
    /// Long data, which occupy the sender's wavelength.
    pub data: Option<Arc<[u8]>>,
}

/// A received message and its sender, which the wavelength identifies.
///
/// ```
/// use manycore_chip::{Delivery, Message};
///
/// let delivery = Delivery { sender: 5, message: Message::default() };
/// assert_eq!(delivery.message.payload, 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The core that sent the message.
    pub sender: u32,
    /// The message.
    pub message: Message,
}
