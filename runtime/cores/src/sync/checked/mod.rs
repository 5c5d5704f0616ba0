//! The protocols of `sync` under loom.

mod events;
mod lock;
mod parker;
mod sleepers;
