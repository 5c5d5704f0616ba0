//! Mapped files. If a program maps pages of a file shared and for writing, its stores to them reach
//! the file when it reads or synchronises the file, or ends.

use super::Memory;
use crate::linux::errno::{EACCES, EINVAL, ENODEV, ENOMEM, Errno, Value};
use crate::linux::files::{ACCESS, APPENDS, Files, Open, WRITE_ONLY};
use crate::memory::{Content, Key, Mapped, PAGE, Shared, right};
use std::fs::File;
use std::io::Seek;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::rc::Rc;

fn key(file: &File) -> Result<Key, Errno> {
    let data = file.metadata()?;
    Ok((data.dev(), data.ino()))
}

impl Memory {
    /// Returns the content and the file's path for a mapping at address `at` that begins at
    /// `offset` in an open file.
    pub(super) fn map_file(
        &mut self,
        files: &Files,
        number: u64,
        [at, offset]: [u64; 2],
        (is_shared, rights): (bool, u8),
    ) -> Result<(Content, Rc<str>), Errno> {
        let open = files.get(number)?;
        let Open::File { file, path, flags } = open else {
            // Linux first refuses a file that the program may not read.
            let writes = is_shared && rights & right::WRITE != 0;
            return Err(match open.end() {
                Some(end) if !end.reads() || writes && !end.writes() => EACCES,
                _ => ENODEV,
            });
        };
        if flags.get() & ACCESS == WRITE_ONLY {
            return Err(EACCES);
        }
        let (file, path) = (Rc::clone(file), Rc::clone(path));
        // A write of zero bytes fails if the file is open only for reading.
        let writes = is_shared && file.write_at(&[], 0).is_ok();
        if is_shared && rights & right::WRITE != 0 && !writes {
            return Err(EACCES);
        }
        let data = file.metadata()?;
        if &*path == "/dev/zero" {
            return Ok((Content::Zero, path));
        }
        if !data.is_file() {
            return Err(ENODEV);
        }
        let key = (data.dev(), data.ino());
        if writes {
            files.touch(&file);
        }
        let part = match is_shared {
            true => Mapped::shared(self.space.physical(), file, key, [at, offset], writes),
            false => Mapped::private(file, key, [at, offset]),
        };
        Ok((Content::Mapped(part), path))
    }

    /// Writes all programs' stores to mapped pages into their files.
    pub(crate) fn write_back(&self) {
        for file in self.space.physical().files() {
            file.write_back(0, u64::MAX);
        }
    }

    /// `sync`, `msync`.
    pub(crate) fn synchronise(&mut self) -> Value {
        self.write_back();
        Ok(0)
    }

    /// `msync`: synchronises whole pages, which must be mapped.
    pub(crate) fn synchronise_range(&mut self, address: u64, length: u64, flags: u64) -> Value {
        const ASYNC: u64 = 1;
        const INVALIDATE: u64 = 2;
        const SYNC: u64 = 4;
        let known = flags & !(ASYNC | INVALIDATE | SYNC) == 0;
        if !known || flags & (ASYNC | SYNC) == ASYNC | SYNC || !address.is_multiple_of(PAGE) {
            return Err(EINVAL);
        }
        let end = length
            .checked_next_multiple_of(PAGE)
            .and_then(|length| address.checked_add(length))
            .ok_or(ENOMEM)?;
        if !self.space.is_mapped(address, end - address) {
            return Err(ENOMEM);
        }
        self.synchronise()
    }

    /// The pages of an open file that any process maps as shared.
    fn pages_of(&self, open: &Open) -> Option<Rc<Shared>> {
        match open {
            Open::File { file, .. } if self.space.physical().has_files() => {
                self.space.physical().file(key(file).ok()?)
            }
            _ => None,
        }
    }

    /// Writes back what was stored to mapped pages of a file, before bytes are read at `at` or at
    /// the file's position.
    pub(super) fn before_reading(&self, files: &Files, number: u64, at: Option<u64>, length: u64) {
        let Ok(open @ Open::File { file, .. }) = files.get(number) else {
            return;
        };
        let place = || at.or_else(|| (&**file).stream_position().ok());
        if let Some(pages) = self.pages_of(open)
            && let Some(at) = place()
        {
            pages.write_back(at, length);
        }
    }

