//! Calls that name files, including the files in `/proc` and `/sys`. The simulated system makes these up.

use super::proc;
use crate::linux::errno::{EACCES, EINVAL, EISDIR, ELOOP, ENOTDIR, Errno, Value};
use crate::linux::files::{
    ACCESS, EMPTY_PATH, Entry, FOLDER, HERE, IS_FILE, IS_FOLDER, IS_LINK, NO_FOLLOW, Open,
    READ_ONLY, Stat, follows, opening_flags, put_link, read_path, tell_volume,
};
use crate::linux::process::Process;
use crate::linux::sysfs::{self, Found, Kind, Name};
use crate::linux::world::World;
use std::path::{Path, PathBuf};

/// Finds a file that the simulated system makes up. Returns `None` for other paths.
fn find<W: World>(process: &Process, world: &W, path: &Path, follow: bool) -> Option<Found> {
    let link = proc::link(process, path).filter(|_| !follow);
    let text = || proc::text(process, world, path);
    link.map(Found::Link)
        .or_else(|| text().map(Found::File))
        .or_else(|| proc::folder(process, path))
        .or_else(|| sysfs::find(world.topology(), path, follow))
}

/// Reads a path, relative to an open folder or the working directory.
fn path_at(process: &mut Process, at: [u64; 2], follow: bool) -> Result<PathBuf, Errno> {
    process.files.path_at(&mut process.memory.space, at, follow)
}

/// `openat`.
pub(super) fn open<W: World>(
    process: &mut Process,
    world: &W,
    at: [u64; 2],
    [flags, mode]: [u64; 2],
) -> Value {
    let flags = opening_flags(flags);
    let follow = follows(flags);
    let path = path_at(process, at, follow)?;
    let open = match find(process, world, &path, follow) {
        Some(Found::File(_)) if flags & FOLDER != 0 => return Err(ENOTDIR),
        Some(Found::File(text)) => Open::text(text),
        Some(Found::Folder(..)) if flags & ACCESS != READ_ONLY => return Err(EISDIR),
        Some(Found::Folder(found)) => {
            let entries = found.names.into_iter().map(entry).collect();
            Open::made(found.path.into(), found.inode, entries)
        }
        Some(Found::Link(_)) => return Err(ELOOP),
        None => return process.files.open(&path, flags, mode),
    };
    process.files.add_opened(open, flags)
}

fn entry(name: Name) -> Entry {
    Entry {
        name: name.name.into_bytes(),
        inode: name.inode,
        kind: match name.kind {
            Kind::File => IS_FILE,
            Kind::Folder => IS_FOLDER,
            Kind::Link => IS_LINK,
        },
    }
}

/// Returns the metadata of a file.
pub(super) fn stat<W: World>(
    process: &mut Process,
    world: &W,
    at: [u64; 2],
    flags: u64,
) -> Result<Stat, Errno> {
    let space = &mut process.memory.space;
    let [folder, address] = at;
    if flags & EMPTY_PATH != 0 && read_path(space, address)?.as_os_str().is_empty() {
        return process.files.stat(folder);
    }
    let follow = flags & NO_FOLLOW == 0;
    let path = path_at(process, at, follow)?;
    match find(process, world, &path, follow) {
        Some(Found::File(_)) => Ok(Stat::TEXT),
        Some(Found::Folder(found)) => {
            let folders = found.names.iter().filter(|name| name.kind == Kind::Folder);
            Ok(Stat::made(found.inode, folders.count() as u32))
        }
        Some(Found::Link(_)) => Ok(Stat::LINK),
        None => process.files.stat_named(&path, flags),
    }
}

/// `faccessat`, `faccessat2`. The program's user owns all files.
pub(super) fn access<W: World>(
    process: &mut Process,
    world: &W,
    at: [u64; 2],
    flags: u64,
    wanted: u64,
) -> Value {
    let rights = stat(process, world, at, flags)?.rights();
    if wanted & 7 & !rights == 0 {
        Ok(0)
    } else {
        Err(EACCES)
    }
}

/// `chdir`.
pub(super) fn change_directory<W: World>(process: &mut Process, world: &W, address: u64) -> Value {
    let path = path_at(process, [HERE, address], true)?;
    match find(process, world, &path, true) {
        Some(Found::Folder(found)) => process.files.change_to_made(found.path.into()),
        Some(_) => Err(ENOTDIR),
        None => process.files.change_directory(&path),
    }
}

/// `statfs`.
pub(super) fn tell_volume_at<W: World>(
    process: &mut Process,
    world: &W,
    path: u64,
    to: u64,
) -> Value {
    stat(process, world, [HERE, path], 0)?;
    tell_volume(&mut process.memory.space, to)
}

/// `readlinkat`.
pub(super) fn read_link<W: World>(
    process: &mut Process,
    world: &W,
    at: [u64; 2],
    to: [u64; 2],
) -> Value {
    let path = path_at(process, at, false)?;
    match find(process, world, &path, false) {
        Some(Found::Link(target)) => put_link(&mut process.memory.space, &target, to),
        Some(_) => Err(EINVAL),
        None => {
            let link = process.files.read_link(&path)?;
            put_link(&mut process.memory.space, &link, to)
        }
    }
}
