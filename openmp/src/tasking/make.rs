//! Makes tasks.

use super::run::is_discarded;
use super::wait::wait_for_dependences;
use crate::task::memory::{Block, Home};
use crate::task::{Counts, FULFILLED, Order, Task, depend, let_go};
use crate::team::context::Context;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

/// A member that is alone runs tasks with this number of ancestors at once, and queues their children.
const DEEPEST: u32 = 256;

/// Makes the task that `order` describes, as a child of the current task. The caller adds the child to the counts of
/// the current task.
#[inline(always)]
fn task(order: &Order, context: &Context, home: &Home) -> NonNull<Task> {
    let current = context.task();
    context.team().tasks.forget_ancestors(context.id(), current);
    home.put(|| Task::explicit(order, current, home))
}

/// Gives the program the address of the task, as the handle of the task's event. The event has a reference to the team.
/// The task cannot end before its event is fulfilled.
///
/// # Safety
///
/// A compiled program made the order, which has an event. No other thread knows the task yet.
unsafe fn hand_out(context: &Context, order: &Order, task: NonNull<Task>) {
    let (handle, team) = (task.as_ptr(), ptr::from_ref(context.team()));
    // SAFETY: each team is in an `Arc`. The pointer `event` comes from the compiler and is valid. Data that is copied
    // begins with a copy of the handle.
    unsafe {
        Arc::increment_strong_count(team);
        (*handle).team = team.cast();
        order.event.write(handle);
        if order.size > 0 {
            order.data.cast::<*const Task>().write(handle);
        }
    }
}

/// Makes a task, and runs it if it is not to be deferred.
///
/// # Safety
///
/// A compiled program made the order.
pub(crate) unsafe fn make(context: &Context, order: &Order) {
    let (team, current) = (context.team(), context.task());
    if is_discarded(team, current) {
        if let Some(discard) = order.discard {
            // SAFETY: the order has this function for its data, and no other task has that data.
            unsafe { discard(order.data) };
        }
        if !order.event.is_null() {
            // SAFETY: the compiler's pointer is valid. `omp_fulfill_event` does nothing with null.
            unsafe { order.event.write(ptr::null_mut()) };
        }
        return;
    }
    let (tasks, member) = (&team.tasks, context.id());
    let detached = !order.event.is_null();
    let crowded = || tasks.is_crowded(member, !order.depend.is_null());
    // If the new task has to wait, this thread must not run it here. The new task may wait for a detached task. Perhaps
    // only a later child of the current task fulfils the event of that detached task.
    let free = || {
        // SAFETY: the compiler made the array. The current task and the key belong to this team.
        let awaited = |key: &mut _| unsafe { depend::awaited(current, order.depend, key) };
        order.depend.is_null() || tasks.linked(awaited).is_empty()
    };
    // In a region of one member a task waits in the queue if its ancestors could fill the stack. Outside of regions no
    // barrier would run it.
    let alone = || team.size == 1 && (current.depth.get() < DEEPEST || team.region().level == 0);
    let at_once = || !detached && (alone() || current.is_final || crowded()) && free();
    if !order.deferred || at_once() {
        // SAFETY: as the caller promises.
        unsafe { run_at_once(context, order) };
        return;
    }
    let task = task(order, context, tasks.home(member));
    if detached {
        // SAFETY: as the caller promises. The task was just made.
        unsafe { hand_out(context, order, task) };
    }
    // SAFETY: the data is as the order describes it, and no other thread knows the task yet.
    unsafe { Block::copy_arguments(task, order) };
    // The task is counted before any thread can end it.
    current.counts.add_child();
    // SAFETY: the group lives while the current task is in it.
    if let Some(group) = unsafe { current.group.get().as_ref() } {
        group.enter();
    }
    tasks.count_made(member);
    // SAFETY: the task was just made.
    let this = unsafe { task.as_ref() };
    // SAFETY: the compiler made the array. The task and the key belong to this team.
    let link = |key: &mut _| unsafe { depend::link(this, order.depend, key) };
    let ready = order.depend.is_null() || tasks.linked(link);
    if ready {
        tasks.push(Some(member), task);
        team.ring_for_tasks();
    }
}

/// Makes a task and runs it at once on this thread.
unsafe fn run_at_once(context: &Context, order: &Order) {
    // SAFETY: as the caller promises.
    unsafe { begin_here(context, order) };
    let this = context.task();
    let mut data = order.data;
    if order.copy.is_some() {
        // SAFETY: the data is as the order describes it, and only this thread has the task.
        unsafe { Block::copy_arguments(NonNull::from(this), order) };
        data = this.arguments.pointer();
    }
    // SAFETY: the program made the data for this function.
    unsafe { (order.function)(data) };
    // SAFETY: the task was begun above and is the current task.
    unsafe { end_here(context) };
}

/// Begins a task that the calling thread runs itself, until [`end_here`].
///
/// # Safety
///
/// A compiled program made the order.
pub(crate) unsafe fn begin_here(context: &Context, order: &Order) {
    let tasks = &context.team().tasks;
    if !order.depend.is_null() {
        // SAFETY: the compiler made the array.
        unsafe { wait_for_dependences(context, order.depend) };
    }
    let task = task(order, context, tasks.home(context.id()));
    // SAFETY: the task keeps its own reference until it ends.
    let this = unsafe { task.as_ref() };
    if this.detached {
        // SAFETY: as the caller promises. The task was just made.
        unsafe { hand_out(context, order, task) };
    }
    this.mark.set(tasks.end_of(context.id()));
    context.seat.task.set(task.as_ptr());
}

/// Ends the task that [`begin_here`] has begun. If the task is detached, first waits until its event is fulfilled.
///
/// # Safety
///
/// The task that [`begin_here`] has begun is the current task.
pub(crate) unsafe fn end_here(context: &Context) {
    let this = context.task();
    let Some(parent) = this.parent() else { return };
    if this.detached {
        let fulfilled = || this.event.load(SeqCst) & FULFILLED != 0;
        context.team().bell.wait_until(&context.carried, &fulfilled);
    }
    context.seat.task.set(parent);
    let tasks = &context.team().tasks;
    tasks.forget_edges(this);
    let task = NonNull::from(this);
    if this.counts.is_alone() {
        // SAFETY: no other thread has the task.
        unsafe { tasks.home(context.id()).take_back(task) };
    } else {
        // The memory of the task remains, for its children, and keeps the memory of its parent.
        parent.counts.keep();
        // SAFETY: the task gives back its own reference to its memory, once.
        unsafe { let_go(task, Counts::end) };
    }
}
