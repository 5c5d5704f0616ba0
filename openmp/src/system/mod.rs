//! Access to the C library and the kernel, for all layers above.

pub(crate) mod clock;
pub(crate) mod cpus;
mod debugger;
pub(crate) mod ending;
mod export;
#[allow(dead_code, reason = "`carry` calls some of these, as below")]
pub(crate) mod limits;
#[allow(
    dead_code,
    reason = "the layer `carry` calls most of these, and some targets have no such layer"
)]
pub(crate) mod masks;
#[allow(dead_code, reason = "the same")]
pub(crate) mod next;
pub(crate) mod report;
pub(crate) mod shared_core;
#[allow(dead_code, reason = "the same")]
pub(crate) mod small_file;
pub(crate) mod threads;

pub(crate) use export::export;
