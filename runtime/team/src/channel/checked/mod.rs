//! Channels and their bell under loom.

mod bell;
mod whole;
