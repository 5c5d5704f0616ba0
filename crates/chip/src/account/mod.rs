//! Where the cycles went.
