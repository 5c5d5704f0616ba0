//! System calls that name files, and those that move their bytes.

use super::descriptors::KEPT;
use super::errno::{
    EACCES, EEXIST, EINVAL, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, ERANGE, Errno, Value,
};
use super::files::{Listing, Open};
use super::{Process, World, host, proc};
use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, Metadata, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// "Relative to the working directory."
const HERE: u64 = -100i32 as u32 as u64;
pub(super) const EMPTY_PATH: u64 = 0x1000;
pub(super) const NO_FOLLOW: u64 = 0x100;
const REMOVE_FOLDER: u64 = 0x200;
const FOLDER: u64 = 0o20_0000;
/// `O_NOFOLLOW`.
const STAYS: u64 = 0o40_0000;
const CREATE: u64 = 0o100;
const EXCLUSIVE: u64 = 0o200;
const NO_REPLACE: u64 = 1;
/// The most bytes that one call moves.
const MOST: u64 = 1 << 26;

impl Process {
    pub(super) fn path(&mut self, address: u64) -> Result<PathBuf, Errno> {
        let text = self.space.read_text(address, 4_096)?.ok_or(ENAMETOOLONG)?;
        Ok(PathBuf::from(OsStr::from_bytes(&text)))
    }

    /// A path that may be relative to an open folder.
    pub(super) fn path_at(&mut self, folder: u64, address: u64) -> Result<PathBuf, Errno> {
        let path = self.path(address)?;
        if path.as_os_str().is_empty() {
            return Err(ENOENT);
        }
        if path.is_absolute() || folder as u32 as u64 == HERE {
            return Ok(path);
        }
        match self.files.get(folder)? {
            Open::Folder { path: base, .. } => Ok(base.join(path)),
            _ => Err(ENOTDIR),
        }
    }

    pub(super) fn open<W: World>(
        &mut self,
        world: &W,
        folder: u64,
        address: u64,
        flags: u64,
        mode: u64,
    ) -> Value {
        let path = self.path_at(folder, address)?;
        if let Some(text) = proc::text(self, world, &path) {
            let at = Rc::default();
            return self.files.add(Open::Text {
                bytes: text.into_bytes().into(),
                at,
            });
        }
        if let Some(number) = host::open_number(&path) {
            return self.files.duplicate(number, 0);
        }
        if host::is_random(&path) {
            return self.files.add(Open::Random);
        }
        let follow = flags & STAYS == 0;
        let host = self.files.host_path(&path, follow)?;
        if !follow && host.is_symlink() {
            return Err(ELOOP);
        }
        if host.is_dir() {
            if flags & 3 != 0 {
                return Err(Errno(21));
            }
            return self.files.add(Open::Folder {
                path: host,
                listing: Rc::default(),
            });
        }
        if flags & FOLDER != 0 {
            return Err(if host.exists() { ENOTDIR } else { ENOENT });
        }
        let write = flags & 3 != 0;
        let (create, exclusive) = (flags & CREATE != 0, flags & EXCLUSIVE != 0);
        let mode = mode as u32 & 0o777 & !self.files.mask;
        if create && !write && (exclusive || !host.exists()) {
            // The host's library makes no file that it only reads.
            let mut new = OpenOptions::new();
            new.write(true).create_new(true).mode(mode).open(&host)?;
        }
        let file = OpenOptions::new()
            .read(flags & 3 != 1)
            .write(write)
            .append(flags & 0o2000 != 0 && write)
            .truncate(flags & 0o1000 != 0 && write)
            .create(create && write)
            .create_new(create && exclusive && write)
            .mode(mode)
            .open(host)?;
        let path = path.to_string_lossy().into();
        self.files.add(Open::File {
            file: Rc::new(file),
            path,
            flags: Rc::new(Cell::new(flags & KEPT)),
        })
    }

    pub(super) fn read_file(
        &mut self,
        number: u64,
        parts: &[(u64, u64)],
        offset: Option<u64>,
    ) -> Value {
        self.before_reading(number);
        let mut done = 0;
        for &(address, length) in parts {
            let mut bytes = vec![0; length.min(MOST) as usize];
            let at = offset.map(|offset| offset.saturating_add(done));
            let count = if let Ok(Open::Random) = self.files.get(number) {
                self.random_bytes(&mut bytes);
                bytes.len()
            } else {
                self.files.read(number, &mut bytes, at)?
            };
            self.space.write(address, &bytes[..count])?;
            done += count as u64;
            if count < bytes.len() {
                break;
            }
        }
        Ok(done)
    }

