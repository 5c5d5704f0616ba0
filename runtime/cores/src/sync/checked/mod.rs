//! The protocols of `sync` under loom.

mod bell;
mod events;
mod lock;
mod parker;
mod sleepers;
