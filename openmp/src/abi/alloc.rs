//! OpenMP's allocators. All memory spaces are the same memory. Three traits of an allocator take effect: the
//! alignment, the size of the pool, and the action if the pool is full.

use super::export;
use super::teams::change;
use crate::system::report::fatal;
use crate::team::context::context;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// Numbers up to this are predefined allocators: 1 to 8 by the specification, 100 to 102 by LLVM, 200 and 201 by GCC.
/// No block of memory has such an address, so larger numbers are addresses of an [`Allocator`].
const PREDEFINED: usize = 1024;
const DEFAULT: usize = 1;

/// An `omp_alloctrait_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Trait {
    key: c_int,
    value: usize,
}

/// The action if the pool is full.
#[derive(Clone, Copy)]
enum Fallback {
    Default,
    Null,
    Abort,
    Other(usize),
}

/// An allocator that the program made.
struct Allocator {
    align: usize,
    most: usize,
    used: AtomicUsize,
    fallback: Fallback,
}

/// The data that lie before each block.
struct Head {
    /// The block that the system's allocator returned.
    base: *mut c_void,
    /// The size in bytes from `base` on.
    whole: usize,
    /// The number of bytes that the program asked for.
    bytes: usize,
    allocator: usize,
}

fn made(allocator: usize) -> Option<&'static Allocator> {
    // SAFETY: `omp_init_allocator` returned this address.
    (allocator > PREDEFINED).then(|| unsafe { &*(allocator as *const Allocator) })
}

fn allocate(mut align: usize, bytes: usize, mut allocator: usize, zero: bool) -> *mut c_void {
    if bytes == 0 {
        return ptr::null_mut();
    }
    if allocator == 0 {
        allocator = context().task().icv.get().allocator;
    }
    let own = made(allocator);
    align = align
        .max(own.map_or(1, |own| own.align))
        .max(align_of::<Head>());
    let Some(whole) = bytes.checked_add(size_of::<Head>() + align) else {
        return failed(align, bytes, allocator, zero);
    };
    if let Some(own) = own {
        let before = own.used.fetch_add(whole, Relaxed);
        if before.checked_add(whole).is_none_or(|used| used > own.most) {
            own.used.fetch_sub(whole, Relaxed);
            return failed(align, bytes, allocator, zero);
        }
    }
    // SAFETY: the calls take any size.
    let base = unsafe {
        if zero {
            libc::calloc(1, whole)
        } else {
            libc::malloc(whole)
        }
    };
    if base.is_null() {
        if let Some(own) = own {
            own.used.fetch_sub(whole, Relaxed);
        }
        return failed(align, bytes, allocator, zero);
    }
    let start = (base as usize + size_of::<Head>()).next_multiple_of(align);
    // SAFETY: `whole` bytes have room for a head before `start`, and for the block.
    unsafe {
        (start as *mut Head).sub(1).write(Head {
            base,
            whole,
            bytes,
            allocator,
        });
    }
    start as *mut c_void
}

#[cold]
fn failed(align: usize, bytes: usize, allocator: usize, zero: bool) -> *mut c_void {
    let fallback = made(allocator).map_or(Fallback::Null, |own| own.fallback);
    match fallback {
        Fallback::Default => allocate(align, bytes, DEFAULT, zero),
        Fallback::Other(other) => allocate(align, bytes, other, zero),
        Fallback::Null => ptr::null_mut(),
        Fallback::Abort => fatal(format_args!("an allocator has no room for {bytes} bytes")),
    }
}

fn free(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    // SAFETY: `allocate` returned this block.
    unsafe {
        let head = block.cast::<Head>().sub(1).read();
        give_room(&head);
        libc::free(head.base);
    }
}

/// Subtracts the bytes of the block from the used bytes of its pool.
fn give_room(head: &Head) {
    if let Some(own) = made(head.allocator) {
        own.used.fetch_sub(head.whole, Relaxed);
    }
}

/// Adds the bytes of the block to the used bytes of its pool, even if the pool is then overfull.
fn take_room(head: &Head) {
    if let Some(own) = made(head.allocator) {
        own.used.fetch_add(head.whole, Relaxed);
    }
}

