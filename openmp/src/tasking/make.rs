//! Making tasks.

use super::run::is_discarded;
use super::wait::wait_for_dependences;
use crate::task::memory::{Block, Home};
use crate::task::{Counts, FULFILLED, Order, Task, depend, let_go};
use crate::team::context::Context;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

/// The task that `order` describes, a child of the current task, which is to count it.
#[inline(always)]
fn task(order: &Order, context: &Context, home: &Home) -> NonNull<Task> {
    home.put(|| Task::explicit(order, context.task(), home))
}

/// Hands out the task as the handle of its event, which keeps the team. The task does not end
/// before.
///
/// # Safety
///
/// A compiled program made the order, which has an event. No other thread knows the task yet.
unsafe fn hand_out(context: &Context, order: &Order, task: NonNull<Task>) {
    let (handle, team) = (task.as_ptr(), ptr::from_ref(context.team()));
    // SAFETY: teams are in an `Arc`; the compiler's pointer; data that is to be copied begins with a
    // copy of the handle.
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
/// The order is as compiled programs make it.
pub(crate) unsafe fn make(context: &Context, order: &Order) {
    let (team, current) = (context.team(), context.task());
    if is_discarded(team, current) {
        if let Some(discard) = order.discard {
            // SAFETY: the order has the function for its data, which no other task has.
            unsafe { discard(order.data) };
        }
        return;
    }
    let (tasks, member) = (&team.tasks, context.id());
    let detached = !order.event.is_null();
    let crowded = || tasks.is_crowded(member, !order.depend.is_null());
    // This thread may not run here a task that depends on a detached one: that one's event may be
    // fulfilled by a task that this one makes later.
    let free = || {
        // SAFETY: the compiler's array; the current task is in this team, which owns the key.
        let awaited = |key: &mut _| unsafe { depend::awaited(current, order.depend, key) };
        order.depend.is_null() || tasks.linked(awaited).is_empty()
    };
    let at_once = || !detached && (team.size == 1 || current.is_final || crowded()) && free();
    if !order.deferred || at_once() {
        // SAFETY: by the caller's word.
        unsafe { run_at_once(context, order) };
        return;
    }
    let task = task(order, context, tasks.home(member));
    if detached {
        // SAFETY: by the caller's word; the task is just made.
        unsafe { hand_out(context, order, task) };
    }
    // SAFETY: the data is as the order says, and no other thread knows the task yet.
    unsafe { Block::copy_arguments(task, order) };
    // Counted before any thread can end it.
    current.counts.add_child();
    // SAFETY: the group lives while the current task is in it.
    if let Some(group) = unsafe { current.group.get().as_ref() } {
        group.enter();
    }
    tasks.count_made(member);
    // SAFETY: just made.
    let this = unsafe { task.as_ref() };
    // SAFETY: the compiler's array; the task is in this team, which owns the key.
    let link = |key: &mut _| unsafe { depend::link(this, order.depend, key) };
    let ready = order.depend.is_null() || tasks.linked(link);
    if ready {
        tasks.push(Some(member), task);
        team.ring_for_tasks();
    }
}

/// A task that its thread runs here and now.
unsafe fn run_at_once(context: &Context, order: &Order) {
    // SAFETY: by the caller's word.
    unsafe { begin_here(context, order) };
    let this = context.task();
    let mut data = order.data;
    if order.copy.is_some() {
        // SAFETY: the data is as the order says; only this thread runs the task.
        unsafe { Block::copy_arguments(NonNull::from(this), order) };
        data = this.arguments.pointer();
    }
    // SAFETY: compiled code with the arguments made for it.
    unsafe { (order.function)(data) };
    if this.detached {
        let fulfilled = || this.event.load(SeqCst) & FULFILLED != 0;
        context.team().bell.wait_until(&context.carried, &fulfilled);
    }
    // SAFETY: begun here.
    unsafe { end_here(context) };
}

/// Begins a task whose work the calling thread does itself, until [`end_here`].
///
/// # Safety
///
/// The order is as compiled programs make it.
pub(crate) unsafe fn begin_here(context: &Context, order: &Order) {
    let tasks = &context.team().tasks;
    if !order.depend.is_null() {
        // SAFETY: the compiler's array.
        unsafe { wait_for_dependences(context, order.depend) };
    }
    let task = task(order, context, tasks.home(context.id()));
    // SAFETY: it keeps its own reference until it ends.
    let this = unsafe { task.as_ref() };
    if this.detached {
        // SAFETY: by the caller's word; the task is just made.
        unsafe { hand_out(context, order, task) };
    }
    this.mark.set(tasks.end_of(context.id()));
    context.seat.task.set(task.as_ptr());
}

/// The task that [`begin_here`] has begun is over.
///
/// # Safety
///
/// It is the current one.
pub(crate) unsafe fn end_here(context: &Context) {
    let this = context.task();
    let Some(parent) = this.parent() else { return };
    context.seat.task.set(parent);
    let tasks = &context.team().tasks;
    tasks.forget_edges(this);
    let task = NonNull::from(this);
    if this.counts.is_alone() {
        // SAFETY: no other thread has it.
        unsafe { tasks.home(context.id()).take_back(task) };
    } else {
        // Its children outlive it, and its memory keeps its parent's.
        parent.counts.keep();
        // SAFETY: its own, once.
        unsafe { let_go(task, Counts::end) };
    }
}
