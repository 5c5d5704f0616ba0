//! The dependences of tasks that no thread runs.

use super::super::{Counts, Order, Tasks, let_go};
use super::*;
use crate::environment::settings;

unsafe extern "C" fn nothing(_: *mut c_void) {}

/// A team of one, and the parent of the tasks.
struct Family {
    tasks: Tasks,
    parent: Task,
}

impl Family {
    fn new() -> Self {
        Self {
            tasks: Tasks::new(1),
            parent: Task::implicit(settings().icv),
        }
    }

    /// Makes a child that reads `ins` and writes `outs`.
    fn make(&self, outs: &[usize], ins: &[usize]) -> NonNull<Task> {
        let order = Order {
            function: nothing,
            data: ptr::null_mut(),
            copy: None,
            size: 0,
            align: 1,
            bounds: None,
            deferred: true,
            is_final: false,
            priority: 0,
            depend: ptr::null_mut(),
            discard: None,
            event: ptr::null_mut(),
        };
        let home = self.tasks.home(0);
        let task = home.put(|| Task::explicit(&order, &self.parent, home));
        self.parent.counts.add_child();
        let head = [outs.len() + ins.len(), outs.len()];
        let mut array = [&head, outs, ins].concat();
        let depend = array.as_mut_ptr().cast();
        // SAFETY: the array is in the format of a compiler. The team has one key.
        self.tasks
            .linked(|key| unsafe { link(task.as_ref(), depend, key) });
        task
    }

    /// Ends a child, which makes the returned number of its siblings ready.
    fn end(&self, task: NonNull<Task>) -> usize {
        // SAFETY: the task lives until its own reference is given back, here and once. The team has one key.
        unsafe {
            let freed = self.tasks.linked(|key| release(task.as_ref(), key));
            self.parent.counts.end_child();
            let_go(task, Counts::end);
            freed.len()
        }
    }

    fn look<R>(&self, body: impl FnOnce(&Edges) -> R) -> R {
        // SAFETY: the team has one key.
        let edges = |key: &mut Key| unsafe { self.parent.links(key) }.edges.as_deref().map(body);
        self.tasks.linked(edges).expect("children with dependences")
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        self.tasks.forget_edges(&self.parent);
    }
}

#[test]
fn ended_readers_are_forgotten() {
    let family = Family::new();
    let writer = family.make(&[8], &[]);
    let waiting: Vec<_> = (0..100).map(|_| family.make(&[], &[8])).collect();
    assert_eq!(family.look(|edges| edges.addresses[&8].latest.len()), 100);
    assert_eq!(family.end(writer), 100);
    waiting.into_iter().for_each(|task| _ = family.end(task));
    for _ in 0..10_000 {
        let reader = family.make(&[], &[8]);
        family.end(reader);
    }
    let (latest, previous) = family.look(|edges| {
        let address = &edges.addresses[&8];
        (address.latest.len(), address.previous.len())
    });
    assert!(latest < 100, "{latest} readers are kept");
    assert_eq!(previous, 0);
    // A writer still waits for the readers that run.
    let readers = [0; 3].map(|_| family.make(&[], &[8]));
    let writer = family.make(&[8], &[]);
    assert_eq!(readers.map(|reader| family.end(reader)), [0, 0, 1]);
    assert_eq!(family.end(writer), 0);
}

#[test]
fn a_task_that_names_an_address_twice() {
    let family = Family::new();
    let first = family.make(&[8], &[]);
    let twice = family.make(&[8], &[16, 8]);
    let reader = family.make(&[], &[8]);
    assert_eq!(
        [first, twice, reader].map(|task| family.end(task)),
        [1, 1, 0]
    );
}

#[test]
fn a_sweep_of_addresses_follows_their_doubling() {
    let count = |family: &Family| family.look(|edges| edges.addresses.len());
    let family = Family::new();
    let mut live: Vec<_> = (1..=300).map(|at| family.make(&[8 * at], &[])).collect();
    assert_eq!(count(&family), 300);
    // The sweep at 257 addresses has found that all are in use. So the next one is far away.
    family.end(live.remove(0));
    live.push(family.make(&[1], &[]));
    assert_eq!(count(&family), 301);
    live.into_iter().for_each(|task| _ = family.end(task));
    for at in 1..=10_000 {
        let task = family.make(&[8 * at], &[]);
        family.end(task);
    }
    assert!(
        count(&family) < 600,
        "{} addresses are kept",
        count(&family)
    );
}
