//! Dependences between the children of a task. All of this is done with the team's lock.

use crate::task::Task;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// What a task does with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    In,
    /// `out`, `inout`, and `mutexinoutset`, whose tasks are run one after another here.
    Out,
    /// `inoutset`: beside one another, but not beside any other access.
    Set,
}

/// What holds a task up, and what it holds up.
#[derive(Default)]
pub(crate) struct Blocks {
    /// Tasks that must end before.
    before: usize,
    /// Tasks that wait for this one.
    after: Vec<Arc<Task>>,
    /// Whether it has dependences: others may find it by an address.
    listed: bool,
}

impl Blocks {
    pub(crate) fn is_free(&self) -> bool {
        self.before == 0
    }

    pub(crate) fn is_listed(&self) -> bool {
        self.listed
    }
}

/// Who came to an address last: tasks that may run beside one another, and those before them.
#[derive(Default)]
struct Address {
    kind: Option<Access>,
    latest: Vec<Arc<Task>>,
    previous: Vec<Arc<Task>>,
}

/// Addresses of a parent's children.
#[derive(Default)]
pub(crate) struct Edges(HashMap<usize, Address>);

/// The accesses in the compiler's array: `[n, outs, address...]`, or since OpenMP 5.0
/// `[0, n, outs, mutexinoutsets, ins, address..., dependence objects...]`.
unsafe fn accesses(depend: *mut *mut c_void) -> Vec<(usize, Access)> {
    // SAFETY: the array is as long as its head says, by the caller's word.
    unsafe {
        let at = |index: usize| *depend.add(index) as usize;
        let (count, outs, plain, first) = if at(0) == 0 {
            let outs = at(2) + at(3);
            (at(1), outs, outs + at(4), 5)
        } else {
            (at(0), at(1), at(0), 2)
        };
        (0..count)
            .map(|index| {
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
                let kind = match *object.add(1) {
                    1 => Access::In,
                    5 => Access::Set,
                    _ => Access::Out,
                };
                (*object, kind)
            })
            .collect()
    }
}

/// Whether an access need not wait for those that came last.
fn beside(latest: Option<Access>, kind: Access) -> bool {
    latest == Some(kind) && kind != Access::Out
}

/// Enters a new task among its siblings.
///
/// # Safety
///
/// The array is as compiled programs make it.
pub(crate) unsafe fn link(task: &mut Arc<Task>, depend: *mut *mut c_void) {
    let Some(parent) = task.parent.clone() else {
        return;
    };
    parent.edged.store(true, Relaxed);
    let edges = &mut parent.linked().edges.0;
    if edges.len() > 256 {
        // A parent that makes tasks for ever: addresses all of whose tasks have ended tell nothing.
        edges.retain(|_, address| !address.latest.iter().all(|task| task.done.load(SeqCst)));
    }
    task.linked().blocks.listed = true;
    // SAFETY: by the caller's word.
    for (key, kind) in unsafe { accesses(depend) } {
        let address = edges.entry(key).or_default();
        if address.latest.iter().any(|other| Arc::ptr_eq(other, task)) {
            // The same address twice in one task: the stronger access counts.
            if kind != Access::In {
                address.kind = Some(Access::Out);
                let others: Vec<_> = std::mem::take(&mut address.latest);
                for other in others.iter().filter(|other| !Arc::ptr_eq(other, task)) {
                    after(other, task);
                }
                address.latest.push(Arc::clone(task));
            }
            continue;
        }
        if !beside(address.kind, kind) {
            address.kind = Some(kind);
            address.previous = std::mem::take(&mut address.latest);
        }
        for other in &address.previous {
            after(other, task);
        }
        address.latest.push(Arc::clone(task));
    }
}

/// `task` is to be run after `other`.
fn after(other: &Arc<Task>, task: &Arc<Task>) {
    if !other.done.load(SeqCst) {
        other.linked().blocks.after.push(Arc::clone(task));
        task.linked().blocks.before += 1;
    }
}

/// The children of `parent` that a task with these accesses would have to wait for.
///
/// # Safety
///
/// The array is as compiled programs make it.
pub(crate) unsafe fn awaited(parent: &Task, depend: *mut *mut c_void) -> Vec<Arc<Task>> {
    let edges = &parent.linked().edges.0;
    let mut awaited = vec![];
    if edges.is_empty() {
        return awaited;
    }
    // SAFETY: by the caller's word.
    for (key, kind) in unsafe { accesses(depend) } {
        if let Some(address) = edges.get(&key) {
            let others = if beside(address.kind, kind) {
                &address.previous
            } else {
                &address.latest
            };
            awaited.extend(
                others
                    .iter()
                    .filter(|task| !task.done.load(SeqCst))
                    .cloned(),
            );
        }
    }
    awaited
}

/// The task has ended: the tasks that nothing holds up any more.
pub(crate) fn release(task: &Arc<Task>) -> Vec<Arc<Task>> {
    task.done.store(true, SeqCst);
    let waiting = std::mem::take(&mut task.linked().blocks.after);
    waiting
        .into_iter()
        .filter(|other| {
            let blocks = &mut other.linked().blocks;
            blocks.before -= 1;
            blocks.before == 0
        })
        .collect()
}
