//! Tasks, loops of tasks, groups and reductions.

use super::export;
use crate::environment::settings;
use crate::task::{Order, Outlined, Task};
use crate::tasking::{self, meet};
use crate::team::context::{Context, context};
use crate::team::share::Space;
use std::ffi::{c_int, c_long, c_uint, c_ulong, c_void};
use std::ptr;
use std::sync::atomic::Ordering::SeqCst;

/// A copy constructor for the arguments of a task.
type Copy = Option<unsafe extern "C" fn(*mut c_void, *const c_void)>;

const FINAL: c_uint = 1 << 1;
const DEPEND: c_uint = 1 << 3;
const PRIORITY: c_uint = 1 << 4;
const UP: c_uint = 1 << 8;
const GRAINSIZE: c_uint = 1 << 9;
const IF: c_uint = 1 << 10;
const NOGROUP: c_uint = 1 << 11;
const REDUCTION: c_uint = 1 << 12;
const DETACH: c_uint = 1 << 13;
const STRICT: c_uint = 1 << 14;

/// The wanted priority, limited to what the user allows.
fn priority(flags: c_uint, wanted: c_int) -> i32 {
    if flags & PRIORITY == 0 {
        return 0;
    }
    wanted.clamp(0, settings().max_task_priority)
}

export! {
    fn GOMP_task(
        function: Outlined, data: *mut c_void, copy: Copy, size: c_long, align: c_long,
        deferred: bool, flags: c_uint, depend: *mut *mut c_void, wanted: c_int,
        event: *mut *const Task,
    ) {
        let order = Order {
            function,
            data,
            copy,
            size: size as usize,
            align: align as usize,
            bounds: None,
            deferred,
            is_final: flags & FINAL != 0,
            priority: priority(flags, wanted),
            depend: if flags & DEPEND == 0 { ptr::null_mut() } else { depend },
            discard: None,
            event: if flags & DETACH == 0 { ptr::null_mut() } else { event },
        };
        // SAFETY: the compiler made the arguments. Arguments that older compilers do not pass are read only if the
        // flags announce them.
        unsafe { tasking::make(context(), &order) };
    }

    fn GOMP_taskwait() {
        tasking::wait(context());
    }

    fn GOMP_taskwait_depend(depend: *mut *mut c_void) {
        // SAFETY: the compiler made the array.
        unsafe { tasking::wait_for_dependences(context(), depend) };
    }

    fn GOMP_taskyield() {}

    fn GOMP_taskgroup_start() {
        tasking::begin_group(context(), false);
    }

    fn GOMP_taskgroup_end() {
        tasking::end_group(context());
    }

    fn GOMP_taskgroup_reduction_register(data: *mut usize) {
        // SAFETY: the compiler made the description.
        unsafe { crate::tasking::reduction::register_group(context(), data, ptr::null()) };
    }

    fn GOMP_taskgroup_reduction_unregister(data: *mut usize) {
        // SAFETY: the program has registered the description.
        unsafe { crate::tasking::reduction::unregister(data) };
    }

    fn GOMP_task_reduction_remap(count: usize, originals: usize, pointers: *mut usize) {
        // SAFETY: the compiler made the array.
        unsafe { crate::tasking::reduction::remap(context(), count, originals, pointers) };
    }

    fn GOMP_workshare_task_reduction_unregister(cancelled: bool) {
        let context = context();
        let group = context.task().current_group();
        let data = group.map(|group| group.reductions.load(SeqCst));
        tasking::end_group(context);
        if let Some(data) = data.filter(|_| context.id() == 0) {
            // The program calls this after a barrier, so all members have left the share.
            // SAFETY: the first member has registered the description.
            unsafe { crate::tasking::reduction::unregister(data) };
        }
        if !cancelled {
            meet(context, false);
        }
    }

    fn omp_fulfill_event(event: usize) {
        #[cfg(not(target_arch = "x86_64"))]
        let event = event as *const Task;
        // SAFETY: the program got the handle, and passes it once.
        #[cfg(target_arch = "x86_64")]
        let event = unsafe { super::kmp::handle(event) };
        // A task that was dropped as it was made has no event.
        if !event.is_null() {
            // SAFETY: the handle is as `GOMP_task` returns it, and is passed once.
            unsafe { tasking::fulfil(event) };
        }
    }

    fn GOMP_taskloop(
        function: Outlined, data: *mut c_void, copy: Copy, size: c_long, align: c_long,
        flags: c_uint, count: c_ulong, wanted: c_int, start: c_long, end: c_long, step: c_long,
    ) {
        let space = Space::signed(start, end, step);
        let it = Taskloop { function, data, copy, size, align, flags, count, wanted, space };
        it.run(context());
    }

    fn GOMP_taskloop_ull(
        function: Outlined, data: *mut c_void, copy: Copy, size: c_long, align: c_long,
        flags: c_uint, count: c_ulong, wanted: c_int, start: u64, end: u64, step: u64,
    ) {
        let space = Space::unsigned(flags & UP != 0, start, end, step);
        let it = Taskloop { function, data, copy, size, align, flags, count, wanted, space };
        it.run(context());
    }
}

