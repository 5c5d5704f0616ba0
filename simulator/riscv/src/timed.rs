//! Runs a program on the simulated chip. Each access goes through the chip's caches.

use crate::functional::Resumed;
use crate::hart::Machine;
use crate::linux::{Delivered, Entry, System, Task, TaskState, Wake, World, resume};
use crate::memory::{Place, Written};
use crate::network::{self, Latched};
use crate::region::{Mark, Moment, Regions};
use manycore_chip::config::Topology;
use manycore_chip::guest::{
    Answer, Before, Channel, Core, Guest, GuestThread, Operation, State, Width,
};
use std::cell::RefCell;
use std::rc::Rc;

/// A thread of the program, as a guest of the chip.
pub(crate) struct TimedTask {
    task: Task,
    shared: Rc<Shared>,
    /// The fraction of a cycle that remains after the last instructions.
    rest: u64,
    latched: Latched,
    /// Why a sleep on another machine ended, if the task has not run since.
    woken: Option<Wake>,
    /// The task's state when this machine begins.
    before: Before,
    /// How many nanoseconds the task has run on another machine.
    used: u64,
}

/// The state that the threads of a program share.
pub(crate) struct Shared {
    pub(crate) system: RefCell<System>,
    /// The chip's threads. The index is the handle that the simulated kernel uses.
    threads: RefCell<Vec<GuestThread>>,
    pub(crate) channels: RefCell<Vec<Channel>>,
    /// For each core, the number of the task that ran there last.
    last: RefCell<Vec<u32>>,
    /// The addresses that the kernel has written for programs since the last task suspended.
    written: Written,
    /// The threads that exist at the start, except the main thread.
    others: RefCell<Vec<Resumed>>,
    /// The clock of the machine without timing when this machine began. One cycle there is one nanosecond.
    before: u64,
    topology: Topology,
    pub(crate) regions: RefCell<Regions>,
    /// The number and the instructions of each thread that has ended.
    pub(crate) executed: RefCell<Vec<(u32, u64)>>,
}

impl Shared {
    /// The state of a program with a main thread and the threads `others`. It has run for `before` nanoseconds on
    /// another machine, at 1 GHz.
    pub(crate) fn new(
        system: System,
        others: Vec<Resumed>,
        before: u64,
        topology: Topology,
    ) -> Rc<Self> {
        let written = system.first().memory.space.physical().note_writes();
        Rc::new(Self {
            system: RefCell::new(system),
            threads: RefCell::default(),
            channels: RefCell::default(),
            last: RefCell::new(vec![0; topology.cores() as usize]),
            written,
            others: RefCell::new(others),
            before,
            topology,
            regions: RefCell::default(),
            executed: RefCell::default(),
        })
    }
}

impl TimedTask {
    pub(crate) fn new(task: Task, shared: Rc<Shared>) -> Self {
        Self {
            task,
            shared,
            rest: 0,
            latched: Latched::default(),
            woken: None,
            before: Before::Ran(0),
            used: 0,
        }
    }

    /// A task that ran on another machine.
    pub(crate) fn resumed(thread: Resumed, shared: Rc<Shared>) -> Self {
        let (woken, before, used) = (thread.woken, thread.before, thread.used);
        let mut this = Self::new(thread.task, shared);
        (this.woken, this.before, this.used) = (woken, before, used);
        this
    }
}

impl Drop for TimedTask {
    fn drop(&mut self) {
        let done = (self.task.number(), self.task.hart.retired);
        self.shared.executed.borrow_mut().push(done);
    }
}

