//! Tasks. The program asks for the memory of a task, fills it in, and passes it back to be run.

use super::super::tasks::Division;
use super::{Place, export};
use crate::environment::settings;
use crate::system::report::fatal;
use crate::task::{self, Order};
use crate::tasking;
use crate::team::context::{Context, context};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::{c_int, c_void};
use std::ptr;

const FINAL: c_int = 1 << 1;
const DESTRUCTORS: c_int = 1 << 3;
const PRIORITY: c_int = 1 << 5;

/// The function of a task in the program. Its arguments are the number of the caller and the task.
type Entry = unsafe extern "C" fn(c_int, *mut Task) -> c_int;
/// Copies the first task of a loop to another task. Its arguments are the other task, the first task, and whether the
/// other task has the last iteration.
type Duplicate = Option<unsafe extern "C" fn(*mut Task, *mut Task, c_int)>;

/// The beginning of a task, as compiled programs know it. Its private variables follow, then its shared variables.
#[repr(C)]
struct Task {
    shareds: *mut c_void,
    entry: Entry,
    part: c_int,
    destructors: Option<Entry>,
    /// The priority is in the low half.
    priority: i64,
}

/// The library's data about a task, which lie before the task.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Head {
    /// The size in bytes of the task with all its variables, and the offset of the shared variables.
    bytes: usize,
    shareds: usize,
    flags: c_int,
    /// `begun` if the task has begun. `again` if its function is to be called again: the function of an untied task
    /// passes the task back at a scheduling point, and returns. Then it is called again at once.
    begun: bool,
    again: bool,
    /// The task's event, or null.
    event: *mut Event,
}

/// The event of a detached task. The handle that the program gets is the address of this with [`MARK`]. The event lives
/// until it is fulfilled.
struct Event(*const task::Task);

/// The lowest bit of a handle, which is set if the handle is that of an [`Event`].
const MARK: usize = 1;

/// Converts a handle to the form of libgomp. Frees the [`Event`], if the handle has one.
///
/// # Safety
///
/// The program got the handle, and passes it once.
pub(crate) unsafe fn handle(given: usize) -> *const task::Task {
    if given & MARK == 0 {
        return given as *const task::Task;
    }
    // SAFETY: `__kmpc_task_allow_completion_event` made the event, and the program passes its handle once.
    unsafe { Box::from_raw((given - MARK) as *mut Event) }.0
}

fn layout(bytes: usize) -> Layout {
    let all = size_of::<Head>().checked_add(bytes);
    let layout = all.and_then(|all| Layout::from_size_align(all, align_of::<Head>()).ok());
    layout.unwrap_or_else(|| fatal(format_args!("a task of {bytes} bytes; expected fewer")))
}

/// The function of a task without work, which exists only for its dependences.
unsafe extern "C" fn nothing(_number: c_int, _task: *mut Task) -> c_int {
    0
}

/// Allocates a task.
fn allocate(head: Head, entry: Entry) -> *mut Task {
    let layout = layout(head.bytes);
    // SAFETY: the layout has at least the size of a head.
    let memory = unsafe { alloc_zeroed(layout) };
    if memory.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: the allocation is aligned for a head, and has room for it and for `head.bytes`, which is at least the
    // size of a task.
    unsafe {
        memory.cast::<Head>().write(head);
        let task = memory.add(size_of::<Head>());
        task.cast::<Task>().write(Task {
            shareds: task.add(head.shareds).cast(),
            entry,
            part: 0,
            destructors: None,
            priority: 0,
        });
        task.cast()
    }
}

/// # Safety
///
/// [`allocate`] has made the task.
unsafe fn head(task: *mut Task) -> *mut Head {
    // SAFETY: as the caller promises.
    unsafe { task.cast::<u8>().sub(size_of::<Head>()).cast() }
}

/// Frees a task that was run.
///
/// # Safety
///
/// [`allocate`] has made the task, and no thread uses it any more.
unsafe fn finish(task: *mut Task) {
    // SAFETY: as the caller promises. The compiler made the destructors.
    unsafe {
        let head = head(task);
        if let Some(destructors) = (*task)
            .destructors
            .filter(|_| (*head).flags & DESTRUCTORS != 0)
        {
            destructors(context().id().cast_signed(), task);
        }
        dealloc(head.cast(), layout((*head).bytes));
    }
}