/// A loop that divides its iterations among tasks (`taskloop`).
struct Taskloop {
    function: Outlined,
    data: *mut c_void,
    copy: Copy,
    size: c_long,
    align: c_long,
    flags: c_uint,
    /// The number of tasks or, with [`GRAINSIZE`], the number of iterations of a task.
    count: c_ulong,
    wanted: c_int,
    space: Space,
}

/// The number of tasks of a loop, and how many iterations they have. The first `more` tasks have `each + 1` iterations
/// and the others have `each`, except the last task, which has the rest.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Division {
    pub(super) tasks: u64,
    pub(super) each: u64,
    pub(super) more: u64,
}

/// Divides a loop of `trips` iterations among tasks. `count` is the number of iterations of a task if `is_grainsize`,
/// and otherwise the number of tasks.
#[cfg(target_arch = "x86_64")]
pub(super) fn divide_loop(
    is_grainsize: bool,
    is_strict: bool,
    count: u64,
    members: u64,
    trips: u64,
) -> Division {
    let flag = |is: bool, flag| if is { flag } else { 0 };
    let flags = flag(is_grainsize, GRAINSIZE) | flag(is_strict, STRICT);
    divide(flags, count, members, trips)
}

fn divide(flags: c_uint, count: u64, members: u64, trips: u64) -> Division {
    let tasks = if flags & GRAINSIZE == 0 {
        if count == 0 { members } else { count }
    } else if flags & STRICT != 0 {
        let each = count.max(1);
        let tasks = trips.div_ceil(each);
        return Division {
            tasks,
            each,
            more: 0,
        };
    } else {
        trips / count.max(1)
    };
    let tasks = tasks.clamp(1, trips);
    Division {
        tasks,
        each: trips / tasks,
        more: trips % tasks,
    }
}

impl Taskloop {
    fn run(&self, context: &Context) {
        let grouped = self.flags & NOGROUP == 0;
        if grouped {
            tasking::begin_group(context, false);
            if self.flags & REDUCTION != 0 {
                // This is done even for a loop without iterations: the program combines the parts after the loop.
                // SAFETY: the description from the compiler is in the data, behind the bounds.
                unsafe {
                    let data = *self.data.cast::<*mut usize>().add(2);
                    crate::tasking::reduction::register_group(context, data, ptr::null());
                }
            }
        }
        if self.space.trips > 0 {
            // SAFETY: there are iterations, and the compiler made the loop.
            unsafe { self.make_tasks(context) };
        }
        if grouped {
            tasking::end_group(context);
        }
    }

    /// # Safety
    ///
    /// The loop has iterations, and a compiled program made it.
    unsafe fn make_tasks(&self, context: &Context) {
        let trips = self.space.trips;
        let members = u64::from(context.team().size);
        let Division { tasks, each, more } = divide(self.flags, self.count, members, trips);
        let bounds = self.data.cast::<u64>();
        let mut from = 0_u64;
        for number in 0..tasks {
            // The sum saturates, since a strict grain size may be near the largest number.
            let grain = each.saturating_add(u64::from(number < more));
            let to = trips.min(from.saturating_add(grain));
            let (start, end) = self.space.values(from, to);
            // SAFETY: the data begins with the bounds, and a task that is not copied reads them there.
            unsafe {
                bounds.write(start);
                bounds.add(1).write(end);
                tasking::make(
                    context,
                    &Order {
                        function: self.function,
                        data: self.data,
                        copy: self.copy,
                        size: self.size as usize,
                        align: self.align as usize,
                        bounds: Some([start, end]),
                        deferred: self.flags & IF != 0,
                        is_final: self.flags & FINAL != 0,
                        priority: priority(self.flags, self.wanted),
                        depend: ptr::null_mut(),
                        discard: None,
                        event: ptr::null_mut(),
                    },
                );
            }
            from = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_a_loop() {
        let division = |tasks, each, more| Division { tasks, each, more };
        assert_eq!(divide(0, 0, 4, 10), division(4, 2, 2));
        assert_eq!(divide(0, 20, 4, 10), division(10, 1, 0));
        assert_eq!(divide(GRAINSIZE, 4, 2, 10), division(2, 5, 0));
        assert_eq!(divide(GRAINSIZE, 40, 2, 10), division(1, 10, 0));
        assert_eq!(divide(GRAINSIZE | STRICT, 4, 2, 10), division(3, 4, 0));
    }
}
