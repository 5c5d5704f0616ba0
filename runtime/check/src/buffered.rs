//! The world of shuttle with store buffers: a processor like x86-64, where other threads see a store late. Only this
//! world shows whether asymmetric fences are needed.

use crate::shuttle::{Shuttle, ShuttleThread, WaitQueue};
use ::shuttle::rand::{Rng, thread_rng};
use ::shuttle::sync::atomic;
use ::shuttle::thread::{self, ThreadId};
use manycore_platform::{
    Atomic, AtomicInteger, Futex, Ordering, Platform, ThreadSpec, forward, impl_atomic_integer,
};
use std::collections::VecDeque;
use std::io;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// [`Shuttle`](crate::Shuttle) with total store order. The stores of each thread wait in its own buffer, and reach
/// memory one by one, in order, at random times. The thread itself reads them at once.
///
/// A read-modify-write, a full fence, a system call and the end of a thread empty the thread's buffer. A light fence
/// does nothing. A heavy fence empties the buffers of all threads, one after the other. So a protocol with asymmetric
/// fences runs here as on x86-64, and a protocol without its heavy fence fails. `Loom` and `Shuttle` treat both kinds
/// as full fences.
///
/// ```
/// use manycore_check::{Buffered, caught_at_random, shuttle_random, team};
/// use manycore_platform::{Atomic, Ordering::{Acquire, Release}, Platform};
///
/// fn one_sees_the_other<P: Platform>(fences: [fn(); 2]) {
///     let flags = [P::AtomicBool::new(false), P::AtomicBool::new(false)];
///     let seen = [P::AtomicBool::new(false), P::AtomicBool::new(false)];
///     team::<P>(2, |rank| {
///         flags[rank].store(true, Release);
///         fences[rank]();
///         seen[rank].store(flags[1 - rank].load(Acquire), Release);
///     });
///     assert!(seen.iter().any(|seen| seen.load(Acquire)), "neither sees the other");
/// }
/// type P = Buffered;
/// shuttle_random(200, || one_sees_the_other::<P>([P::light_fence, P::heavy_fence]));
/// caught_at_random(|| one_sees_the_other::<P>([P::light_fence, P::light_fence]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Buffered;

/// A word of memory, and the stores to it that are still in buffers.
struct Word<T> {
    value: T,
    /// The stores of each thread are in their order.
    pending: Vec<(ThreadId, T)>,
}

/// Moves the thread's oldest store to this word into memory.
trait Commit: Send + Sync {
    fn commit(&self, thread: ThreadId);
}

impl<T: Copy + Send> Commit for Mutex<Word<T>> {
    fn commit(&self, thread: ThreadId) {
        let mut word = lock(self);
        let oldest = word.pending.iter().position(|store| store.0 == thread);
        let store = oldest.map(|index| word.pending.remove(index));
        word.value = store.expect("a store in a buffer is pending").1;
    }
}

/// Each thread's buffer: the words that it has stored to, in order.
#[derive(Default)]
struct Buffers {
    of: Vec<(ThreadId, VecDeque<Arc<dyn Commit>>)>,
    /// One step in `patience` moves a store of some buffer to memory. 0 until a number is chosen.
    patience: u32,
}

::shuttle::lazy_static! {
    // The standard library's locks, taken and released between two steps of the model.
    static ref BUFFERS: Mutex<Buffers> = Mutex::new(Buffers::default());
    static ref STEPS: atomic::AtomicU32 = atomic::AtomicU32::new(0);
}

/// Ignores poison: if a model fails, its threads unwind, whatever locks they hold.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn buffers() -> MutexGuard<'static, Buffers> {
    lock(&BUFFERS)
}

fn me() -> ThreadId {
    thread::current().id()
}

/// Lets another thread run first, and may move a store to memory.
fn step() {
    STEPS.load(Ordering::Relaxed);
    let mut buffers = buffers();
    if buffers.patience == 0 {
        buffers.patience = 2 << thread_rng().gen_range(0..7);
    }
    let full: Vec<usize> = (0..buffers.of.len())
        .filter(|&index| !buffers.of[index].1.is_empty())
        .collect();
    if full.is_empty() || thread_rng().gen_range(0..buffers.patience) != 0 {
        return;
    }
    let (thread, stores) = &mut buffers.of[full[thread_rng().gen_range(0..full.len())]];
    if let Some(store) = stores.pop_front() {
        store.commit(*thread);
    }
}

impl Buffers {
    fn of(&mut self, thread: ThreadId) -> &mut VecDeque<Arc<dyn Commit>> {
        let index = self.of.iter().position(|(owner, _)| *owner == thread);
        let index = index.unwrap_or_else(|| {
            self.of.push((thread, VecDeque::new()));
            self.of.len() - 1
        });
        &mut self.of[index].1
    }

    fn empty(&mut self, thread: ThreadId) {
        for store in self.of(thread).drain(..) {
            store.commit(thread);
        }
    }
}

/// An atomic of the [`Buffered`] platform.
pub struct BufferedCell<T>(Arc<Mutex<Word<T>>>);

impl<T: Copy + Send + 'static> BufferedCell<T> {
    /// Applies `change` in memory, after all stores of this thread.
    fn modify(&self, change: impl FnOnce(T) -> T) -> T {
        step();
        buffers().empty(me());
        let mut word = lock(&self.0);
        let before = word.value;
        word.value = change(before);
        before
    }

    /// The value in memory, without the stores that are still in buffers.
    fn in_memory(&self) -> T {
        lock(&self.0).value
    }
}

