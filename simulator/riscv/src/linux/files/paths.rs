//! System calls that name files.

use super::descriptors::{CLOSES, memory_flags};
use super::fifo;
use super::host::{Place, is_random, is_systems, open_number, path_of};
use super::open::Open;
use super::table::Files;
use crate::linux::errno::{
    EEXIST, EINVAL, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, ENXIO, EPERM, ERANGE, Errno,
    Value,
};
use crate::memory::Space;
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// `AT_FDCWD`: relative to the working directory.
pub(crate) const HERE: u64 = -100i32 as u32 as u64;
const REMOVE_FOLDER: u64 = 0x200;
const NO_REPLACE: u64 = 1;

/// Flags of `openat`.
pub(crate) const ACCESS: u64 = 3;
pub(crate) const READ_ONLY: u64 = 0;
pub(crate) const WRITE_ONLY: u64 = 1;
const READ_WRITE: u64 = 2;
const CREATE: u64 = 0o100;
const EXCLUSIVE: u64 = 0o200;
const NEW: u64 = CREATE | EXCLUSIVE;
pub(crate) const TRUNCATE: u64 = 0o1000;
pub(crate) const FOLDER: u64 = 0o20_0000;
/// `O_NOFOLLOW`.
pub(crate) const STAYS: u64 = 0o40_0000;

/// `O_PATH`: only the file's place, without reads and writes.
pub(super) const PLACE: u64 = 0o1000_0000;

/// The start of the name that stands for the path of a file in memory.
pub(super) const IN_MEMORY: &str = "/memfd:";

/// The most bytes of such a file's own name, with the 0 at its end.
const LONGEST_NAME: u64 = 250;

/// The bit of a folder's mode that gives its group to the files in it.
const SET_GROUP: u32 = 0o2000;

/// The bits of a mode that give the file's kind.
const KIND: u64 = 0o17_0000;
const REGULAR: u64 = 0o10_0000;
const FIFO: u64 = 0o1_0000;

/// The flags that have an effect. With `O_PATH`, `openat` ignores most of the others.
pub(crate) fn opening_flags(flags: u64) -> u64 {
    match flags & PLACE {
        0 => flags,
        _ => flags & (PLACE | FOLDER | STAYS | CLOSES),
    }
}

/// Whether `openat` with these flags follows a link as the last part of its path.
pub(crate) fn follows(flags: u64) -> bool {
    flags & STAYS == 0 && flags & NEW != NEW
}

/// Reads the path at an address.
pub(crate) fn read_path(space: &mut Space, address: u64) -> Result<PathBuf, Errno> {
    let text = space.read_text(address, 4_096)?.ok_or(ENAMETOOLONG)?;
    Ok(PathBuf::from(OsStr::from_bytes(&text)))
}

/// Writes as much of a link's target as fits into `length` bytes.
pub(crate) fn put_link(space: &mut Space, link: &Path, [to, length]: [u64; 2]) -> Value {
    let bytes = link.as_os_str().as_bytes();
    let length = bytes.len().min(length as usize);
    space.write(to, &bytes[..length])?;
    Ok(length as u64)
}

impl Files {
    /// Reads a path. If the path is relative to an open folder, joins it to that folder's path. If the simulated system
    /// makes the file up, returns an absolute path, which begins with `/proc/self` below the process's own folder. A
    /// link of the process stands for its target. If it is the last part, it does so only with `follow`.
    pub(crate) fn path_at(
        &self,
        space: &mut Space,
        at: [u64; 2],
        follow: bool,
    ) -> Result<PathBuf, Errno> {
        let path = self.named_at(space, at)?;
        match self.place(path, follow)? {
            Place::Made(path) | Place::Host { path, .. } => Ok(path),
        }
    }

    /// Reads a path, and joins it to the path of the open folder to which it is relative.
    fn named_at(&self, space: &mut Space, [folder, address]: [u64; 2]) -> Result<PathBuf, Errno> {
        let path = read_path(space, address)?;
        if path.as_os_str().is_empty() {
            return Err(ENOENT);
        }
        if path.is_absolute() || folder as u32 as u64 == HERE {
            return Ok(path);
        }
        match self.get_place(folder)? {
            Open::Folder { path: base, .. } | Open::Made { path: base, .. } => Ok(base.join(path)),
            _ => Err(ENOTDIR),
        }
    }

    /// The host's path for a path that may be relative to an open folder.
    pub(super) fn host_at(
        &self,
        space: &mut Space,
        at: [u64; 2],
        follow: bool,
    ) -> Result<PathBuf, Errno> {
        let path = self.named_at(space, at)?;
        self.host_path(&path, follow)
    }

