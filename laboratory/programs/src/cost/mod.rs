//! Cost models of the block size as others have published them.

pub mod published;
