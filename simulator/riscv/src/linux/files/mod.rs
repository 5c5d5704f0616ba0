//! The files of a process: the open files behind the process's numbers (file descriptors), and the host's paths for the
//! program's paths.

mod bytes;
mod clocks;
mod content;
mod descriptors;
mod events;
mod fifo;
mod fifos;
mod groups;
mod host;
mod known;
mod listing;
mod names;
mod network;
mod open;
mod paths;
mod sockets;
mod stat;
pub(super) mod streams;
mod table;
mod volume;
mod walk;

pub(super) use clocks::signal_info;
pub(super) use descriptors::SET_CAPACITY;
pub(super) use host::open_number;
pub(super) use listing::whence::HERE as FROM_HERE;
pub(super) use listing::{Entry, IS_FILE, IS_FOLDER, IS_LINK};
pub(super) use open::Open;
pub(super) use paths::{
    ACCESS, FOLDER, HERE, READ_ONLY, TRUNCATE, WRITE_ONLY, follows, opening_flags, put_link,
    read_path,
};
pub(super) use stat::{EMPTY_PATH, NO_FOLLOW, Stat};
pub(super) use streams::APPENDS;
pub(crate) use table::Streams;
pub(super) use table::{Files, WORD};
pub(super) use volume::tell_volume;
pub(super) use walk::below_own;
