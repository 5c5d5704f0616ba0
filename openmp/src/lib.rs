//! libgomp's interface over `manycore-cores`. Compiled OpenMP programs load this shared library instead of GCC's
//! libgomp, by `LD_PRELOAD`. `README.md` describes its installation, use and limits.
//!
//! Rust programs cannot use this crate: only its C interface is public.
//!
//! # Layers
//!
//! Each folder uses only folders below it (`ci/map.sh` checks that).
//!
//! | folder | what |
//! |---|---|
//! | `abi` | the functions that compiled programs call |
//! | `region` | a parallel region from beginning to end, and the threads for it |
//! | `carry` | ranks: the members of a team that has more members than cores |
//! | `tasking` | making tasks, running them, waiting for them, and waiting at a barrier |
//! | `team` | a team, its barrier and work shares, and the state of each member |
//! | `task` | tasks as data: dependences, queues, memory |
//! | `words` | locks and bells, and the trait by which a rank waits |
//! | `environment` | the user's settings, and the number of cores |
//! | `system` | the C library and the kernel |
//!
//! Lower layers see `carry` as two traits: a rank is a `words::Waiter`, and a carried team has a `team::Carrier`.
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
