//! The workers' messages over the broadcast network, if there is one.

use manycore_chip::{Broadcast, Filter, MatchOperation, Message};

/// The signature of the message of the end. Every filter here passes this signature. By default, messages of other
/// channels have it too.
const OVER: u32 = 0;
/// Signatures of messages to hosts (workers with tasks): a bit for each class of ranks (numbers of workers).
const HOSTS: Classes = Classes {
    first: 0,
    count: 8,
    ranks: 1,
};
/// Signatures of messages to guests (workers without tasks): a bit for each group of ranks.
const GUESTS: Classes = Classes {
    first: 8,
    count: 24,
    ranks: 64,
};

/// A bit for each class of ranks. Consecutive ranks share a class, and classes repeat.
struct Classes {
    first: u32,
    count: usize,
    ranks: usize,
}

impl Classes {
    const fn of(&self, rank: usize) -> u32 {
        1 << (self.first + (rank / self.ranks % self.count) as u32)
    }
}

/// The messages that a worker wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    /// Only the message of the end.
    End,
    /// Also requests to this worker's class, because this worker has tasks.
    Host,
    /// Also requests of this worker's group and invitations to it, because this worker has no tasks.
    Guest,
}

/// The content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// All tasks are done.
    Over,
    /// A worker has no tasks: a request.
    Hungry {
        /// The worker.
        guest: usize,
    },
    /// `host` has tasks, and `guest` may take half of them.
    Invitation {
        /// The invited worker.
        guest: usize,
        /// The deque with tasks.
        host: usize,
    },
}

/// One worker's end: the port and the filter of its core.
///
/// All messages except the end are only advice. A worker without messages still finds tasks, and a worker that follows
/// wrong advice finds no tasks there. But a worker with a port learns of the end only by message.
///
/// Messages that the filter stops cost nothing, so a worker receives only useful messages. While the worker has tasks,
/// these are the requests to its class, an eighth of all requests. While it has no tasks, these are the messages of its
/// group of 64.
pub(super) struct Hints<P: Broadcast> {
    wire: P::Channel,
    rank: usize,
    /// The unwanted bits of signatures.
    declined: u32,
}

impl<P: Broadcast> Hints<P> {
    /// Opens the port of the caller's core.
    pub(super) fn new(wire: P::Channel, rank: usize) -> Self {
        P::open_port(wire);
        let mut hints = Self {
            wire,
            rank,
            declined: 0,
        };
        hints.hear(Interest::End);
        hints
    }

    pub(super) fn hear(&mut self, interest: Interest) {
        let wanted = match interest {
            Interest::End => 0,
            Interest::Host => HOSTS.of(self.rank),
            Interest::Guest => GUESTS.of(self.rank),
        };
        if self.declined != !wanted {
            self.declined = !wanted;
            P::set_filter(Filter {
                mask: self.declined,
                operation: MatchOperation::Xnor,
                signature: 0,
            });
        }
    }

    pub(super) fn tell_over(&self) {
        self.send(OVER, 0, 0);
    }

    /// Sends a request for tasks to this worker's group, and to the hosts in the class of `asked`.
    pub(super) fn tell_hunger(&self, asked: usize) {
        for signature in [GUESTS.of(self.rank), HOSTS.of(asked)] {
            // A payload without a host marks a request.
            self.send(signature, u64::MAX, self.rank as u32);
        }
    }

    pub(super) fn invite(&self, guest: usize, host: usize) {
        self.send(GUESTS.of(guest), host as u64, guest as u32);
    }

    fn send(&self, signature: u32, payload: u64, tag: u32) {
        let message = Message {
            payload,
            signature,
            tag,
            data: None,
        };
        P::send(self.wire, message);
    }

    pub(super) fn receive(&self) -> Option<Item> {
        let Message {
            payload,
            signature,
            tag,
            ..
        } = P::receive(self.wire)?.message;
        let guest = tag as usize;
        Some(match (signature, payload) {
            (OVER, _) => Item::Over,
            (_, u64::MAX) => Item::Hungry { guest },
            (_, host) => Item::Invitation {
                guest,
                host: host as usize,
            },
        })
    }
}

impl<P: Broadcast> Drop for Hints<P> {
    /// Gives the core's filter back.
    fn drop(&mut self) {
        P::set_filter(Filter::ALL);
        P::close_port(self.wire);
    }
}
