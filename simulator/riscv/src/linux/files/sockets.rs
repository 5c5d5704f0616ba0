//! Files that the host does not have: pipes, pairs of sockets, counters (`eventfd`) and groups (`epoll`).

use super::descriptors::CLOSES;
use super::events::{BY_ONES, Events};
use super::groups::{ADD, Group, REMOVE};
use super::open::Open;
use super::streams::{End, NON_BLOCKING};
use super::table::Files;
use crate::linux::errno::{
    EFAULT, EINVAL, ELOOP, ENOTSOCK, EOPNOTSUPP, EPERM, Errno, Value, known_flags,
};
use crate::linux::memory::total;
use crate::linux::world::World;
use crate::memory::Space;
use std::rc::Rc;

const LOCAL: u64 = 1;
const STREAM: u64 = 1;
const DO_NOT_WAIT: u64 = 0x40;
const PEEK: u64 = 2;
/// `O_DIRECT`: a pipe of packets.
const PACKETS: u64 = 0o4_0000;

/// The directions that `shutdown` ends.
const BOTH: u64 = 2;
const READS: u64 = 0;
const WRITES: u64 = 1;

/// The most events of one call.
const MOST_EVENTS: u64 = i32::MAX as u64 / 16;
/// The most groups that may contain each other in a chain.
const MOST_NESTED: u32 = 5;

/// How many of `count` bytes have room in parts of memory, up to the first address without memory.
fn room_for(space: &mut Space, parts: &[(u64, u64)], count: usize) -> usize {
    let mut room = 0;
    for &(address, length) in parts {
        let wanted = length.min((count - room) as u64);
        let here = space.writable(address, wanted);
        room += here as usize;
        if here < wanted {
            break;
        }
    }
    room
}

impl Files {
    /// `pipe2`. Packets are not supported: the pipe is a stream of bytes.
    pub(crate) fn make_pipe(&mut self, space: &mut Space, to: u64, flags: u64) -> Value {
        known_flags(flags, NON_BLOCKING | CLOSES | PACKETS)?;
        self.add_ends(space, End::pipe(flags & NON_BLOCKING), to, flags)
    }

    /// `socketpair`.
    pub(crate) fn make_sockets(
        &mut self,
        space: &mut Space,
        domain: u64,
        kind: u64,
        to: u64,
    ) -> Value {
        if (domain, kind & 0xF) != (LOCAL, STREAM) {
            return Err(EOPNOTSUPP);
        }
        self.add_ends(
            space,
            End::sockets(kind & NON_BLOCKING, self.process),
            to,
            kind,
        )
    }

    fn add_ends(&mut self, space: &mut Space, ends: [End; 2], to: u64, flags: u64) -> Value {
        let one = self.free_number(0)?;
        let other = self.free_number(one + 1)?;
        space.write_u32(to, one as u32)?;
        space.write_u32(to.wrapping_add(4), other as u32)?;
        for end in ends {
            self.add(Open::Stream(end), flags)?;
        }
        Ok(0)
    }

    /// `eventfd2`.
    pub(crate) fn make_events(&mut self, count: u64, flags: u64) -> Value {
        known_flags(flags, NON_BLOCKING | CLOSES | BY_ONES)?;
        // The count is an `int`.
        self.add(Open::Events(Events::new(count as u32 as u64, flags)), flags)
    }

    /// `epoll_create1`.
    pub(crate) fn make_group(&mut self, flags: u64) -> Value {
        known_flags(flags, CLOSES)?;
        self.add(Open::Group(Group::default()), flags)
    }

    /// The stream end of a socket. Fails if the socket has no stream end.
    pub(super) fn socket(&self, number: u64) -> Result<End, Errno> {
        match self.get(number)? {
            Open::Stream(end) if end.is_socket() => Ok(end.clone()),
            Open::Socket(socket) => socket.connected(),
            _ => Err(ENOTSOCK),
        }
    }

    /// Whether `recvfrom` has to wait for a writer.
    pub(crate) fn awaits_sender<W: World>(&self, number: u64, flags: u64, world: &W) -> bool {
        flags & DO_NOT_WAIT == 0 && self.awaits_writer(number, u64::MAX, world)
    }

