//! Memory of no file that is mapped to be shared: a process and its children have its frames.

use super::frames::Frames;
use super::{PAGE, Physical, Why};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The frames of such memory. They are given back when no process maps any of it.
struct Object {
    physical: Physical,
    /// Its pages. A mapping that has grown does not make it longer.
    pages: u64,
    frames: RefCell<BTreeMap<u64, u32>>,
}

/// A part that is mapped: the object's first byte belongs at address `at`.
#[derive(Clone)]
pub(crate) struct Part {
    object: Rc<Object>,
    at: u64,
}

impl Part {
    /// New memory of `length` bytes. It begins at address `at`.
    pub(crate) fn new(physical: &Physical, at: u64, length: u64) -> Self {
        let object = Object {
            physical: physical.clone(),
            pages: length / PAGE,
            frames: RefCell::default(),
        };
        Self {
            object: Rc::new(object),
            at,
        }
    }

    pub(super) fn moved(self, by: u64) -> Self {
        Self {
            at: self.at.wrapping_add(by),
            ..self
        }
    }

    pub(super) fn goes_on(&self, next: &Self) -> bool {
        Rc::ptr_eq(&self.object, &next.object) && self.at == next.at
    }

    /// The frame of a page, which is made if it is not there.
    pub(super) fn frame(&self, number: u64, frames: &mut Frames) -> Result<u32, Why> {
        // A part may lie below where the object would begin.
        let page = (number * PAGE).wrapping_sub(self.at) / PAGE;
        if page >= self.object.pages {
            return Err(Why::BehindFile);
        }
        let mut own = self.object.frames.borrow_mut();
        if let Some(frame) = own.get(&page) {
            return Ok(*frame);
        }
        let frame = frames.take().ok_or(Why::Exhausted)?;
        own.insert(page, frame);
        Ok(frame)
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        for frame in self.frames.get_mut().values() {
            self.physical.give_back(*frame);
        }
    }
}