    pub(super) fn write_file(
        &mut self,
        number: u64,
        parts: &[(u64, u64)],
        offset: Option<u64>,
    ) -> Value {
        let mut done = 0;
        for &(address, length) in parts {
            let mut bytes = vec![0; length.min(MOST) as usize];
            self.space.read(address, &mut bytes)?;
            let at = offset.map(|offset| offset.saturating_add(done));
            let count = self.files.write(number, &bytes, at)?;
            done += count as u64;
            if !self.shared.is_empty() {
                self.after_writing(number, at, &bytes[..count]);
            }
        }
        Ok(done)
    }

    /// The parts of an `iovec`.
    pub(super) fn vectors(&mut self, address: u64, count: u64) -> Result<Vec<(u64, u64)>, Errno> {
        if count > 1_024 {
            return Err(EINVAL);
        }
        let part = |at: u64| {
            let at = address.wrapping_add(16 * at);
            Ok((
                self.space.read_u64(at)?,
                self.space.read_u64(at.wrapping_add(8))?,
            ))
        };
        (0..count).map(part).collect()
    }

    fn metadata(&self, number: u64) -> Result<Stat, Errno> {
        Ok(match self.files.get(number)? {
            Open::File { file, .. } => Stat::of(&file.metadata()?),
            Open::Folder { path, .. } => Stat::of(&path.metadata()?),
            Open::Text { .. } => TEXT,
            _ => STREAM,
        })
    }

    fn metadata_at<W: World>(
        &mut self,
        world: &W,
        folder: u64,
        address: u64,
        flags: u64,
    ) -> Result<Stat, Errno> {
        if flags & EMPTY_PATH != 0 && self.path(address)?.as_os_str().is_empty() {
            return self.metadata(folder);
        }
        let path = self.path_at(folder, address)?;
        if proc::text(self, world, &path).is_some() {
            return Ok(TEXT);
        }
        if let Some(number) = host::open_number(&path) {
            return self.metadata(number);
        }
        let follow = flags & NO_FOLLOW == 0;
        let host = self.files.host_path(&path, follow)?;
        let found = if follow {
            host.metadata()
        } else {
            host.symlink_metadata()
        };
        Ok(Stat::of(&found?))
    }

    pub(super) fn stat_file(&mut self, number: u64, to: u64) -> Value {
        let stat = self.metadata(number)?;
        self.space.write(to, &stat.classic())?;
        Ok(0)
    }

    pub(super) fn stat_at<W: World>(
        &mut self,
        world: &W,
        folder: u64,
        address: u64,
        to: u64,
        flags: u64,
    ) -> Value {
        let stat = self.metadata_at(world, folder, address, flags)?;
        self.space.write(to, &stat.classic())?;
        Ok(0)
    }

    pub(super) fn stat_extended<W: World>(
        &mut self,
        world: &W,
        folder: u64,
        address: u64,
        flags: u64,
        to: u64,
    ) -> Value {
        let stat = self.metadata_at(world, folder, address, flags)?;
        self.space.write(to, &stat.extended())?;
        Ok(0)
    }

    pub(super) fn read_link(&mut self, folder: u64, address: u64, to: u64, length: u64) -> Value {
        let path = self.path_at(folder, address)?;
        let link = if path == Path::new("/proc/self/exe") {
            PathBuf::from(&self.executable)
        } else {
            fs::read_link(self.files.host_path(&path, false)?)?
        };
        let bytes = link.as_os_str().as_bytes();
        let length = bytes.len().min(length as usize);
        self.space.write(to, &bytes[..length])?;
        Ok(length as u64)
    }

    /// `faccessat`, `faccessat2`: the program's user owns all files.
    pub(super) fn access<W: World>(
        &mut self,
        world: &W,
        [folder, address, wanted, flags]: [u64; 4],
    ) -> Value {
        let stat = self.metadata_at(world, folder, address, flags)?;
        let rights = u64::from(stat.mode >> 6 & 7);
        if wanted & 7 & !rights == 0 {
            Ok(0)
        } else {
            Err(EACCES)
        }
    }

    pub(super) fn working_directory(&mut self, to: u64, length: u64) -> Value {
        let mut bytes = self.files.folder.as_os_str().as_bytes().to_vec();
        bytes.push(0);
        if bytes.len() as u64 > length {
            return Err(ERANGE);
        }
        self.space.write(to, &bytes)?;
        Ok(bytes.len() as u64)
    }

    pub(super) fn change_to_open(&mut self, number: u64) -> Value {
        let Open::Folder { path, .. } = self.files.get(number)? else {
            return Err(ENOTDIR);
        };
        self.files.folder = path.canonicalize()?;
        Ok(0)
    }

    pub(super) fn change_directory(&mut self, address: u64) -> Value {
        let path = self.path(address)?;
        let host = self.files.host_path(&path, true)?.canonicalize()?;
        if !host.is_dir() {
            return Err(ENOTDIR);
        }
        self.files.folder = host;
        Ok(0)
    }

