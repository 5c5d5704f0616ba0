use super::bell::wait_for;
use super::filter::Filter;
use super::hub::Hub;
use super::message::{Closed, Message};
use super::ring_reader::{Look, RingReader};
use manycore_platform::Platform;

/// The receiving side of a port, with one reader for each sender that the port has noticed.
pub(super) struct Inbox<P: Platform> {
    pub(super) readers: Vec<RingReader<P>>,
    /// The index of the reader that is looked at next.
    turn: usize,
    /// The `version` of the hub (the data that the ports share) when the readers were last updated.
    pub(super) version: u32,
    filter: Filter,
}

impl<P: Platform> Inbox<P> {
    pub(super) fn new() -> Self {
        Self {
            readers: Vec::new(),
            turn: 0,
            version: 0,
            filter: Filter::ALL,
        }
    }
    #[inline(always)]
    pub(super) fn take(
        &mut self,
        hub: &Hub<P>,
        port: usize,
        mut data: Option<&mut Vec<u8>>,
    ) -> Option<Message> {
        match self.take_word(hub, port) {
            None => self.search(hub, port, data),
            message => {
                if let Some(data) = &mut data {
                    data.clear();
                }
                message
            }
        }
    }

    /// Takes the next word of the sender whose turn it is.
    #[inline(always)]
    fn take_word(&mut self, hub: &Hub<P>, port: usize) -> Option<Message> {
        let reader = self.readers.get_mut(self.turn)?;
        let told = reader.published();
        let message = reader.take_word(self.filter)?;
        if reader.published() != told {
            self.pass_turn(hub, port);
        }
        Some(message)
    }

    /// Takes the next message of any sender.
    #[inline(never)]
    fn search(
        &mut self,
        hub: &Hub<P>,
        port: usize,
        mut data: Option<&mut Vec<u8>>,
    ) -> Option<Message> {
        // The number of senders in a row that had no message.
        let mut silent = 0;
        loop {
            let Some(reader) = self.readers.get_mut(self.turn) else {
                if self.turn == 0 && !hub.look_after(self, port) {
                    return None;
                }
                self.turn = 0;
                continue;
            };
            let told = reader.published();
            match reader.look(self.filter, data.as_deref_mut()) {
                Look::Message(message) => {
                    if reader.published() != told {
                        self.pass_turn(hub, port);
                    }
                    return Some(message);
                }
                Look::Other => silent = 0,
                Look::Nothing => {
                    if reader.closed {
                        reader.ring.leave(port);
                        self.readers.swap_remove(self.turn);
                    } else {
                        silent += 1;
                        self.turn += 1;
                    }
                    if silent >= self.readers.len() {
                        if !hub.look_after(self, port) {
                            return None;
                        }
                        silent = 0;
                    }
                }
            }
        }
    }

    /// Passes the turn on after a quarter ring. So if a sender is never silent, the port still
    /// receives from other senders and notices new senders.
    #[cold]
    fn pass_turn(&mut self, hub: &Hub<P>, port: usize) {
        self.turn += 1;
        hub.look_after(self, port);
    }

    #[inline(always)]
    pub(super) fn wait_and_take(
        &mut self,
        hub: &Hub<P>,
        port: usize,
        mut data: Option<&mut Vec<u8>>,
    ) -> Result<Message, Closed> {
        match self.take(hub, port, data.as_deref_mut()) {
            Some(message) => Ok(message),
            None => self.wait(hub, port, data),
        }
    }

    #[cold]
    #[inline(never)]
    fn wait(
        &mut self,
        hub: &Hub<P>,
        port: usize,
        mut data: Option<&mut Vec<u8>>,
    ) -> Result<Message, Closed> {
        wait_for(&hub.hot.arrival, || {
            // The order of these two looks matters: see `SenderCount`.
            let is_closed = hub.hot.senders.is_closed();
            match self.take(hub, port, data.as_deref_mut()) {
                Some(message) => Some(Ok(message)),
                None => is_closed.then_some(Err(Closed)),
            }
        })
    }

    /// Sets the filter. For messages that are already in the rings, the old filter decides.
    pub(super) fn set_filter(&mut self, hub: &Hub<P>, port: usize, filter: Filter) {
        hub.look_after(self, port);
        for reader in &mut self.readers {
            reader.replace(self.filter);
        }
        self.filter = filter;
    }
}
