//! The types that are parallel iterators: only types of this crate.
//!
//! `unsafe` code relies on the answers of [`ParallelIterator`](super::ParallelIterator) and
//! [`IndexedParallelIterator`](super::IndexedParallelIterator): that `indices` gives the same number
//! each time, and that a block has the items that its indices name. A type of another crate could
//! answer otherwise in safe code, and a `Vec`'s items would be moved out twice. So the first
//! trait demands `Sealed`, which no other crate can name, and the second demands the first. The types
//! are listed in `sealed_types.rs`.

pub trait Sealed {}
