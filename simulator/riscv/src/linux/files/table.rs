//! The numbers (file descriptors) of a process, and the ready states of their files.

use super::groups::Identity;
use super::known;
use super::network::Network;
use super::open::Open;
use super::streams::{End, ready};
use crate::linux::errno::{EBADF, EBUSY, EINVAL, EMFILE, Errno, Value};
use crate::linux::world::World;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::rc::Rc;

type Sink = Box<dyn Write>;

type Source = Box<dyn Read>;

/// A program's standard streams.
pub(crate) struct Streams {
    pub(crate) input: Source,
    pub(crate) output: Sink,
    pub(crate) error: Sink,
}

/// A stream of the host that all processes write to.
type SharedSink = Rc<RefCell<Sink>>;

/// The files of a process. A copy for another process has the same open files.
#[derive(Clone)]
pub(crate) struct Files {
    pub(super) open: BTreeMap<u64, Open>,
    /// The files of threads that wait in `openat` for the other side of a FIFO, and the numbers that these files get, by
    /// the thread's number.
    pub(super) opening: BTreeMap<u32, (u64, End)>,
    /// Numbers that `execve` closes.
    pub(super) closing: BTreeSet<u64>,
    pub(super) root: Option<PathBuf>,
    pub(super) folder: PathBuf,
    /// The file of the process's program.
    pub(crate) program: PathBuf,
    /// Rights that new files do not get.
    pub(super) mask: u32,
    /// The stream of the host that all processes read.
    pub(super) input: Rc<RefCell<Source>>,
    pub(super) output: SharedSink,
    pub(super) error: SharedSink,
    /// The named sockets and the FIFOs of all processes.
    pub(super) network: Rc<RefCell<Network>>,
    /// `known` has the numbers and times of files, which all processes share. `now` is the time of the current call.
    pub(super) known: known::Shared,
    pub(super) now: Cell<u64>,
    /// Whether another process has, or had, the same files.
    is_shared: bool,
    /// Whether there may be a `timerfd`.
    pub(super) has_clocks: bool,
    /// The pending signals of the calling thread, one bit for each signal.
    pub(crate) pending: Cell<u64>,
    /// The number of signals that the process has ever got.
    pub(crate) arrived: Cell<u64>,
    /// The process's number.
    pub(super) process: u32,
    /// The soft and the hard limit on numbers (`RLIMIT_NOFILE`). All numbers are less than the soft limit.
    pub(crate) limits: [u64; 2],
}

/// Linux's first limits on numbers: the soft one, which `setrlimit` may raise, and the hard one.
const LIMITS: [u64; 2] = [1_024, 4_096];

/// The bytes of a count, which a read or write of an `eventfd` or `timerfd` transfers.
pub(in crate::linux) const WORD: u64 = 8;

impl Files {
    pub(crate) fn new(
        process: u32,
        root: Option<PathBuf>,
        folder: PathBuf,
        streams: Streams,
    ) -> Self {
        let root = root.map(|root| root.canonicalize().unwrap_or(root));
        let open = [(0, Open::Input), (1, Open::Output), (2, Open::Error)];
        Self {
            open: open.into(),
            opening: BTreeMap::new(),
            closing: BTreeSet::new(),
            root,
            folder,
            program: PathBuf::new(),
            mask: 0o22,
            input: Rc::new(RefCell::new(streams.input)),
            output: Rc::new(RefCell::new(streams.output)),
            error: Rc::new(RefCell::new(streams.error)),
            network: Rc::default(),
            known: Rc::default(),
            now: Cell::new(0),
            is_shared: false,
            has_clocks: false,
            pending: Cell::new(0),
            arrived: Cell::new(0),
            process,
            limits: LIMITS,
        }
    }

    /// The same open files for another process, which has the number `process`.
    pub(crate) fn fork(&mut self, process: u32) -> Self {
        self.is_shared = true;
        let mut copy = self.clone();
        copy.process = process;
        // The threads that wait in `openat`, and their numbers, stay in this process.
        for (number, _) in std::mem::take(&mut copy.opening).into_values() {
            copy.closing.remove(&number);
        }
        copy
    }

    /// The file behind a number.
    pub(crate) fn get(&self, number: u64) -> Result<&Open, Errno> {
        match self.entry(number)? {
            Open::Place { .. } => Err(EBADF),
            open => Ok(open),
        }
    }

