//! Devices. The only one is the host, where target regions run.

use super::export;
use crate::environment::settings;
use crate::system::report::fatal;
use crate::task::Outlined;
use crate::team::context::context;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

/// The kind of a variable that is passed by value.
const FIRSTPRIVATE: u16 = 12;
/// The result of functions for an invalid device.
const INVALID: c_int = libc::EINVAL;
/// The number of the host. Other devices would have lower numbers.
const HOST: c_int = 0;

/// `omp_initial_device`, which also stands for the host in calls of the interface.
pub(super) const INITIAL: c_int = -1;

fn is_host(device: c_int) -> bool {
    device == HOST || device == INITIAL
}

/// Numbers that compiled constructs pass for the default device of the current task, and for the host.
const BY_DEFAULT: c_int = -1;
const ANY_HOST: c_int = -2;

/// Checks that a construct for this device may run on the host. If the user has forbidden that, ends the program.
fn check(device: c_int) {
    let device = match device {
        BY_DEFAULT => context().task().icv.get().default_device,
        device => device,
    };
    if settings().target_mandatory && !is_host(device) && device != ANY_HOST {
        fatal(format_args!(
            "device {device} with OMP_TARGET_OFFLOAD=mandatory; the only device is the host, {HOST}"
        ));
    }
}

/// The thread limit among the arguments of a target region, or 0 if there is none.
///
/// The arguments are words, up to a word that is 0. The low seven bits of a word are the device (0: all devices), and
/// the second byte is the kind. If the eighth bit is set, the value is the next word. Otherwise the value is in the
/// upper bits of the same word.
unsafe fn thread_limit(mut arguments: *const isize) -> u32 {
    const THREAD_LIMIT: isize = 2 << 8;
    if arguments.is_null() {
        return 0;
    }
    // SAFETY: the array from the compiler ends with a 0.
    unsafe {
        loop {
            let word = *arguments;
            if word == 0 {
                return 0;
            }
            arguments = arguments.add(1);
            let mut value = word >> 16;
            if word & 0x80 != 0 {
                value = *arguments;
                arguments = arguments.add(1);
            }
            if word & 0x7f == 0 && word & 0xff00 == THREAD_LIMIT {
                return value.clamp(0, i32::MAX as isize) as u32;
            }
        }
    }
}

/// Runs a target region on this thread, outside of any region and with a device's initial control variables.
fn run(device: c_int, function: Outlined, data: *mut c_void, limit: u32) {
    check(device);
    let context = context();
    crate::region::as_initial(context, settings().icv, || {
        if limit > 0 {
            super::teams::change(context, |icv| icv.thread_limit = limit);
        }
        // SAFETY: the program made the data for this function.
        unsafe { function(data) };
    });
}

/// Waits for the dependences of a construct for a device. The construct then runs at once.
fn await_dependences(depend: *mut *mut c_void) {
    if !depend.is_null() {
        // SAFETY: the compiler made the array.
        unsafe { crate::tasking::wait_for_dependences(context(), depend) };
    }
}

/// A dependence object, as GCC's header has it: an address and the kind of access.
type Object = [usize; 2];

/// The array of dependences that a compiled program would make for these objects.
fn depend(count: c_int, objects: *mut Object) -> Vec<*mut c_void> {
    let count = usize::try_from(count).unwrap_or(0);
    let head = [0, count, 0, 0, 0].map(|word| word as *mut c_void);
    let objects = (0..count).map(|at| objects.wrapping_add(at).cast());
    head.into_iter().chain(objects).collect()
}

/// Waits for the tasks that these objects depend on.
fn wait_for(count: c_int, objects: *mut Object) {
    // SAFETY: `depend` makes the array as compiled programs do.
    unsafe { crate::tasking::wait_for_dependences(context(), depend(count, objects).as_mut_ptr()) };
}

