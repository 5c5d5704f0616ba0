//! Memory of tasks: blocks that are used again.
//!
//! Each member of a team has a *home*, where the blocks of the tasks that it makes come from.
//! Another thread that ends tasks collects their blocks, and puts some at once on their home's stack
//! of returned ones. The owner takes all of these at once: so no element is ever taken from the
//! midst of what others push, and the exchange that pushes cannot be deceived.

use super::{Order, Task};

use crate::system::report::fatal;
use manycore_platform::CachePadded;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Arguments up to this size lie in the task's block.
const INLINE: usize = 112;
/// The number of blocks that are collected before they are given back.
const COLLECTED: usize = 16;

/// A task's memory.
#[repr(C, align(64))]
pub(crate) struct Block {
    /// First, so that a task's address is its block's.
    task: MaybeUninit<Task>,
    inline: MaybeUninit<[u128; INLINE / 16]>,
    /// The next block in the list that this one is in.
    next: *mut Self,
}

/// A member's blocks.
pub(crate) struct Home {
    /// Blocks that are free: the owner's.
    free: Cell<*mut Block>,
    /// All blocks, to be freed at the end: the owner's.
    #[expect(clippy::vec_box, reason = "their addresses are kept")]
    all: UnsafeCell<Vec<Box<UnsafeCell<Block>>>>,
    /// Blocks of another home, which the owner is to give back.
    collected: Collected,
    /// Free blocks that others have given back.
    returned: CachePadded<AtomicPtr<Block>>,
}

/// Blocks of one home.
struct Collected {
    home: Cell<*const Home>,
    first: Cell<*mut Block>,
    last: Cell<*mut Block>,
    count: Cell<usize>,
}

// SAFETY: only the home's own member touches `free`, `all` and `collected`, in `put`, `refill`,
// `take_back` and `collect`. Others push to `returned` alone, which is an atomic: a pushed block
// belongs to its pusher before the exchange and to the owner after it.
unsafe impl Sync for Home {}
// SAFETY: a team's members are other threads in another region; the barrier at its end orders them. Blocks belong to no thread.
unsafe impl Send for Home {}

impl Home {
    pub(crate) fn new() -> Self {
        Self {
            free: Cell::new(ptr::null_mut()),
            all: UnsafeCell::new(vec![]),
            collected: Collected {
                home: Cell::new(ptr::null()),
                first: Cell::new(ptr::null_mut()),
                last: Cell::new(ptr::null_mut()),
                count: Cell::new(0),
            },
            returned: CachePadded::new(AtomicPtr::new(ptr::null_mut())),
        }
    }

    /// Puts a task into a block. The owner calls it.
    #[inline(always)]
    pub(crate) fn put(&self, task: impl FnOnce() -> Task) -> NonNull<Task> {
        let mut block = self.free.get();
        if block.is_null() {
            block = self.refill();
        }
        // SAFETY: the block is free, and this thread's.
        unsafe {
            self.free.set((*block).next);
            (*block).task.write(task());
            NonNull::new_unchecked(block.cast())
        }
    }

    /// Blocks that others have given back, or a new one.
    #[cold]
    fn refill(&self) -> *mut Block {
        // Acquire: what others did with the tasks that were in them.
        let returned = self.returned.swap(ptr::null_mut(), Acquire);
        if !returned.is_null() {
            return returned;
        }
        let block = Box::new(UnsafeCell::new(Block {
            task: MaybeUninit::uninit(),
            inline: MaybeUninit::uninit(),
            next: ptr::null_mut(),
        }));
        let address = block.get();
        // SAFETY: the owner's list.
        unsafe { (*self.all.get()).push(block) };
        address
    }

    /// The task's block is free again. The owner calls it.
    ///
    /// # Safety
    ///
    /// The task is of this home, and no thread has it any more.
    pub(crate) unsafe fn take_back(&self, task: NonNull<Task>) {
        let block = task.as_ptr().cast::<Block>();
        // SAFETY: by the caller's word.
        unsafe {
            (*block).task.assume_init_drop();
            (*block).next = self.free.replace(block);
        }
    }
}