/// Runs a task and frees it.
unsafe extern "C" fn run(task: *mut c_void) {
    let task = task.cast::<Task>();
    // SAFETY: `order` has passed a task that `allocate` has made.
    unsafe {
        (*head(task)).begun = true;
        ((*task).entry)(context().id().cast_signed(), task);
        go_on(task);
        finish(task);
    }
}

/// Frees a task that is dropped before it begins.
///
/// # Safety
///
/// `task` is the data of a result of [`order`], and no thread runs the task.
unsafe fn discard(task: *mut c_void) {
    // SAFETY: `order` put the task there.
    unsafe { finish(task.cast()) };
}

/// Called after the function of the task has returned. Calls it again as often as it asks for that.
///
/// # Safety
///
/// [`allocate`] has made the task, and it has begun.
unsafe fn go_on(task: *mut Task) {
    // SAFETY: as the caller promises.
    unsafe {
        while std::mem::take(&mut (*head(task)).again) {
            ((*task).entry)(context().id().cast_signed(), task);
        }
    }
}

/// The [`Order`] for a task. `depend` is an array that [`Depend::array`] has made, or null.
///
/// # Safety
///
/// [`allocate`] has made the task.
unsafe fn order(task: *mut Task, deferred: bool, depend: *mut *mut c_void) -> Order {
    // SAFETY: as the caller promises.
    let (head, priority) = unsafe { (*head(task), (*task).priority as c_int) };
    let flags = head.flags;
    let is_urgent = flags & PRIORITY != 0;
    Order {
        function: run,
        data: task.cast(),
        copy: None,
        size: 0,
        align: 1,
        bounds: None,
        deferred,
        is_final: flags & FINAL != 0,
        priority: if is_urgent {
            priority.clamp(0, settings().max_task_priority)
        } else {
            0
        },
        depend,
        discard: Some(discard),
        event: head.event.cast(),
    }
}

/// The description of a dependence by a compiled program.
#[repr(C)]
#[derive(Clone, Copy)]
struct Depend {
    address: usize,
    _bytes: usize,
    flags: u8,
}

impl Depend {
    /// Converts dependences to the form of libgomp: their number in all and of each kind, and then the addresses by
    /// kind. For the last kind, the address is that of a pair of words in `objects`.
    fn array(all: &[Self], objects: &mut Vec<[usize; 2]>) -> Vec<*mut c_void> {
        const IN: u8 = 1;
        const MUTEX: u8 = 4;
        const SET: u8 = 8;
        // The word of an object that stands for `inoutset`.
        const SET_OBJECT: usize = 5;
        // `omp_all_memory`, which has no address.
        const ALL: u8 = 0x80;
        let is_out = |flags: u8| flags == 3 || flags == 2;
        let is_all =
            |it: &Self| it.flags & ALL != 0 || (it.address == usize::MAX && is_out(it.flags));
        // An address of 0 is no dependence for LLVM. In the form of libgomp it stands for all memory.
        let all: Vec<_> = all
            .iter()
            .filter(|it| is_all(it) || it.address != 0)
            .collect();
        let of = |kind: &dyn Fn(&Self) -> bool| {
            let found = all.iter().copied().filter(move |it| kind(it));
            let address = |it: &Self| if is_all(it) { 0 } else { it.address };
            found.map(address).collect::<Vec<_>>()
        };
        let kinds = [
            of(&|it| is_out(it.flags) || is_all(it)),
            of(&|it| it.flags == MUTEX),
            of(&|it| it.flags == IN),
        ];
        objects.extend(
            of(&|it| it.flags == SET)
                .iter()
                .map(|&address| [address, SET_OBJECT]),
        );
        let counts = [0, all.len(), kinds[0].len(), kinds[1].len(), kinds[2].len()];
        let objects = objects.iter().map(|object| object.as_ptr() as usize);
        let words = counts
            .into_iter()
            .chain(kinds.iter().flatten().copied())
            .chain(objects);
        words.map(|word| word as *mut c_void).collect()
    }

