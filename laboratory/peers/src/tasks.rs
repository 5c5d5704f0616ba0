//! The work of the loops: C functions that every peer calls, and two bodies that each peer's
//! compiler inlines.

use std::arch::asm;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The type of a task function, as in `native/tasks.h`.
pub type Function = unsafe extern "C" fn(usize, *const c_void);

unsafe extern "C" {
    safe fn peers_now() -> u64;
    safe fn peers_empty(index: usize, context: *const c_void);
    safe fn peers_tiny(index: usize, context: *const c_void);
    fn peers_spin(index: usize, ticks: *const c_void);
    fn peers_steps(index: usize, steps: *const c_void);
    fn peers_unit(index: usize, unit: *const c_void);
}

/// A task and the data that it reads.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    function: Function,
    context: *const c_void,
    reads: PhantomData<&'a c_void>,
}

// SAFETY: by the contract of `Task::new`, several threads can call a task function at once.
unsafe impl Send for Task<'_> {}
// SAFETY: as above.
unsafe impl Sync for Task<'_> {}

impl<'a> Task<'a> {
    /// # Safety
    ///
    /// Any number of threads can call `function` at once with a pointer to `context`, for every
    /// index that the task is run on.
    pub unsafe fn new<T: Sync>(function: Function, context: &'a [T]) -> Self {
        Self {
            function,
            context: context.as_ptr().cast(),
            reads: PhantomData,
        }
    }

    /// Runs the task on `index`.
    #[inline(always)]
    pub fn run(self, index: usize) {
        // SAFETY: by the contract of `Task::new`.
        unsafe { (self.function)(index, self.context) }
    }

    /// The task's function and context, for C.
    pub fn parts(self) -> (Function, *const c_void) {
        (self.function, self.context)
    }
}

/// Returns at once.
pub fn empty() -> Task<'static> {
    // SAFETY: the function accesses no memory.
    unsafe { Task::new::<u8>(peers_empty, &[]) }
}

/// About 5 ns of multiplications.
pub fn tiny() -> Task<'static> {
    // SAFETY: the function accesses no memory.
    unsafe { Task::new::<u8>(peers_tiny, &[]) }
}

/// Computes for `ticks` of the clock.
pub fn spin(ticks: &u64) -> Task<'_> {
    // SAFETY: the function reads one `u64`.
    unsafe { Task::new(peers_spin, std::slice::from_ref(ticks)) }
}

/// `steps[index]` dependent multiplications. Loops must run over `0..steps.len()`.
pub fn steps(steps: &[u32]) -> Task<'_> {
    // SAFETY: the function reads `steps[index]`, and all loops with the task run over
    // `0..steps.len()`.
    unsafe { Task::new(peers_steps, steps) }
}

/// The sizes of a unit task, in C's layout.
#[repr(C)]
pub struct Unit {
    source: *const u8,
    read: usize,
    write: usize,
    computations: usize,
}

// SAFETY: the pointer is to a static buffer that no thread writes.
unsafe impl Sync for Unit {}

impl Unit {
    /// The most bytes a unit task reads or writes.
    pub const LARGEST: usize = 1 << 16;

    /// A task that reads `read` and writes `write` bytes (1 to [`Self::LARGEST`]).
    pub fn new(read: usize, write: usize, computations: usize) -> Self {
        assert!((1..=Self::LARGEST).contains(&read) && (1..=Self::LARGEST).contains(&write));
        Self {
            source: source().as_ptr(),
            read,
            write,
            computations,
        }
    }

    /// The task.
    pub fn task(&self) -> Task<'_> {
        // SAFETY: the function reads the sizes, `read` bytes of the source, and
        // writes at most `LARGEST` bytes of the thread's own buffer.
        unsafe { Task::new(peers_unit, std::slice::from_ref(self)) }
    }
}

/// The bytes that unit tasks read, from a page boundary.
fn source() -> &'static [u8] {
    #[repr(align(4096))]
    struct Pages([u8; Unit::LARGEST]);
    static SOURCE: OnceLock<Box<Pages>> = OnceLock::new();
    &SOURCE
        .get_or_init(|| Box::new(Pages(std::array::from_fn(|i| i as u8))))
        .0
}

/// `peers_trivial_inline` of `native/tasks.h`.
#[inline(always)]
pub fn trivial_inline(index: usize) {
    // SAFETY: the assembly has no instruction.
    unsafe { asm!("/* {0} */", in(reg) index, options(nomem, nostack, preserves_flags)) }
}

/// `peers_tiny_inline` of `native/tasks.h`.
#[inline(always)]
pub fn tiny_inline(index: usize) {
    let mut x = index as u64;
    macro_rules! steps {
        ($($step:literal)*) => {$(
            let _ = $step;
            x = x.wrapping_mul(0x5bd1_e995);
            // SAFETY: the assembly has no instruction.
            unsafe { asm!("/* {0} */", inout(reg) x, options(nomem, nostack, preserves_flags)) }
        )*};
    }
    steps!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    let _ = x;
}

/// The clock, in ticks.
#[inline]
pub fn now() -> u64 {
    peers_now()
}

/// Ticks in a nanosecond, measured by the first call.
pub fn ticks_per_ns() -> f64 {
    static RATE: OnceLock<f64> = OnceLock::new();
    *RATE.get_or_init(|| {
        let (start, start_ticks) = both_clocks();
        busy_until(start + Duration::from_millis(5));
        let (end, end_ticks) = both_clocks();
        (end_ticks - start_ticks) as f64 / (end - start).as_nanos() as f64
    })
}

/// Reads both clocks at one moment. It takes the shortest of several tries, without an interrupt
/// between the readings: an error here would change all figures of a peer.
fn both_clocks() -> (Instant, u64) {
    let read = || {
        let before = now();
        let instant = Instant::now();
        let after = now();
        (after - before, instant, before + (after - before) / 2)
    };
    let (_, instant, ticks) = (0..20)
        .map(|_| read())
        .min_by_key(|r| r.0)
        .expect("not empty");
    (instant, ticks)
}

fn busy_until(end: Instant) {
    while Instant::now() < end {}
}

/// Keeps this thread busy for `ns` nanoseconds.
pub fn busy(ns: u64) {
    spin(&((ns as f64 * ticks_per_ns()) as u64)).run(0);
}
