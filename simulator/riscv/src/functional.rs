//! A machine without timing: it has only memory, and threads that take turns.
//!
//! A thread runs for a slice of instructions, and then the next ready thread runs. The clock counts instructions. An
//! instruction takes one nanosecond. While an untimed run warms a machine's caches, the ready thread with the least
//! estimated time on that machine runs next.

mod handover;
mod stopped;
mod warming;

pub(crate) use handover::{Handover, Resumed};

use crate::hart::Machine;
use crate::linux::{Delivered, Entry, System, Task, TaskState, Wake, World, resume};
use crate::memory::Place;
use crate::region::Mark;
use manycore_chip::config::Topology;
use manycore_chip::guest::{Answer, Operation, Warmth, Width, apply};
use std::collections::{BTreeMap, VecDeque};

/// The number of instructions of a slice.
const SLICE: u64 = 10_000;

/// While caches are warmed: the most instructions and cycles of a slice, and the cycles of a slice in which a thread waits.
const WARM_SLICE: u64 = 1_000;

/// A machine that shows the program this topology.
pub(crate) struct Functional {
    topology: Topology,
    megahertz: f64,
    /// The instructions that are left until the program is handed over to another machine, if its region of interest
    /// has not begun by then. `None` if the program runs to its end here.
    left: Option<u64>,
    /// Whether the program is handed over now.
    handed_over: bool,
    clock: u64,
    /// The largest value of the clock.
    limit: u64,
    /// A function that says whether the run must end.
    stop: Option<fn() -> bool>,
    /// The number of stores and system calls until now.
    changes: u64,
    /// The word on which the running task spins until another task stores to it.
    watched: Option<u64>,
    /// The tasks that have only spun since another task did something, and the words on which they spin.
    spins: BTreeMap<u32, u64>,
    /// Whether the running task waits for another task, without a sleep.
    waits: bool,
    /// The clock at which the running task's slice ends.
    until: u64,
    /// The clock at which the running task's slice began.
    began: u64,
    /// How long each task ran in earlier slices.
    used: BTreeMap<u32, u64>,
    running: u32,
    ready: VecDeque<(u32, Task)>,
    next: u32,
    /// For each sleeping task, the word on which it sleeps, and the time at which its sleep ends.
    sleepers: BTreeMap<u32, (u64, Option<u64>)>,
    blocked: BTreeMap<u32, Task>,
    joiners: Vec<u32>,
    /// The core of each task that has an affinity.
    places: BTreeMap<u32, u32>,
    /// Whether the running task sleeps from now on.
    sleeps: bool,
    /// For each woken task that has not run since, why its sleep ended.
    woken: BTreeMap<u32, Wake>,
    /// The caches of the machine that will run the region.
    warmth: Option<Warmth>,
    /// The clock up to which the time on that machine is known.
    passed: u64,
    /// The time on that machine at which the running task's slice ends.
    slice_end: u64,
}

impl Functional {
    pub(crate) fn new(topology: Topology) -> Self {
        Self {
            topology,
            megahertz: 1_000.0,
            left: None,
            handed_over: false,
            clock: 0,
            limit: u64::MAX,
            stop: None,
            changes: 0,
            watched: None,
            spins: BTreeMap::new(),
            waits: false,
            until: 0,
            began: 0,
            used: BTreeMap::new(),
            running: 0,
            ready: VecDeque::new(),
            next: 1,
            sleepers: BTreeMap::new(),
            blocked: BTreeMap::new(),
            joiners: Vec::new(),
            places: BTreeMap::new(),
            sleeps: false,
            woken: BTreeMap::new(),
            warmth: None,
            passed: 0,
            slice_end: 0,
        }
    }

    /// Limits the run to this number of instructions.
    pub(crate) fn limit(mut self, instructions: u64) -> Self {
        self.limit = instructions;
        self
    }

    /// Ends the run when `stop` returns `true`.
    pub(crate) fn stop_when(mut self, stop: Option<fn() -> bool>) -> Self {
        self.stop = stop;
        self
    }

    /// Runs a program until it exits. If the run is stopped earlier, returns the reason.
    pub(crate) fn run_alone(mut self, system: &mut System, main: Task) -> Result<(), String> {
        self.run(system, main)
    }

    /// Runs a program until its region of interest begins, for at most `instructions`. The program sees the clock rate
    /// of the next machine. Returns `None` if the program exits earlier.
    pub(crate) fn forward(
        mut self,
        system: &mut System,
        main: Task,
        instructions: u64,
        megahertz: f64,
    ) -> Result<Option<Handover>, String> {
        (self.left, self.megahertz) = (Some(instructions), megahertz);
        self.run(system, main)?;
        Ok(self.handed_over.then(|| self.hand_over()))
    }

