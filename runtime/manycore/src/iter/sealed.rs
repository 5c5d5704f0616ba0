//! Keeps other crates from implementing parallel iterators.
//!
//! `unsafe` code relies on implementations of [`ParallelIterator`](super::ParallelIterator) and
//! [`IndexedParallelIterator`](super::IndexedParallelIterator): `indices` must return the same number
//! each time, and a block must have the items of its indices. A safe implementation in another crate
//! could break these rules, and then a `Vec`'s items would be moved out twice. So `ParallelIterator`
//! requires `Sealed`, which no other crate can name, and `IndexedParallelIterator` requires
//! `ParallelIterator`. `sealed_types.rs` lists the types.

pub trait Sealed {}