impl Guest for TimedTask {
    fn resume(&mut self, core: &mut Core<'_>) -> State {
        let shared = &self.shared;
        let starts = shared.threads.borrow().is_empty();
        if starts {
            let main = core.this_thread();
            // The main thread may end before the program: another thread may replace the program by `execve`.
            core.outlive_main();
            shared.threads.borrow_mut().push(main);
            let cores = shared.system.borrow().cores_of(&self.task);
            if !cores.is_empty() {
                let mask = core.set_affinity(main, &cores);
                mask.expect("the cores are the machine's");
            }
        }
        // If another thread has run on this core since, or this thread has run on another core, the reservation is
        // lost.
        let last = &mut shared.last.borrow_mut()[core.number() as usize];
        if *last != self.task.number() {
            *last = self.task.number();
            self.task.hart.lose_reservation();
            core.drop_reservation();
        }
        let mut world = Timed {
            core,
            shared,
            rest: &mut self.rest,
            latched: &mut self.latched,
            woken: &mut self.woken,
            used: self.used,
        };
        let system = &mut *shared.system.borrow_mut();
        if starts {
            for other in shared.others.take() {
                let cores = system.cores_of(&other.task);
                let (slot, number) = (other.task.slot(), other.task.number());
                let handle = world.go_on_with(other, &cores);
                system.rename(slot, number, handle);
            }
        }
        match self.before {
            Before::Slept { address, cycles } if starts => {
                world.core.futex_wait(address, cycles);
                return State::Suspended;
            }
            Before::Ran(after @ 1..) if starts => {
                world.core.go_on_in_kernel(after);
                if world.core.must_pause() {
                    return State::Suspended;
                }
            }
            _ => {}
        }
        let state = resume(system, &mut self.task, &mut world);
        // The kernel's writes bypass the caches. So without this call, threads that spin on a written line would not
        // look again.
        let mut written = shared.written.borrow_mut();
        if !written.is_empty() {
            world.core.written(&written);
            written.clear();
        }
        match state {
            TaskState::Suspended => State::Suspended,
            TaskState::Ended => State::Ended,
            TaskState::Exited => State::Exited,
        }
    }
}

/// A task's view of the core that runs it.
struct Timed<'a, 'b> {
    core: &'a mut Core<'b>,
    shared: &'a Rc<Shared>,
    rest: &'a mut u64,
    latched: &'a mut Latched,
    woken: &'a mut Option<Wake>,
    used: u64,
}

impl Timed<'_, '_> {
    /// Continues a task from the machine without timing. The task begins on the core whose caches have its lines, and
    /// may later run on all of `cores`.
    fn go_on_with(&mut self, resumed: Resumed, cores: &[usize]) -> u32 {
        let name = format!("thread {}", resumed.task.number());
        let on = (resumed.core as usize, resumed.before);
        let guest = Box::new(TimedTask::resumed(resumed, Rc::clone(self.shared)));
        let thread = self.core.go_on_with(name, guest, on, cores);
        self.keep(thread.expect("its cores are there"))
    }

    /// Adds a thread. Returns its handle in the simulated kernel.
    fn keep(&self, thread: GuestThread) -> u32 {
        let mut threads = self.shared.threads.borrow_mut();
        threads.push(thread);
        (threads.len() - 1) as u32
    }

    fn cycles_of(&self, nanoseconds: u64) -> u64 {
        (nanoseconds as f64 * self.core.machine().ghz) as u64
    }
}

impl Machine for Timed<'_, '_> {
    #[inline(always)]
    fn work(&mut self, instructions: u32) {
        self.core.execute(instructions, self.rest);
    }

    #[inline(always)]
    fn access(&mut self, place: Place, width: Width, operation: Operation) -> Answer {
        // SAFETY: the place is in the process's space, whose frames live as long as the run. The hart has aligned it,
        // and one host thread runs all harts.
        unsafe {
            self.core
                .access(place.physical, place.host, width, operation)
        }
    }

    fn reply(&mut self) -> (u64, bool) {
        self.core.reply()
    }

    fn has_lost_reservation(&self) -> bool {
        self.core.has_lost_reservation()
    }

    fn drop_reservation(&mut self) {
        self.core.drop_reservation();
    }

    #[inline(always)]
    fn must_pause(&mut self) -> bool {
        self.core.must_pause()
    }

    fn relax(&mut self) {
        self.core.relax();
    }

    fn watch(&mut self, place: Place, cycles: Option<u64>) -> bool {
        self.core.watch(place.physical, cycles)
    }

