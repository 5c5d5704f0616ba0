use std::fmt;

/// What a receiver does while there is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It asks again at once.
    Spins,
    /// It calls the blocking receive, which goes to sleep sooner or later.
    Sleeps,
}

/// A channel on which one sends and all receivers hear every word.
pub trait Contestant {
    type Sender: Send + 'static;
    type Receiver: Send + 'static;

    /// Words that its owner is likely to hand over at once.
    const BATCH: u64 = 1;

    fn open(receivers: usize) -> (Self::Sender, Vec<Self::Receiver>);

    /// Sends the numbers from `first` on, `count` of them, at most [`BATCH`](Self::BATCH).
    fn send(sender: &mut Self::Sender, first: u64, count: u64);

    /// Hands the words that are there, one at least, to `take`; false if there are none.
    fn poll(receiver: &mut Self::Receiver, take: &mut impl FnMut(u64)) -> bool;
}

/// A channel whose receivers may sleep.
pub trait Blocking: Contestant {
    /// The next word, when it comes.
    fn receive(receiver: &mut Self::Receiver) -> u64;
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spins => "spins",
            Self::Sleeps => "sleeps",
        })
    }
}
