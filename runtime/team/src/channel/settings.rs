/// The size of a channel's rings, and its treatment of slow receivers.
///
/// ```
/// use manycore_team::channel::{Channel, Settings, Slow};
///
/// let news = Channel::with(Settings { capacity: 4096, slow: Slow::Lose });
/// let (mut sender, mut receiver) = (news.open(), news.open());
/// for number in 0..10_000 {
///     sender.send(number); // does not wait
/// }
/// let oldest = receiver.receive().unwrap();
/// assert_eq!(oldest.payload, oldest.missed);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How many bytes a sender can be ahead of a receiver, rounded up to a power of two and to at
    /// least 128. A word takes 16 bytes, or 32 if its tag is 2^24 or more. A port allocates this
    /// memory at its first message. A port that only receives allocates none.
    pub capacity: usize,
    /// The sender's action when it is that far ahead of a receiver.
    pub slow: Slow,
}

/// The treatment of a receiver that is behind by a whole [capacity](Settings::capacity).
///
/// ```
/// use manycore_team::channel::{Settings, Slow};
///
/// assert_eq!(Settings::default().slow, Slow::Wait);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slow {
    /// The sender waits for the receiver, and nothing is lost. A port that never receives stops all
    /// senders. Two ports that send to each other without receiving stop each other.
    Wait,
    /// The receiver loses messages that it has not taken, and learns [how many
    /// messages](super::Message::missed) it lost. No sender ever waits.
    Lose,
}

impl Default for Settings {
    /// 64 KiB, with senders that wait.
    fn default() -> Self {
        Self {
            capacity: 64 << 10,
            slow: Slow::Wait,
        }
    }
}
