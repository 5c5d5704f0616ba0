//! A loop's body without its type.

use std::ops::Range;

/// The rank of a thread that runs a loop, or its beginning, alone: the loop is not posted, so
/// nobody else is in it, and any number will do.
pub(crate) const ALONE: usize = 0;

/// A loop's body, its type erased: the launcher and the partitioners are
/// compiled once, not once for each loop in a program. The price is one
/// indirect call a block.
#[derive(Clone, Copy)]
pub(crate) struct Body<'a> {
    data: *const (),
    call: unsafe fn(*const (), usize, Range<usize>),
    lives: std::marker::PhantomData<&'a ()>,
}

// SAFETY: made from a reference to a `Sync` closure only.
unsafe impl Sync for Body<'_> {}
// SAFETY: as above: it stands for a shared reference.
unsafe impl Send for Body<'_> {}

impl<'a> Body<'a> {
    /// `body` is called with the rank of the participant and a block of
    /// iterations.
    #[inline(always)]
    pub(crate) fn new<F: Fn(usize, Range<usize>) + Sync>(body: &'a F) -> Self {
        unsafe fn call<F: Fn(usize, Range<usize>)>(
            data: *const (),
            rank: usize,
            block: Range<usize>,
        ) {
            // SAFETY: `data` is the `&F` below. The `Body<'a>` cannot outlive the closure.
            unsafe { (*data.cast::<F>())(rank, block) }
        }
        Self {
            data: std::ptr::from_ref(body).cast(),
            call: call::<F>,
            lives: std::marker::PhantomData,
        }
    }

    /// Runs a block.
    #[inline(always)]
    pub(crate) fn run(&self, rank: usize, block: Range<usize>) {
        // SAFETY: `call` and `data` belong together and the closure is alive.
        unsafe { (self.call)(self.data, rank, block) }
    }

    /// The address of what the body refers to: on its caller's stack, so that it tells
    /// callers apart, and the same each time that a caller calls at the same depth of its stack.
    #[inline(always)]
    pub(crate) fn caller(&self) -> usize {
        self.data as usize
    }

    /// The address of the body's code, which tells loops apart.
    #[inline(always)]
    pub(crate) fn address(&self) -> usize {
        self.call as usize
    }
}
