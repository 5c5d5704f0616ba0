//! The topology of other machines, from copies of their files.

mod damage;
mod fixture;
mod limits;
mod machines;
mod orders;
