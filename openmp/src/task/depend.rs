//! Dependences between the children of a task. A team has one lock for all dependences of its tasks. Each function here
//! requires that lock: its [`Key`] is the proof that the caller holds it.

use super::tasks::Key;
use super::{Kept, Task};
use std::collections::HashMap;
use std::ffi::c_void;
use std::hash::{BuildHasherDefault, Hasher};
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::SeqCst;

/// A task's access to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    In,
    /// `out`, `inout` and `mutexinoutset`. Here tasks with `mutexinoutset` run one after another.
    Out,
    /// `inoutset`: tasks with such accesses may run at the same time as each other, but not at the same time as any
    /// other access.
    Set,
}

/// The part of a task that the lock of dependences protects.
#[derive(Default)]
pub(crate) struct Links {
    /// The number of tasks that must end before this task begins.
    before: usize,
    /// Tasks that wait for this task.
    after: Vec<NonNull<Task>>,
    /// The dependences among this task's children.
    pub(crate) edges: Option<Box<Edges>>,
}

/// The last tasks that named an address. The `latest` tasks may run at the same time, and the `previous` tasks come
/// before these.
#[derive(Default)]
struct Address {
    kind: Option<Access>,
    latest: Vec<Kept>,
    previous: Vec<Kept>,
    /// The number of `latest` tasks after the last sweep.
    swept: usize,
}

impl Address {
    /// Adds a task to the `latest` ones. If their number has doubled since the last sweep, first forgets the
    /// ended ones. So a sweep takes a constant time for each added task, and ended tasks do not use memory for ever.
    fn push(&mut self, task: &Task) {
        if self.latest.len() > 2 * self.swept.max(8) {
            self.latest.retain(|task| !has_ended(task));
            self.swept = self.latest.len();
        }
        self.latest.push(Kept::new(task));
    }
}

/// Whether a task orders no other task any more.
fn has_ended(task: &Kept) -> bool {
    task.done.load(SeqCst)
}

/// The addresses that the children of a parent named.
#[derive(Default)]
pub(crate) struct Edges {
    addresses: HashMap<usize, Address, BuildHasherDefault<Mixed>>,
    /// The last task that named all memory. Tasks that name an address for the first time depend on it.
    all: Option<Kept>,
    /// The number of addresses after the last sweep.
    swept: usize,
}

/// The address that stands for all memory.
const ALL: usize = 0;

