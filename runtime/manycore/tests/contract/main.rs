//! Promises to other programs: how many jobs run at once, the order of turns, the jobs that a waiting thread
//! may run, and the state after a panic.

#[path = "../support/eventually.rs"]
mod eventually;
#[path = "../support/pools.rs"]
mod pools;
#[cfg(target_os = "linux")]
#[path = "../support/tasks.rs"]
mod tasks;
#[cfg(unix)]
#[path = "../support/this_program.rs"]
mod this_program;

mod after_a_spawn;
mod at_once;
mod both_closures;
mod circles;
mod destructors;
mod end_of_threads;
mod ends;
#[cfg(unix)]
mod handler;
mod index;
mod live;
mod locks;
mod loops_inside;
mod meetings;
mod oversubscribed;
mod stacks;
mod storms;
mod thread_handlers;
mod threads;
mod thrown;
mod turns;
mod without_reserve;