impl<T: Copy + PartialEq + Send + 'static> Atomic<T> for BufferedCell<T> {
    fn new(value: T) -> Self {
        let pending = vec![];
        Self(Arc::new(Mutex::new(Word { value, pending })))
    }

    fn load(&self, _: Ordering) -> T {
        step();
        let (word, me) = (lock(&self.0), me());
        let own = word.pending.iter().rfind(|store| store.0 == me);
        own.map_or(word.value, |store| store.1)
    }

    fn store(&self, value: T, order: Ordering) {
        step();
        let me = me();
        lock(&self.0).pending.push((me, value));
        let word = Arc::clone(&self.0);
        buffers().of(me).push_back(word);
        if order == Ordering::SeqCst {
            buffers().empty(me);
        }
    }

    fn swap(&self, value: T, _: Ordering) -> T {
        self.modify(|_| value)
    }

    fn compare_exchange(&self, current: T, new: T, _: Ordering, _: Ordering) -> Result<T, T> {
        let before = self.modify(|value| if value == current { new } else { value });
        if before == current {
            Ok(before)
        } else {
            Err(before)
        }
    }
}

macro_rules! impl_integers {
    ($($value:ty),*) => {
        $(impl AtomicInteger<$value> for BufferedCell<$value> {
            fn fetch_add(&self, value: $value, _: Ordering) -> $value {
                self.modify(|before| before.wrapping_add(value))
            }

            fn fetch_sub(&self, value: $value, _: Ordering) -> $value {
                self.modify(|before| before.wrapping_sub(value))
            }

            fn fetch_and(&self, value: $value, _: Ordering) -> $value {
                self.modify(|before| before & value)
            }

            fn fetch_or(&self, value: $value, _: Ordering) -> $value {
                self.modify(|before| before | value)
            }
        })*
    };
}

impl_integers!(u32, u64, usize);

/// A pointer, kept as its address.
pub struct BufferedPtr<T>(BufferedCell<usize>, PhantomData<atomic::AtomicPtr<T>>);

impl<T> Atomic<*mut T> for BufferedPtr<T> {
    fn new(value: *mut T) -> Self {
        Self(BufferedCell::new(value.expose_provenance()), PhantomData)
    }

    fn load(&self, order: Ordering) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.0.load(order))
    }

    fn store(&self, value: *mut T, order: Ordering) {
        self.0.store(value.expose_provenance(), order);
    }

    fn swap(&self, value: *mut T, order: Ordering) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.0.swap(value.expose_provenance(), order))
    }

    fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        let (current, new) = (current.expose_provenance(), new.expose_provenance());
        let result = self.0.compare_exchange(current, new, success, failure);
        let pointer = std::ptr::with_exposed_provenance_mut;
        result.map(pointer).map_err(pointer)
    }
}

/// A word that threads sleep on. The system compares the value in memory.
pub struct BufferedFutex {
    word: BufferedCell<u32>,
    queue: WaitQueue,
}

impl BufferedFutex {
    fn holding(value: u32) -> Self {
        Self {
            word: BufferedCell::new(value),
            queue: WaitQueue::default(),
        }
    }
}

impl_atomic_integer!(BufferedFutex, u32, BufferedFutex::holding, word);

impl Futex for BufferedFutex {
    fn wait(&self, expected: u32, timeout: Option<Duration>) {
        buffers().empty(me());
        self.queue
            .wait(|| self.word.in_memory() == expected, timeout);
    }

    fn wake(&self, count: u32) -> usize {
        buffers().empty(me());
        self.queue.wake(count)
    }
}

// SAFETY: as `Shuttle`, with these differences. 1 and 3: memory has one order of stores, and a thread's stores enter
// it in program order. A read-modify-write and a full fence come after all earlier stores of the thread. A heavy fence
// comes after all earlier stores of every thread, as the light fence of another thread needs. 2: the system compares
// under the lock that `wake` takes.
unsafe impl Platform for Buffered {
    type AtomicU32 = BufferedCell<u32>;
    type AtomicU64 = BufferedCell<u64>;
    type AtomicUsize = BufferedCell<usize>;
    type AtomicBool = BufferedCell<bool>;
    type AtomicPtr<T> = BufferedPtr<T>;
    type Futex = BufferedFutex;
    type Thread = ShuttleThread;

    forward!(Shuttle: slot rest);

    fn fence(order: Ordering) {
        if order == Ordering::SeqCst {
            step();
            buffers().empty(me());
        }
    }

    fn light_fence() {}

    fn has_light_fences() -> bool {
        true
    }

    fn untested_light_fence() {}

    fn heavy_fence() {
        Self::fence(Ordering::SeqCst);
        // A thread that begins meanwhile has made no store that this thread could know of.
        let mut threads: Vec<ThreadId> = buffers().of.iter().map(|(thread, _)| *thread).collect();
        while !threads.is_empty() {
            // Other threads run meanwhile, with or without an emptied buffer.
            step();
            let next = threads.swap_remove(thread_rng().gen_range(0..threads.len()));
            buffers().empty(next);
        }
    }

    /// Does nothing, since the read-modify-write has emptied the buffer.
    fn fence_after_rmw() {}

    fn spin_while(word: &BufferedFutex, value: u32, until: u64) -> u32 {
        loop {
            let seen = word.load(Ordering::Acquire);
            if seen != value || Self::now() >= until {
                return seen;
            }
            Self::relax();
        }
    }

    fn spawn(spec: ThreadSpec, body: Box<dyn FnOnce() + Send>) -> io::Result<ShuttleThread> {
        buffers().empty(me());
        let body = move || {
            body();
            // The step lets other threads miss this thread's last stores.
            step();
            buffers().empty(me());
        };
        Shuttle::spawn(spec, Box::new(body))
    }

    fn join(thread: ShuttleThread) {
        Shuttle::join(thread);
    }
}
