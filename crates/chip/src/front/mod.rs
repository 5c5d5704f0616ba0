//! Front ends: what runs on the simulated cores.

pub(crate) mod arena;