    /// `openat` of a file that the host has.
    pub(crate) fn open(&mut self, path: &Path, flags: u64, mode: u64) -> Value {
        self.free_number(0)?;
        if let Some(number) = open_number(path) {
            return self.open_again(number, flags & !STAYS, mode);
        }
        if is_random(path) {
            return self.add_opened(Open::Random, flags);
        }
        let host = self.host_path(path, follows(flags))?;
        if flags & STAYS != 0 && flags & (PLACE | NEW) == 0 && host.is_symlink() {
            return Err(ELOOP);
        }
        self.open_host(&path.to_string_lossy(), &host, flags, mode)
    }

    /// Opens an open file anew. Streams without a name, and files that the system makes up, only get another number.
    fn open_again(&mut self, number: u64, flags: u64, mode: u64) -> Value {
        if flags & NEW == NEW {
            return Err(EEXIST);
        }
        let open = self.get_place(number).map_err(|_| ENOENT)?.clone();
        let name = match &open {
            Open::File { path, .. } => path.clone(),
            _ => Rc::default(),
        };
        match path_of(&open) {
            Some(host) => self.open_host(&name, &host, flags, mode),
            None if flags & PLACE == 0 && open.has_no_way() => Err(ENXIO),
            None => self.add_opened(open, flags),
        }
    }

    /// Opens a file by its host's path.
    fn open_host(&mut self, name: &str, host: &Path, flags: u64, mode: u64) -> Value {
        let is_place = flags & PLACE != 0;
        let is_link = is_place && flags & STAYS != 0 && host.is_symlink();
        if host.is_dir() && !is_link {
            if flags & NEW == NEW {
                return Err(EEXIST);
            }
            if flags & ACCESS != READ_ONLY || flags & (CREATE | TRUNCATE) != 0 {
                return Err(EISDIR);
            }
            let (path, listing) = (host.to_owned(), Rc::default());
            return self.add_opened(Open::Folder { path, listing }, flags);
        }
        if flags & FOLDER != 0 {
            return Err(if host.exists() { ENOTDIR } else { ENOENT });
        }
        if is_place {
            let file = fifo::place(host, is_link)?;
            return self.add_opened(Open::file(file, name.into(), flags), flags);
        }
        if fifo::is_fifo(host) {
            return match flags & NEW {
                NEW => Err(EEXIST),
                _ => self.open_fifo(host, flags),
            };
        }
        let is_new = flags & CREATE != 0 && !host.exists();
        let mode = mode as u32 & 0o7777 & !self.mask;
        // Without `O_APPEND` on the host: the program may clear the flag, and a mapped page is written at its place.
        let file = OpenOptions::new()
            .read(flags & ACCESS != WRITE_ONLY)
            .write(flags & ACCESS != READ_ONLY)
            .mode(mode)
            .custom_flags(way_of_opening(flags))
            .open(host)?;
        if is_new {
            file.set_permissions(Permissions::from_mode(mode))?;
            self.touch_opened(&file, host);
        } else if flags & TRUNCATE != 0 {
            self.touch(&file);
        }
        self.add(Open::file(file, name.into(), flags), flags)
    }

    /// Gives an opened file a number. With `O_PATH`, that number stands for the file's place.
    pub(crate) fn add_opened(&mut self, open: Open, flags: u64) -> Value {
        let open = match flags & PLACE {
            0 => open,
            _ => Open::place(open, flags & (PLACE | FOLDER | STAYS)),
        };
        self.add(open, flags)
    }

    /// `memfd_create`: makes a file of the host without a name.
    pub(crate) fn make_memory_file(&mut self, space: &mut Space, [name, flags]: [u64; 2]) -> Value {
        let (mode, closes) = memory_flags(flags)?;
        let name = space.read_text(name, LONGEST_NAME)?.ok_or(EINVAL)?;
        self.free_number(0)?;
        let name = format!("{IN_MEMORY}{} (deleted)", String::from_utf8_lossy(&name));
        let folder = std::env::temp_dir();
        let file = (0u32..)
            .map(|at| folder.join(format!("manycore-{}-{at}", std::process::id())))
            .find_map(|path| {
                let mut options = OpenOptions::new();
                let made = options.read(true).write(true).create_new(true).open(&path);
                match made {
                    Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => None,
                    made => Some(made.and_then(|file| {
                        std::fs::remove_file(&path)?;
                        file.set_permissions(Permissions::from_mode(mode))?;
                        Ok(file)
                    })),
                }
            });
        let file = file.ok_or(EINVAL)??;
        self.touch(&file);
        self.add(Open::file(file, name.into(), READ_WRITE), closes)
    }

