//! Lets one process at a time write to an output folder.

use crate::failure::bad_input;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

/// The locked file in the folder. Its text names the holder of the lock.
const NAME: &str = ".lock";

/// The right to write to a folder.
///
/// The system releases the lock when the process ends for any reason. The file stays. If it were removed, two processes
/// could hold locks on two files.
#[derive(Debug)]
pub(super) struct FolderLock {
    _file: File,
}

impl FolderLock {
    pub(super) fn take(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(NAME);
        let refused = |what: String| bad_input(format!("--out {}: {what}", folder.display()));
        let cannot = |error: std::io::Error| refused(format!("cannot lock this folder: {error}"));
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).read(true).write(true);
        let mut file = options.open(&path).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // If the system's locks forbid reading, the holder stays unknown.
                let _ = file.read_to_string(&mut holder);
                let holder = holder.trim();
                return Err(refused(format!(
                    "another manycore process writes to this folder ({holder}); expected another \
                     folder, or this folder after that process has ended"
                )));
            }
            Err(TryLockError::Error(error)) => return Err(cannot(error)),
        }
        let arguments: Vec<_> = std::env::args_os().skip(1).collect();
        let command = arguments.join(std::ffi::OsStr::new(" "));
        let holder = format!(
            "process {}: {}\n",
            std::process::id(),
            command.to_string_lossy()
        );
        file.set_len(0)
            .and_then(|()| file.write_all(holder.as_bytes()))
            .map_err(cannot)?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_is_refused_until_the_first_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let first = FolderLock::take(folder.path()).unwrap();
        let error = FolderLock::take(folder.path()).unwrap_err().to_string();
        let process = format!("process {}", std::process::id());
        assert!(
            error.contains(&process) && error.contains("--out"),
            "{error}"
        );
        drop(first);
        FolderLock::take(folder.path()).unwrap();
    }
}
