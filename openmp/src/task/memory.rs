//! The memory of tasks: blocks that are reused.
//!
//! Each member of a team owns a *home*. The blocks for the tasks that a member makes come from its home. If another
//! thread ends such tasks, it collects their blocks, and pushes several blocks at once on the stack `returned` of their
//! home. The owner of the home takes the whole stack at once. So no thread pops a single block, and the exchange that
//! pushes has no ABA problem.

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

/// Arguments of up to this number of bytes lie in the task's block.
const INLINE: usize = 112;
/// The number of blocks that a member collects before it gives them back.
const COLLECTED: usize = 16;

/// The memory of a task.
#[repr(C, align(64))]
pub(crate) struct Block {
    /// The first field, so that a task has the address of its block.
    task: MaybeUninit<Task>,
    inline: MaybeUninit<[u128; INLINE / 16]>,
    /// The next block in the list that this one is in.
    next: *mut Self,
}

/// The blocks of a member.
pub(crate) struct Home {
    /// Free blocks. Only the owner accesses the list.
    free: Cell<*mut Block>,
    /// All blocks of this home, which are freed with it. Only the owner accesses the list.
    #[expect(clippy::vec_box, reason = "their addresses are kept")]
    all: UnsafeCell<Vec<Box<UnsafeCell<Block>>>>,
    /// Blocks of another home, which the owner of this home will give back.
    collected: Collected,
    /// Free blocks that other threads have given back.
    returned: CachePadded<AtomicPtr<Block>>,
}

/// Blocks of one home.
struct Collected {
    home: Cell<*const Home>,
    first: Cell<*mut Block>,
    last: Cell<*mut Block>,
    count: Cell<usize>,
}

// SAFETY: only the owner of the home accesses `free`, `all` and `collected`, in `put`, `refill`, `take_back` and
// `collect`. Other threads only push to `returned`, which is an atomic. A pushed block belongs to the pushing thread
// before the exchange, and to the owner after it.
unsafe impl Sync for Home {}
// SAFETY: in another region, another thread may be the member that owns the home. The end of the earlier region orders
// the two owners. Blocks are bound to no thread.
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

    /// Puts a task into a block. Only the owner calls this.
    #[inline(always)]
    pub(crate) fn put(&self, task: impl FnOnce() -> Task) -> NonNull<Task> {
        let mut block = self.free.get();
        if block.is_null() {
            block = self.refill();
        }
        // SAFETY: the block is free, and only this thread has it.
        unsafe {
            self.free.set((*block).next);
            (*block).task.write(task());
            NonNull::new_unchecked(block.cast())
        }
    }

    /// Returns the blocks that other threads have given back, or a new block.
    #[cold]
    fn refill(&self) -> *mut Block {
        // Acquire makes visible what other threads did with the tasks in these blocks.
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
        // SAFETY: only the owner accesses the list, and the owner calls this.
        unsafe { (*self.all.get()).push(block) };
        address
    }

    /// Frees the task's block. Only the owner calls this.
    ///
    /// # Safety
    ///
    /// The task's block is of this home, and no thread has the task any more.
    pub(crate) unsafe fn take_back(&self, task: NonNull<Task>) {
        let block = task.as_ptr().cast::<Block>();
        // SAFETY: as the caller promises.
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
            // SAFETY: homes live as long as the team. Only this list has the blocks.
            unsafe { (*self.home.get()).accept(self.first.get(), self.last.get()) };
        }
    }
}

impl Home {
    /// Collects the block of a task of another home. Only the owner of this home calls this.
    ///
    /// # Safety
    ///
    /// The task is in a block, and no thread has the task any more.
    pub(crate) unsafe fn collect(&self, task: NonNull<Task>) {
        let block = task.as_ptr().cast::<Block>();
        let collected = &self.collected;
        // SAFETY: as the caller promises.
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

    /// Takes back blocks of this home. Any thread may call this.
    ///
    /// # Safety
    ///
    /// The blocks are a list from `first` to `last`, and no other thread has them.
    unsafe fn accept(&self, first: *mut Block, last: *mut Block) {
        let mut top = self.returned.load(Relaxed);
        loop {
            // SAFETY: as the caller promises.
            unsafe { (*last).next = top };
            // Release publishes what was done with the tasks.
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
    /// Gives the task's block back to its home.
    ///
    /// # Safety
    ///
    /// The task is in a block, and no thread has the task any more.
    pub(crate) unsafe fn give_back(task: NonNull<Task>) {
        let block = task.as_ptr().cast::<Self>();
        // SAFETY: as the caller promises. The home lives as long as the team.
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
    /// A compiled program made the order. The task is in a block, and no other thread knows the task.
    pub(crate) unsafe fn copy_arguments(task: NonNull<Task>, order: &Order) {
        let block = task.as_ptr().cast::<Self>();
        // SAFETY: as the caller promises.
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
    /// The layout of the memory of the arguments, if they are not in the task's block.
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
            // SAFETY: `allocated` got the pointer with this layout.
            unsafe { dealloc(self.pointer.cast(), layout) };
        }
    }
}
