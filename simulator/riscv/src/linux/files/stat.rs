//! Metadata of files.

use super::host::open_number;
use super::open::Open;
use super::table::Files;
use crate::linux::errno::Errno;
use crate::linux::users::USER;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Flags of the calls that name a file. With `EMPTY_PATH`, an empty path means the open file. With `NO_FOLLOW`, a link
/// is not followed.
pub(crate) const EMPTY_PATH: u64 = 0x1000;
pub(crate) const NO_FOLLOW: u64 = 0x100;
const OWNER: u64 = USER as u64;
/// The size of the volume's blocks in bytes.
const BLOCK: u64 = 4_096;

/// A file's metadata, as in `stat`.
pub(crate) struct Stat {
    device: u64,
    inode: u64,
    mode: u32,
    links: u32,
    size: u64,
    blocks: u64,
    times: [(u64, u64); 3],
}

impl Stat {
    /// A terminal or a pipe.
    const STREAM: Self = Self {
        device: 1,
        inode: 1,
        mode: 0o1_0600,
        links: 1,
        size: 0,
        blocks: 0,
        times: [(0, 0); 3],
    };

    /// A file that the simulated system makes up. As under Linux, its size is not known before it is read.
    pub(crate) const TEXT: Self = Self {
        mode: 0o10_0444,
        ..Self::STREAM
    };

    /// A folder that the simulated system makes up, with this inode and this number of folders in it.
    pub(crate) fn made(inode: u64, folders: u32) -> Self {
        Self {
            inode,
            mode: 0o4_0555,
            links: 2 + folders,
            ..Self::STREAM
        }
    }

    /// A link that the simulated system makes up.
    pub(crate) const LINK: Self = Self {
        mode: 0o12_0777,
        ..Self::STREAM
    };

    /// The metadata of a file of the host. Its number and its blocks do not depend on the host's volume.
    fn of(files: &Files, found: &Metadata) -> Self {
        let (inode, [access, change]) = files.identity(found);
        let size = match found.is_dir() {
            true => BLOCK,
            false => found.size(),
        };
        Self {
            device: 1,
            inode,
            mode: found.mode(),
            links: found.nlink() as u32,
            size,
            blocks: size.div_ceil(BLOCK) * (BLOCK / 512),
            times: [access, change, change],
        }
    }

    /// The owner's rights, with the bits of `access`.
    pub(crate) fn rights(&self) -> u64 {
        u64::from(self.mode >> 6 & 7)
    }

    /// `struct stat` of riscv64-linux.
    pub(crate) fn classic(&self) -> Vec<u8> {
        let mut words = vec![self.device, self.inode];
        words.push(u64::from(self.mode) | u64::from(self.links) << 32);
        // The user and the group; the device of a special file; padding.
        words.extend([OWNER | OWNER << 32, 0, 0, self.size, BLOCK, self.blocks]);
        words.extend(
            self.times
                .iter()
                .flat_map(|&(seconds, rest)| [seconds, rest]),
        );
        words.push(0);
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// `struct statx`.
    pub(crate) fn extended(&self) -> Vec<u8> {
        let mut words = vec![0x7FF | BLOCK << 32, 0];
        words.push(u64::from(self.links) | OWNER << 32);
        words.push(OWNER | u64::from(self.mode) << 32);
        words.extend([self.inode, self.size, self.blocks, 0]);
        let [access, modified, changed] = self.times;
        for (seconds, rest) in [access, (0, 0), changed, modified] {
            words.extend([seconds, rest]);
        }
        words.resize(32, 0);
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

impl Files {
    pub(crate) fn stat(&self, number: u64) -> Result<Stat, Errno> {
        Ok(match self.get_place(number)? {
            Open::File { file, .. } => Stat::of(self, &file.metadata()?),
            Open::Folder { path, .. } => Stat::of(self, &path.metadata()?),
            Open::Stream(end) if let Some(opened) = end.fifo() => {
                Stat::of(self, &opened.file().metadata()?)
            }
            Open::Text { .. } => Stat::TEXT,
            Open::Made { inode, folders, .. } => Stat::made(*inode, *folders),
            _ => Stat::STREAM,
        })
    }

    pub(crate) fn stat_named(&self, path: &Path, flags: u64) -> Result<Stat, Errno> {
        if let Some(number) = open_number(path) {
            return self.stat(number);
        }
        let follow = flags & NO_FOLLOW == 0;
        let host = self.host_path(path, follow)?;
        let found = if follow {
            host.metadata()
        } else {
            host.symlink_metadata()
        };
        Ok(Stat::of(self, &found?))
    }
}
