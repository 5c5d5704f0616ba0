//! The user and the group of the program. They own all files, and the program cannot change to another user or group.

use super::errno::{EPERM, Value};

/// The number of the user and of the group.
pub(super) const USER: u32 = 1_000;

/// Fails unless each of `users` is the program's own user or -1, which means no change.
pub(super) fn is_user(users: &[u64]) -> Value {
    let own = |user: &u64| matches!(*user as u32, USER | u32::MAX);
    if users.iter().all(own) {
        Ok(0)
    } else {
        Err(EPERM)
    }
}
