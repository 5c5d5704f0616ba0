manycore_programs::by_name! {
    /// The behaviour of a receiver without a message.
    pub enum Waiting: "no waiting is called", "there are" {
        /// The receiver polls again at once.
        Spins = "spins",
        /// The receiver calls the blocking receive, which can sleep.
        Sleeps = "sleeps",
    }
}

/// A channel with one sender. Each receiver receives every word.
pub trait Contestant {
    type Sender: Send + 'static;
    type Receiver: Send + 'static;

    /// The number of words that users send at once.
    const BATCH: u64 = 1;

    fn open(receivers: usize) -> (Self::Sender, Vec<Self::Receiver>);

    /// Sends `count` numbers from `first` on. `count` is at most [`BATCH`](Self::BATCH).
    fn send(sender: &mut Self::Sender, first: u64, count: u64);

    /// Passes the available words to `take`. Returns whether there were any.
    fn poll(receiver: &mut Self::Receiver, take: &mut impl FnMut(u64)) -> bool;
}

/// A channel with a blocking receive.
pub trait Blocking: Contestant {
    /// Waits for the next word and returns it.
    fn receive(receiver: &mut Self::Receiver) -> u64;
}
