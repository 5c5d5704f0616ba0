//! libgomp's interface over manycore: a shared library that compiled OpenMP programs use
//! instead of GCC's own, by `LD_PRELOAD`. `README.md` has the operator's page, and the map of
//! this crate.
//!
//! Nothing here is for Rust programs; what is public is the C interface.
#![cfg(target_os = "linux")]

mod abi;
mod barrier;
mod bell;
#[cfg_attr(
    not(all(
        any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64"
        ),
        target_env = "gnu"
    )),
    path = "carry/absent.rs"
)]
mod carry;
mod context;
mod crew;
mod depend;
mod ending;
mod environment;
mod icv;
mod line;
mod lock;
mod places;
mod reduction;
mod region;
mod report;
mod share;
mod spin;
mod task;
mod team;