    /// `mknodat`: makes an empty file, or a FIFO. Devices are for the administrator, and sockets are made by `bind`.
    pub(crate) fn make_node(&self, space: &mut Space, at: [u64; 2], mode: u64) -> Value {
        let host = self.host_at(space, at, false)?;
        let (kind, mode) = (mode & KIND, mode as u32 & 0o7777 & !self.mask);
        match kind {
            0 | REGULAR => {}
            FIFO => {
                fifo::make(&host, mode)?;
                fs::set_permissions(&host, Permissions::from_mode(mode))?;
                self.touch_new(&host);
                return Ok(0);
            }
            _ => return Err(EPERM),
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        let file = options.open(&host)?;
        file.set_permissions(Permissions::from_mode(mode))?;
        self.touch_new(&host);
        Ok(0)
    }

    /// `readlinkat` of a link that the host has.
    pub(crate) fn read_link(&self, path: &Path) -> Result<PathBuf, Errno> {
        Ok(fs::read_link(self.host_path(path, false)?)?)
    }

    /// `getcwd`.
    pub(crate) fn working_directory(&self, space: &mut Space, to: u64, length: u64) -> Value {
        if !is_systems(&self.folder) && !self.folder.exists() {
            return Err(ENOENT);
        }
        let mut bytes = self.folder.as_os_str().as_bytes().to_vec();
        bytes.push(0);
        if bytes.len() as u64 > length {
            return Err(ERANGE);
        }
        space.write(to, &bytes)?;
        Ok(bytes.len() as u64)
    }

    /// `fchdir`.
    pub(crate) fn change_to_open(&mut self, number: u64) -> Value {
        self.folder = match self.get_place(number)? {
            Open::Folder { path, .. } => path.canonicalize()?,
            Open::Made { path, .. } => path.clone(),
            _ => return Err(ENOTDIR),
        };
        Ok(0)
    }

    /// `chdir`, to a folder that the system makes up.
    pub(crate) fn change_to_made(&mut self, path: PathBuf) -> Value {
        self.folder = path;
        Ok(0)
    }

    /// `chdir`, to a folder of the host.
    pub(crate) fn change_directory(&mut self, path: &Path) -> Value {
        let host = self.host_path(path, true)?.canonicalize()?;
        if !host.is_dir() {
            return Err(ENOTDIR);
        }
        self.folder = host;
        Ok(0)
    }

    /// `mkdirat`.
    pub(crate) fn make_directory(&self, space: &mut Space, at: [u64; 2], mode: u64) -> Value {
        let host = self.host_at(space, at, false)?;
        let mode = mode as u32 & 0o1777 & !self.mask;
        DirBuilder::new().mode(mode).create(&host)?;
        // A folder may have its group from the folder above.
        let inherited = host.metadata()?.mode() & SET_GROUP;
        fs::set_permissions(&host, Permissions::from_mode(mode | inherited))?;
        self.touch_new(&host);
        Ok(0)
    }

    /// `unlinkat`.
    pub(crate) fn unlink(&self, space: &mut Space, at: [u64; 2], flags: u64) -> Value {
        let host = self.host_at(space, at, false)?;
        if flags & REMOVE_FOLDER != 0 {
            fs::remove_dir(&host)?
        } else {
            fs::remove_file(&host)?
        }
        self.touch_folder_of(&host);
        Ok(0)
    }

    /// `renameat2`. An exchange of names is not supported.
    pub(crate) fn rename(
        &mut self,
        space: &mut Space,
        [from, to]: [[u64; 2]; 2],
        flags: u64,
    ) -> Value {
        let [from, to] = [from, to].map(|at| self.host_at(space, at, false));
        // After the renaming, a path through the renamed folder leads nowhere.
        let (from, to) = (in_real_folder(from?), in_real_folder(to?));
        if flags & !NO_REPLACE != 0 {
            return Err(EINVAL);
        }
        if flags & NO_REPLACE != 0 && to.symlink_metadata().is_ok() {
            return Err(EEXIST);
        }
        // If the working directory is in a renamed folder, its path changes. To rename a link moves no folder.
        let is_link = from.is_symlink();
        let below = from.canonicalize().ok().filter(|_| !is_link);
        let below = below.and_then(|old| Some(self.folder.strip_prefix(old).ok()?.to_owned()));
        fs::rename(&from, &to)?;
        if let Some(below) = below {
            self.folder = to.components().chain(below.components()).collect();
        }
        self.touch_folder_of(&from);
        self.touch_folder_of(&to);
        Ok(0)
    }
}

/// The host's flags that make a file or empty it. Rust's library would not pass some of them on for a file that is only
/// read.
fn way_of_opening(flags: u64) -> i32 {
    let exclusive = match flags & NEW {
        NEW => OFlags::EXCL,
        _ => OFlags::empty(),
    };
    let all = [
        (CREATE, OFlags::CREATE | exclusive),
        (TRUNCATE, OFlags::TRUNC),
    ];
    let wanted = all.into_iter().filter(|(flag, _)| flags & flag != 0);
    let wanted = wanted.fold(OFlags::empty(), |all, (_, flag)| all | flag);
    wanted.bits() as i32
}

/// The same path, with the real path of its folder. A slash at the end means that the path must be a folder, so such a
/// path stays as it is.
fn in_real_folder(path: PathBuf) -> PathBuf {
    let ends_with_slash = path.as_os_str().as_bytes().ends_with(b"/");
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) if !ends_with_slash => folder.join(name),
        _ => path,
    }
}
