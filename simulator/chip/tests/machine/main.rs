//! The simulated machine, and programs and runtimes on it: one test program, because what they
//! share takes longer to compile than to run.

mod barrier;
mod channel;
mod counters;
mod determinism;
mod elastic;
mod faults;
mod fiber;
mod fuzz;
mod limits;
mod litmus;
mod optical;
mod overlap;
mod perturb;
mod pool;
mod random_programs;
mod ranges;
mod scheduling;
mod spinning;
mod stealing;
mod support;
mod team;
