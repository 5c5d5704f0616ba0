//! System calls that name files.

use super::descriptors::memory_flags;
use super::fifo;
use super::host::{is_random, is_systems, open_number};
use super::open::Open;
use super::table::Files;
use crate::linux::errno::{
    EEXIST, EINVAL, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, ERANGE, Errno, Value,
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
const PLACE: u64 = 0o1000_0000;

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
    /// Reads a path. If the path is relative to an open folder, joins it to that folder's path. A path below the
    /// process's own folder in `/proc` begins with `/proc/self`, and does not lead through `cwd` or `root`.
    pub(crate) fn path_at(&self, space: &mut Space, at: [u64; 2]) -> Result<PathBuf, Errno> {
        let path = self.named_at(space, at)?;
        let own = format!("/proc/{}", self.process);
        let below = path.strip_prefix("/proc/self");
        let Ok(below) = below.or_else(|_| path.strip_prefix(own)) else {
            return Ok(path);
        };
        if below.as_os_str().is_empty() {
            return Ok(path);
        }
        for (link, target) in [("cwd", &*self.folder), ("root", Path::new("/"))] {
            if let Ok(below) = below.strip_prefix(link)
                && !below.as_os_str().is_empty()
            {
                return Ok(target.join(below));
            }
        }
        Ok(Path::new("/proc/self").join(below))
    }

    /// Reads a path, and joins it to the path of the open folder to which it is relative.
    fn named_at(&self, space: &mut Space, [folder, address]: [u64; 2]) -> Result<PathBuf, Errno> {
        let path = read_path(space, address)?;
        if path.as_os_str().is_empty() {
            return Err(ENOENT);
        }
        if path.is_absolute() {
            return Ok(path);
        }
        if folder as u32 as u64 == HERE {
            return Ok(self.systems_below(&self.folder, &path).unwrap_or(path));
        }
        match self.get(folder)? {
            Open::Folder { path: base, .. } => {
                let systems = self.systems_below(base, &path);
                Ok(systems.unwrap_or_else(|| base.join(path)))
            }
            Open::Made { path: base, .. } => Ok(base.join(path)),
            _ => Err(ENOTDIR),
        }
    }

    /// The whole path for `path` in the host's folder `base`, if that path belongs to the simulated system. For
    /// example, a program may look for `sys/devices` in its root.
    fn systems_below(&self, base: &Path, path: &Path) -> Option<PathBuf> {
        let below = |root: &Path| {
            let inner = base.strip_prefix(root).ok()?;
            let whole = Path::new("/").join(inner).join(path);
            is_systems(&whole).then_some(whole)
        };
        let root = self.root.as_deref();
        root.and_then(below).or_else(|| below(Path::new("/")))
    }

    /// The host's path for a path that may be relative to an open folder.
    pub(super) fn host_at(
        &self,
        space: &mut Space,
        at: [u64; 2],
        follow: bool,
    ) -> Result<PathBuf, Errno> {
        let path = self.path_at(space, at)?;
        self.host_path(&path, follow)
    }

    /// `openat` of a file that the host has.
    pub(crate) fn open(&mut self, path: &Path, flags: u64, mode: u64) -> Value {
        if let Some(number) = open_number(path) {
            return self.duplicate(number, 0, flags);
        }
        self.free_number(0)?;
        if is_random(path) {
            return self.add(Open::Random, flags);
        }
        let follow = flags & STAYS == 0;
        let host = self.host_path(path, follow)?;
        if !follow && host.is_symlink() {
            return Err(ELOOP);
        }
        if host.is_dir() {
            if flags & ACCESS != READ_ONLY {
                return Err(EISDIR);
            }
            let listing = Rc::default();
            return self.add(
                Open::Folder {
                    path: host,
                    listing,
                },
                flags,
            );
        }
        if flags & FOLDER != 0 {
            return Err(if host.exists() { ENOTDIR } else { ENOENT });
        }
        if fifo::is_fifo(&host) && flags & PLACE != 0 {
            let path = path.to_string_lossy().into();
            return self.add(Open::file(fifo::place(&host)?, path, READ_ONLY), flags);
        }
        if fifo::is_fifo(&host) {
            return match flags & (CREATE | EXCLUSIVE) {
                NEW => Err(EEXIST),
                _ => self.open_fifo(&host, flags),
            };
        }
        let is_new = flags & CREATE != 0 && !host.exists();
        let mode = mode as u32 & 0o7777 & !self.mask;
        // The host's file has no `O_APPEND`: the program may clear the flag, and a mapped page is written at its place.
        let file = OpenOptions::new()
            .read(flags & ACCESS != WRITE_ONLY)
            .write(flags & ACCESS != READ_ONLY)
            .mode(mode)
            .custom_flags(way_of_opening(flags))
            .open(&host)?;
        if is_new {
            file.set_permissions(Permissions::from_mode(mode))?;
            self.touch_opened(&file, &host);
        } else if flags & TRUNCATE != 0 {
            self.touch(&file);
        }
        let path = path.to_string_lossy().into();
        self.add(Open::file(file, path, flags), flags)
    }

    /// `memfd_create`: a file of the host without a name there.
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
        self.folder = match self.get(number)? {
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
        let (from, to) = (self.path_at(space, from)?, self.path_at(space, to)?);
        let [from, to] = [from, to].map(|path| self.host_path(&path, false));
        // A path through the renamed folder would lead nowhere afterwards.
        let (from, to) = (in_real_folder(from?), in_real_folder(to?));
        if flags & !NO_REPLACE != 0 {
            return Err(EINVAL);
        }
        if flags & NO_REPLACE != 0 && to.symlink_metadata().is_ok() {
            return Err(EEXIST);
        }
        // The working directory keeps its place if it is in a renamed folder. A renamed link does not move its folder.
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
