//! The interface: the functions that compiled programs call, with libgomp's names and, in `kmp`, with LLVM's names.

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

/// Does nothing. The check is for LLVM's functions, which this target does not have.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn check() {}
