/// How a channel deals with receivers slower than their senders.
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
    /// Bytes that a sender can be ahead of a receiver; rounded up to a power of two,
    /// and to 128. A word takes 16 of them, 32 if its tag is 2^24 or more. Memory of that
    /// size is taken at a port's first message, none by ports that only receive.
    pub capacity: usize,
    /// The behaviour of a sender that is so far ahead.
    pub slow: Slow,
}

/// The treatment of a receiver that is a whole [capacity](Settings::capacity) behind.
///
/// ```
/// use manycore_team::channel::{Settings, Slow};
///
/// assert_eq!(Settings::default().slow, Slow::Wait);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slow {
    /// The sender waits for it, and nothing is lost. A receiver that never receives stops all
    /// senders, and two ports that send to each other without receiving stop each other.
    Wait,
    /// It loses what it has not taken, and learns
    /// [how many messages](super::Message::missed) that were. No sender ever waits.
    Lose,
}

impl Default for Settings {
    /// 64 KiB, and senders that wait.
    fn default() -> Self {
        Self {
            capacity: 64 << 10,
            slow: Slow::Wait,
        }
    }
}
