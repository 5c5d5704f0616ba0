//! Anonymous memory that is mapped as shared. A process and its children use the same frames.

use super::frames::Frames;
use super::{PAGE, Physical, Why};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Anonymous shared memory with its frames. The frames are given back when no process maps a part of the object any
/// more.
struct Object {
    physical: Physical,
    /// The number of the object's pages. This number does not change if a mapping grows.
    pages: u64,
    frames: RefCell<BTreeMap<u64, u32>>,
}

/// A mapped part of an object. The object's first byte belongs at address `at`.
#[derive(Clone)]
pub(crate) struct Part {
    object: Rc<Object>,
    at: u64,
}

impl Part {
    /// Makes an object of `length` bytes, which begins at address `at`.
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

    /// The frame of a page. The first call for a page takes the frame from `frames`.
    pub(super) fn frame(&self, number: u64, frames: &mut Frames) -> Result<u32, Why> {
        // A part may lie below the address of the object's first byte. The subtraction then wraps to a page behind the
        // object's end.
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
