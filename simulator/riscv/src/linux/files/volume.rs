//! Calls about links, rights, owners and times of files, and about the volume.

use super::fifo::is_fifo;
use super::host::path_of;
use super::open::Open;
use super::paths::{HERE, read_path};
use super::stat::{EMPTY_PATH, NO_FOLLOW};
use super::table::Files;
use crate::linux::errno::{EINVAL, EOPNOTSUPP, EPERM, Errno, Value};
use crate::linux::users::is_user;
use crate::memory::Space;
use rustix::fs::{AtFlags, CWD, OFlags, linkat};
use std::fs::{self, File, FileTimes, OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

const FOLLOW: u64 = 0x400;
/// As nanoseconds: the current time.
const NOW: u64 = (1 << 30) - 1;
/// As nanoseconds: the time does not change.
const AS_IT_WAS: u64 = (1 << 30) - 2;

impl Files {
    /// `symlinkat`.
    pub(crate) fn link_by_name(&self, space: &mut Space, target: u64, at: [u64; 2]) -> Value {
        let target = read_path(space, target)?;
        let host = self.host_at(space, at, false)?;
        symlink(target, &host)?;
        self.touch_new(&host);
        Ok(0)
    }

    /// `linkat`.
    pub(crate) fn link(&self, space: &mut Space, [from, to]: [[u64; 2]; 2], flags: u64) -> Value {
        let from = self.host_at(space, from, flags & FOLLOW != 0)?;
        let to = self.host_at(space, to, false)?;
        let follow = match flags & FOLLOW {
            0 => AtFlags::empty(),
            _ => AtFlags::SYMLINK_FOLLOW,
        };
        linkat(CWD, from, CWD, &to, follow).map_err(std::io::Error::from)?;
        self.touch_folder_of(&to);
        Ok(0)
    }

    /// `truncate`.
    pub(crate) fn truncate_at(
        &self,
        space: &mut Space,
        path: u64,
        length: u64,
    ) -> Result<Rc<File>, Errno> {
        let host = self.host_at(space, [HERE, path], true)?;
        if is_fifo(&host) {
            return Err(EINVAL);
        }
        let file = OpenOptions::new().write(true).open(host)?;
        file.set_len(length)?;
        self.touch(&file);
        Ok(Rc::new(file))
    }

    /// `fchmodat`, `fchmodat2`. A link has no rights of its own.
    pub(crate) fn set_mode_at(
        &mut self,
        space: &mut Space,
        [folder, path, mode, flags]: [u64; 4],
    ) -> Value {
        if flags & EMPTY_PATH != 0 && read_path(space, path)?.as_os_str().is_empty() {
            if let Some(host) = path_of(self.get_place(folder)?) {
                fs::set_permissions(host, Permissions::from_mode(mode as u32 & 0o7777))?;
            }
            return Ok(0);
        }
        let follow = flags & NO_FOLLOW == 0;
        let host = self.host_at(space, [folder, path], follow)?;
        if !follow && host.is_symlink() {
            return Err(EOPNOTSUPP);
        }
        fs::set_permissions(host, Permissions::from_mode(mode as u32 & 0o7777))?;
        Ok(0)
    }

    /// `fchownat`. Every file belongs to the program's user, and cannot get another owner.
    pub(crate) fn set_owner_at(
        &self,
        space: &mut Space,
        [folder, path, user, group, flags]: [u64; 5],
    ) -> Value {
        if flags & EMPTY_PATH != 0 {
            self.entry(folder)?;
        } else {
            let follow = flags & NO_FOLLOW == 0;
            self.host_at(space, [folder, path], follow)?
                .symlink_metadata()?;
        }
        is_user(&[user, group])
    }

    /// `utimensat`. The current time is the simulated time.
    pub(crate) fn set_times(
        &self,
        space: &mut Space,
        [folder, path, times, flags]: [u64; 4],
    ) -> Value {
        let (seconds, rest) = self.now();
        let now = Duration::new(seconds, rest as u32);
        let mut wanted = [Some(now); 2];
        for (at, time) in (0u64..).zip(&mut wanted).filter(|_| times != 0) {
            let from = times.wrapping_add(16 * at);
            let seconds = space.read_u64(from)?;
            let rest = space.read_u64(from.wrapping_add(8))?;
            *time = match rest {
                NOW => Some(now),
                AS_IT_WAS => None,
                0..1_000_000_000 if (seconds as i64) >= 0 => {
                    Some(Duration::new(seconds, rest as u32))
                }
                _ => return Err(EINVAL),
            };
        }
        let seen = wanted.map(|time| Some((time?.as_secs(), time?.subsec_nanos().into())));
        let file = if path == 0 {
            match self.get(folder)? {
                Open::File { file, .. } => file.try_clone()?,
                Open::Folder { path, .. } => File::open(path)?,
                _ => return Err(EPERM),
            }
        } else {
            let follow = flags & NO_FOLLOW == 0;
            let host = self.host_at(space, [folder, path], follow)?;
            if !follow && host.is_symlink() {
                self.note_times(&host.symlink_metadata()?, seen);
                return Ok(0);
            }
            // The host's FIFO has no writer to wait for.
            let at_once = OFlags::NONBLOCK.bits() as i32;
            let mut options = OpenOptions::new();
            options.read(true).custom_flags(at_once).open(host)?
        };
        let mut set = FileTimes::new();
        let [access, change] = wanted.map(|time| time.map(|time| SystemTime::UNIX_EPOCH + time));
        if let Some(time) = access {
            set = set.set_accessed(time);
        }
        if let Some(time) = change {
            set = set.set_modified(time);
        }
        file.set_times(set)?;
        self.note_times(&file.metadata()?, seen);
        Ok(0)
    }

    /// `fstatfs`.
    pub(crate) fn tell_volume_of(&self, space: &mut Space, number: u64, to: u64) -> Value {
        self.entry(number)?;
        tell_volume(space, to)
    }

    /// `fchown`.
    pub(crate) fn set_owner(&self, number: u64, users: [u64; 2]) -> Value {
        self.exists(number)?;
        is_user(&users)
    }
}

/// Describes a volume that is half full and the same on every host. The words are: type, block size, blocks, free
/// blocks, free blocks for users, files, free files, number, name length, fragment size.
pub(crate) fn tell_volume(space: &mut Space, to: u64) -> Value {
    let words: [u64; 15] = [
        0xEF53,
        4_096,
        1 << 26,
        1 << 25,
        1 << 25,
        1 << 24,
        1 << 23,
        0,
        255,
        4_096,
        0,
        0,
        0,
        0,
        0,
    ];
    space.write(to, &words.map(u64::to_le_bytes).concat())?;
    Ok(0)
}
