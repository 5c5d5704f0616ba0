//! libgomp's interface over `manycore-cores`: a shared library that compiled OpenMP programs use
//! instead of GCC's own, by `LD_PRELOAD`. `README.md` has the operator's page, and the map of
//! this crate.
//!
//! Nothing here is for Rust programs; what is public is the C interface.
//!
//! # Layers
//!
//! Each folder uses folders below it only, and so does each file outside of its own folder (`ci/map.sh`).
//!
//! | folder | what |
//! |---|---|
//! | `abi` | the functions that compiled programs call |
//! | `region` | a parallel region from beginning to end, and the threads for it |
//! | `carry` | ranks: members of a team of more members than cores |
//! | `tasking` | what members do: make tasks, run them, wait for them and for each other |
//! | `team` | a team, its barrier and work shares, and what each member knows of itself |
//! | `task` | tasks as data: what they wait for, queues, memory |
//! | `words` | what threads wait by: locks, bells, and how a rank waits |
//! | `environment` | what the user says, and how many cores there are |
//! | `system` | what all ask of the C library and of the kernel |
//!
//! `carry` is handed down as two traits: `words::Waiter`, by which a rank waits, and `team::Carrier`, by which a team's
//! regions are carried.
#![cfg(target_os = "linux")]

mod abi;
#[cfg_attr(
    not(all(
        any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64"
        ),
        target_env = "gnu"
    )),
    path = "carry/unsupported.rs"
)]
mod carry;
mod environment;
mod load;
mod region;
mod system;
mod task;
mod tasking;
mod team;
mod words;
