use std::error::Error;
use std::fmt;

/// What was received; long data is handed over beside it.
///
/// ```
/// use manycore_team::channel::Channel;
///
/// let channel = Channel::new();
/// let (mut one, mut other) = (channel.open(), channel.open());
/// one.send_long_marked(b"abc", 5, 6);
/// let message = other.receive().unwrap();
/// assert_eq!((message.signature, message.tag, message.length), (5, 6, 3));
/// assert_eq!(message.sender, one.number());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The word that was sent; 0 for long data.
    pub payload: u64,
    /// What filters look at.
    pub signature: u32,
    /// A second word.
    pub tag: u32,
    /// Bytes of long data that came with it.
    pub length: usize,
    /// The [number](super::Port::number) of the port that sent it.
    pub sender: usize,
    /// Messages of this sender that the receiver lost before this one, since the last message of
    /// this sender that it noticed, whether or not they would have passed the filter. The receiver
    /// was too slow for a channel that [loses](super::Slow::Lose). Otherwise 0.
    pub missed: u64,
}

/// No port can send to this port any more: all other ports of its channel, and all handles that
/// could open one, are gone, and their messages are taken.
///
/// ```
/// use manycore_team::channel::{Channel, Closed};
///
/// let channel = Channel::new();
/// let mut port = channel.open();
/// drop(channel);
/// assert_eq!(port.receive(), Err(Closed));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "no port can send any more: all other ports and all handles of the channel are gone",
        )
    }
}

impl Error for Closed {}
