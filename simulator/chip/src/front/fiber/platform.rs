//! `Simulated`: the platform of the simulated machine.

use super::super::arena::Stack;
use super::body::Fiber;
use super::cells::{self, Cell32, Cell64, CellBool, CellPtr, CellUsize};
use super::context::{in_order, suspend, with, with_inside};
use super::stacks;
use crate::account::{Activity, Breakdown, Counters, HotLine};
use crate::engine::Engine;
use crate::memory::{Operation, Word};
use crate::os::ThreadId;
use manycore_platform::{Ordering, Platform, ThreadSpec};
use std::io;

/// The platform of simulated code: its threads run on the cores of the machine of a
/// [`Simulation`](crate::Simulation).
///
/// A tick is a cycle. Operations outside of a simulation panic.
///
/// ```
/// use manycore_chip::{Simulated, Simulation, config::Config};
/// use manycore_platform::Platform;
///
/// let machine = Config::preset("atac-64")?;
/// let run = Simulation::new(&machine).run(|| {
///     let start = Simulated::now();
///     Simulated::compute(1_000);
///     Simulated::now() - start
/// })?;
/// assert_eq!(run.value, 1_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Simulated;

impl Simulated {
    /// The core at the home of `data`'s cache line (the place that serialises requests to the line), or the first core
    /// of the home's group. On a machine that places pages at their first use, the call counts as a use by this core.
    /// Takes no simulated time.
    ///
    /// ```
    /// use manycore_chip::{Simulated, Simulation, config::Config};
    ///
    /// let machine = Config::preset("atac-64")?; // consecutive lines have consecutive tiles as homes
    /// let run = Simulation::new(&machine).run(|| {
    ///     let lines = vec![[0u64; 8]; 2];
    ///     (Simulated::home_of(&lines[0]), Simulated::home_of(&lines[1]))
    /// })?;
    /// assert_eq!((run.value.0 + 1) % 64, run.value.1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn home_of<T>(data: &T) -> usize {
        let address = std::ptr::from_ref(data).addr();
        with(|engine, core| {
            let line = engine.line_of(address);
            engine.memory.home(core, line) as usize
        })
    }
}

/// A handle to a simulated thread, for [`join`](Platform::join) and
/// [`set_affinity`](Simulated::set_affinity).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedThread(ThreadId);

// SAFETY: the numbers refer to the trait's promises. One host thread runs all simulated threads and switches between
// them only in an operation of the engine. 1, 3 and 4: therefore each operation is indivisible, and all operations have
// one order. Fences only take time. 2: the engine compares and puts a thread to sleep as one event. 5: a simulated
// thread is a fiber, which either starts with its body or is not made. 6: the engine keeps a slot for each thread. 7:
// see the safety comment of `arena::Stack`. 8: a simulation belongs to one host thread and makes no thread pool on the
// host. 9: an operation that panics, outside of a simulation or after the simulation was called off, ends the
// simulation, so none of its threads is resumed.
unsafe impl Platform for Simulated {
    type AtomicU32 = Cell32;
    type AtomicU64 = Cell64;
    type AtomicUsize = CellUsize;
    type AtomicBool = CellBool;
    type AtomicPtr<T> = CellPtr<T>;
    type Futex = Cell32;
    type Thread = SimulatedThread;
    type Stack = Stack;

    fn fence(order: Ordering) {
        // Weaker fences cost nothing on a sequentially consistent machine.
        if order == Ordering::SeqCst {
            drain();
            with_inside(|engine, core| {
                let cycles = engine.config.atomics.fence;
                engine.ports[core as usize].pass(Activity::Atomic, cycles);
            });
        }
    }

    /// Takes no time: a read-modify-write of the machine is a full barrier.
    fn fence_after_rmw() {}

    /// Takes no time: the caller of a heavy fence pays for both fences.
    fn light_fence() {}

    fn has_light_fences() -> bool {
        true
    }

    fn untested_light_fence() {}

    fn heavy_fence() {
        with(Engine::enter_kernel);
        drain();
        in_order();
        let since = Self::now();
        with(|engine, core| engine.fence_all(core, |_| true));
        // Each interrupted core executes a fence of its own.
        while with(|engine, core| engine.must_drain_all(core, since)) {
            suspend();
        }
    }

    fn relax() {
        let goes_on = with_inside(|engine, core| {
            // This pause and the load that follows it take one spin period together.
            let cycles = engine
                .config
                .core
                .spin_period
                .saturating_sub(engine.config.l1.latency);
            engine.ports[core as usize].pass(Activity::Spin, cycles.max(1));
            engine.is_within_limit(core)
        });
        if !goes_on {
            in_order();
        }
    }

    fn spin_while(word: &Cell32, value: u32, until: u64) -> u32 {
        cells::spin_while(word, value, until)
    }

    /// Does nothing: only the machine's own prefetcher requests lines ahead of the core.
    fn prefetch(_: *const ()) {}

    /// Does nothing, as [`prefetch`](Self::prefetch).
    fn prefetch_write(_: *const ()) {}

