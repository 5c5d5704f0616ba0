//! System calls of named sockets: `socket`, `bind`, `listen`, `accept`, `connect`, and options.

use super::fifo;
use super::network::{Name, Place, Socket, UNIX, no_name};
use super::open::Open;
use super::streams::{INTERNET, NON_BLOCKING, Settings};
use super::table::Files;
use crate::linux::errno::{
    EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT, EDOM, EINVAL, ENETUNREACH, ENOPROTOOPT, ENOTCONN,
    ENOTSOCK, EOPNOTSUPP, EPROTONOSUPPORT, Errno, Value,
};
use crate::linux::time;
use crate::linux::users::USER;
use crate::memory::Space;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::rc::Rc;

const STREAM: u64 = 1;
/// The bits of a socket's kind, without the flags.
const KIND: u64 = 0xF;
/// The size of the longest `sockaddr`, in bytes.
const LONGEST: u64 = 128;

/// Options by level and name.
const SOCKET: u64 = 1;
const TCP: u64 = 6;
const TYPE: u64 = 3;
const ERROR: u64 = 4;
const SEND_BUFFER: u64 = 7;
const RECEIVE_BUFFER: u64 = 8;
const LINGER: u64 = 13;
const PEER: u64 = 17;
/// The limits of waits (`SO_RCVTIMEO`, `SO_SNDTIMEO`), and Linux's other names for them.
const LIMITS: [[u64; 2]; 2] = [[20, 66], [21, 67]];
const LISTENS: u64 = 30;
const PROTOCOL: u64 = 38;
const DOMAIN: u64 = 39;
/// Linux's default size of a buffer, in bytes.
const BUFFER: u32 = 212_992;
/// The size of a `timeval` in bytes.
const TIME: u32 = 16;
/// The size of a `linger` in bytes.
const LINGER_SIZE: u64 = 8;

impl Files {
    /// `socket`: TCP over IPv4, and Unix streams.
    pub(crate) fn make_socket(&mut self, [domain, kind, protocol]: [u64; 3]) -> Value {
        let domain = match u16::try_from(domain) {
            Ok(domain @ (UNIX | INTERNET)) => domain,
            _ => return Err(EAFNOSUPPORT),
        };
        if kind & KIND != STREAM || !matches!(protocol, 0 | TCP) {
            return Err(EPROTONOSUPPORT);
        }
        self.add(Open::Socket(Socket::new(domain, kind)), kind)
    }

    fn named(&self, number: u64) -> Result<Rc<Socket>, Errno> {
        match self.get(number)? {
            Open::Socket(socket) => Ok(Rc::clone(socket)),
            Open::Stream(end) if end.is_socket() => Err(EINVAL),
            _ => Err(ENOTSOCK),
        }
    }

    /// Reads the `sockaddr` at an address.
    fn read_name(space: &mut Space, at: u64, length: u64, domain: u16) -> Result<Name, Errno> {
        let length = length as u32 as u64;
        if !(2..=LONGEST).contains(&length) {
            return Err(EINVAL);
        }
        let mut name = vec![0; length as usize];
        space.read(at, &mut name)?;
        if name[..2] != domain.to_le_bytes() {
            return Err(EAFNOSUPPORT);
        }
        if domain == INTERNET {
            if length < 16 {
                return Err(EINVAL);
            }
            name.truncate(16);
        }
        Ok(name)
    }

    /// The path in a `sockaddr_un`. Returns `None` for a name without a file.
    fn path(name: &[u8]) -> Option<&Path> {
        let path = name[2..].split(|&byte| byte == 0).next()?;
        (!path.is_empty()).then(|| Path::new(OsStr::from_bytes(path)))
    }

    /// `bind`.
    pub(crate) fn bind(&self, space: &mut Space, [number, at, length]: [u64; 3]) -> Value {
        let socket = self.named(number)?;
        let name = Self::read_name(space, at, length, socket.domain)?;
        let mut file = None;
        let place = match (socket.domain, Self::path(&name)) {
            (INTERNET, _) if !matches!(name[4], 0 | 127) => return Err(EADDRNOTAVAIL),
            (INTERNET, _) => Place::Port(u16::from_be_bytes([name[2], name[3]])),
            (_, None) => Place::Abstract(name[2..].into()),
            (_, Some(path)) => {
                // Such a socket makes no second file.
                if !socket.is_unbound() {
                    return Err(EINVAL);
                }
                let host = self.host_path(path, false)?;
                if host.symlink_metadata().is_ok() {
                    return Err(EADDRINUSE);
                }
                // This makes the file and drops the host's listener, so no program of the host can connect.
                drop(UnixListener::bind(&host)?);
                fs::set_permissions(&host, Permissions::from_mode(0o777 & !self.mask))?;
                self.touch_new(&host);
                let data = file.insert(fifo::place(&host, true)?).metadata()?;
                Place::File(data.dev(), data.ino())
            }
        };
        socket.bind(&mut self.network.borrow_mut(), place, name)?;
        socket.keep(file);
        Ok(0)
    }

