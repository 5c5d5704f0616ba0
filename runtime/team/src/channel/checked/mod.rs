//! Model checks of channels and of their bell, under loom.

mod bell;
mod whole;
