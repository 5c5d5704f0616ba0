//! checked