    /// Writes back what was stored to a file's mapped pages, before the kernel reads the file by
    /// its path.
    pub(crate) fn before_reading_path(&self, path: &Path) {
        let data = path.metadata().ok();
        let pages = data.and_then(|data| self.space.physical().file((data.dev(), data.ino())));
        if let Some(pages) = pages {
            pages.write_back(0, u64::MAX);
        }
    }

    /// Updates mapped pages after a write of `bytes` to a file: shared pages of all processes, and private pages of this
    /// process that it has only read. The private pages of other processes follow at the end of the call. Without `at`, the
    /// bytes end at the file's position.
    pub(crate) fn after_writing(
        &mut self,
        files: &Files,
        number: u64,
        at: Option<u64>,
        bytes: &[u8],
    ) {
        let Ok(open @ Open::File { file, flags, .. }) = files.get(number) else {
            return;
        };
        let pages = self.pages_of(open);
        let is_alone = !self.space.physical().has_several_spaces();
        if pages.is_none() && is_alone && !self.space.has_private_files() {
            return;
        }
        let appends = at.is_some() && flags.get() & APPENDS != 0;
        let end = || match appends {
            true => file.metadata().ok().map(|data| data.len()),
            false => (&**file).stream_position().ok(),
        };
        let at = at
            .filter(|_| !appends)
            .or_else(|| end()?.checked_sub(bytes.len() as u64));
        let Some(at) = at else {
            return;
        };
        if let Some(pages) = pages {
            pages.was_written(at, bytes);
        }
        if let Ok(key) = key(file) {
            self.space.show_write(key, at, bytes);
            self.space.physical().note_file_write(key, at, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Memory, key};
    use crate::memory::tests::WRITTEN;
    use crate::memory::{Content, Mapped, PAGE, Physical, Region, right};
    use std::io::{Read, Seek, Write};
    use std::rc::Rc;

    const AT: u64 = 1 << 20;
    const PAGES: u64 = 100;

    fn map(memory: &mut Memory, at: u64, pages: u64, content: Content) {
        let region = Region {
            end: at + pages * PAGE,
            rights: right::READ | right::WRITE,
            content,
            name: "".into(),
            was_written: false,
        };
        memory.space.map(at, region);
    }

    /// Only the pages that a read needs are written into the file, and an `munmap` writes no page
    /// of another mapping.
    #[test]
    fn mapped_pages_are_written_when_they_are_needed() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![1; (PAGES * PAGE) as usize]).unwrap();
        let mut memory = Memory::new(Physical::new(64 << 20));
        let host = Rc::new(file);
        let of = key(&host).unwrap();
        let physical = memory.space.physical().clone();
        let part = Mapped::shared(&physical, Rc::clone(&host), of, [AT, 0], true);
        map(&mut memory, AT, PAGES, Content::Mapped(part));
        for page in 0..PAGES {
            memory.space.write(AT + page * PAGE, &[2]).unwrap();
        }
        let before = WRITTEN.get();
        for _ in 0..100 {
            map(&mut memory, 2 * AT, 16, Content::Zero);
            memory.space.write(2 * AT, &[3]).unwrap();
            memory.munmap(2 * AT, 16 * PAGE).unwrap();
        }
        assert_eq!(WRITTEN.get() - before, 0);
        let pages = physical.file(of).unwrap();
        pages.write_back(3 * PAGE + 9, PAGE);
        assert_eq!(WRITTEN.get() - before, 2);
        drop(pages);
        memory.munmap(AT, PAGES * PAGE).unwrap();
        assert_eq!(WRITTEN.get() - before, 2 + PAGES);
        let mut bytes = Vec::new();
        (&*host).rewind().unwrap();
        (&*host).read_to_end(&mut bytes).unwrap();
        assert!(bytes.chunks(PAGE as usize).all(|page| page[..2] == [2, 1]));
    }
}
