//! The user and the group that the program runs as: it owns all files, and can become no other.

use super::errno::{EPERM, Value};

/// Their number.
pub(super) const USER: u32 = 1_000;

/// Whether users are the program's own, or none (-1).
pub(super) fn is_user(users: &[u64]) -> Value {
    let own = |user: &u64| matches!(*user as u32, USER | u32::MAX);
    if users.iter().all(own) {
        Ok(0)
    } else {
        Err(EPERM)
    }
}