    fn yield_now() {
        with(Engine::enter_kernel_to_yield);
        in_order();
        with(Engine::yield_now);
        suspend();
    }

    #[inline]
    fn now() -> u64 {
        with_inside(|engine, core| engine.ports[core as usize].clock)
    }

    fn ticks_per_ns() -> f64 {
        with_inside(|engine, _| engine.config.ghz)
    }

    fn spawn(spec: ThreadSpec, body: Box<dyn FnOnce() + Send>) -> io::Result<SimulatedThread> {
        with(Engine::enter_kernel_to_spawn);
        in_order();
        let stack = stacks::thread_stack().map_err(io::Error::other)?;
        with(|engine, core| {
            let fiber = Box::new(Fiber::new(stack, body));
            let thread = engine.spawn(core, spec.name.as_str().to_owned(), fiber, &spec.cpus);
            let cores = engine.config.cores;
            thread
                .map(SimulatedThread)
                .map_err(|wrong| no_such_core(wrong, cores))
        })
    }

    fn join(thread: SimulatedThread) {
        with(Engine::enter_kernel);
        in_order();
        if with(|engine, core| engine.join(core, thread.0)) {
            suspend();
        }
    }

    fn core() -> usize {
        with_inside(|_, core| core as usize)
    }

    /// One more than the thread's index, since 0 means no thread. Takes no time.
    fn thread_number() -> u64 {
        with_inside(|engine, core| {
            engine.ports[core as usize]
                .thread
                .map_or(0, |thread| u64::from(thread) + 1)
        })
    }

    /// A simulation gives no index twice.
    fn thread_id() -> u64 {
        Self::thread_number()
    }

    /// Takes no time.
    fn code_number(code: usize) -> usize {
        with_inside(|engine, _| engine.addresses.code_number(code))
    }

    /// If the simulated scheduler looks for idle cores on each wake-up, only calls `wake`. If not (sticky wake-ups),
    /// also changes the thread's affinity before `wake` and restores it afterwards, with two system calls, as on Linux.
    fn wake_elsewhere(thread: u64, is_taken: &dyn Fn(usize) -> bool, wake: &mut dyn FnMut()) {
        let cores =
            with_inside(|engine, _| engine.cores_elsewhere(thread.checked_sub(1)?, is_taken));
        let Some((before, elsewhere)) = cores else {
            return wake();
        };
        let thread = SimulatedThread((thread - 1) as u32);
        let moved = Self::set_affinity(thread, &elsewhere).is_ok();
        wake();
        if moved {
            let _ = Self::set_affinity(thread, &before);
        }
    }

    /// Takes the time of a system call.
    fn preemptions() -> u64 {
        with(Engine::enter_kernel);
        in_order();
        with(|engine, core| engine.preemptions(core))
    }

    /// Does nothing: the simulated scheduler decides where threads run.
    fn leave_core(_: usize) {}

    fn bind(cpus: &[usize]) {
        if !cpus.is_empty() {
            // Fails only for a core that the machine does not have.
            let _ = Self::set_affinity(Self::this_thread(), cpus);
        }
    }

    fn slot() -> *const () {
        with_inside(|engine, core| engine.slot(core))
    }

    unsafe fn set_slot(value: *const ()) {
        with_inside(|engine, core| engine.set_slot(core, value));
    }

    /// Takes the time of a system call and of touching the new memory. Dropped stacks are reused.
    /// The stacks' addresses are the same in every run.
    fn stack(bytes: usize) -> io::Result<Stack> {
        with(Engine::enter_kernel);
        in_order();
        stacks::stack(bytes).map_err(io::Error::other)
    }

    #[inline]
    fn compute(instructions: u64) {
        let mut left = instructions;
        loop {
            let goes_on = with_inside(|engine, core| {
                // The number of steps is bounded, whatever the number of instructions.
                let part = left.min(engine.paced.max(left >> 10));
                left -= part;
                engine.compute(core, part)
            });
            if !goes_on {
                while with(Engine::others_interrupt) {
                    suspend();
                }
            }
            if left == 0 {
                return;
            }
        }
    }

    fn read<T>(data: &[T]) {
        touch(data, Operation::TouchRead);
    }

    fn write<T>(data: &mut [T]) {
        touch(data, Operation::TouchWrite);
    }

    fn name<T: ?Sized>(object: &T, name: &'static str) {
        let first = (&raw const *object).cast::<u8>().addr();
        with(|engine, _| {
            let start = engine.addresses.simulated(first);
            let end = start + size_of_val(object).max(1) as u64;
            engine.lines.name(start..end, name);
        });
    }
}

