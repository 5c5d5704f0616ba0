//! The user and the group of the program. They own all files, and the program cannot change to others.

use super::errno::{EPERM, Value};

/// The number of the user and of the group.
pub(super) const USER: u32 = 1_000;

/// Fails unless each user is the program's own, or is -1 for no change.
pub(super) fn is_user(users: &[u64]) -> Value {
    let own = |user: &u64| matches!(*user as u32, USER | u32::MAX);
    if users.iter().all(own) {
        Ok(0)
    } else {
        Err(EPERM)
    }
}
