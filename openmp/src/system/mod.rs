//! What all layers above ask of the C library and of the kernel.

pub(crate) mod ending;
mod export;
#[allow(
    dead_code,
    reason = "where ranks cannot be carried few of these are asked"
)]
pub(crate) mod masks;
#[allow(dead_code, reason = "the same")]
pub(crate) mod next;
pub(crate) mod report;
pub(crate) mod threads;

pub(crate) use export::export;