impl Collected {
    /// Gives the blocks back to their home.
    fn flush(&self) {
        if self.count.replace(0) > 0 {
            // SAFETY: homes live as long as the team; the blocks are this list's.
            unsafe { (*self.home.get()).accept(self.first.get(), self.last.get()) };
        }
    }
}

impl Home {
    /// Collects the block of a task of another home. The owner of this one calls it.
    ///
    /// # Safety
    ///
    /// The task is in a block, and no thread has it any more.
    pub(crate) unsafe fn collect(&self, task: NonNull<Task>) {
        let block = task.as_ptr().cast::<Block>();
        let collected = &self.collected;
        // SAFETY: by the caller's word.
        unsafe {
            let home = (*block).task.assume_init_ref().home;
            if home != collected.home.get() || collected.count.get() == COLLECTED {
                collected.flush();
                collected.home.set(home);
            }
            (*block).task.assume_init_drop();
            if collected.count.get() == 0 {
                collected.last.set(block);
            }
            (*block).next = collected.first.replace(block);
        }
        collected.count.set(collected.count.get() + 1);
    }

    /// Takes blocks of this home back, from any thread.
    ///
    /// # Safety
    ///
    /// They are a list from `first` to `last`, and no other thread has them.
    unsafe fn accept(&self, first: *mut Block, last: *mut Block) {
        let mut top = self.returned.load(Relaxed);
        loop {
            // SAFETY: by the caller's word.
            unsafe { (*last).next = top };
            // Release: what was done with the tasks.
            match self
                .returned
                .compare_exchange_weak(top, first, Release, Relaxed)
            {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }
}

impl Block {
    /// The task's block is free again, to be used by its home.
    ///
    /// # Safety
    ///
    /// The task is in a block, and no thread has it any more.
    pub(crate) unsafe fn give_back(task: NonNull<Task>) {
        let block = task.as_ptr().cast::<Self>();
        // SAFETY: by the caller's word; the home lives as long as the team.
        unsafe {
            let home = (*block).task.assume_init_ref().home;
            (*block).task.assume_init_drop();
            (*home).accept(block, block);
        }
    }

    /// Copies the arguments of an order to its task.
    ///
    /// # Safety
    ///
    /// The order is as compiled programs make it, the task lies in a block, and no other thread
    /// knows it.
    pub(crate) unsafe fn copy_arguments(task: NonNull<Task>, order: &Order) {
        let block = task.as_ptr().cast::<Self>();
        // SAFETY: by the caller's word.
        unsafe {
            let arguments = &raw mut (*task.as_ptr()).arguments;
            if order.size == 0 && order.copy.is_none() {
                (*arguments).pointer = order.data;
                return;
            }
            let fits = order.size <= INLINE && order.align <= align_of::<u128>();
            if fits {
                (*arguments).pointer = (&raw mut (*block).inline).cast();
            } else {
                *arguments = Arguments::allocated(order.size, order.align);
            }
            let to = (*arguments).pointer;
            match order.copy {
                Some(copy) => copy(to, order.data),
                None => {
                    ptr::copy_nonoverlapping(order.data.cast::<u8>(), to.cast::<u8>(), order.size)
                }
            }
            if let Some(bounds) = order.bounds {
                to.cast::<[u64; 2]>().write(bounds);
            }
        }
    }
}

/// The place of a task's arguments.
pub(crate) struct Arguments {
    pointer: *mut c_void,
    /// The layout of the arguments' own memory, if they have any.
    layout: Option<Layout>,
}

impl Arguments {
    pub(crate) const NONE: Self = Self {
        pointer: ptr::null_mut(),
        layout: None,
    };

    fn allocated(size: usize, align: usize) -> Self {
        let layout = Layout::from_size_align(size.max(1), align.max(1)).unwrap_or_else(|_| {
            fatal(format_args!(
                "a task with {size} bytes of arguments, aligned to {align}; expected a power of two"
            ))
        });
        // SAFETY: the size is not 0.
        let pointer = unsafe { alloc(layout) };
        if pointer.is_null() {
            handle_alloc_error(layout);
        }
        Self {
            pointer: pointer.cast(),
            layout: Some(layout),
        }
    }

    pub(crate) fn pointer(&self) -> *mut c_void {
        self.pointer
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: allocated so.
            unsafe { dealloc(self.pointer.cast(), layout) };
        }
    }
}
