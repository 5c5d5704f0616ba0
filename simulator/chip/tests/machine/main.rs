//! Tests of the simulated machine, and of programs and runtimes on it. They are one test program, because their common
//! code takes longer to compile than the tests take to run.

mod affinity;
mod barrier;
mod channel;
mod counters;
mod determinism;
mod elastic;
mod faults;
mod fiber;
mod fuzz;
mod groups;
mod limits;
mod litmus;
mod optical;
mod overlap;
mod perturb;
mod pool;
mod random_programs;
mod ranges;
mod scheduling;
mod smt;
mod spinning;
mod stealing;
mod support;
mod team;