    /// Runs a program until it exits or is handed over.
    fn run(&mut self, system: &mut System, main: Task) -> Result<(), String> {
        self.set_affinity(0, &system.cores_of(&main));
        self.ready.push_back((0, main));
        loop {
            let Some((handle, mut task)) = self.take_next() else {
                if !self.wake_earliest() {
                    return Err(self.stopped("deadlock after", system));
                }
                continue;
            };
            if self.clock >= self.limit || self.stop.is_some_and(|stop| stop()) {
                self.ready.push_front((handle, task));
                return Err(self.stopped("the program still ran after", system));
            }
            self.running = handle;
            let slice = match &mut self.warmth {
                None => SLICE,
                Some(warmth) => {
                    warmth.begin(handle);
                    self.slice_end = warmth.now() + WARM_SLICE;
                    WARM_SLICE
                }
            };
            self.passed = self.clock;
            let most = self.left.unwrap_or(slice).min(self.limit - self.clock);
            self.until = self.clock + most.min(slice);
            (self.sleeps, self.waits, self.watched) = (false, false, None);
            let changes = self.changes;
            task.hart.lose_reservation();
            let before = task.hart.retired;
            self.began = self.clock;
            let state = resume(system, &mut task, self);
            *self.used.entry(handle).or_default() += self.clock - self.began;
            self.woken.remove(&handle);
            if let Some(left) = &mut self.left {
                *left = left.saturating_sub(task.hart.retired.saturating_sub(before));
                self.handed_over |= *left == 0;
            }
            match state {
                TaskState::Exited => {
                    self.handed_over = false;
                    return Ok(());
                }
                TaskState::Ended => {
                    self.leave_core();
                    for joiner in std::mem::take(&mut self.joiners) {
                        self.wake(joiner, Wake::Called);
                    }
                }
                TaskState::Suspended if self.sleeps => {
                    self.leave_core();
                    self.blocked.insert(handle, task);
                }
                TaskState::Suspended => self.ready.push_back((handle, task)),
            }
            let least = if self.waits { WARM_SLICE } else { 1 };
            if let Some(warmth) = self.warmth() {
                warmth.end(handle, least);
            }
            if self.handed_over {
                return Ok(());
            }
            match self.watched {
                Some(word) if self.changes == changes => {
                    self.spins.insert(handle, word);
                }
                _ => self.spins.clear(),
            }
            // No sleep ends by itself.
            let ends = || self.sleepers.values().any(|(_, until)| until.is_some());
            if self.all_spin() && !ends() {
                return Err(self.stopped("deadlock after", system));
            }
            self.wake_late();
        }
    }

    /// Whether each ready task has only spun since another task did something.
    fn all_spin(&self) -> bool {
        let mut ready = self.ready.iter();
        !self.spins.is_empty() && ready.all(|(handle, _)| self.spins.contains_key(handle))
    }

    /// Converts nanoseconds to cycles of the machine that continues the program.
    fn cycles_of(&self, nanoseconds: u64) -> u64 {
        (nanoseconds as f64 * self.megahertz / 1_000.0) as u64
    }

    fn core_of(&self, handle: u32) -> u32 {
        match &self.warmth {
            Some(warmth) => warmth.core_of(handle),
            None => {
                let place = self.places.get(&handle).copied();
                place.unwrap_or(handle % self.topology.cores())
            }
        }
    }

    fn leave_core(&mut self) {
        let running = self.running;
        if let Some(warmth) = self.warmth() {
            warmth.rest(running);
        }
    }

    fn wake(&mut self, handle: u32, by: Wake) {
        // The woken task must have a slice before the run may count as a deadlock.
        self.spins.clear();
        self.sleepers.remove(&handle);
        self.woken.insert(handle, by);
        if let Some(task) = self.blocked.remove(&handle) {
            match self.warmth() {
                Some(warmth) if by == Wake::Late => warmth.wake_late(handle),
                Some(warmth) => warmth.wake(handle),
                None => {}
            }
            self.ready.push_back((handle, task));
        }
    }

    /// Wakes each task whose sleep has ended.
    fn wake_late(&mut self) {
        if self.sleepers.is_empty() {
            return;
        }
        let clock = self.clock;
        let over =
            |(_, (_, until)): &(&u32, &(u64, Option<u64>))| until.is_some_and(|at| at <= clock);
        let late: Vec<u32> = self
            .sleepers
            .iter()
            .filter(over)
            .map(|(&handle, _)| handle)
            .collect();
        for handle in late {
            self.wake(handle, Wake::Late);
        }
    }

    /// All tasks sleep: advances the clock to the first end of a sleep. Returns `false` if no sleep has an end.
    fn wake_earliest(&mut self) -> bool {
        let times = self
            .sleepers
            .iter()
            .filter_map(|(&handle, &(_, until))| Some((until?, handle)));
        let Some((until, handle)) = times.min() else {
            return false;
        };
        self.clock = self.clock.max(until);
        self.wake(handle, Wake::Late);
        true
    }
}

impl Machine for Functional {
    #[inline(always)]
    fn work(&mut self, instructions: u32) {
        self.clock += u64::from(instructions);
    }