    /// Receives bytes into parts of memory, each an address and a length. As under Linux, the bytes of a write stay in the
    /// socket if the program's memory has no room for all of them that the parts would hold.
    pub(crate) fn receive(
        &self,
        space: &mut Space,
        number: u64,
        parts: &[(u64, u64)],
        flags: u64,
    ) -> Value {
        let end = match self.get(number)? {
            Open::Socket(socket) => socket.for_reading()?,
            _ => self.socket(number)?,
        };
        let mut bytes = vec![0; total(parts).min(end.waiting().max(1) as u64) as usize];
        let count = end.read(&mut bytes, true)?;
        let room = room_for(space, parts, count);
        let mut done = count;
        if room < count {
            done = 0;
            while end.end_of_write(done) <= room {
                done = end.end_of_write(done);
            }
        }
        let mut rest = &bytes[..room];
        for &(address, length) in parts {
            let (now, later) = rest.split_at(rest.len().min(length as usize));
            space.write(address, now)?;
            rest = later;
        }
        if done == 0 && count > 0 {
            return Err(EFAULT);
        }
        if flags & PEEK == 0 {
            end.read(&mut bytes[..done], false)?;
        }
        Ok(done as u64)
    }

    /// `shutdown`.
    pub(crate) fn shut(&self, number: u64, how: u64) -> Value {
        let end = self.socket(number)?;
        match how {
            READS | WRITES | BOTH => end.shut(how != WRITES, how != READS),
            _ => return Err(EINVAL),
        }
        Ok(0)
    }

    /// Fails if the file of a number is no socket.
    pub(crate) fn is_socket(&self, number: u64) -> Value {
        match self.get(number)? {
            Open::Stream(end) if end.is_socket() => Ok(0),
            Open::Socket(_) => Ok(0),
            _ => Err(ENOTSOCK),
        }
    }

    fn group(&self, number: u64) -> Result<Group, Errno> {
        match self.get(number)? {
            Open::Group(group) => Ok(group.clone()),
            _ => Err(EINVAL),
        }
    }

    /// `epoll_ctl`.
    pub(crate) fn change_group(
        &self,
        space: &mut Space,
        [group, command, number, event]: [u64; 4],
    ) -> Value {
        let group = self.group(group)?;
        let open = self.get(number)?;
        match open {
            Open::File { .. } | Open::Folder { .. } => return Err(EPERM),
            Open::Group(member) if group.is_same(member) => return Err(EINVAL),
            _ => {}
        }
        let event = match command {
            REMOVE => [0; 2],
            _ => [
                space.read_u64(event)?,
                space.read_u64(event.wrapping_add(8))?,
            ],
        };
        let number = number & 0xFFFF_FFFF;
        let file = Rc::downgrade(&self.token(open));
        let done = group.change(command, (number, file.clone()), event)?;
        if command == ADD && self.all().any(|open| self.is_deeper(open, MOST_NESTED)) {
            group.change(REMOVE, (number, file), event)?;
            return Err(ELOOP);
        }
        Ok(done)
    }

    /// Whether a chain of more than `most` groups that contain each other begins at this file. A circle of groups is an
    /// endless chain.
    fn is_deeper(&self, open: &Open, most: u32) -> bool {
        let Open::Group(group) = open else {
            return false;
        };
        most == 0
            || group.any(|number, file| {
                let member = self.find(number, file);
                member.is_ok_and(|member| self.is_deeper(member, most - 1))
            })
    }

    /// Writes the events of the ready files of a group. Returns the number of events.
    pub(crate) fn tell_group(&self, space: &mut Space, group: u64, to: u64, most: u64) -> Value {
        let group = self.group(group)?;
        if most == 0 || most > MOST_EVENTS {
            return Err(EINVAL);
        }
        let events = group.take(&|number, file| self.ready_of(number, file), most);
        let bytes: Vec<u8> = events
            .iter()
            .flatten()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        space.write(to, &bytes)?;
        Ok(events.len() as u64)
    }
}