/// Hashes an address by one multiplication, since the hash map has most of the cost of a dependence.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_usize(usize::from(byte));
        }
    }

    fn write_usize(&mut self, address: usize) {
        // These are digits of the golden ratio. The high half of the product depends on all bits.
        let product = u128::from(self.0 ^ address as u64) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

/// The accesses in the array from the compiler. The array is `[n, outs, address...]`, or since OpenMP 5.0 `[0, n, outs,
/// mutexinoutsets, ins, address..., dependence objects...]`.
unsafe fn accesses(depend: *mut *mut c_void) -> impl Iterator<Item = (usize, Access)> {
    // SAFETY: the caller promises that the array is as long as its head states.
    let at = move |index: usize| unsafe { *depend.add(index) as usize };
    let (count, outs, plain, first) = if at(0) == 0 {
        let outs = at(2) + at(3);
        (at(1), outs, outs + at(4), 5)
    } else {
        (at(0), at(1), at(0), 2)
    };
    (0..count).map(move |index| {
        let address = at(first + index);
        if index < plain {
            let kind = if index < outs {
                Access::Out
            } else {
                Access::In
            };
            return (address, kind);
        }
        // A dependence object has the address and its kind.
        let object = address as *const usize;
        // SAFETY: the object from the compiler has two words, as the caller promises.
        let (address, kind) = unsafe { (*object, *object.add(1)) };
        let kind = match kind {
            1 => Access::In,
            5 => Access::Set,
            _ => Access::Out,
        };
        (address, kind)
    })
}

/// Whether an access of this kind need not wait for the `latest` accesses.
fn beside(latest: Option<Access>, kind: Access) -> bool {
    latest == Some(kind) && kind != Access::Out
}

/// Adds a new task to the edges of its parent. Returns `true` if the task may run at once.
///
/// # Safety
///
/// The compiler made the array. The key belongs to the task's team.
pub(crate) unsafe fn link(task: &Task, depend: *mut *mut c_void, key: &mut Key) -> bool {
    let Some(parent) = task.parent() else {
        return true;
    };
    parent.edged.set(true);
    // SAFETY: a parent is in the team of its child, and the key belongs to that team. The edges go back to the parent
    // below.
    let mut edges = unsafe { parent.links(key) }
        .edges
        .take()
        .unwrap_or_default();
    task.listed.set(true);
    // SAFETY: as the caller promises. Siblings are in the same team.
    unsafe { edges.enter(task, depend, key) };
    // SAFETY: the parent and the task are in the team of the key.
    unsafe {
        parent.links(key).edges = Some(edges);
        task.links(key).before == 0
    }
}

impl Edges {
    /// Adds a task to these edges.
    ///
    /// # Safety
    ///
    /// The caller promises what [`link`] requires.
    unsafe fn enter(&mut self, task: &Task, depend: *mut *mut c_void, key: &mut Key) {
        let Self {
            addresses: edges,
            all,
            swept,
        } = self;
        if edges.len() > 2 * (*swept).max(128) {
            // This bounds the map of a parent that makes tasks for ever. If all tasks of an address have ended, the
            // address orders nothing. If most addresses stay, the next sweep is far away.
            edges.retain(|_, address| !address.latest.iter().all(has_ended));
            *swept = edges.len();
        }
        // SAFETY: as the caller promises. The other tasks are siblings, in the same team.
        let mut after = |other: &Kept| unsafe { after(other, task, key) };
        // SAFETY: as the caller promises.
        if unsafe { accesses(depend) }.any(|(key, _)| key == ALL) {
            let latest = edges.values().flat_map(|address| &address.latest);
            latest.chain(all.as_ref()).for_each(after);
            edges.clear();
            *swept = 0;
            *all = Some(Kept::new(task));
            return;
        }
        let is_same = |other: &Kept| ptr::eq(&raw const **other, task);
        // SAFETY: as the caller promises.
        for (key, kind) in unsafe { accesses(depend) } {
            let address = edges.entry(key).or_insert_with(|| Address {
                kind: all.as_ref().map(|_| Access::Out),
                latest: all.iter().cloned().collect(),
                previous: vec![],
                swept: 0,
            });
            // A task adds itself last.
            if address.latest.last().is_some_and(is_same) {
                // The task names this address twice. The stronger of the two accesses counts.
                if kind != Access::In {
                    address.kind = Some(Access::Out);
                    for other in address.latest.drain(..).filter(|other| !is_same(other)) {
                        after(&other);
                    }
                    address.push(task);
                }
                continue;
            }
            if !beside(address.kind, kind) {
                address.kind = Some(kind);
                std::mem::swap(&mut address.previous, &mut address.latest);
                address.latest.clear();
                address.swept = 0;
            }
            address.previous.retain(|other| {
                after(other);
                !has_ended(other)
            });
            address.push(task);
        }
    }
}

/// Makes `task` run after `other`.
///
/// # Safety
///
/// Both tasks are in one team, and the key belongs to that team.
unsafe fn after(other: &Task, task: &Task, key: &mut Key) {
    if !other.done.load(SeqCst) {
        // SAFETY: as the caller promises.
        unsafe {
            other.links(key).after.push(NonNull::from(task));
            task.links(key).before += 1;
        }
    }
}

/// The children of `parent` that a task with these accesses would have to wait for.
///
/// # Safety
///
/// The compiler made the array. The key belongs to the parent's team.
pub(crate) unsafe fn awaited(parent: &Task, depend: *mut *mut c_void, key: &mut Key) -> Vec<Kept> {
    let mut awaited = vec![];
    // SAFETY: as the caller promises.
    let Some(edges) = &unsafe { parent.links(key) }.edges else {
        return awaited;
    };
    let mut wait = |others: &[Kept]| {
        let live = others.iter().filter(|task| !has_ended(task));
        awaited.extend(live.cloned());
    };
    // SAFETY: as the caller promises.
    for (key, kind) in unsafe { accesses(depend) } {
        if key == ALL {
            edges
                .addresses
                .values()
                .for_each(|address| wait(&address.latest));
        }
        match edges.addresses.get(&key) {
            Some(address) if beside(address.kind, kind) => wait(&address.previous),
            Some(address) => wait(&address.latest),
            None => wait(edges.all.as_slice()),
        }
    }
    awaited
}

/// Notes that the task has ended. Returns the tasks that are ready now.
///
/// # Safety
///
/// The key belongs to the task's team.
pub(crate) unsafe fn release(task: &Task, key: &mut Key) -> Vec<NonNull<Task>> {
    task.done.store(true, SeqCst);
    // SAFETY: as the caller promises.
    let mut waiting = std::mem::take(unsafe { &mut task.links(key).after });
    waiting.retain(|other| {
        // SAFETY: a task that waits has not ended. It is a sibling, in the same team.
        let links = unsafe { other.as_ref().links(key) };
        links.before -= 1;
        links.before == 0
    });
    waiting
}

#[cfg(test)]
mod tests;
