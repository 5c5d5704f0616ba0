use std::rc::Rc;

use super::bitset::BitSet;
use super::message::{Channel, Flight};

/// A receiver's lambda queues: a first-in first-out queue for each wavelength.
///
/// All queues share one pool of links, since most queues are empty most of the time.
#[derive(Clone, Debug, Default)]
pub(super) struct LambdaQueues {
    links: Vec<Link>,
    unused: Vec<u32>,
    /// The ends of each wavelength's queue. The ends of an empty queue have no meaning.
    ends: Vec<Ends>,
    /// The wavelengths with a waiting message.
    occupied: BitSet,
}

#[derive(Clone, Debug)]
struct Link {
    flight: Option<Rc<Flight>>,
    /// The queue's next link, unless this link is the last.
    next: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    first: u32,
    last: u32,
}

impl LambdaQueues {
    pub(super) fn len(&self) -> usize {
        self.links.len() - self.unused.len()
    }

    pub(super) fn push(&mut self, flight: Rc<Flight>) {
        let sender = flight.sender;
        let link = Link {
            flight: Some(flight),
            next: 0,
        };
        let at = match self.unused.pop() {
            Some(at) => {
                self.links[at as usize] = link;
                at
            }
            None => {
                self.links.push(link);
                self.links.len() as u32 - 1
            }
        };
        if sender as usize >= self.ends.len() {
            self.ends.resize(sender as usize + 1, Ends::default());
        }
        let ends = &mut self.ends[sender as usize];
        if self.occupied.contains(sender) {
            self.links[ends.last as usize].next = at;
        } else {
            self.occupied.insert(sender);
            ends.first = at;
        }
        ends.last = at;
    }

    /// Takes the first message of the first occupied queue in cyclic order from wavelength `from`.
    pub(super) fn pop(&mut self, from: u32) -> Option<Rc<Flight>> {
        let sender = self.occupied.next_cyclic(from)?;
        let ends = &mut self.ends[sender as usize];
        let at = ends.first;
        if at == ends.last {
            self.occupied.remove(sender);
        }
        let link = &mut self.links[at as usize];
        ends.first = link.next;
        self.unused.push(at);
        link.flight.take()
    }

    pub(super) fn purge(&mut self, channel: Channel) {
        let all: Vec<_> = std::iter::from_fn(|| self.pop(0)).collect();
        for flight in all {
            if flight.channel != channel {
                self.push(flight);
            }
        }
    }
}