    /// `listen`.
    pub(crate) fn listen(&self, number: u64, most: u64) -> Value {
        let socket = self.named(number)?;
        let mut network = self.network.borrow_mut();
        socket.listen(&mut network, most as u32 as usize, self.process)?;
        Ok(0)
    }

    /// `connect`.
    pub(crate) fn connect(&self, space: &mut Space, [number, at, length]: [u64; 3]) -> Value {
        let socket = self.named(number)?;
        let mut name = Self::read_name(space, at, length, socket.domain)?;
        let place = match (socket.domain, Self::path(&name)) {
            (INTERNET, _) if !matches!(name[4], 0 | 127) => return Err(ENETUNREACH),
            (INTERNET, _) => {
                if name[4] == 0 {
                    name[4..8].copy_from_slice(&[127, 0, 0, 1]);
                }
                Place::Port(u16::from_be_bytes([name[2], name[3]]))
            }
            (_, None) => Place::Abstract(name[2..].into()),
            (_, Some(path)) => {
                let data = self.host_path(path, true)?.metadata()?;
                Place::File(data.dev(), data.ino())
            }
        };
        let mut network = self.network.borrow_mut();
        socket.connect(&mut network, &place, name, self.process)?;
        Ok(0)
    }

    /// Whether `accept` has to wait.
    pub(crate) fn awaits_caller(&self, number: u64) -> bool {
        self.named(number)
            .is_ok_and(|socket| socket.awaits_caller())
    }

    /// `accept4`.
    pub(crate) fn accept(
        &mut self,
        space: &mut Space,
        [number, to, length, flags]: [u64; 4],
    ) -> Value {
        let socket = self.named(number)?;
        self.free_number(0)?;
        let end = socket.accept()?;
        end.flags().set(flags & NON_BLOCKING);
        if to != 0 {
            put_name(space, &end.name(1), to, length)?;
        }
        self.add(Open::Stream(end), flags)
    }

    /// `getsockname`, `getpeername`: a socket of a pair has no name.
    pub(crate) fn tell_name(
        &self,
        space: &mut Space,
        number: u64,
        of: usize,
        [to, length]: [u64; 2],
    ) -> Value {
        let name = match self.get(number)? {
            Open::Socket(socket) => match (of, socket.names()) {
                (0, (own, _)) => own,
                (_, (_, peer)) => peer.ok_or(ENOTCONN)?,
            },
            _ => self.socket(number)?.name(of),
        };
        let name = if name.is_empty() { no_name(UNIX) } else { name };
        put_name(space, &name, to, length)
    }

    fn settings(&self, number: u64) -> Result<Rc<Settings>, Errno> {
        match self.get(number)? {
            Open::Socket(socket) => Ok(Rc::clone(socket.settings())),
            Open::Stream(end) if end.is_socket() => Ok(Rc::clone(end.settings())),
            _ => Err(ENOTSOCK),
        }
    }

    /// The number of the error of a `connect` that did not wait, or 0. The error is reported once.
    fn take_error(&self, number: u64) -> Result<u32, Errno> {
        Ok(match self.get(number)? {
            Open::Socket(socket) => socket.take_error().map_or(0, |error| error.0 as u32),
            _ => 0,
        })
    }

    /// Whether a number is a socket of TCP.
    pub(crate) fn is_tcp(&self, number: u64) -> bool {
        match self.get(number) {
            Ok(Open::Socket(socket)) => socket.domain == INTERNET,
            Ok(Open::Stream(end)) => end.name(0).first() == Some(&(INTERNET as u8)),
            _ => false,
        }
    }

    /// Whether a read of a connection fails, since the peer is closed and did not read all bytes.
    pub(crate) fn is_reset(&self, number: u64) -> bool {
        let end = self.socket(number);
        end.is_ok_and(|end| end.waiting() == 0 && end.is_reset())
    }

    /// Whether a connection may still get bytes to read.
    pub(crate) fn may_get_more(&self, number: u64) -> bool {
        self.socket(number).is_ok_and(|end| end.may_get_more())
    }

    /// How long a socket's reads or writes wait, in nanoseconds. `None` means for ever.
    pub(crate) fn limit(&self, number: u64, writes: bool) -> Option<u64> {
        let settings = self.settings(number).ok()?;
        let limit = settings.limits[usize::from(writes)].get();
        (limit > 0).then_some(limit)
    }