    /// Calls `body` with the dependences of two lists, in the form of libgomp.
    unsafe fn with<R>(
        lists: [(c_int, *const Self); 2],
        body: impl FnOnce(*mut *mut c_void) -> R,
    ) -> R {
        let list = |(count, first): (c_int, *const Self)| match usize::try_from(count) {
            Ok(count) if count > 0 && !first.is_null() => {
                // SAFETY: the compiler made the array.
                unsafe { std::slice::from_raw_parts(first, count) }
            }
            _ => &[],
        };
        let all = [list(lists[0]), list(lists[1])].concat();
        if all.is_empty() {
            return body(ptr::null_mut());
        }
        let mut objects = vec![];
        body(Self::array(&all, &mut objects).as_mut_ptr())
    }
}

/// A loop that divides its iterations among tasks. Each task is a copy of the `first`.
struct Loop {
    first: *mut Task,
    lower: *mut u64,
    upper: *mut u64,
    step: i64,
    deferred: bool,
    duplicate: Duplicate,
}

impl Loop {
    /// # Safety
    ///
    /// A compiled program made the loop.
    unsafe fn run(&self, context: &Context, divide: impl Fn(u64) -> Division) {
        let Self {
            first,
            lower,
            upper,
            step,
            ..
        } = *self;
        // SAFETY: the caller promises that the bounds are in the first task.
        let (from, to, head) = unsafe { (*lower as i64, *upper as i64, *head(first)) };
        let span = i128::from(to) - i128::from(from);
        let trips = match i128::from(step) {
            step if step > 0 && span >= 0 => span / step + 1,
            step if step < 0 && span <= 0 => span / step + 1,
            _ => 0,
        };
        let trips = u64::try_from(trips).unwrap_or(u64::MAX);
        let parts = match trips {
            0 => Division {
                tasks: 0,
                each: 0,
                more: 0,
            },
            _ => divide(trips),
        };
        let value = |trip: u64| (from as u64).wrapping_add(trip.wrapping_mul(step as u64));
        let mut begin = 0;
        for number in 0..parts.tasks {
            let end = trips.min(begin + parts.each + u64::from(number < parts.more));
            let is_last = number + 1 == parts.tasks;
            // SAFETY: a copy has the same size, and its bounds are at the same offsets.
            unsafe {
                let task = allocate(head, (*first).entry);
                let shareds = (*task).shareds;
                ptr::copy_nonoverlapping(first.cast::<u8>(), task.cast(), head.bytes);
                (*task).shareds = shareds;
                let at = |bound: *mut u64| {
                    task.byte_offset(bound.byte_offset_from(first))
                        .cast::<u64>()
                };
                at(lower).write(value(begin));
                at(upper).write(value(end - 1));
                if let Some(duplicate) = self.duplicate {
                    duplicate(task, first, c_int::from(is_last));
                }
                tasking::make(context, &order(task, self.deferred, ptr::null_mut()));
            }
            begin = end;
        }
        // SAFETY: the first task was only copied, and is not run.
        unsafe { finish(first) };
    }
}

