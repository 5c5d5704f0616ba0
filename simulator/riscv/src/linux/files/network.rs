//! Named sockets within the simulated system: TCP over the loopback device, and Unix streams. These sockets reach
//! neither the host nor its network.
//!
//! `connect` makes a connection at once: it puts one end into the listener's queue, and the caller keeps the other end.
//! If the queue is full, a caller of TCP that does not wait is called back by the listener's next `accept`.

use super::fifo::Fifos;
use super::streams::{End, INTERNET, NON_BLOCKING, Settings, ready};
use crate::linux::errno::{
    EADDRINUSE, EAGAIN, EALREADY, ECONNREFUSED, EINPROGRESS, EINVAL, EISCONN, ENOTCONN, EOPNOTSUPP,
    EPIPE, Errno,
};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::rc::{Rc, Weak};

pub(super) const UNIX: u16 = 1;

/// The address of a socket. Other sockets connect to it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Port(u16),
    /// A file of the host, by its device and its number.
    File(u64, u64),
    /// A name without a file.
    Abstract(Vec<u8>),
}

/// A socket's address in the program's format: a `sockaddr`.
pub(super) type Name = Vec<u8>;

/// The `sockaddr` of a socket without a name.
pub(super) fn no_name(domain: u16) -> Name {
    match domain {
        INTERNET => internet(0, [0; 4]),
        _ => domain.to_le_bytes().into(),
    }
}

/// A `sockaddr_in`.
pub(super) fn internet(port: u16, address: [u8; 4]) -> Name {
    let mut name = INTERNET.to_le_bytes().to_vec();
    name.extend(port.to_be_bytes());
    name.extend(address);
    name.resize(16, 0);
    name
}

/// The first port for sockets that do not choose a port.
const FIRST_PORT: u16 = 32_768;
/// The most connections that wait to be accepted, even if the program allows more.
const MOST_WAITING: usize = 4_096;

/// The sockets of all processes, by place, and their open FIFOs.
#[derive(Default)]
pub(crate) struct Network {
    sockets: BTreeMap<Place, Weak<Socket>>,
    last_port: u16,
    pub(super) fifos: Fifos,
}

impl Network {
    fn find(&self, place: &Place) -> Option<Rc<Socket>> {
        self.sockets.get(place)?.upgrade()
    }

    fn free_port(&mut self) -> Result<u16, Errno> {
        for _ in FIRST_PORT..=u16::MAX {
            self.last_port = self.last_port.wrapping_add(1).max(FIRST_PORT);
            if self.find(&Place::Port(self.last_port)).is_none() {
                return Ok(self.last_port);
            }
        }
        Err(EADDRINUSE)
    }
}

enum State {
    Unbound,
    Bound(Name),
    Listens {
        name: Name,
        waiting: VecDeque<End>,
        /// The number of connections that have ever waited.
        arrived: u64,
        most: usize,
        /// The number of the process that listens.
        process: u32,
        /// Sockets that connect when the queue has room.
        callers: VecDeque<Weak<Socket>>,
    },
    /// Waits for room in a listener's queue. `names` are the names of the socket and of the listener.
    Connects {
        names: [Name; 2],
        /// The number of the process that connects.
        process: u32,
    },
    Connected(End),
}

/// A socket that `socket` has made.
pub(crate) struct Socket {
    pub(super) domain: u16,
    settings: Rc<Settings>,
    state: RefCell<State>,
    /// Whether a `connect` that did not wait has succeeded, and the next `connect` says so.
    has_news: Cell<bool>,
    /// Why a `connect` that did not wait has failed.
    error: Cell<Option<Errno>>,
    /// The place of the file that the socket is bound to. While it is open, the host gives its inode to no other file,
    /// even if the program deletes the file.
    file: RefCell<Option<File>>,
}

impl Socket {
    pub(super) fn new(domain: u16, flags: u64) -> Rc<Self> {
        Rc::new(Self {
            domain,
            settings: Settings::new(flags & NON_BLOCKING),
            state: RefCell::new(State::Unbound),
            has_news: Cell::new(false),
            error: Cell::new(None),
            file: RefCell::new(None),
        })
    }

    /// Keeps the place of the file that the socket is bound to, if there is one.
    pub(super) fn keep(&self, file: Option<File>) {
        *self.file.borrow_mut() = file;
    }

    pub(super) fn flags(&self) -> &Cell<u64> {
        &self.settings.flags
    }

    pub(super) fn settings(&self) -> &Rc<Settings> {
        &self.settings
    }

    pub(super) fn is_blocking(&self) -> bool {
        self.flags().get() & NON_BLOCKING == 0
    }

    /// The socket's end of its connection, if it is connected.
    pub(super) fn end(&self) -> Option<End> {
        match &*self.state.borrow() {
            State::Connected(end) => Some(end.clone()),
            _ => None,
        }
    }

