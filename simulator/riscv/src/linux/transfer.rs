//! Files that are copied within the kernel, and files of memory alone.

use super::Process;
use super::errno::{EINVAL, EPERM, Value};
use super::files::Open;
use std::cell::Cell;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::rc::Rc;

/// The most bytes that one call moves.
const MOST: u64 = 1 << 20;
/// What a file is, in its mode.
const KIND: u64 = 0o17_0000;
const REGULAR: u64 = 0o10_0000;

impl Process {
    /// `sendfile`, `copy_file_range`: from a file to another one, each from the place that a
    /// pointer tells, which is moved on; or from where it is read or written next.
    pub(super) fn transfer(&mut self, from: [u64; 2], to: [u64; 2], count: u64) -> Value {
        let ([from, from_at], [to, to_at]) = (from, to);
        if !matches!(self.files.get(from)?, Open::File { .. } | Open::Text { .. }) {
            return Err(EINVAL);
        }
        let mut place = |at: u64| match at {
            0 => Ok(None),
            _ => self.space.read_u64(at).map(Some),
        };
        let (start, end) = (place(from_at)?, place(to_at)?);
        self.before_reading(from);
        let mut bytes = vec![0; count.min(MOST) as usize];
        let got = self.files.read(from, &mut bytes, start)?;
        let done = self.files.write(to, &bytes[..got], end)? as u64;
        if !self.shared.is_empty() {
            self.after_writing(to, end, &bytes[..got]);
        }
        for (at, place) in [(from_at, start), (to_at, end)] {
            if let Some(place) = place {
                self.space.write_u64(at, place + done)?;
            }
        }
        Ok(done)
    }

    /// `memfd_create`: a file of the host without a name.
    pub(super) fn make_memory_file(&mut self) -> Value {
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
                        Ok(file)
                    })),
                }
            });
        let file = file.ok_or(EINVAL)??;
        self.files.add(Open::File {
            file: Rc::new(file),
            path: "/memfd".into(),
            flags: Rc::new(Cell::new(2)),
        })
    }

    /// `mknodat`: an empty file; pipes with names and devices cannot be made.
    pub(super) fn make_node(&mut self, folder: u64, address: u64, mode: u64) -> Value {
        let path = self.path_at(folder, address)?;
        let host = self.files.host_path(&path, false)?;
        if !matches!(mode & KIND, 0 | REGULAR) {
            return Err(EPERM);
        }
        let mode = mode as u32 & 0o777 & !self.files.mask;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode).open(host)?;
        Ok(0)
    }
}
