//! The open file behind a number.

use super::clocks::{Clock, SignalSet};
use super::events::Events;
use super::groups::Group;
use super::listing::{Entry, IS_FOLDER, Listing};
use super::network::Socket;
use super::streams::{APPENDS, End, NON_BLOCKING};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::path::PathBuf;
use std::rc::Rc;

/// The file behind a number.
#[derive(Clone)]
pub(crate) enum Open {
    Input,
    Output,
    Error,
    File {
        file: Rc<File>,
        path: Rc<str>,
        /// The flags of the `openat`, with the changes by `fcntl`.
        flags: Rc<Cell<u64>>,
    },
    /// A file that the simulated system makes up, and its position.
    Text {
        bytes: Rc<[u8]>,
        at: Rc<RefCell<u64>>,
    },
    Folder {
        path: PathBuf,
        listing: Rc<RefCell<Listing>>,
    },
    /// A folder that the simulated system makes up.
    Made {
        path: PathBuf,
        inode: u64,
        /// The number of folders in it.
        folders: u32,
        listing: Rc<RefCell<Listing>>,
    },
    Stream(End),
    /// A socket that `socket` made, connected or not.
    Socket(Rc<Socket>),
    Events(Events),
    Clock(Clock),
    Signals(SignalSet),
    Group(Group),
    /// Random bytes, from the process's generator.
    Random,
    /// The place of a file (`O_PATH`), which cannot be read or written.
    Place {
        open: Rc<Open>,
        flags: u64,
    },
}

/// `O_ACCMODE`, and the other flags that `F_GETFL` returns.
const KEPT: u64 = 3 | APPENDS | NON_BLOCKING;

impl Open {
    /// A file of the host, opened with these flags.
    pub(super) fn file(file: File, path: Rc<str>, flags: u64) -> Self {
        Self::File {
            file: Rc::new(file),
            path,
            flags: Rc::new(Cell::new(flags & KEPT)),
        }
    }

    /// The place of a file, opened with these flags.
    pub(super) fn place(open: Self, flags: u64) -> Self {
        let open = Rc::new(open);
        Self::Place { open, flags }
    }

    pub(crate) fn text(text: String) -> Self {
        Self::Text {
            bytes: text.into_bytes().into(),
            at: Rc::default(),
        }
    }

    /// The file's stream end, if it has one.
    pub(crate) fn end(&self) -> Option<End> {
        match self {
            Self::Stream(end) => Some(end.clone()),
            Self::Socket(socket) => socket.end(),
            _ => None,
        }
    }

    /// Whether a thread may wait for the file until another thread changes it.
    pub(crate) fn is_awaited(&self) -> bool {
        match self {
            Self::Stream(_) | Self::Socket(_) | Self::Events(_) => true,
            Self::Clock(_) | Self::Signals(_) | Self::Group(_) => true,
            Self::Input | Self::Output | Self::Error | Self::File { .. } => false,
            Self::Text { .. } | Self::Folder { .. } | Self::Made { .. } => false,
            Self::Random | Self::Place { .. } => false,
        }
    }

    /// Whether `splice` moves bytes between the file and a pipe.
    pub(crate) fn is_spliced(&self) -> bool {
        let has_no_bytes = self.is_awaited() && self.end().is_none();
        !has_no_bytes && !matches!(self, Self::Folder { .. } | Self::Made { .. })
    }

    /// Whether the file cannot be opened by its number, since it is a socket, a count or the like.
    pub(super) fn has_no_way(&self) -> bool {
        self.is_awaited() && !matches!(self, Self::Stream(end) if !end.is_socket())
    }

    /// Whether reads and writes have no places in the file, since it is a stream, a count or the like.
    pub(super) fn has_no_places(&self) -> bool {
        self.is_awaited() || matches!(self, Self::Input | Self::Output | Self::Error)
    }

    /// A folder that the simulated system makes up, with this inode.
    pub(crate) fn made(path: PathBuf, inode: u64, entries: Vec<Entry>) -> Self {
        let folders = entries.iter().filter(|entry| entry.kind == IS_FOLDER);
        Self::Made {
            path,
            inode,
            folders: folders.count() as u32,
            listing: Rc::new(RefCell::new(Listing::made(entries))),
        }
    }
}
