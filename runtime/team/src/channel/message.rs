use std::error::Error;
use std::fmt;

/// A received message. Long data is returned separately.
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
    /// The word that was sent, or 0 for long data.
    pub payload: u64,
    /// The word that [filters](super::Filter) compare.
    pub signature: u32,
    /// The tag, a second and smaller word.
    pub tag: u32,
    /// The length of the message's long data, in bytes.
    pub length: usize,
    /// The [number](super::Port::number) of the port that sent the message.
    pub sender: usize,
    /// The number of this sender's messages that the receiver lost since the previous message that
    /// it received from this sender. Messages that the filter would not pass count too. This is 0
    /// unless the channel [loses](super::Slow::Lose) messages that slow receivers do not take.
    pub missed: u64,
}

/// No port can send to this port any more. All other ports of the channel are gone, and so are all
/// handles that could open one. All their messages are taken.
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