impl Simulated {
    /// The statistics so far of the cache lines that hold named objects, sorted by address. Takes
    /// no simulated time.
    ///
    /// ```
    /// use manycore_chip::{Simulated, Simulation, config::Config};
    /// use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};
    ///
    /// let run = Simulation::new(&Config::preset("dahu")?).run(|| {
    ///     let counter = <Simulated as Platform>::AtomicU64::new(0);
    ///     Simulated::name(&counter, "counter");
    ///     let before = Simulated::named_lines()[0].writes;
    ///     for _ in 0..5 {
    ///         counter.fetch_add(1, Ordering::Relaxed);
    ///     }
    ///     Simulated::named_lines()[0].writes - before
    /// })?;
    /// assert_eq!(run.value, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn named_lines() -> Vec<HotLine> {
        with(|engine, _| engine.lines.named())
    }

    /// The cycles so far in which cores were not idle, summed over all cores. This is the CPU clock of a process. Takes
    /// no simulated time.
    ///
    /// ```
    /// use manycore_chip::{Simulated, Simulation, config::Config};
    /// use manycore_platform::Platform;
    ///
    /// let run = Simulation::new(&Config::preset("dahu")?).run(|| {
    ///     let before = Simulated::cpu_time();
    ///     Simulated::compute(1_000);
    ///     Simulated::cpu_time() - before
    /// })?;
    /// assert_eq!(run.value, 500);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cpu_time() -> u64 {
        with_inside(|engine, core| engine.cpu_time(core))
    }

    /// The cycles of each core so far, by activity. The cycles of a core add up to the clock. Takes no simulated time.
    ///
    /// ```
    /// use manycore_chip::{Activity, Simulated, Simulation, config::Config};
    /// use manycore_platform::Platform;
    ///
    /// let run = Simulation::new(&Config::preset("dahu")?).run(|| {
    ///     let before = Simulated::accounts()[0];
    ///     Simulated::compute(1_000);
    ///     Simulated::accounts()[0][Activity::Compute] - before[Activity::Compute]
    /// })?;
    /// assert_eq!(run.value, 500);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn accounts() -> Vec<Breakdown> {
        with(|engine, core| {
            let now = engine.ports[core as usize].clock;
            engine
                .ports
                .iter()
                .map(|port| port.spent_until(now))
                .collect()
        })
    }

    /// The counters of the machine's parts so far, if
    /// [`Simulation::counters`](crate::Simulation::counters) was called. Takes no simulated time.
    /// [`Counters`] has an example.
    pub fn counters() -> Option<Counters> {
        with(|engine, core| engine.counters(engine.ports[core as usize].clock))
    }

    /// Runs `body` as a region: the timeline shows it under `name` in the thread's row. Takes no
    /// simulated time. [`Trace`](crate::Trace) has an example.
    pub fn region<R>(name: &'static str, body: impl FnOnce() -> R) -> R {
        /// Ends the region even if `body` panics.
        struct Ends;
        impl Drop for Ends {
            fn drop(&mut self) {
                with(Engine::end_region);
            }
        }
        with(|engine, core| engine.begin_region(core, name));
        let _ends = Ends;
        body()
    }

    /// The calling thread. Takes no simulated time.
    ///
    /// # Panics
    ///
    /// Panics outside of a simulation.
    ///
    /// ```
    /// use manycore_chip::{Simulated, Simulation, config::Config};
    ///
    /// let run = Simulation::new(&Config::preset("dahu")?).run(|| {
    ///     Simulated::set_affinity(Simulated::this_thread(), &[3])
    /// })?;
    /// assert!(run.value.is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn this_thread() -> SimulatedThread {
        let thread = with(|engine, core| engine.ports[core as usize].thread);
        SimulatedThread(thread.expect("the calling thread runs on this core"))
    }

    /// Sets the cores that `thread` may run on, as `sched_setaffinity` does. An empty set means all
    /// cores. If the thread runs on another core, it moves as soon as it can be interrupted; the calling thread has
    /// moved when the call returns.
    ///
    /// # Errors
    ///
    /// Fails if the machine does not have one of the cores.
    pub fn set_affinity(thread: SimulatedThread, cpus: &[usize]) -> io::Result<()> {
        with(Engine::enter_kernel_to_yield);
        in_order();
        with(|engine, core| {
            let set = engine.set_affinity(core, thread.0, cpus);
            set.map_err(|wrong| no_such_core(wrong, engine.config.cores))
        })?;
        if with(Engine::must_leave) {
            suspend();
        }
        Ok(())
    }
}

/// Waits until the stores in the core's store buffer are done.
fn drain() {
    while with_inside(|engine, _| engine.buffers_stores()) && with(Engine::must_drain) {
        suspend();
    }
}

fn no_such_core(core: usize, cores: u32) -> io::Error {
    let what = format!("core {core} of a simulated machine with {cores} cores");
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// Accesses each line of `data` once. Marks a store that covers a whole line, for machines that
/// treat such stores differently.
fn touch<T>(data: &[T], operation: Operation) {
    let (line, fills) = with_inside(|engine, _| {
        let overlap = engine.config.core.overlap.as_ref();
        let fills = overlap.is_some_and(|overlap| overlap.whole_lines);
        (engine.config.line as usize, fills)
    });
    let first = data.as_ptr().addr();
    let end = first + size_of_val(data);
    let mut at = first;
    while at < end {
        let next = (at / line + 1) * line;
        let whole = fills && at.is_multiple_of(line) && next <= end;
        let operation = match operation {
            Operation::TouchWrite if whole => Operation::TouchFill,
            operation => operation,
        };
        cells::access(at, operation, Word::none());
        at = next;
    }
}
