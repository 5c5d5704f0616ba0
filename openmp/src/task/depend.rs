//! Dependences between the children of a task. All of this is done with the
//! team's lock of dependences, and only the lock's owner has its [`Key`].

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
    /// `out`, `inout`, and `mutexinoutset`; tasks of the latter run one after another here.
    Out,
    /// `inoutset`: beside one another, but not beside any other access.
    Set,
}

/// The part of a task that the lock of dependences protects.
#[derive(Default)]
pub(crate) struct Links {
    /// Tasks that must end before.
    before: usize,
    /// Tasks that wait for this one.
    after: Vec<NonNull<Task>>,
    /// Which of its children comes after which.
    pub(crate) edges: Option<Box<Edges>>,
}

/// The last tasks that named an address: the latest ones, which may run at the same time, and the
/// ones before them.
#[derive(Default)]
struct Address {
    kind: Option<Access>,
    latest: Vec<Kept>,
    previous: Vec<Kept>,
}

/// Addresses of a parent's children.
#[derive(Default)]
pub(crate) struct Edges {
    addresses: HashMap<usize, Address, BuildHasherDefault<Mixed>>,
    /// The last task that named all memory. It comes before tasks that name an address for the first time.
    all: Option<Kept>,
}

/// The address that stands for all memory.
const ALL: usize = 0;

/// Hashes an address by one product: the map's cost is most of a dependence's.
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
        // The golden ratio's digits. The product's high half depends on all bits.
        let product = u128::from(self.0 ^ address as u64) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

/// The accesses in the compiler's array: `[n, outs, address...]`, or since OpenMP 5.0
/// `[0, n, outs, mutexinoutsets, ins, address..., dependence objects...]`.
unsafe fn accesses(depend: *mut *mut c_void) -> impl Iterator<Item = (usize, Access)> {
    // SAFETY: the array is as long as its head says, by the caller's word.
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
        // A dependence object: the address and its kind.
        let object = address as *const usize;
        // SAFETY: the compiler's object has two words, by the caller's word.
        let (address, kind) = unsafe { (*object, *object.add(1)) };
        let kind = match kind {
            1 => Access::In,
            5 => Access::Set,
            _ => Access::Out,
        };
        (address, kind)
    })
}

/// Whether an access need not wait for the latest ones.
fn beside(latest: Option<Access>, kind: Access) -> bool {
    latest == Some(kind) && kind != Access::Out
}

/// Enters a new task among its siblings. Returns `true` if the task may run at once.
///
/// # Safety
///
/// The compiler made the array. The task's team owns the key.
pub(crate) unsafe fn link(task: &Task, depend: *mut *mut c_void, key: &mut Key) -> bool {
    let Some(parent) = task.parent() else {
        return true;
    };
    parent.edged.set(true);
    // SAFETY: a parent is in its child's team, which owns the key. The edges go back to the parent below.
    let mut edges = unsafe { parent.links(key) }
        .edges
        .take()
        .unwrap_or_default();
    task.listed.set(true);
    // SAFETY: by the caller's word; siblings are in the same team.
    unsafe { edges.enter(task, depend, key) };
    // SAFETY: the parent and the task are of the key's team.
    unsafe {
        parent.links(key).edges = Some(edges);
        task.links(key).before == 0
    }
}

impl Edges {
    /// Enters a task among these.
    ///
    /// # Safety
    ///
    /// As of [`link`].
    unsafe fn enter(&mut self, task: &Task, depend: *mut *mut c_void, key: &mut Key) {
        let Self {
            addresses: edges,
            all,
        } = self;
        if edges.len() > 256 {
            // For a parent that makes tasks for ever: an address whose tasks have all ended says
            // nothing.
            edges.retain(|_, address| !address.latest.iter().all(|task| task.done.load(SeqCst)));
        }
        // SAFETY: by the caller's word; the others are siblings, in the same team.
        let mut after = |other: &Kept| unsafe { after(other, task, key) };
        // SAFETY: by the caller's word.
        if unsafe { accesses(depend) }.any(|(key, _)| key == ALL) {
            let latest = edges.values().flat_map(|address| &address.latest);
            latest.chain(all.as_ref()).for_each(after);
            edges.clear();
            *all = Some(Kept::new(task));
            return;
        }
        let is_same = |other: &Kept| ptr::eq(&raw const **other, task);
        // SAFETY: by the caller's word.
        for (key, kind) in unsafe { accesses(depend) } {
            let address = edges.entry(key).or_insert_with(|| Address {
                kind: all.as_ref().map(|_| Access::Out),
                latest: all.iter().cloned().collect(),
                previous: vec![],
            });
            if address.latest.iter().any(is_same) {
                // The same address twice in one task: the stronger access counts.
                if kind != Access::In {
                    address.kind = Some(Access::Out);
                    for other in address.latest.drain(..).filter(|other| !is_same(other)) {
                        after(&other);
                    }
                    address.latest.push(Kept::new(task));
                }
                continue;
            }
            if !beside(address.kind, kind) {
                address.kind = Some(kind);
                std::mem::swap(&mut address.previous, &mut address.latest);
                address.latest.clear();
            }
            for other in &address.previous {
                after(other);
            }
            address.latest.push(Kept::new(task));
        }
    }
}

/// `task` is to be run after `other`.
///
/// # Safety
///
/// Both tasks are in one team, and that team owns the key.
unsafe fn after(other: &Task, task: &Task, key: &mut Key) {
    if !other.done.load(SeqCst) {
        // SAFETY: by the caller's word.
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
/// The compiler made the array. The parent's team owns the key.
pub(crate) unsafe fn awaited(parent: &Task, depend: *mut *mut c_void, key: &mut Key) -> Vec<Kept> {
    let mut awaited = vec![];
    // SAFETY: by the caller's word.
    let Some(edges) = &unsafe { parent.links(key) }.edges else {
        return awaited;
    };
    let mut wait = |others: &[Kept]| {
        let live = others.iter().filter(|task| !task.done.load(SeqCst));
        awaited.extend(live.cloned());
    };
    // SAFETY: by the caller's word.
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

/// The task has ended: the tasks that nothing holds up any more.
///
/// # Safety
///
/// The task's team owns the key.
pub(crate) unsafe fn release(task: &Task, key: &mut Key) -> Vec<NonNull<Task>> {
    task.done.store(true, SeqCst);
    // SAFETY: by the caller's word.
    let mut waiting = std::mem::take(unsafe { &mut task.links(key).after });
    waiting.retain(|other| {
        // SAFETY: a task that waits has not ended. It is a sibling, of the same team.
        let links = unsafe { other.as_ref().links(key) };
        links.before -= 1;
        links.before == 0
    });
    waiting
}
