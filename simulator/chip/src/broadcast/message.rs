use std::sync::Arc;

/// A broadcast message of a core (Park 2013, figure 3-3; the size of the data, the channel and the
/// wavelength are the network's business).
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
    /// The part that filters look at.
    pub signature: u32,
    /// A second word for the receivers; the hardware does not look at it.
    pub tag: u32,
    /// Long data, which keeps the sender's wavelength busy.
    pub data: Option<Arc<[u8]>>,
}

/// A message and its wavelength.
///
/// ```
/// use manycore_chip::{Delivery, Message};
///
/// let delivery = Delivery { sender: 5, message: Message::default() };
/// assert_eq!(delivery.message.payload, 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The core that sent it.
    pub sender: u32,
    /// The message.
    pub message: Message,
}
