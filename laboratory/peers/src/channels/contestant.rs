manycore_programs::by_name! {
    /// The behaviour of a receiver without a message.
    pub enum Waiting: "no waiting is called", "there are" {
        /// It asks again at once.
        Spins = "spins",
        /// It calls the blocking receive, which goes to sleep sooner or later.
        Sleeps = "sleeps",
    }
}

/// A channel with one sender. All receivers hear every word.
pub trait Contestant {
    type Sender: Send + 'static;
    type Receiver: Send + 'static;

    /// Words that its owner is likely to hand over at once.
    const BATCH: u64 = 1;

    fn open(receivers: usize) -> (Self::Sender, Vec<Self::Receiver>);

    /// Sends the numbers from `first` on, `count` of them, at most [`BATCH`](Self::BATCH).
    fn send(sender: &mut Self::Sender, first: u64, count: u64);

    /// Hands the available words, at least one, to `take`; returns false if there are none.
    fn poll(receiver: &mut Self::Receiver, take: &mut impl FnMut(u64)) -> bool;
}

/// A channel with receivers that may sleep.
pub trait Blocking: Contestant {
    /// The next word, when it comes.
    fn receive(receiver: &mut Self::Receiver) -> u64;
}