    pub(super) fn make_directory(&mut self, folder: u64, address: u64, mode: u64) -> Value {
        let path = self.path_at(folder, address)?;
        let host = self.files.host_path(&path, false)?;
        let mode = mode as u32 & 0o7777 & !self.files.mask;
        DirBuilder::new().mode(mode).create(host)?;
        Ok(0)
    }

    pub(super) fn unlink(&mut self, folder: u64, address: u64, flags: u64) -> Value {
        let path = self.path_at(folder, address)?;
        let host = self.files.host_path(&path, false)?;
        if flags & REMOVE_FOLDER != 0 {
            fs::remove_dir(host)?
        } else {
            fs::remove_file(host)?
        }
        Ok(0)
    }

    /// `renameat2`; names cannot be exchanged.
    pub(super) fn rename(&mut self, arguments: [u64; 6]) -> Value {
        let [folder, from, to_folder, to, flags, _] = arguments;
        let (from, to) = (self.path_at(folder, from)?, self.path_at(to_folder, to)?);
        let [from, to] = [from, to].map(|path| self.files.host_path(&path, false));
        let (from, to) = (from?, to?);
        if flags & !NO_REPLACE != 0 {
            return Err(EINVAL);
        }
        if flags & NO_REPLACE != 0 && to.symlink_metadata().is_ok() {
            return Err(EEXIST);
        }
        fs::rename(from, to)?;
        Ok(0)
    }

    pub(super) fn entries(&mut self, number: u64, to: u64, length: u64) -> Value {
        let listing = self.files.listing(number)?;
        let mut listing = listing.borrow_mut();
        let Listing {
            entries: Some(entries),
            at,
        } = &mut *listing
        else {
            return Ok(0);
        };
        let mut bytes = Vec::new();
        while let Some(entry) = entries.get(*at) {
            let size = (19 + entry.name.len() + 1).next_multiple_of(8);
            if bytes.len() + size > length as usize {
                break;
            }
            *at += 1;
            let start = bytes.len();
            bytes.extend(entry.inode.to_le_bytes());
            bytes.extend((*at as u64).to_le_bytes());
            bytes.extend((size as u16).to_le_bytes());
            bytes.push(entry.kind);
            bytes.extend(&entry.name);
            bytes.resize(start + size, 0);
        }
        if bytes.is_empty() && *at < entries.len() {
            return Err(EINVAL);
        }
        self.space.write(to, &bytes)?;
        Ok(bytes.len() as u64)
    }
}

/// What `stat` tells of a file.
struct Stat {
    device: u64,
    inode: u64,
    mode: u32,
    links: u32,
    size: u64,
    blocks: u64,
    times: [(u64, u64); 3],
}

/// A terminal or a pipe.
const STREAM: Stat = Stat {
    device: 1,
    inode: 1,
    mode: 0o1_0600,
    links: 1,
    size: 0,
    blocks: 0,
    times: [(0, 0); 3],
};

/// A file that the simulated system makes up: as under Linux, its size is not known before.
const TEXT: Stat = Stat {
    mode: 0o10_0444,
    ..STREAM
};

impl Stat {
    fn of(found: &Metadata) -> Self {
        let times = [
            (found.atime(), found.atime_nsec()),
            (found.mtime(), found.mtime_nsec()),
            (found.ctime(), found.ctime_nsec()),
        ];
        Self {
            device: found.dev(),
            inode: found.ino(),
            mode: found.mode(),
            links: found.nlink() as u32,
            size: found.size(),
            blocks: found.blocks(),
            times: times.map(|(seconds, rest)| (seconds as u64, rest as u64)),
        }
    }

    /// `struct stat` of the generic table.
    fn classic(&self) -> Vec<u8> {
        let mut words = vec![self.device, self.inode];
        words.push(u64::from(self.mode) | u64::from(self.links) << 32);
        // User and group; device of a special file; padding.
        words.extend([1_000 | 1_000 << 32, 0, 0, self.size, 4_096, self.blocks]);
        words.extend(
            self.times
                .iter()
                .flat_map(|&(seconds, rest)| [seconds, rest]),
        );
        words.push(0);
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// `struct statx`.
    fn extended(&self) -> Vec<u8> {
        let mut words = vec![0x7FF | 4_096 << 32, 0];
        words.push(u64::from(self.links) | 1_000 << 32);
        words.push(1_000 | u64::from(self.mode) << 32);
        words.extend([self.inode, self.size, self.blocks, 0]);
        let [access, modified, changed] = self.times;
        for (seconds, rest) in [access, (0, 0), changed, modified] {
            words.extend([seconds, rest]);
        }
        words.resize(32, 0);
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}
