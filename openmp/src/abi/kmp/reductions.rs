//! Reductions over tasks. Each member has a part for each variable. At the end of the group, all parts are combined
//! with the variable.
//!
//! The parts are described in the form of libgomp ([`reduction`](crate::tasking::reduction)). In that form one word is
//! for an allocator. Here this word is the address of an [`Owner`].

use super::super::loops::{Extras, begin_with};
use super::{Place, export};
use crate::tasking::{end_group as end_tasks, meet, reduction};
use crate::team::context::{Context, context};
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::atomic::Ordering::SeqCst;

/// The description of a variable by a compiled program.
#[repr(C)]
#[derive(Clone, Copy)]
struct Variable {
    /// The address that tasks pass to get their part, and the place of the result. In a reduction of a region or a
    /// loop, this is a private copy of the member.
    shared: usize,
    /// The address of the variable. `begin` may use its value. If members have private copies, the program later
    /// combines the copies with this variable.
    original: *mut c_void,
    bytes: usize,
    begin: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    end: Option<unsafe extern "C" fn(*mut c_void)>,
    combine: unsafe extern "C" fn(*mut c_void, *mut c_void),
    _flags: u32,
}

/// The description that clang made up to version 10. There `begin` does not take the original variable.
#[repr(C)]
#[derive(Clone, Copy)]
struct OldVariable {
    shared: usize,
    bytes: usize,
    begin: Option<unsafe extern "C" fn(*mut c_void)>,
    end: Option<unsafe extern "C" fn(*mut c_void)>,
    combine: unsafe extern "C" fn(*mut c_void, *mut c_void),
    _flags: u32,
}

#[derive(Clone, Copy)]
enum Begin {
    From(unsafe extern "C" fn(*mut c_void, *mut c_void)),
    Alone(unsafe extern "C" fn(*mut c_void)),
}

/// The functions and the size of a reduced variable.
#[derive(Clone, Copy)]
struct Reduced {
    shared: usize,
    original: *mut c_void,
    bytes: usize,
    begin: Option<Begin>,
    end: Option<unsafe extern "C" fn(*mut c_void)>,
    combine: unsafe extern "C" fn(*mut c_void, *mut c_void),
}

impl From<Variable> for Reduced {
    fn from(it: Variable) -> Self {
        Self {
            shared: it.shared,
            original: it.original,
            bytes: it.bytes,
            begin: it.begin.map(Begin::From),
            end: it.end,
            combine: it.combine,
        }
    }
}

impl From<OldVariable> for Reduced {
    fn from(it: OldVariable) -> Self {
        Self {
            shared: it.shared,
            original: it.shared as *mut c_void,
            bytes: it.bytes,
            begin: it.begin.map(Begin::Alone),
            end: it.end,
            combine: it.combine,
        }
    }
}

/// The words of a description in the form of libgomp.
const COUNT: usize = 0;
const BYTES: usize = 1;
const BEGIN: usize = 2;
const OWNER: usize = 3;
const FIRST: usize = 7;
/// Alignments in bytes: of parts, which lie on separate cache lines, and (`ALIGN`) of variables, which may have any
/// type.
const LINE: usize = 64;
const ALIGN: usize = 16;

/// A description in the form of libgomp, and its variables.
struct Owner {
    words: Vec<usize>,
    variables: Vec<Reduced>,
}

/// Describes `count` variables. [`forget`] frees the description.
///
/// # Safety
///
/// A compiled program made the array.
unsafe fn describe<T: Copy + Into<Reduced>>(count: c_int, first: *const T) -> *mut usize {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: as the caller promises.
    let variables = unsafe { std::slice::from_raw_parts(first, count) };
    let variables: Vec<Reduced> = variables.iter().map(|&it| it.into()).collect();
    let mut words = vec![0; FIRST + 3 * count];
    let mut bytes = 0_usize;
    for (at, variable) in variables.iter().enumerate() {
        (words[FIRST + 3 * at], words[FIRST + 3 * at + 1]) = (variable.shared, bytes);
        bytes += variable.bytes.next_multiple_of(ALIGN);
    }
    (words[COUNT], words[BYTES], words[BEGIN]) =
        (count, bytes.next_multiple_of(LINE).max(LINE), LINE);
    let owner = Box::leak(Box::new(Owner { words, variables }));
    owner.words[OWNER] = ptr::from_ref(owner) as usize;
    owner.words.as_mut_ptr()
}

/// # Safety
///
/// `words` is a result of [`describe`].
unsafe fn owner<'a>(words: *const usize) -> &'a Owner {
    // SAFETY: as the caller promises.
    unsafe { &*(*words.add(OWNER) as *const Owner) }
}

/// Calls `body` for each variable and each of the `members`, with the variable and the member's part for it.
///
/// # Safety
///
/// `words` is a result of [`describe`], and is registered.
unsafe fn each_part(
    words: *const usize,
    members: Range<u32>,
    body: impl Fn(&Reduced, *mut c_void),
) {
    // SAFETY: as the caller promises.
    let (owner, begin) = unsafe { (owner(words), *words.add(BEGIN)) };
    for member in members {
        for (at, variable) in owner.variables.iter().enumerate() {
            let part =
                begin + member as usize * owner.words[BYTES] + owner.words[FIRST + 3 * at + 1];
            body(variable, part as *mut c_void);
        }
    }
}