export! {
    fn __kmpc_omp_task_alloc(
        _place: Place, _number: c_int, flags: c_int, bytes: usize, shared: usize, entry: Option<Entry>,
    ) -> *mut Task {
        let shareds = bytes.max(size_of::<Task>()).next_multiple_of(16);
        let head = Head {
            bytes: shareds.saturating_add(shared),
            shareds,
            flags,
            begun: false,
            again: false,
            event: ptr::null_mut(),
        };
        allocate(head, entry.unwrap_or(nothing))
    }

    fn __kmpc_omp_target_task_alloc(
        place: Place, number: c_int, flags: c_int, bytes: usize, shared: usize, entry: Option<Entry>,
        _device: i64,
    ) -> *mut Task {
        __kmpc_omp_task_alloc(place, number, flags, bytes, shared, entry)
    }

    fn __kmpc_task_allow_completion_event(
        _place: Place, _number: c_int, task: *mut Task,
    ) -> usize {
        let event = Box::into_raw(Box::new(Event(ptr::null())));
        // SAFETY: `__kmpc_omp_task_alloc` made the task.
        unsafe { (*head(task)).event = event };
        event as usize | MARK
    }

    fn __kmpc_omp_task(_place: Place, _number: c_int, task: *mut Task) -> c_int {
        // SAFETY: `__kmpc_omp_task_alloc` made the task.
        unsafe {
            if (*head(task)).begun {
                (*head(task)).again = true;
            } else {
                tasking::make(context(), &order(task, true, ptr::null_mut()));
            }
        }
        0
    }

    fn __kmpc_omp_task_parts(place: Place, number: c_int, task: *mut Task) -> c_int {
        __kmpc_omp_task(place, number, task)
    }

    // This library does not use the hint where the data of a task is.
    fn __kmpc_omp_reg_task_with_affinity(
        _place: Place, _number: c_int, _task: *mut Task, _count: c_int, _list: *const c_void,
    ) -> c_int {
        0
    }

    fn __kmpc_omp_task_with_deps(
        _place: Place, _number: c_int, task: *mut Task, count: c_int, list: *const Depend,
        more: c_int, others: *const Depend,
    ) -> c_int {
        // SAFETY: the compiler made the arrays, and `__kmpc_omp_task_alloc` made the task.
        unsafe {
            Depend::with([(count, list), (more, others)], |depend| {
                tasking::make(context(), &order(task, true, depend));
            });
        }
        0
    }

    fn __kmpc_omp_wait_deps(
        _place: Place, _number: c_int, count: c_int, list: *const Depend, more: c_int,
        others: *const Depend,
    ) {
        // SAFETY: the compiler made the arrays.
        unsafe {
            Depend::with([(count, list), (more, others)], |depend| {
                if !depend.is_null() {
                    tasking::wait_for_dependences(context(), depend);
                }
            });
        }
    }

    fn __kmpc_omp_taskwait_deps_51(
        place: Place, number: c_int, count: c_int, list: *const Depend, more: c_int,
        others: *const Depend, _nowait: c_int,
    ) {
        __kmpc_omp_wait_deps(place, number, count, list, more, others);
    }

    // The program calls the task's function between its calls of this function and of the next one.
    fn __kmpc_omp_task_begin_if0(_place: Place, _number: c_int, task: *mut Task) {
        // SAFETY: `__kmpc_omp_task_alloc` made the task.
        unsafe {
            (*head(task)).begun = true;
            tasking::begin_here(context(), &order(task, false, ptr::null_mut()));
        }
    }

    fn __kmpc_omp_task_complete_if0(_place: Place, _number: c_int, task: *mut Task) {
        // SAFETY: the function above has begun the task.
        unsafe {
            go_on(task);
            tasking::end_here(context());
            finish(task);
        }
    }

    fn __kmpc_omp_taskwait(_place: Place, _number: c_int) -> c_int {
        tasking::wait(context());
        0
    }

    fn __kmpc_omp_taskyield(_place: Place, _number: c_int, _end: c_int) -> c_int {
        0
    }

    fn __kmpc_taskgroup(_place: Place, _number: c_int) {
        tasking::begin_group(context(), false);
    }

    fn __kmpc_end_taskgroup(_place: Place, _number: c_int) {
        super::reductions::end_group(context());
    }

    fn __kmpc_taskloop(
        place: Place, number: c_int, first: *mut Task, deferred: c_int, lower: *mut u64,
        upper: *mut u64, step: i64, nogroup: c_int, kind: c_int, size: u64, duplicate: Duplicate,
    ) {
        __kmpc_taskloop_5(
            place, number, first, deferred, lower, upper, step, nogroup, kind, size, 0, duplicate,
        );
    }

    fn __kmpc_taskloop_5(
        _place: Place, _number: c_int, first: *mut Task, deferred: c_int, lower: *mut u64,
        upper: *mut u64, step: i64, nogroup: c_int, kind: c_int, size: u64, strict: c_int,
        duplicate: Duplicate,
    ) {
        let context = context();
        if nogroup == 0 {
            tasking::begin_group(context, false);
        }
        let it = Loop { first, lower, upper, step, deferred: deferred != 0, duplicate };
        let members = u64::from(context.team().size);
        // For kind 1, `size` is the number of iterations of a task. For kind 2, it is the number of tasks. For kind 0,
        // this library chooses.
        let divide = |trips| {
            let size = if kind == 0 { 0 } else { size };
            super::super::tasks::divide_loop(kind == 1, strict != 0, size, members, trips)
        };
        // SAFETY: a compiled program made the loop.
        unsafe { it.run(context, divide) };
        if nogroup == 0 {
            tasking::end_group(context);
        }
    }
}
