//! Pairs of sockets between threads, pipes and counters. Other sockets are not there.

use super::errno::{EINVAL, ENOTSOCK, EOPNOTSUPP, Errno, Value};
use super::files::Open;
use super::streams::{End, Events, NON_BLOCKING};
use super::{Process, World};

const LOCAL: u64 = 1;
const STREAM: u64 = 1;
const DO_NOT_WAIT: u64 = 0x40;
const PEEK: u64 = 2;
/// Levels, names: of `getsockopt`.
const SOCKET: u64 = 1;
const TYPE: u64 = 3;
const ERROR: u64 = 4;

impl Process {
    pub(super) fn make_pipe(&mut self, to: u64, flags: u64) -> Value {
        self.add_ends(End::pipe(flags & NON_BLOCKING), to, flags)
    }

    pub(super) fn make_sockets(&mut self, domain: u64, kind: u64, to: u64) -> Value {
        if (domain, kind & 0xF) != (LOCAL, STREAM) {
            return Err(EOPNOTSUPP);
        }
        self.add_ends(End::sockets(kind & NON_BLOCKING), to, kind)
    }

    fn add_ends(&mut self, ends: [End; 2], to: u64, flags: u64) -> Value {
        let [one, other] = ends.map(|end| self.files.add(Open::Stream(end)));
        let (one, other) = (one?, other?);
        self.files.set_closing(one, flags);
        self.files.set_closing(other, flags);
        self.space.write_u32(to, one as u32)?;
        self.space.write_u32(to.wrapping_add(4), other as u32)?;
        Ok(0)
    }

    pub(super) fn make_events(&mut self, count: u64, flags: u64) -> Value {
        self.files.add(Open::Events(Events::new(count, flags)))
    }

    fn socket(&self, number: u64) -> Result<&End, Errno> {
        match self.files.get(number)? {
            Open::Stream(end) if end.is_socket() => Ok(end),
            _ => Err(ENOTSOCK),
        }
    }

    /// Whether `recvfrom` has to wait for a writer.
    pub(super) fn awaits_sender(&self, number: u64, flags: u64) -> bool {
        flags & DO_NOT_WAIT == 0 && self.files.awaits_writer(number)
    }

    pub(super) fn receive(&mut self, [number, to, length, flags]: [u64; 4]) -> Value {
        let end = self.socket(number)?;
        let room = length.min(end.waiting().max(1) as u64);
        let mut bytes = vec![0; room as usize];
        let count = end.read(&mut bytes, flags & PEEK != 0)?;
        self.space.write(to, &bytes[..count])?;
        Ok(count as u64)
    }

    pub(super) fn send_bytes(&mut self, number: u64, from: u64, length: u64) -> Value {
        self.socket(number)?;
        self.write_file(number, &[(from, length)], None)
    }

    pub(super) fn shut<W: World>(&mut self, world: &mut W, number: u64, how: u64) -> Value {
        let end = self.socket(number)?;
        match how {
            0..=2 => end.shut(how != 1, how != 0),
            _ => return Err(EINVAL),
        }
        Self::wake_readers(world);
        Ok(0)
    }

    /// `getsockname`, `getpeername`: a socket of a pair has no name.
    pub(super) fn tell_no_name(&mut self, number: u64, to: u64, length: u64) -> Value {
        self.socket(number)?;
        let room = self.space.read_u32(length)?.min(2);
        let family = (LOCAL as u16).to_le_bytes();
        self.space.write(to, &family[..room as usize])?;
        self.space.write_u32(length, 2)?;
        Ok(0)
    }

    pub(super) fn socket_option(&mut self, number: u64, [level, name]: [u64; 2], to: u64) -> Value {
        self.socket(number)?;
        let value = match (level, name) {
            (SOCKET, TYPE) => STREAM,
            (SOCKET, ERROR) => 0,
            _ => return Err(EINVAL),
        };
        self.space.write_u32(to, value as u32)?;
        Ok(0)
    }

    /// Options of a pair change nothing; what is no socket has none.
    pub(super) fn is_socket(&self, number: u64) -> Value {
        self.socket(number).map(|_| 0)
    }
}
