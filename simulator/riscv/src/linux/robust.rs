//! Robust mutexes. When a thread ends, the kernel unlocks the mutexes on its robust list, and wakes one waiter of each
//! mutex.

use super::process::Process;
use super::world::World;
use crate::memory::{PAGE, Space, right};

/// The bit of a mutex's word that says that other threads wait for the mutex.
pub(super) const WAITERS: u32 = 1 << 31;
/// The bit of a mutex's word that says that the owner has ended without unlocking the mutex.
pub(super) const OWNER_DIED: u32 = 1 << 30;

/// Unlocks the robust mutexes of a thread that ends, and wakes the waiters of its mutexes with inheritance. Such a
/// waiter takes the mutex when it finds no owner.
pub(super) fn leave_mutexes<W: World>(process: &mut Process, number: u32, world: &mut W) {
    unlock_robust(process, number, world);
    let thread = process.threads.get_mut(number);
    for word in thread
        .map(|it| std::mem::take(&mut it.awaited))
        .into_iter()
        .flatten()
    {
        world.futex_wake(word, u32::MAX);
    }
}

fn unlock_robust<W: World>(process: &mut Process, number: u32, world: &mut W) {
    const MOST: u32 = 2_048;
    let list = process.threads.get(number);
    let list = list.map_or(0, |thread| thread.robust);
    if list == 0 {
        return;
    }
    let space = &mut process.memory.space;
    let word = |space: &mut Space, at: u64| space.read_u64(at).unwrap_or(0);
    // The list's head has the first entry, the distance from an entry to its mutex, and the entry of a mutex that the
    // thread is locking or unlocking.
    let from = word(space, list.wrapping_add(8));
    let mut entries = vec![word(space, list.wrapping_add(16))];
    let mut entry = word(space, list);
    while entry != 0 && entry & !1 != list && entries.len() < MOST as usize {
        entries.push(entry);
        entry = word(space, entry & !1);
    }
    for entry in entries.into_iter().filter(|&entry| entry != 0) {
        let address = (entry & !1).wrapping_add(from);
        let Ok(value) = space.read_u32(address) else {
            continue;
        };
        let owned = value & !(WAITERS | OWNER_DIED) == number;
        if owned
            && space
                .write_u32(address, value & WAITERS | OWNER_DIED)
                .is_ok()
        {
            wake_one(space, world, address);
        }
    }
}

/// Wakes one thread that sleeps on a word.
pub(super) fn wake_one<W: World>(space: &mut Space, world: &mut W, address: u64) {
    if let Ok((page, _)) = space.page(address, right::WRITE) {
        world.futex_wake(page.physical + address % PAGE, 1);
    }
}
