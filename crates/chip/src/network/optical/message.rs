use std::sync::Arc;

use crate::network::Cycles;

/// A virtual channel: a number that the hardware puts on messages (Park 2013,
/// section 3.1.3). It belongs to the network that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel(pub(super) u32);

/// What a core broadcasts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// One word for the receivers.
    pub payload: u64,
    /// What filters look at.
    pub signature: u32,
    /// A second word for the receivers; the hardware does not look at it.
    pub tag: u32,
    /// Long data, which keeps the sender's wavelength busy.
    pub data: Option<Arc<[u8]>>,
}

/// A message and the wavelength on which it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The core that sent it.
    pub sender: u32,
    /// What it sent.
    pub message: Message,
}

/// A message on its way, one for all its receivers.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) arrival: Cycles,
    /// Messages sent before it.
    pub(super) number: u64,
    pub(super) sender: u32,
    pub(super) channel: Channel,
    pub(super) message: Message,
}
