//! Pools that follow the CPUs that the system leaves to this process. The tests confine only child processes.
#![cfg(target_os = "linux")]

mod cgroup;
mod child;
mod fork;
mod load;
mod stress;
#[path = "../support/this_program.rs"]
mod this_program;
mod throttling;