    #[inline(always)]
    fn access(&mut self, place: Place, width: Width, operation: Operation) -> Answer {
        self.clock += 1;
        let writes = !operation.reads_only();
        if writes {
            self.changes += 1;
        }
        if self.warmth.is_some() {
            self.warm(place, width, writes);
        }
        // SAFETY: the place is in the process's space, and the hart has aligned it. One host thread runs all harts.
        Answer::Done(unsafe { apply(place.host, width, operation) })
    }

    fn reply(&mut self) -> (u64, bool) {
        unreachable!("every access is done at once")
    }

    #[inline(always)]
    fn must_pause(&mut self) -> bool {
        self.clock >= self.until
    }

    fn relax(&mut self) {
        // The slice ends, so that the awaited thread can run.
        self.until = self.clock;
        self.clock += 1;
        self.waits = true;
    }

    fn watch(&mut self, place: Place, cycles: Option<u64>) -> bool {
        // No other thread runs in this slice, so the task waits at least until its next slice.
        self.clock += 1;
        self.waits = true;
        if cycles.is_none() {
            self.watched = Some(place.physical);
        }
        true
    }

    #[inline(always)]
    fn cycles(&self) -> u64 {
        self.clock
    }

    fn nanoseconds(&self) -> u64 {
        self.clock
    }

    fn line(&self) -> u64 {
        64
    }
}

impl World for Functional {
    fn enter(&mut self, entry: Entry) {
        self.changes += 1;
        self.clock += 1;
        if let Some(warmth) = self.warmth() {
            match entry {
                Entry::Plain => warmth.enter_kernel(),
                Entry::Wait => warmth.enter_futex_wait(),
                Entry::Spawn => warmth.enter_kernel_to_spawn(),
            }
        }
    }

    fn must_wait(&mut self) -> bool {
        // If the instructions are used up, the other machine executes the system call. If another task is behind, it may
        // call the system first.
        self.left.is_some() && (self.clock >= self.until || self.is_ahead())
    }

    fn busy_nanoseconds(&self) -> u64 {
        self.clock
    }

    fn own_nanoseconds(&self) -> u64 {
        let earlier = self.used.get(&self.running).copied();
        earlier.unwrap_or(0) + (self.clock - self.began)
    }

    fn cycles_at(&self, nanoseconds: u64) -> u64 {
        nanoseconds
    }

    fn futex_wait(&mut self, physical: u64, nanoseconds: Option<u64>) {
        let until = nanoseconds.map(|time| self.clock.saturating_add(time));
        self.sleepers.insert(self.running, (physical, until));
        self.sleeps = true;
    }

    fn woken(&mut self) -> Wake {
        self.woken.remove(&self.running).unwrap_or(Wake::Called)
    }

    fn futex_wake(&mut self, physical: u64, count: u32) -> u64 {
        let there = self.sleepers.iter().filter(|(_, (at, _))| *at == physical);
        let mut there: Vec<u32> = there.map(|(&handle, _)| handle).collect();
        if let Some(warmth) = &self.warmth {
            there.sort_by_key(|&handle| warmth.ran_until(handle));
        }
        there.truncate(count as usize);
        debug_assert!(!self.sleeps || !there.contains(&self.running));
        for &handle in &there {
            self.wake(handle, Wake::Called);
        }
        there.len() as u64
    }

    fn spawn(&mut self, task: Task, cores: &[usize]) -> u32 {
        let handle = self.next;
        self.next += 1;
        match self.warmth() {
            Some(warmth) => warmth.spawn(handle, cores),
            None => {
                self.set_affinity(handle, cores);
            }
        }
        self.ready.push_back((handle, task));
        handle
    }

    fn disturb(&mut self, handle: u32) {
        // A task that falls asleep in this slice is not asleep yet, so nothing can wake it.
        debug_assert!(handle != self.running || !self.sleeps);
        // A task that waits in a loop looks again in its next slice. Only a sleeping task is woken.
        if self.sleepers.contains_key(&handle) {
            self.wake(handle, Wake::Disturbed);
        }
    }

    /// This machine executes one task at a time, in order.
    fn fence(&mut self, _: &[u32]) {}

    fn join(&mut self, _: u32) -> bool {
        self.joiners.push(self.running);
        self.sleeps = true;
        true
    }

    fn yield_now(&mut self) {
        self.waits = true;
    }

    fn set_affinity(&mut self, handle: u32, cores: &[usize]) -> bool {
        match &mut self.warmth {
            Some(warmth) => warmth.confine(handle, cores),
            None if cores.is_empty() => {}
            None => {
                let core = cores[handle as usize % cores.len()];
                self.places.insert(handle, core as u32);
            }
        }
        cores.iter().all(|&core| core < self.cores() as usize)
    }

    fn core(&self) -> u32 {
        self.core_of(self.running)
    }

    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn megahertz(&self) -> f64 {
        self.megahertz
    }

    fn hands_over(&mut self) -> bool {
        // A task that is behind may begin the region first.
        self.handed_over = self.left.is_some() && !self.is_ahead();
        self.left.is_some()
    }

    fn mark(&mut self, _: Mark) {}

    fn network(&mut self, _: u32, _: u64, _: u64) -> Delivered {
        Delivered::Nothing
    }
}