    /// The file behind a number, or the file at whose place the number is (`O_PATH`).
    pub(crate) fn get_place(&self, number: u64) -> Result<&Open, Errno> {
        Ok(match self.entry(number)? {
            Open::Place { open, .. } => open,
            open => open,
        })
    }

    /// What a number stands for: a file, or a file's place.
    pub(super) fn entry(&self, number: u64) -> Result<&Open, Errno> {
        // A number is an `int`.
        self.open.get(&(number & 0xFFFF_FFFF)).ok_or(EBADF)
    }

    /// `umask`: sets the rights that new files do not get. Returns the old value.
    pub(crate) fn set_mask(&mut self, mask: u64) -> Value {
        Ok(std::mem::replace(&mut self.mask, mask as u32 & 0o777).into())
    }

    /// The rights that new files do not get.
    pub(crate) fn rights_mask(&self) -> u32 {
        self.mask
    }

    /// The working directory.
    pub(crate) fn working_folder(&self) -> &Path {
        &self.folder
    }

    /// The open files, each once for each of its numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = &Open> {
        self.open.values()
    }

    /// The open numbers of a range.
    pub(crate) fn numbers(&self, range: RangeInclusive<u64>) -> Vec<u64> {
        self.open.range(range).map(|(&number, _)| number).collect()
    }

    /// Fails with `error` if a file has no places that a call could mean.
    pub(crate) fn has_places(&self, number: u64, error: Errno) -> Value {
        match self.get(number)?.has_no_places() {
            true => Err(error),
            false => Ok(0),
        }
    }

    pub(crate) fn exists(&self, number: u64) -> Result<(), Errno> {
        self.get(number).map(|_| ())
    }

    /// Whether a reader of `length` bytes from this number must wait for a writer. A reader of too few bytes for a
    /// count does not wait.
    pub(crate) fn awaits_writer<W: World>(&self, number: u64, length: u64, world: &W) -> bool {
        match self.get(number) {
            Ok(Open::Clock(_) | Open::Events(_)) if length < WORD => false,
            _ if length == 0 => false,
            Ok(Open::Clock(clock)) => {
                self.look_at_clocks(world.nanoseconds());
                clock.awaits()
            }
            Ok(open @ (Open::Stream(_) | Open::Socket(_))) => {
                let end = open.end();
                end.is_some_and(|end| end.awaits() && end.is_blocking())
            }
            Ok(Open::Events(events)) => events.awaits() && events.is_blocking(),
            _ => false,
        }
    }

    /// Whether the number is a stream on which calls wait, for room or for bytes.
    pub(crate) fn is_blocking_stream(&self, number: u64) -> bool {
        let end = self.get(number).ok().and_then(Open::end);
        end.is_some_and(|end| end.is_blocking())
    }

    /// Whether a write of a count waits until the sum has room.
    pub(crate) fn is_blocking_count(&self, number: u64) -> bool {
        matches!(self.get(number), Ok(Open::Events(events)) if events.is_blocking())
    }

    /// Whether a pipe has no room for these bytes, which must be written whole or not at all.
    pub(crate) fn lacks_room(&self, number: u64, length: u64) -> bool {
        let end = self.get(number).ok().and_then(Open::end);
        end.is_some_and(|end| end.lacks_room(length))
    }

    /// Whether a full queue makes a `connect` of this number wait.
    pub(crate) fn is_blocking_socket(&self, number: u64) -> bool {
        matches!(self.get(number), Ok(Open::Socket(socket)) if socket.is_blocking())
    }

    /// Whether a writer may wait for a reader of this number, or a `connect` may wait for an `accept` of this number.
    pub(crate) fn is_full(&self, number: u64) -> bool {
        match self.get(number) {
            Ok(Open::Socket(socket)) if socket.is_listening() => socket.is_full(),
            // A large number has no room even beside a count of 1.
            Ok(Open::Events(events)) => !events.awaits(),
            open => open
                .ok()
                .and_then(Open::end)
                .is_some_and(|end| end.is_full()),
        }
    }

    /// Whether a thread may be waiting for a stream.
    pub(crate) fn has_streams(&self) -> bool {
        self.is_shared || self.open.values().any(Open::is_awaited)
    }

    /// The state of a file. A file of the host is always ready.
    pub(crate) fn ready(&self, number: u64) -> Result<ready::State, Errno> {
        self.ready_open(self.get(number)?)
    }

    fn ready_open(&self, open: &Open) -> Result<ready::State, Errno> {
        Ok(match open {
            Open::Stream(end) => end.ready(),
            Open::Socket(socket) => socket.ready(),
            Open::Events(events) => events.ready(),
            Open::Clock(clock) => clock.ready(),
            Open::Signals(signals) => {
                let found = signals.set() & self.pending.get();
                let found = if found == 0 { 0 } else { ready::IN };
                (found, [self.arrived.get(), 0])
            }
            Open::Group(group) => group.ready(&|number, file| self.ready_of(number, file)),
            Open::Output | Open::Error => (ready::OUT, [0; 2]),
            _ => (ready::IN | ready::OUT, [0; 2]),
        })
    }

    /// A pointer that all file descriptors of an open file share and that no other file has. A standard stream is never
    /// closed.
    pub(super) fn token(&self, open: &Open) -> Rc<dyn Any> {
        match open {
            Open::Input => Rc::clone(&self.input) as Rc<dyn Any>,
            Open::Output => Rc::clone(&self.output) as Rc<dyn Any>,
            Open::Error => Rc::clone(&self.error) as Rc<dyn Any>,
            Open::File { file, .. } => Rc::clone(file) as Rc<dyn Any>,
            Open::Text { at, .. } => Rc::clone(at) as Rc<dyn Any>,
            Open::Folder { listing, .. } | Open::Made { listing, .. } => {
                Rc::clone(listing) as Rc<dyn Any>
            }
            Open::Stream(end) => end.identity(),
            Open::Socket(socket) => Rc::clone(socket) as Rc<dyn Any>,
            Open::Events(events) => events.identity(),
            Open::Clock(clock) => clock.identity(),
            Open::Signals(signals) => signals.identity(),
            Open::Group(group) => group.identity(),
            Open::Random => Rc::clone(&self.network) as Rc<dyn Any>,
            Open::Place { open, .. } => Rc::clone(open) as Rc<dyn Any>,
        }
    }

    pub(super) fn ready_of(&self, number: u64, file: &Identity) -> Result<ready::State, Errno> {
        self.ready_open(self.find(number, file)?)
    }

    /// An open file. If its first file descriptor belongs to another file now, looks for any other descriptor of the
    /// file.
    pub(super) fn find(&self, number: u64, file: &Identity) -> Result<&Open, Errno> {
        let is_it = |open: &&Open| {
            let found = Rc::downgrade(&self.token(open));
            found.ptr_eq(file)
        };
        let open = self.open.get(&number).filter(is_it);
        let open = open.or_else(|| self.open.values().find(is_it));
        open.ok_or(EBADF)
    }

    /// Gives a file the least free number. The flags say whether `execve` closes this number.
    pub(crate) fn add(&mut self, open: Open, flags: u64) -> Value {
        self.add_from(open, 0, flags)
    }

    /// The least free number from `least` on.
    pub(super) fn free_number(&self, least: u64) -> Value {
        let mut numbers = least..self.limits[0];
        let free = numbers.find(|number| !self.open.contains_key(number) && !self.is_kept(*number));
        free.ok_or(EMFILE)
    }

    fn add_from(&mut self, open: Open, least: u64, flags: u64) -> Value {
        let number = self.free_number(least)?;
        self.open.insert(number, open);
        self.set_closing(number, flags);
        Ok(number)
    }

    pub(crate) fn close(&mut self, number: u64) -> Value {
        let number = number & 0xFFFF_FFFF;
        // A number that a waiting `openat` keeps is not open, and stays as it is.
        self.open.remove(&number).ok_or(EBADF)?;
        self.closing.remove(&number);
        Ok(0)
    }

    /// Gives a number's file another number, from `least` on.
    pub(crate) fn duplicate(&mut self, number: u64, least: u64, flags: u64) -> Value {
        let open = self.entry(number)?.clone();
        if least >= self.limits[0] && least > 0 {
            return Err(EINVAL);
        }
        self.add_from(open, least, flags)
    }

    /// `dup3`.
    pub(crate) fn duplicate_to(&mut self, number: u64, to: u64, flags: u64) -> Value {
        let [number, to] = [number, to].map(|it| it & 0xFFFF_FFFF);
        if flags & !super::descriptors::CLOSES != 0 || to == number {
            return Err(EINVAL);
        }
        let open = self.entry(number)?.clone();
        if to >= self.limits[0] {
            return Err(EBADF);
        }
        if self.is_kept(to) {
            return Err(EBUSY);
        }
        self.open.insert(to, open);
        self.set_closing(to, flags);
        Ok(to)
    }
}