/// Copies the variables that the region takes by value, and replaces their addresses. The result owns the copies.
unsafe fn copy_private(
    count: usize,
    addresses: *mut *mut u8,
    sizes: *const usize,
    kinds: *const u16,
) -> Vec<Vec<u128>> {
    let mut copies = vec![];
    for index in 0..count {
        // SAFETY: the arrays from the compiler have `count` elements.
        unsafe {
            let kind = *kinds.add(index);
            // An absent optional argument has no address.
            if kind & 0xff != FIRSTPRIVATE || (*addresses.add(index)).is_null() {
                continue;
            }
            let (size, align) = (*sizes.add(index), 1_usize << (kind >> 8));
            let mut copy = vec![0_u128; (size + align).div_ceil(16)];
            let start = copy.as_mut_ptr().cast::<u8>();
            let start = start.add(start.align_offset(align));
            ptr::copy_nonoverlapping(*addresses.add(index), start, size);
            *addresses.add(index) = start;
            copies.push(copy);
        }
    }
    copies
}

export! {
    fn GOMP_target(
        device: c_int, function: Outlined, _unused: *const c_void, _count: usize,
        addresses: *mut c_void, _sizes: *const usize, _kinds: *const u8,
    ) {
        run(device, function, addresses, 0);
    }

    fn GOMP_target_ext(
        device: c_int, function: Outlined, count: usize, addresses: *mut *mut u8,
        sizes: *const usize, kinds: *const u16, _flags: c_uint, depend: *mut *mut c_void,
        arguments: *const isize,
    ) {
        await_dependences(depend);
        // SAFETY: the compiler made the arrays.
        let copies = unsafe { copy_private(count, addresses, sizes, kinds) };
        // SAFETY: the list from the compiler ends with a zero, or is null.
        run(device, function, addresses.cast(), unsafe { thread_limit(arguments) });
        drop(copies);
    }

    fn GOMP_target_data(
        device: c_int, _unused: *const c_void, _count: usize, _addresses: *mut c_void,
        _sizes: *const usize, _kinds: *const u8,
    ) {
        check(device);
    }

    fn GOMP_target_data_ext(
        device: c_int, _count: usize, _addresses: *mut c_void, _sizes: *const usize,
        _kinds: *const u16,
    ) {
        check(device);
    }

    fn GOMP_target_end_data() {}

    fn GOMP_target_update(
        device: c_int, _unused: *const c_void, _count: usize, _addresses: *mut c_void,
        _sizes: *const usize, _kinds: *const u8,
    ) {
        check(device);
    }

    fn GOMP_target_update_ext(
        device: c_int, _count: usize, _addresses: *mut c_void, _sizes: *const usize,
        _kinds: *const u16, _flags: c_uint, depend: *mut *mut c_void,
    ) {
        check(device);
        await_dependences(depend);
    }

    fn GOMP_target_enter_exit_data(
        device: c_int, _count: usize, _addresses: *mut c_void, _sizes: *const usize,
        _kinds: *const u16, _flags: c_uint, depend: *mut *mut c_void,
    ) {
        check(device);
        await_dependences(depend);
    }

    fn GOMP_offload_register(_host: *const c_void, _kind: c_int, _target: *const c_void) {}

    fn GOMP_offload_register_ver(
        _version: c_uint, _host: *const c_void, _kind: c_int, _target: *const c_void,
    ) {
    }

    fn GOMP_offload_unregister(_host: *const c_void, _kind: c_int, _target: *const c_void) {}

    fn GOMP_offload_unregister_ver(
        _version: c_uint, _host: *const c_void, _kind: c_int, _target: *const c_void,
    ) {
    }

    fn omp_get_num_devices() -> c_int {
        0
    }

    fn omp_get_initial_device() -> c_int {
        HOST
    }

    fn omp_get_device_num() -> c_int {
        HOST
    }

    fn omp_is_initial_device() -> c_int {
        1
    }

    fn omp_target_alloc(bytes: usize, device: c_int) -> *mut c_void {
        if is_host(device) {
            // SAFETY: the call takes any size.
            unsafe { libc::malloc(bytes) }
        } else {
            ptr::null_mut()
        }
    }

    fn omp_target_free(memory: *mut c_void, device: c_int) {
        if is_host(device) {
            // SAFETY: `omp_target_alloc` returned the memory.
            unsafe { libc::free(memory) };
        }
    }

    fn omp_target_is_present(memory: *const c_void, device: c_int) -> c_int {
        c_int::from(is_host(device) && !memory.is_null())
    }

    fn omp_target_is_accessible(_memory: *const c_void, _bytes: usize, device: c_int) -> c_int {
        c_int::from(is_host(device))
    }

    fn omp_get_mapped_ptr(memory: *const c_void, device: c_int) -> *mut c_void {
        if is_host(device) { memory.cast_mut() } else { ptr::null_mut() }
    }

    fn omp_target_memcpy(
        to: *mut u8, from: *const u8, bytes: usize, to_offset: usize, from_offset: usize,
        to_device: c_int, from_device: c_int,
    ) -> c_int {
        if !is_host(to_device) || !is_host(from_device) {
            return INVALID;
        }
        // SAFETY: both ranges are memory of the program.
        unsafe { ptr::copy(from.add(from_offset), to.add(to_offset), bytes) };
        0
    }

    fn omp_target_memcpy_rect(
        to: *mut u8, from: *const u8, element: usize, dimensions: c_int, volume: *const usize,
        to_offsets: *const usize, from_offsets: *const usize,
        to_sizes: *const usize, from_sizes: *const usize,
        to_device: c_int, from_device: c_int,
    ) -> c_int {
        if to.is_null() && from.is_null() {
            return c_int::MAX; // The largest number of dimensions.
        }
        if !is_host(to_device) || !is_host(from_device) || dimensions < 1 {
            return INVALID;
        }
        let count = dimensions as usize;
        let slice = |numbers: *const usize| {
            // SAFETY: the program passes a number for each dimension.
            unsafe { std::slice::from_raw_parts(numbers, count) }
        };
        let volume = slice(volume);
        let end = |offsets: &[usize], sizes: &[usize]| {
            std::iter::zip(offsets, volume).zip(sizes).all(|((at, n), size)| at + n <= *size)
        };
        let to = (to, slice(to_offsets), slice(to_sizes));
        let from = (from.cast_mut(), slice(from_offsets), slice(from_sizes));
        if !end(to.1, to.2) || !end(from.1, from.2) {
            return INVALID;
        }
        // SAFETY: the box was checked to be within both sizes.
        unsafe { copy_box(element, volume, to, from) };
        0
    }

    // The asynchronous functions copy before they return, which the specification allows.
    fn omp_target_memcpy_async(
        to: *mut u8, from: *const u8, bytes: usize, to_offset: usize, from_offset: usize,
        to_device: c_int, from_device: c_int, count: c_int, objects: *mut Object,
    ) -> c_int {
        wait_for(count, objects);
        omp_target_memcpy(to, from, bytes, to_offset, from_offset, to_device, from_device)
    }

    fn omp_target_memcpy_rect_async(
        to: *mut u8, from: *const u8, element: usize, dimensions: c_int, volume: *const usize,
        to_offsets: *const usize, from_offsets: *const usize,
        to_sizes: *const usize, from_sizes: *const usize,
        to_device: c_int, from_device: c_int, count: c_int, objects: *mut Object,
    ) -> c_int {
        wait_for(count, objects);
        omp_target_memcpy_rect(
            to, from, element, dimensions, volume, to_offsets, from_offsets, to_sizes, from_sizes,
            to_device, from_device,
        )
    }

    fn omp_target_associate_ptr(
        _host: *const c_void, _device: *const c_void, _bytes: usize, _offset: usize,
        _number: c_int,
    ) -> c_int {
        INVALID
    }

    fn omp_target_disassociate_ptr(_memory: *const c_void, _device: c_int) -> c_int {
        INVALID
    }
}

/// An array, the offsets of a box in the array, and the sizes of the array.
type Side<'a> = (*mut u8, &'a [usize], &'a [usize]);

unsafe fn copy_box(element: usize, volume: &[usize], to: Side<'_>, from: Side<'_>) {
    let stride = |sizes: &[usize]| sizes[1..].iter().product::<usize>() * element;
    let (to_stride, from_stride) = (stride(to.2), stride(from.2));
    // SAFETY: the caller promises that the box is within both sides.
    unsafe {
        let (to_at, from_at) = (
            to.0.add(to.1[0] * to_stride),
            from.0.add(from.1[0] * from_stride),
        );
        if volume.len() == 1 {
            ptr::copy(from_at, to_at, volume[0] * element);
            return;
        }
        for row in 0..volume[0] {
            let to = (to_at.add(row * to_stride), &to.1[1..], &to.2[1..]);
            let from = (from_at.add(row * from_stride), &from.1[1..], &from.2[1..]);
            copy_box(element, &volume[1..], to, from);
        }
    }
}
