//! Changes of files that the memory of all processes shows: files that become shorter, and writes.

use crate::linux::errno::{Errno, Value};
use crate::linux::files::{Open, TRUNCATE};
use crate::linux::system::System;
use crate::linux::task::Task;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::rc::Rc;

/// Adapts the memory of all processes to the present length of a file, which may have become shorter. An access behind
/// the file's last page then raises SIGBUS, and the rest of that page is zero.
pub(super) fn cut(system: &mut System, file: Result<Rc<File>, Errno>) -> Value {
    let data = file?.metadata()?;
    let (key, length) = ((data.dev(), data.ino()), data.len());
    for process in system.all_mut() {
        process.memory.space.cut(key, length);
    }
    system.first_mut().memory.space.physical().cut(key, length);
    Ok(0)
}

/// Completes an `openat` that has returned `number`. If `flags` has `O_TRUNC`, the file is now empty.
pub(super) fn after_opening(system: &mut System, task: &Task, number: Value, flags: u64) -> Value {
    let number = number?;
    if flags & TRUNCATE != 0
        && let Ok(Open::File { file, .. }) = system.of(task).files.get(number)
    {
        let file = Rc::clone(file);
        cut(system, Ok(file))?;
    }
    Ok(number)
}

impl System {
    /// Shows the writes to files of a task's call in the private pages of other processes that were only read.
    pub(in crate::linux) fn show_file_writes(&mut self, task: &Task) {
        let writes = self.first().memory.space.physical().take_file_writes();
        for write in writes {
            for process in self.others_mut(task.slot) {
                let space = &mut process.memory.space;
                space.show_write(write.key, write.offset, &write.bytes);
            }
        }
    }
}
