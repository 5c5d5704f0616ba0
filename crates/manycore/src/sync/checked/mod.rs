//! The protocols of `sync` under loom.

mod events;
mod parker;
mod sleepers;
