//! The traits of parallel iterators, for `use manycore::prelude::*`.
//!
//! ```
//! use manycore::prelude::*;
//!
//! assert_eq!((0..10).into_par_iter().sum::<i32>(), 45);
//! ```

pub use crate::iter::{
    FromParallelIterator, IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator,
    IntoParallelRefMutIterator, ParallelBridge, ParallelIterator, ParallelSlice, ParallelSliceMut,
};
