//! What workers tell each other over the broadcast network, if there is one.

use manycore_platform::{Broadcast, Filter, MatchOperation, Message, Platform};

/// Signatures: a bit each.
const OVER: u32 = 1;
const INVITE: u32 = 2;
const FEW: u32 = 4;
const MANY: u32 = 8;

/// The hardware's channel.
pub(super) type Wire<P> = <<P as Platform>::Broadcast as Broadcast>::Channel;

/// One worker's end.
pub(super) struct News<P: Platform> {
    wire: Wire<P>,
    heard: u32,
}

/// From so many on, tasks are many.
const FROM: u32 = 3;

/// What a worker wants to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ear {
    /// That it is over.
    End,
    /// And who has few tasks to spare, or none.
    Few,
    All,
}

/// What is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// All is done.
    Over,
    /// This worker has so many tasks to spare.
    Spare { worker: usize, tasks: u32 },
    /// `host` has something for `guest`.
    Invite { guest: usize, host: usize },
}

impl<P: Platform> News<P> {
    /// On the core that is to hear them.
    pub(super) fn new(wire: Wire<P>) -> Self {
        P::Broadcast::open_port(wire);
        let mut news = Self { wire, heard: 0 };
        news.hear(Ear::End);
        news
    }

    pub(super) fn hear(&mut self, ear: Ear) {
        let signature = match ear {
            Ear::End => OVER,
            Ear::Few => OVER | FEW,
            Ear::All => OVER | INVITE | FEW | MANY,
        };
        if self.heard != signature {
            self.heard = signature;
            P::Broadcast::set_filter(Filter {
                mask: u32::MAX,
                operation: MatchOperation::And,
                signature,
            });
        }
    }

    pub(super) fn send(&self, item: Item) {
        let (signature, payload, tag) = match item {
            Item::Over => (OVER, 0, 0),
            Item::Spare { worker, tasks } => {
                let signature = if tasks < FROM { FEW } else { MANY };
                (signature, worker as u64, tasks)
            }
            Item::Invite { guest, host } => (INVITE, host as u64, guest as u32),
        };
        let message = Message {
            payload,
            signature,
            tag,
            data: None,
        };
        P::Broadcast::send(self.wire, message);
    }

    pub(super) fn receive(&self) -> Option<Item> {
        let message = P::Broadcast::receive(self.wire)?.message;
        Some(match message.signature {
            OVER => Item::Over,
            INVITE => Item::Invite {
                guest: message.tag as usize,
                host: message.payload as usize,
            },
            _ => Item::Spare {
                worker: message.payload as usize,
                tasks: message.tag,
            },
        })
    }
}
