//! Pools that follow what the system leaves this process, on this host. Whatever
//! confines a process is done to a child: the tests' own is left alone.
#![cfg(target_os = "linux")]

mod cgroup;
mod child;
mod fork;
mod load;
mod stress;
#[path = "../support/this_program.rs"]
mod this_program;
mod throttling;
