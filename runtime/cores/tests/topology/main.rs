//! The topology of machines that this one is not, from copies of their files.

mod damage;
mod fixture;
mod limits;
mod machines;
mod orders;