export! {
    fn omp_init_allocator(_space: usize, count: c_int, traits: *const Trait) -> usize {
        let mut own = Allocator {
            align: 1,
            most: usize::MAX,
            used: AtomicUsize::new(0),
            fallback: Fallback::Default,
        };
        let mut other = 0;
        let mut choice = 11;
        for index in 0..usize::try_from(count).unwrap_or(0) {
            // SAFETY: the program passes an array of `count` traits.
            let Trait { key, value } = unsafe { *traits.add(index) };
            // This value asks for the default of any trait.
            let is_default = value == usize::MAX;
            match key {
                2 if is_default => {}
                2 if value.is_power_of_two() => own.align = value,
                2 => return 0,
                4 if !is_default => own.most = value,
                5 if !is_default => choice = value,
                6 => other = value,
                1..=8 => {}
                _ => return 0,
            }
        }
        own.fallback = match choice {
            11 => Fallback::Default,
            12 => Fallback::Null,
            13 => Fallback::Abort,
            14 => Fallback::Other(other),
            _ => return 0,
        };
        Box::into_raw(Box::new(own)) as usize
    }

    fn omp_destroy_allocator(allocator: usize) {
        if allocator > PREDEFINED {
            // SAFETY: `omp_init_allocator` made the allocator, and the program does not use it any more.
            drop(unsafe { Box::from_raw(allocator as *mut Allocator) });
        }
    }

    fn omp_set_default_allocator(allocator: usize) {
        let allocator = if allocator == 0 { DEFAULT } else { allocator };
        change(context(), |icv| icv.allocator = allocator);
    }

    fn omp_get_default_allocator() -> usize {
        context().task().icv.get().allocator
    }

    fn omp_alloc(bytes: usize, allocator: usize) -> *mut c_void {
        allocate(1, bytes, allocator, false)
    }

    pub(super) fn omp_aligned_alloc(align: usize, bytes: usize, allocator: usize) -> *mut c_void {
        allocate(align, bytes, allocator, false)
    }

    pub(super) fn omp_calloc(count: usize, bytes: usize, allocator: usize) -> *mut c_void {
        allocate(1, count.saturating_mul(bytes), allocator, true)
    }

    fn omp_aligned_calloc(
        align: usize, count: usize, bytes: usize, allocator: usize,
    ) -> *mut c_void {
        allocate(align, count.saturating_mul(bytes), allocator, true)
    }

    pub(super) fn omp_realloc(
        block: *mut c_void, bytes: usize, allocator: usize, _before: usize,
    ) -> *mut c_void {
        if block.is_null() {
            return allocate(1, bytes, allocator, false);
        }
        // SAFETY: `allocate` returned this block.
        let old = unsafe { block.cast::<Head>().sub(1).read() };
        // The new block may take the room of the old block in the pool.
        give_room(&old);
        let allocator = if allocator == 0 { old.allocator } else { allocator };
        let new = allocate(1, bytes, allocator, false);
        if bytes > 0 && new.is_null() {
            take_room(&old);
            return new;
        }
        // SAFETY: both blocks have at least the copied number of bytes, and the program does not use the old block any
        // more.
        unsafe {
            if !new.is_null() {
                ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), old.bytes.min(bytes));
            }
            libc::free(old.base);
        }
        new
    }

    pub(super) fn omp_free(block: *mut c_void, _allocator: usize) {
        free(block);
    }

    // LLVM's names, for programs that clang compiled.
    fn __kmpc_alloc(_number: c_int, bytes: usize, allocator: usize) -> *mut c_void {
        allocate(1, bytes, allocator, false)
    }

    fn __kmpc_aligned_alloc(
        _number: c_int, align: usize, bytes: usize, allocator: usize,
    ) -> *mut c_void {
        allocate(align, bytes, allocator, false)
    }

    fn __kmpc_free(_number: c_int, block: *mut c_void, _allocator: usize) {
        free(block);
    }

    fn __kmpc_calloc(
        _number: c_int, count: usize, bytes: usize, allocator: usize,
    ) -> *mut c_void {
        omp_calloc(count, bytes, allocator)
    }

    fn __kmpc_realloc(
        _number: c_int, block: *mut c_void, bytes: usize, allocator: usize, before: usize,
    ) -> *mut c_void {
        omp_realloc(block, bytes, allocator, before)
    }

    fn __kmpc_init_allocator(
        _number: c_int, space: usize, count: c_int, traits: *const Trait,
    ) -> usize {
        omp_init_allocator(space, count, traits)
    }

    fn __kmpc_destroy_allocator(_number: c_int, allocator: usize) {
        omp_destroy_allocator(allocator);
    }

    fn __kmpc_set_default_allocator(_number: c_int, allocator: usize) {
        omp_set_default_allocator(allocator);
    }

    fn __kmpc_get_default_allocator(_number: c_int) -> usize {
        omp_get_default_allocator()
    }

    fn GOMP_alloc(align: usize, bytes: usize, allocator: usize) -> *mut c_void {
        let block = allocate(align, bytes, allocator, false);
        if block.is_null() && bytes > 0 {
            fatal(format_args!("no memory for {bytes} bytes"));
        }
        block
    }

    fn GOMP_free(block: *mut c_void, _allocator: usize) {
        free(block);
    }
}