    /// The number of the process at the other end. For a listening socket, the number of the process that listens.
    pub(super) fn peer(&self) -> Option<u32> {
        match &*self.state.borrow() {
            State::Connected(end) => end.peer(),
            State::Listens { process, .. } => Some(*process),
            State::Unbound | State::Bound(_) | State::Connects { .. } => None,
        }
    }

    pub(super) fn is_listening(&self) -> bool {
        matches!(*self.state.borrow(), State::Listens { .. })
    }

    /// The socket's own name, and the name of its peer.
    pub(super) fn names(&self) -> (Name, Option<Name>) {
        match &*self.state.borrow() {
            State::Unbound => (no_name(self.domain), None),
            State::Bound(name) | State::Listens { name, .. } => (name.clone(), None),
            State::Connects { names, .. } => (names[0].clone(), None),
            State::Connected(end) => (end.name(0), Some(end.name(1))),
        }
    }

    pub(super) fn is_unbound(&self) -> bool {
        matches!(*self.state.borrow(), State::Unbound)
    }

    /// `bind`, to a place or to a free port.
    pub(super) fn bind(
        self: &Rc<Self>,
        network: &mut Network,
        place: Place,
        name: Name,
    ) -> Result<(), Errno> {
        if !self.is_unbound() {
            return Err(EINVAL);
        }
        let (place, name) = match place {
            Place::Port(0) => {
                let port = network.free_port()?;
                let mut name = name;
                name[2..4].copy_from_slice(&port.to_be_bytes());
                (Place::Port(port), name)
            }
            place => (place, name),
        };
        if network.find(&place).is_some() {
            return Err(EADDRINUSE);
        }
        network.sockets.insert(place, Rc::downgrade(self));
        *self.state.borrow_mut() = State::Bound(name);
        Ok(())
    }

    /// `listen`.
    pub(super) fn listen(
        self: &Rc<Self>,
        network: &mut Network,
        most: usize,
        process: u32,
    ) -> Result<(), Errno> {
        let most = most.min(MOST_WAITING);
        if matches!(*self.state.borrow(), State::Unbound) && self.domain == INTERNET {
            self.bind(network, Place::Port(0), no_name(INTERNET))?;
        }
        let mut state = self.state.borrow_mut();
        match &mut *state {
            State::Bound(name) => {
                let name = std::mem::take(name);
                *state = State::Listens {
                    name,
                    waiting: VecDeque::new(),
                    arrived: 0,
                    most,
                    process,
                    callers: VecDeque::new(),
                };
            }
            State::Listens {
                most: most_now,
                process: process_now,
                ..
            } => (*most_now, *process_now) = (most, process),
            _ => return Err(EINVAL),
        }
        drop(state);
        // The queue may have more room now.
        self.call_back();
        Ok(())
    }

    pub(super) fn awaits_caller(&self) -> bool {
        match &*self.state.borrow() {
            State::Listens { waiting, .. } => waiting.is_empty() && self.is_blocking(),
            _ => false,
        }
    }

    /// `accept`: an end of the connection that has waited longest.
    pub(super) fn accept(&self) -> Result<End, Errno> {
        let end = match &mut *self.state.borrow_mut() {
            State::Listens { waiting, .. } => waiting.pop_front().ok_or(EAGAIN)?,
            _ if self.domain == 0 => return Err(EOPNOTSUPP),
            _ => return Err(EINVAL),
        };
        self.call_back();
        Ok(end)
    }

    /// Connects the sockets that wait for room in the queue, as long as there is room.
    fn call_back(&self) {
        while !self.is_full() {
            let caller = match &mut *self.state.borrow_mut() {
                State::Listens { callers, .. } => callers.pop_front(),
                _ => None,
            };
            let Some(caller) = caller else {
                return;
            };
            let Some(caller) = caller.upgrade() else {
                continue;
            };
            let mut state = caller.state.borrow_mut();
            if let State::Connects { names, process } = &mut *state
                && let Some(end) = self.take_caller(&caller, std::mem::take(names), *process)
            {
                *state = State::Connected(end);
            }
        }
    }