    #[inline(always)]
    fn cycles(&self) -> u64 {
        self.shared.before + self.core.clock()
    }

    fn nanoseconds(&self) -> u64 {
        self.shared.before + (self.core.clock() as f64 / self.core.machine().ghz) as u64
    }

    fn line(&self) -> u64 {
        self.core.machine().line.into()
    }
}

impl World for Timed<'_, '_> {
    fn enter(&mut self, call: Entry) {
        match call {
            Entry::Plain => self.core.enter_kernel(),
            Entry::Wait => self.core.enter_futex_wait(),
            Entry::Spawn => self.core.enter_kernel_to_spawn(),
        }
    }

    fn must_wait(&mut self) -> bool {
        self.core.must_wait()
    }

    fn busy_nanoseconds(&self) -> u64 {
        self.shared.before + (self.core.cpu_time() as f64 / self.core.machine().ghz) as u64
    }

    fn own_nanoseconds(&self) -> u64 {
        self.used + (self.core.own_time() as f64 / self.core.machine().ghz) as u64
    }

    fn cycles_at(&self, nanoseconds: u64) -> u64 {
        // This machine's clock began when the run's clock was `before`.
        let cycles = self.cycles_of(nanoseconds.saturating_sub(self.shared.before));
        cycles.saturating_add(1).saturating_add(self.shared.before)
    }

    fn futex_wait(&mut self, physical: u64, nanoseconds: Option<u64>) {
        let cycles = nanoseconds.map(|time| self.cycles_of(time));
        self.core.futex_wait(physical, cycles);
    }

    fn woken(&mut self) -> Wake {
        if let Some(wake) = self.woken.take() {
            wake
        } else if self.core.timed_out() {
            Wake::Late
        } else if self.core.disturbed() {
            Wake::Disturbed
        } else {
            Wake::Called
        }
    }

    fn futex_wake(&mut self, physical: u64, count: u32) -> u64 {
        self.core.futex_wake(physical, count) as u64
    }

    fn spawn(&mut self, task: Task, cores: &[usize]) -> u32 {
        let name = format!("thread {}", task.number());
        let guest = Box::new(TimedTask::new(task, Rc::clone(self.shared)));
        let thread = self.core.spawn(name, guest, cores);
        self.keep(thread.expect("the cores of the thread's maker are there"))
    }

    fn disturb(&mut self, handle: u32) {
        let thread = self.shared.threads.borrow()[handle as usize];
        self.core.disturb(thread);
    }

    fn fence(&mut self, handles: &[u32]) {
        let threads = self.shared.threads.borrow();
        let fenced: Vec<_> = handles.iter().map(|&at| threads[at as usize]).collect();
        self.core.fence(&fenced);
    }

    fn join(&mut self, handle: u32) -> bool {
        let thread = self.shared.threads.borrow()[handle as usize];
        self.core.join(thread)
    }

    fn yield_now(&mut self) {
        self.core.yield_now();
    }

    fn set_affinity(&mut self, handle: u32, cores: &[usize]) -> bool {
        let thread = self.shared.threads.borrow()[handle as usize];
        self.core.set_affinity(thread, cores).is_ok()
    }

    fn core(&self) -> u32 {
        self.core.number()
    }

    fn topology(&self) -> &Topology {
        &self.shared.topology
    }

    fn megahertz(&self) -> f64 {
        self.core.machine().ghz * 1_000.0
    }

    fn hands_over(&mut self) -> bool {
        false
    }

    fn mark(&mut self, mark: Mark) {
        let now = Moment {
            clock: self.core.clock(),
            spent: self.core.spent(),
            cores: self.core.counted_by_core(),
        };
        self.shared.regions.borrow_mut().set(mark, now);
    }

    fn network(&mut self, function: u32, a: u64, b: u64) -> Delivered {
        let channels = &mut self.shared.channels.borrow_mut();
        network::execute(self.core, channels, self.latched, [function.into(), a, b])
    }
}
