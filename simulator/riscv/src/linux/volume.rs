//! What is set of files: links, rights, owners, times; and what the volume tells of itself.

use super::Process;
use super::errno::{EINVAL, EOPNOTSUPP, EPERM, Errno, Value};
use super::files::Open;
use super::paths::{EMPTY_PATH, NO_FOLLOW};
use super::time::EPOCH;
use std::fs::{self, File, FileTimes, OpenOptions, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

const FOLLOW: u64 = 0x400;
/// Nanoseconds that stand for the time that it is, and for the time as it was.
const NOW: u64 = (1 << 30) - 1;
const AS_IT_WAS: u64 = (1 << 30) - 2;

impl Process {
    fn host_at(&mut self, folder: u64, address: u64, follow: bool) -> Result<PathBuf, Errno> {
        let path = self.path_at(folder, address)?;
        self.files.host_path(&path, follow)
    }

    pub(super) fn link_by_name(&mut self, target: u64, folder: u64, name: u64) -> Value {
        let target = self.path(target)?;
        symlink(target, self.host_at(folder, name, false)?)?;
        Ok(0)
    }

    pub(super) fn link(&mut self, [folder, from, to_folder, to, flags]: [u64; 5]) -> Value {
        let from = self.host_at(folder, from, flags & FOLLOW != 0)?;
        fs::hard_link(from, self.host_at(to_folder, to, false)?)?;
        Ok(0)
    }

    pub(super) fn truncate_at(&mut self, path: u64, length: u64) -> Value {
        let path = self.path(path)?;
        let host = self.files.host_path(&path, true)?;
        OpenOptions::new().write(true).open(host)?.set_len(length)?;
        Ok(0)
    }

    /// `fchmodat`, `fchmodat2`: a link has no rights of its own.
    pub(super) fn set_mode_at(&mut self, [folder, path, mode, flags]: [u64; 4]) -> Value {
        if flags & EMPTY_PATH != 0 && self.path(path)?.as_os_str().is_empty() {
            return self.files.set_mode(folder, mode);
        }
        let follow = flags & NO_FOLLOW == 0;
        let host = self.host_at(folder, path, follow)?;
        if !follow && host.is_symlink() {
            return Err(EOPNOTSUPP);
        }
        fs::set_permissions(host, Permissions::from_mode(mode as u32 & 0o7777))?;
        Ok(0)
    }

    /// A file that is there belongs to the program's user, and to nobody else.
    pub(super) fn set_owner_at(&mut self, [folder, path, user, group, flags]: [u64; 5]) -> Value {
        if flags & EMPTY_PATH != 0 {
            self.files.exists(folder)?;
        } else {
            let follow = flags & NO_FOLLOW == 0;
            self.host_at(folder, path, follow)?.symlink_metadata()?;
        }
        super::call::is_user(&[user, group])
    }

    /// `utimensat`: the time that it is, is the simulated one.
    pub(super) fn set_times(&mut self, [folder, path, times, flags]: [u64; 4], now: u64) -> Value {
        let now = Duration::from_nanos(now) + Duration::from_secs(EPOCH);
        let mut wanted = [Some(now); 2];
        for (at, time) in (0u64..).zip(&mut wanted).filter(|_| times != 0) {
            let from = times.wrapping_add(16 * at);
            let seconds = self.space.read_u64(from)?;
            let rest = self.space.read_u64(from.wrapping_add(8))?;
            *time = match rest {
                NOW => Some(now),
                AS_IT_WAS => None,
                0..1_000_000_000 if (seconds as i64) >= 0 => {
                    Some(Duration::new(seconds, rest as u32))
                }
                _ => return Err(EINVAL),
            };
        }
        let mut set = FileTimes::new();
        let [access, change] = wanted.map(|time| time.map(|time| SystemTime::UNIX_EPOCH + time));
        if let Some(time) = access {
            set = set.set_accessed(time);
        }
        if let Some(time) = change {
            set = set.set_modified(time);
        }
        if path == 0 {
            match self.files.get(folder)? {
                Open::File { file, .. } => file.set_times(set)?,
                Open::Folder { path, .. } => File::open(path)?.set_times(set)?,
                _ => return Err(EPERM),
            }
        } else {
            let host = self.host_at(folder, path, flags & NO_FOLLOW == 0)?;
            File::open(host)?.set_times(set)?;
        }
        Ok(0)
    }

    pub(super) fn tell_volume_at(&mut self, path: u64, to: u64) -> Value {
        let path = self.path(path)?;
        if !super::proc::is_systems(&path) {
            self.files.host_path(&path, true)?.metadata()?;
        }
        self.tell_volume(to)
    }

    /// `statfs`: the same volume on every host, half full. Type, size of a block; blocks, free ones,
    /// those for users; files, free ones; number; length of a name, size of a fragment.
    pub(super) fn tell_volume(&mut self, to: u64) -> Value {
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
        self.space
            .write(to, &words.map(u64::to_le_bytes).concat())?;
        Ok(0)
    }
}
