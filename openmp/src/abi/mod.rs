//! The interface: functions that compiled programs call, by the names that libgomp has for them.

mod affinity;
mod alloc;
mod device;
mod doacross;
mod fortran;
#[cfg(target_arch = "x86_64")]
mod kmp;
mod later;
mod locks;
mod loops;
mod parallel;
mod query;
mod schedules;
mod sections;
mod sync;
mod tasks;
mod teams;
mod unsupported;

pub(crate) use crate::system::export;
#[cfg(target_arch = "x86_64")]
pub(crate) use kmp::check;

/// Only programs compiled by clang are checked at their start for missing functions.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn check() {}
