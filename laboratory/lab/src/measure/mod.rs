//! Measurement tools for all studies: robust statistics, journals that survive an interruption, and time budgets.

pub(crate) mod budget;
pub(crate) mod cpu_time;
pub(crate) mod disturbance;
pub(crate) mod interrupt;
pub(crate) mod journal;
pub(crate) mod progress;
pub(crate) mod ratio;
pub(crate) mod side_by_side;
pub(crate) mod statistics;
pub(crate) mod steady;
pub(crate) mod student;
pub(crate) mod time_left;