    /// `connect`.
    pub(super) fn connect(
        self: &Rc<Self>,
        network: &mut Network,
        place: &Place,
        to: Name,
        process: u32,
    ) -> Result<(), Errno> {
        let goes_on = self.domain == INTERNET && !self.is_blocking();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let listener = network.find(place);
        let own = match &*self.state.borrow() {
            State::Unbound => None,
            State::Bound(name) => Some(name.clone()),
            State::Connects { .. } if goes_on => return Err(EALREADY),
            State::Connects { .. } => return Err(EAGAIN),
            State::Connected(_) if self.has_news.take() => return Ok(()),
            // Linux looks for the listener of a Unix socket first.
            State::Listens { .. } | State::Connected(_) => {
                return Err(match (self.domain, listener) {
                    (UNIX, None) => ECONNREFUSED,
                    _ => EISCONN,
                });
            }
        };
        let listener = listener.filter(|listener| listener.is_listening());
        let Some(listener) = listener else {
            return Err(match goes_on {
                true => {
                    self.error.set(Some(ECONNREFUSED));
                    EINPROGRESS
                }
                false => ECONNREFUSED,
            });
        };
        if listener.is_full() && !goes_on {
            return Err(EAGAIN);
        }
        let own = match (own, self.domain) {
            (Some(name), _) => name,
            (None, INTERNET) => {
                let port = network.free_port()?;
                let place = Place::Port(port);
                network.sockets.insert(place, Rc::downgrade(self));
                internet(port, [127, 0, 0, 1])
            }
            (None, domain) => no_name(domain),
        };
        let names = [own, to];
        *self.state.borrow_mut() = State::Connects { names, process };
        self.has_news.set(goes_on);
        if let State::Listens { callers, .. } = &mut *listener.state.borrow_mut() {
            callers.retain(|caller| caller.strong_count() > 0);
            callers.push_back(Rc::downgrade(self));
        }
        listener.call_back();
        match goes_on {
            true => Err(EINPROGRESS),
            false => Ok(()),
        }
    }

    /// Puts a connection with `caller` into this listener's queue. Returns the caller's end.
    fn take_caller(&self, caller: &Self, names: [Name; 2], process: u32) -> Option<End> {
        let mut state = self.state.borrow_mut();
        let State::Listens {
            waiting,
            arrived,
            process: own,
            ..
        } = &mut *state
        else {
            return None;
        };
        let [one, other] = End::connected(&caller.settings, names, [process, *own]);
        if self.domain == INTERNET {
            // TCP gives a connection the settings that the listener has now.
            let limits = self.settings.limits.iter();
            for (of, limit) in limits.zip(&other.settings().limits) {
                limit.set(of.get());
            }
            one.set_breaks(caller.settings.breaks.get());
            other.set_breaks(self.settings.breaks.get());
        }
        waiting.push_back(other);
        *arrived += 1;
        Some(one)
    }

    /// Whether a blocking `connect` to this socket waits for an `accept`. As under Linux, one connection more may wait
    /// than the program allows.
    pub(super) fn is_full(&self) -> bool {
        match &*self.state.borrow() {
            State::Listens { waiting, most, .. } => waiting.len() > *most,
            _ => false,
        }
    }

    pub(super) fn ready(&self) -> ready::State {
        match &*self.state.borrow() {
            State::Connected(end) => end.ready(),
            State::Listens {
                waiting, arrived, ..
            } => {
                let found = if waiting.is_empty() { 0 } else { ready::IN };
                (found, [*arrived, 0])
            }
            State::Connects { .. } => (0, [0; 2]),
            State::Unbound | State::Bound(_) => {
                let failed = match self.error.get() {
                    Some(_) => ready::IN | ready::ERROR | ready::PEER_ENDED,
                    None => 0,
                };
                (failed | ready::OUT | ready::HUNG_UP, [0; 2])
            }
        }
    }

    /// The socket's end of its connection. Fails if the socket is not connected.
    pub(super) fn connected(&self) -> Result<End, Errno> {
        match &*self.state.borrow() {
            State::Connected(end) => Ok(end.clone()),
            State::Connects { .. } => Err(EAGAIN),
            _ => Err(ENOTCONN),
        }
    }

    /// Like [`connected`](Self::connected), for a read. Takes the error of a `connect` that did not wait.
    pub(super) fn for_reading(&self) -> Result<End, Errno> {
        match self.connected() {
            Err(ENOTCONN) => Err(self.error.take().unwrap_or(ENOTCONN)),
            connected => connected,
        }
    }

    /// Like [`for_reading`](Self::for_reading), for a write. TCP reports the broken connection.
    pub(super) fn for_writing(&self) -> Result<End, Errno> {
        match self.for_reading() {
            Err(ENOTCONN) if self.domain == INTERNET => Err(EPIPE),
            connected => connected,
        }
    }

    /// Takes the error of a `connect` that did not wait.
    pub(super) fn take_error(&self) -> Option<Errno> {
        self.error.take()
    }
}

impl Drop for Socket {
    /// Refuses the sockets that still wait for room in a listener's queue.
    fn drop(&mut self) {
        let State::Listens { callers, .. } = self.state.get_mut() else {
            return;
        };
        for caller in callers.iter().filter_map(Weak::upgrade) {
            let mut state = caller.state.borrow_mut();
            if let State::Connects { names, .. } = &mut *state {
                let [own, _] = std::mem::take(names);
                *state = State::Bound(own);
                caller.error.set(Some(ECONNREFUSED));
            }
        }
    }
}
