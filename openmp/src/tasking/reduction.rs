//! Reductions over tasks, which the compiler describes in an array.
//!
//! Each thread has a *part* of the memory, with the thread's copies of the variables. A description is an array of
//! words:
//!
//! * `[0]` the number of variables
//! * `[1]` the bytes of a thread's part
//! * `[2]` the alignment; once registered, the beginning of the memory of all parts
//! * `[3]` an allocator
//! * `[4]` the next description
//! * `[5]` not 0 at the head of a list
//! * `[6]` the end of the memory
//! * from `[7]` on three words for each variable: its address, its offset in a part, and a word for the runtime
//!
//! The last description of a group has the address of the first description of the enclosing group.

use crate::system::report::fatal;
use crate::task::Group;
use crate::team::context::Context;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

const COUNT: usize = 0;
const BYTES: usize = 1;
const BEGIN: usize = 2;
const NEXT: usize = 4;
const HEAD: usize = 5;
const END: usize = 6;
const FIRST: usize = 7;

/// Allocates zeroed memory. The word before it contains the alignment, which `free` needs.
fn allocate(bytes: usize, align: usize) -> usize {
    let align = align.max(align_of::<usize>());
    let Ok(layout) = Layout::from_size_align(bytes + align, align) else {
        fatal(format_args!(
            "a reduction of {bytes} bytes, aligned to {align}; expected a power of two"
        ))
    };
    // SAFETY: the layout has at least one word.
    let memory = unsafe { alloc_zeroed(layout) };
    if memory.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: the allocation has `align` bytes, at least a word, before the returned address.
    unsafe {
        let memory = memory.add(align);
        memory.cast::<usize>().sub(1).write(align);
        memory as usize
    }
}

/// # Safety
///
/// `memory` is a result of [`allocate`] for this number of bytes.
unsafe fn free(memory: usize, bytes: usize) {
    // SAFETY: as the caller promises.
    unsafe {
        let align = (memory as *const usize).sub(1).read();
        let layout = Layout::from_size_align_unchecked(bytes + align, align);
        dealloc((memory - align) as *mut u8, layout);
    }
}

/// Registers descriptions for a team of `size` members. `outer` is the list of the enclosing groups. `first` is null,
/// or the list of another member that has allocated the memory: then the same memory is used.
unsafe fn register(data: *mut usize, outer: *mut usize, first: *const usize, size: usize) {
    let (mut at, mut first) = (data, first);
    // SAFETY: a compiled program made the descriptions.
    unsafe {
        loop {
            if first.is_null() {
                let bytes = *at.add(BYTES) * size;
                *at.add(BEGIN) = allocate(bytes, *at.add(BEGIN));
                *at.add(END) = *at.add(BEGIN) + bytes;
            } else {
                *at.add(BEGIN) = *first.add(BEGIN);
                *at.add(END) = *first.add(END);
                first = *first.add(NEXT) as *const usize;
            }
            *at.add(HEAD) = 0;
            let next = *at.add(NEXT) as *mut usize;
            if next.is_null() {
                *at.add(NEXT) = outer as usize;
                break;
            }
            at = next;
        }
        *data.add(HEAD) = 1;
    }
}

fn current_group(context: &Context) -> &Group {
    context.task().current_group().unwrap_or_else(|| {
        fatal(format_args!(
            "a reduction over tasks outside of a taskgroup"
        ))
    })
}

/// The descriptions of the nearest enclosing group that has any.
fn outer(group: &Group) -> *mut usize {
    let mut around = group.previous();
    while let Some(group) = around {
        let data = group.reductions.load(SeqCst);
        if !data.is_null() {
            return data;
        }
        around = group.previous();
    }
    ptr::null_mut()
}

/// Registers descriptions for the current group. `first` is null, or the description of the member that came first.
///
/// # Safety
///
/// A compiled program made the descriptions.
pub(crate) unsafe fn register_group(context: &Context, data: *mut usize, first: *const usize) {
    let group = current_group(context);
    let mut around = group.reductions.load(SeqCst);
    if around.is_null() {
        around = outer(group);
    }
    // SAFETY: as the caller promises.
    unsafe { register(data, around, first, context.team().size as usize) };
    group.reductions.store(data, SeqCst);
}

/// Makes a group with these reductions, for a region of `size` members.
///
/// # Safety
///
/// A compiled program made the description.
pub(crate) unsafe fn region_group(data: *mut usize, size: usize) -> Arc<Group> {
    // SAFETY: as the caller promises.
    unsafe { register(data, ptr::null_mut(), ptr::null(), size) };
    let group = Group::of_region();
    group.reductions.store(data, Relaxed);
    group
}

/// Frees the memory of this description and of the following ones, up to the next head of a list.
///
/// # Safety
///
/// The description was registered, and no thread uses it any more.
pub(crate) unsafe fn unregister(data: *mut usize) {
    let mut at = data;
    // SAFETY: as the caller promises.
    unsafe {
        loop {
            free(*at.add(BEGIN), *at.add(END) - *at.add(BEGIN));
            at = *at.add(NEXT) as *mut usize;
            if at.is_null() || *at.add(HEAD) != 0 {
                return;
            }
        }
    }
}

/// Replaces `count` addresses of variables by the addresses of this thread's copies. After these, writes the original
/// addresses of the first `originals` variables.
///
/// # Safety
///
/// `pointers` has room for `count + originals` words.
pub(crate) unsafe fn remap(
    context: &Context,
    count: usize,
    originals: usize,
    pointers: *mut usize,
) {
    let group = current_group(context);
    let mut data = group.reductions.load(SeqCst);
    if data.is_null() {
        data = outer(group);
    }
    let id = context.id() as usize;
    for index in 0..count {
        // SAFETY: as the caller promises. Registered descriptions live as long as their group.
        unsafe {
            let address = *pointers.add(index);
            let Some((description, place, original)) = find(data, address) else {
                fatal(format_args!(
                    "no reduction over tasks is known for {address:#x}"
                ))
            };
            let part = *description.add(BEGIN) + id * *description.add(BYTES);
            *pointers.add(index) = part + place;
            if index < originals {
                *pointers.add(count + index) = original;
            }
        }
    }
}

/// Finds the variable that is at `address`, or has a copy there. Returns its description, its offset in a part, and its
/// address.
unsafe fn find(data: *const usize, address: usize) -> Option<(*const usize, usize, usize)> {
    // SAFETY: `register` made the lists.
    unsafe {
        let mut at = data;
        while !at.is_null() {
            for variable in 0..*at.add(COUNT) {
                let entry = at.add(FIRST + 3 * variable);
                if *entry == address {
                    return Some((at, *entry.add(1), address));
                }
            }
            at = *at.add(NEXT) as *const usize;
        }
        let mut at = data;
        while !at.is_null() {
            if (*at.add(BEGIN)..*at.add(END)).contains(&address) {
                let place = (address - *at.add(BEGIN)) % *at.add(BYTES);
                for variable in 0..*at.add(COUNT) {
                    let entry = at.add(FIRST + 3 * variable);
                    if *entry.add(1) == place {
                        return Some((at, place, *entry));
                    }
                }
            }
            at = *at.add(NEXT) as *const usize;
        }
        None
    }
}
