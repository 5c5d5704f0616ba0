//! Named sockets within the simulated system: TCP over the loopback device, and Unix streams. These sockets reach
//! neither the host nor its network.
//!
//! `connect` makes a connection at once: it puts one end into the listener's queue, and the caller
//! keeps the other end.

use super::streams::{End, NON_BLOCKING, Settings, ready};
use crate::linux::errno::{
    EADDRINUSE, EAGAIN, ECONNREFUSED, EINVAL, EISCONN, ENOTCONN, EOPNOTSUPP, Errno,
};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::{Rc, Weak};

pub(super) const UNIX: u16 = 1;
pub(super) const INTERNET: u16 = 2;

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

/// The sockets of all processes, by place.
#[derive(Default)]
pub(crate) struct Network {
    sockets: BTreeMap<Place, Weak<Socket>>,
    last_port: u16,
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
    },
    Connected(End),
}

/// A socket that `socket` has made.
pub(crate) struct Socket {
    pub(super) domain: u16,
    settings: Rc<Settings>,
    state: RefCell<State>,
}

impl Socket {
    pub(super) fn new(domain: u16, flags: u64) -> Rc<Self> {
        Rc::new(Self {
            domain,
            settings: Settings::new(flags & NON_BLOCKING),
            state: RefCell::new(State::Unbound),
        })
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
            State::Unbound | State::Bound(_) => None,
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
            State::Connected(end) => (end.name(0), Some(end.name(1))),
        }
    }

    /// `bind`, to a place or to a free port.
    pub(super) fn bind(
        self: &Rc<Self>,
        network: &mut Network,
        place: Place,
        name: Name,
    ) -> Result<(), Errno> {
        if !matches!(*self.state.borrow(), State::Unbound) {
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
        let most = most.clamp(1, MOST_WAITING);
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
                };
            }
            State::Listens {
                most: most_now,
                process: process_now,
                ..
            } => (*most_now, *process_now) = (most, process),
            _ => return Err(EINVAL),
        }
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
        match &mut *self.state.borrow_mut() {
            State::Listens { waiting, .. } => waiting.pop_front().ok_or(EAGAIN),
            _ if self.domain == 0 => Err(EOPNOTSUPP),
            _ => Err(EINVAL),
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
        let own = match &*self.state.borrow() {
            State::Unbound => None,
            State::Bound(name) => Some(name.clone()),
            State::Listens { .. } => return Err(EISCONN),
            State::Connected(_) => return Err(EISCONN),
        };
        let listener = network.find(place).ok_or(ECONNREFUSED)?;
        if listener.is_full() {
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
        let mut state = listener.state.borrow_mut();
        let State::Listens {
            waiting,
            arrived,
            process: listener_process,
            ..
        } = &mut *state
        else {
            return Err(ECONNREFUSED);
        };
        let processes = [process, *listener_process];
        let [one, other] = End::connected(&self.settings, [own, to], processes);
        if self.domain == INTERNET {
            // TCP gives a connection the limits that the listener has now.
            let limits = listener.settings.limits.iter();
            for (of, limit) in limits.zip(&other.settings().limits) {
                limit.set(of.get());
            }
        }
        waiting.push_back(other);
        *arrived += 1;
        drop(state);
        *self.state.borrow_mut() = State::Connected(one);
        Ok(())
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
            State::Unbound | State::Bound(_) => (ready::OUT | ready::HUNG_UP, [0; 2]),
        }
    }

    /// The socket's end of its connection. Fails if the socket is not connected.
    pub(super) fn connected(&self) -> Result<End, Errno> {
        self.end().ok_or(ENOTCONN)
    }
}
