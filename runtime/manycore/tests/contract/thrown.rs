//! Panics for tests. They skip the panic hook's message, which would fill the log.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The payload of the tests' panics.
#[derive(Debug, PartialEq)]
pub(crate) struct Thrown(pub(crate) &'static str);

pub(crate) fn throw(what: &'static str) -> ! {
    resume_unwind(Box::new(Thrown(what)))
}

/// A value, or a payload, that panics when it is dropped.
pub(crate) struct Nasty;

impl Drop for Nasty {
    fn drop(&mut self) {
        throw("from a destructor");
    }
}

/// Returns the payload of `run`'s panic. Fails if that is not a [`Thrown`].
pub(crate) fn caught<R>(run: impl FnOnce() -> R) -> Option<&'static str> {
    let payload = catch_unwind(AssertUnwindSafe(run)).err()?;
    match payload.downcast::<Thrown>() {
        Ok(thrown) => Some(thrown.0),
        Err(payload) => {
            std::mem::forget(payload);
            Some("another payload")
        }
    }
}