/// Initialises the zeroed parts of some members.
unsafe fn begin(words: *const usize, members: Range<u32>) {
    // SAFETY: the caller has registered the description, and the compiler made the functions.
    unsafe {
        each_part(words, members, |variable, part| match variable.begin {
            Some(Begin::From(begin)) => begin(part, variable.original),
            Some(Begin::Alone(begin)) => begin(part),
            None => {}
        });
    }
}

/// Combines all parts with the variables of the calling member, and frees the parts.
unsafe fn combine(context: &Context, words: *mut usize) {
    // SAFETY: all tasks that used the parts have ended.
    unsafe {
        each_part(words, 0..context.team().size, |variable, part| {
            (variable.combine)(variable.shared as *mut c_void, part);
            if let Some(end) = variable.end {
                end(part);
            }
        });
        reduction::unregister(words);
    }
}

/// Frees a description.
unsafe fn forget(words: *mut usize) {
    // SAFETY: the caller promises that `describe` made the description and that it is not used any more.
    unsafe { drop(Box::from_raw(ptr::from_ref(owner(words)).cast_mut())) };
}

/// Ends a group, which may have reductions.
pub(super) fn end_group(context: &Context) {
    let group = context.task().current_group();
    let words = group.map_or(ptr::null_mut(), |group| group.reductions.load(SeqCst));
    end_tasks(context);
    if !words.is_null() {
        // SAFETY: `__kmpc_taskred_init` has registered the description, at most once for a group.
        unsafe {
            combine(context, words);
            forget(words);
        }
    }
}

/// `task_reduction` of a group: the tasks of the current group reduce these variables.
///
/// # Safety
///
/// A compiled program made the array.
unsafe fn reduce_in_group<T: Copy + Into<Reduced>>(count: c_int, first: *const T) -> *mut c_void {
    let context = context();
    // SAFETY: as the caller promises.
    unsafe {
        let words = describe(count, first);
        reduction::register_group(context, words, ptr::null());
        begin(words, 0..context.team().size);
        words.cast()
    }
}

/// Makes the tasks of a region or of a loop reduce these variables. Each member calls this.
///
/// # Safety
///
/// The caller promises what [`reduce_in_group`] requires.
unsafe fn reduce_in_share<T: Copy + Into<Reduced>>(count: c_int, first: *const T) -> *mut c_void {
    let context = context();
    super::leave_open(context);
    // SAFETY: as the caller promises.
    let words = unsafe { describe(count, first) };
    let extras = Extras {
        reductions: words,
        memory: ptr::null_mut(),
    };
    // The first member registers the parts of all members.
    begin_with(context, &extras, |_| ());
    context.leave();
    // Only tasks that the member runs use its part, and the member runs these tasks after this. SAFETY: the description
    // is registered.
    unsafe { begin(words, context.id()..context.id() + 1) };
    words.cast()
}

export! {
    fn __kmpc_taskred_init(_number: c_int, count: c_int, first: *const Variable) -> *mut c_void {
        // SAFETY: the compiler made the array.
        unsafe { reduce_in_group(count, first) }
    }

    fn __kmpc_task_reduction_init(
        _number: c_int, count: c_int, first: *const OldVariable,
    ) -> *mut c_void {
        // SAFETY: the compiler made the array.
        unsafe { reduce_in_group(count, first) }
    }

    fn __kmpc_taskred_modifier_init(
        _place: Place, _number: c_int, _is_loop: c_int, count: c_int, first: *const Variable,
    ) -> *mut c_void {
        // SAFETY: the compiler made the array.
        unsafe { reduce_in_share(count, first) }
    }

    fn __kmpc_task_reduction_modifier_init(
        _place: Place, _number: c_int, _is_loop: c_int, count: c_int, first: *const OldVariable,
    ) -> *mut c_void {
        // SAFETY: the compiler made the array.
        unsafe { reduce_in_share(count, first) }
    }

    fn __kmpc_task_reduction_modifier_fini(_place: Place, _number: c_int, _is_loop: c_int) {
        let context = context();
        let group = context.task().current_group();
        let words = group.map_or(ptr::null_mut(), |group| group.reductions.load(SeqCst));
        end_tasks(context);
        // After the barrier, the tasks of all members have ended.
        meet(context, false);
        if words.is_null() {
            return;
        }
        // SAFETY: a function above has registered the description.
        unsafe {
            if context.id() == 0 {
                combine(context, words);
            }
            forget(words);
        }
    }

    fn __kmpc_task_reduction_get_th_data(
        _number: c_int, _group: *mut c_void, address: usize,
    ) -> *mut c_void {
        let mut pointer = address;
        // SAFETY: `pointer` has room for one address.
        unsafe { reduction::remap(context(), 1, 0, &raw mut pointer) };
        pointer as *mut c_void
    }
}