    /// `setsockopt`. Only limits of waits have an effect.
    pub(crate) fn set_socket_option(
        &self,
        space: &mut Space,
        number: u64,
        [level, name]: [u64; 2],
        [from, length]: [u64; 2],
    ) -> Value {
        let settings = self.settings(number)?;
        if level == TCP && !self.is_tcp(number) {
            return Err(EOPNOTSUPP);
        }
        if (level, name) == (SOCKET, LINGER) && self.is_tcp(number) {
            if length < LINGER_SIZE {
                return Err(EINVAL);
            }
            let lingers = space.read_u32(from)? != 0;
            let time = space.read_u32(from.wrapping_add(4))?;
            settings.breaks.set(lingers && time == 0);
            if let Ok(end) = self.socket(number) {
                end.set_breaks(lingers && time == 0);
            }
            return Ok(0);
        }
        let Some(which) = limit_of(name).filter(|_| level == SOCKET) else {
            return Ok(0);
        };
        if length < TIME.into() {
            return Err(EINVAL);
        }
        let seconds = space.read_u64(from)? as i64;
        let micros = space.read_u64(from.wrapping_add(8))?;
        if micros >= 1_000_000 {
            return Err(EDOM);
        }
        let limit = match u64::try_from(seconds) {
            Ok(seconds) => {
                let whole = seconds.saturating_mul(time::SECOND);
                whole.saturating_add(micros * 1_000)
            }
            // As under Linux, a negative time means not to wait.
            Err(_) => 1,
        };
        settings.limits[which].set(limit);
        Ok(0)
    }

    /// `getsockopt`.
    pub(crate) fn socket_option(
        &self,
        space: &mut Space,
        number: u64,
        [level, name]: [u64; 2],
        [to, length]: [u64; 2],
    ) -> Value {
        self.is_socket(number)?;
        let (domain, listens, peer) = match self.get(number)? {
            Open::Socket(socket) => (socket.domain, socket.is_listening(), socket.peer()),
            Open::Stream(end) if end.name(0).first() == Some(&(INTERNET as u8)) => {
                (INTERNET, false, None)
            }
            open => (UNIX, false, open.end().and_then(|end| end.peer())),
        };
        if level == SOCKET
            && let Some(which) = limit_of(name)
        {
            let limit = self.settings(number)?.limits[which].get() / 1_000;
            let words = [limit / 1_000_000, limit % 1_000_000];
            let room = space.read_u32(length)?;
            if (room as i32) < 0 {
                return Err(EINVAL);
            }
            let room = room.min(TIME);
            space.write(to, &words.map(u64::to_le_bytes).concat()[..room as usize])?;
            space.write_u32(length, room)?;
            return Ok(0);
        }
        let value = match (level, name) {
            (SOCKET, TYPE) => vec![STREAM as u32],
            (SOCKET, SEND_BUFFER | RECEIVE_BUFFER) => vec![BUFFER],
            (SOCKET, LINGER) => vec![0, 0],
            (SOCKET, PEER) => match peer {
                Some(process) if domain == UNIX => vec![process, USER, USER],
                _ => vec![0, u32::MAX, u32::MAX],
            },
            (SOCKET, LISTENS) => vec![listens.into()],
            (SOCKET, DOMAIN) => vec![domain.into()],
            (SOCKET, PROTOCOL) if domain == INTERNET => vec![TCP as u32],
            (SOCKET, ERROR) => vec![self.take_error(number)?],
            (SOCKET, PROTOCOL | 1..=20) => vec![0],
            (TCP, _) if domain == INTERNET => vec![0],
            (TCP, _) => return Err(EOPNOTSUPP),
            _ => return Err(ENOPROTOOPT),
        };
        let bytes: Vec<u8> = value.iter().flat_map(|word| word.to_le_bytes()).collect();
        let room = match length {
            0 => bytes.len(),
            _ => bytes.len().min(space.read_u32(length)? as usize),
        };
        space.write(to, &bytes[..room])?;
        if length != 0 {
            space.write_u32(length, room as u32)?;
        }
        Ok(0)
    }
}

/// The index of the limit that an option sets.
fn limit_of(name: u64) -> Option<usize> {
    LIMITS.iter().position(|names| names.contains(&name))
}

/// Writes as much of a name as fits, and the name's length.
fn put_name(space: &mut Space, name: &[u8], to: u64, length: u64) -> Value {
    let room = space.read_u32(length)?;
    if (room as i32) < 0 {
        return Err(EINVAL);
    }
    let count = name.len().min(room as usize);
    space.write(to, &name[..count])?;
    space.write_u32(length, name.len() as u32)?;
    Ok(0)
}
