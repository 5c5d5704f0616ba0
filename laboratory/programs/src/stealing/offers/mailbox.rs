use crate::channel::{Channel, Filter, Port};
use manycore_chip::Broadcast;

/// The signature of a request to share work.
const REQUEST: u32 = 1 << 31;
/// The number of classes of ranks (numbers of workers). Each class has a bit in the signatures of offers (messages that
/// name a task to take).
const CLASSES: usize = 31;
/// The signature of the message of the end and, by default, of messages of other channels.
const FINISH: u32 = 0;

/// A worker's port, and its core's filter.
///
/// All messages are broadcast on one channel. Their signature distinguishes them: requests have one bit, and an offer
/// has a bit for its thief's rank modulo 31. To stop offers to other workers is as useful as to stop requests, since
/// with 64 cores an unfiltered offer would cost each of 63 controllers 10 cycles. With a channel for each thief, every
/// pair of thief and victim would need a port.
///
/// The filter declines messages with any unwanted bit. So the message of the end, and messages of other channels with
/// the signature 0, pass every filter.
pub(super) struct Mailbox<P: Broadcast> {
    port: Port<P>,
    rank: usize,
    declined: u32,
    pub(super) sent: u64,
    pub(super) received: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum StealMessage {
    /// This rank requests work.
    Request(usize),
    /// An offer of work for this worker.
    Offer(u64),
    Finish,
}

fn class(rank: usize) -> u32 {
    1 << (rank % CLASSES)
}

impl<P: Broadcast> Mailbox<P> {
    /// Opens the port of the caller's core.
    pub(super) fn new(channel: &Channel<P>, rank: usize) -> Self {
        let mut mailbox = Self {
            port: channel.open(),
            rank,
            declined: 0,
            sent: 0,
            received: 0,
        };
        mailbox.hear(false, false);
        mailbox
    }

    /// Sets whether the filter passes requests, and offers to this worker.
    pub(super) fn hear(&mut self, requests: bool, offers: bool) {
        let mut declined = u32::MAX;
        if requests {
            declined &= !REQUEST;
        }
        if offers {
            declined &= !class(self.rank);
        }
        self.decline(declined);
    }

    fn decline(&mut self, mask: u32) {
        if mask != self.declined {
            self.declined = mask;
            self.port.set_filter(Filter { mask, signature: 0 });
        }
    }

    pub(super) fn request(&mut self) {
        self.send(self.rank as u64, REQUEST, 0);
    }

    pub(super) fn offer(&mut self, thief: usize, offer: u64) {
        self.send(offer, class(thief), thief as u32);
    }

    pub(super) fn finish(&mut self) {
        self.send(0, FINISH, 0);
    }

    fn send(&mut self, payload: u64, signature: u32, tag: u32) {
        self.sent += 1;
        self.port.send_marked(payload, signature, tag);
    }

    /// The next message for this worker.
    pub(super) fn receive(&mut self) -> Option<StealMessage> {
        loop {
            let message = self.port.try_receive()?;
            self.received += 1;
            match message.signature {
                FINISH => return Some(StealMessage::Finish),
                REQUEST => return Some(StealMessage::Request(message.payload as usize)),
                _ if message.tag as usize == self.rank => {
                    return Some(StealMessage::Offer(message.payload));
                }
                // This is an offer to another rank of the same class.
                _ => {}
            }
        }
    }

    /// Gives the core's filter back.
    pub(super) fn retire(&mut self) {
        self.decline(0);
    }
}

impl<P: Broadcast> Drop for Mailbox<P> {
    fn drop(&mut self) {
        self.retire();
    }
}
