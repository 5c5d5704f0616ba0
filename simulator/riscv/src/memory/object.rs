//! Memory of no file that is mapped to be shared: a process and its children have its frames.

use super::frames::Frames;
use super::{PAGE, Physical};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The frames of such memory. They are given back when no process maps any of it.
struct Object {
    physical: Physical,
    frames: RefCell<BTreeMap<u64, u32>>,
}

/// A part that is mapped: the object's first byte belongs at address `at`.
#[derive(Clone)]
pub(crate) struct Part {
    object: Rc<Object>,
    at: u64,
}

impl Part {
    /// New memory that begins at an address.
    pub(crate) fn new(physical: &Physical, at: u64) -> Self {
        let object = Object {
            physical: physical.clone(),
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
    pub(super) fn frame(&self, number: u64, frames: &mut Frames) -> Option<u32> {
        let page = number.wrapping_sub(self.at / PAGE);
        let mut own = self.object.frames.borrow_mut();
        if let Some(frame) = own.get(&page) {
            return Some(*frame);
        }
        let frame = frames.take()?;
        own.insert(page, frame);
        Some(frame)
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        for frame in self.frames.get_mut().values() {
            self.physical.give_back(*frame);
        }
    }
}
