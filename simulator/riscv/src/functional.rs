//! A machine without time: memory alone, and threads that take turns.
//!
//! A thread runs for a slice of instructions; then the next ready thread runs. The clock is the number
//! of instructions, one in a nanosecond.

use crate::hart::Machine;
use crate::linux::{Delivered, Entry, System, Task, TaskState, Wake, World, name, resume};
use crate::memory::Place;
use crate::region::Mark;
use manycore_chip::config::Topology;
use manycore_chip::guest::{Answer, Operation, Warmth, Width, apply};
use std::collections::{BTreeMap, VecDeque};

/// The most threads that a message names.
const SHOWN: usize = 16;

/// Instructions of a slice.
const SLICE: u64 = 10_000;

/// A machine that a program sees as `topology` says.
pub(crate) struct Functional {
    topology: Topology,
    megahertz: f64,
    /// Instructions that are left until the program goes on on another machine, where it goes when
    /// its region of interest begins too; `None` if it runs to its end here.
    left: Option<u64>,
    /// It goes there now.
    handed_over: bool,
    clock: u64,
    /// The most instructions.
    limit: u64,
    /// Stores and system calls until now.
    changes: u64,
    /// The word that the running task reads in a loop which only a store of another task ends.
    watched: Option<u64>,
    /// The word that each task waited for when it last did nothing else.
    spins: BTreeMap<u32, u64>,
    /// How many tasks in a row did nothing but wait in such loops.
    idle: usize,
    /// The clock at which the running task makes way.
    until: u64,
    running: u32,
    ready: VecDeque<(u32, Task)>,
    next: u32,
    /// The word on which each sleeper sleeps, and the end of the sleep.
    sleepers: BTreeMap<u32, (u64, Option<u64>)>,
    blocked: BTreeMap<u32, Task>,
    joiners: Vec<u32>,
    /// A core for each task that has an affinity.
    places: BTreeMap<u32, u32>,
    /// The running task sleeps from now on.
    sleeps: bool,
    woken: BTreeMap<u32, Wake>,
    /// The caches of the machine that runs the region, and the running task's core there.
    warmth: Option<(Warmth, u32)>,
}

/// A program that goes on on another machine.
pub(crate) struct Handover {
    /// Its threads; the main thread is the first.
    pub(crate) tasks: Vec<Task>,
    /// The core of each task. The task has warmed its caches.
    pub(crate) cores: Vec<u32>,
    /// The clock until now.
    pub(crate) clock: u64,
    /// The machine's caches, if they were warmed.
    pub(crate) warmth: Option<Warmth>,
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
            changes: 0,
            watched: None,
            spins: BTreeMap::new(),
            idle: 0,
            until: 0,
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
        }
    }

    /// Accesses warm the caches of the machine that runs the region.
    pub(crate) fn warming(mut self, warmth: Warmth) -> Self {
        self.warmth = Some((warmth, 0));
        self
    }

    /// As above, for at most this number of instructions.
    pub(crate) fn limit(mut self, instructions: u64) -> Self {
        self.limit = instructions;
        self
    }

    /// The running task's caches see an access. Out of line: programs that are not handed over go by.
    #[cold]
    #[inline(never)]
    fn warm(&mut self, place: Place, width: Width, writes: bool) {
        if let Some((warmth, core)) = &mut self.warmth {
            // SAFETY: a place of the process's space, aligned by the hart; one host thread runs all.
            unsafe { warmth.access(*core, place.physical, place.host, width, writes) };
        }
    }

    /// Runs a program until it exits; else why it was stopped.
    pub(crate) fn run_alone(mut self, system: &mut System, main: Task) -> Result<(), String> {
        self.run(system, main)
    }

    /// Runs a program until its region of interest begins, for at most `instructions`, on a machine
    /// that shows the program the clock rate of the next machine; `None` if the program exits before.
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

    /// Runs a program until it exits, or is handed over.
    fn run(&mut self, system: &mut System, main: Task) -> Result<(), String> {
        self.set_affinity(0, &system.cores_of(&main));
        self.ready.push_back((0, main));
        loop {
            let Some((handle, mut task)) = self.ready.pop_front() else {
                if !self.wake_earliest() {
                    return Err(self.stopped("deadlock after", system));
                }
                continue;
            };
            if self.clock >= self.limit {
                self.ready.push_front((handle, task));
                return Err(self.stopped("the program still ran after", system));
            }
            self.running = handle;
            let core = self.core();
            if let Some((_, here)) = &mut self.warmth {
                *here = core;
            }
            let most = self.left.unwrap_or(SLICE).min(self.limit - self.clock);
            self.until = self.clock + most.min(SLICE);
            self.sleeps = false;
            self.watched = None;
            let changes = self.changes;
            task.hart.lose_reservation();
            let before = task.hart.retired;
            let state = resume(system, &mut task, self);
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
                    for joiner in std::mem::take(&mut self.joiners) {
                        self.wake(joiner, Wake::Called);
                    }
                }
                TaskState::Suspended if self.sleeps => {
                    self.blocked.insert(handle, task);
                }
                TaskState::Suspended => self.ready.push_back((handle, task)),
            }
            if self.handed_over {
                return Ok(());
            }
            match self.watched {
                Some(word) if self.changes == changes => {
                    self.idle += 1;
                    self.spins.insert(handle, word);
                }
                _ => self.idle = 0,
            }
            // Each had a turn, and no sleeper wakes by itself.
            let ends = || self.sleepers.values().any(|(_, until)| until.is_some());
            if self.idle > self.ready.len() && !ends() {
                return Err(self.stopped("deadlock after", system));
            }
            self.wake_late();
        }
    }

    /// All threads, as another machine can go on with them.
    fn hand_over(self) -> Handover {
        let mut tasks: BTreeMap<u32, Task> = self.ready.into_iter().collect();
        for (handle, task) in &mut tasks {
            task.hand_over(false, self.woken.get(handle).copied());
        }
        for (handle, mut task) in self.blocked {
            task.hand_over(self.sleepers.contains_key(&handle), None);
            tasks.insert(handle, task);
        }
        let (places, all) = (&self.places, self.topology.cores());
        let place = |handle: &u32| places.get(handle).copied().unwrap_or(handle % all);
        Handover {
            cores: tasks.keys().map(place).collect(),
            tasks: tasks.into_values().collect(),
            clock: self.clock,
            warmth: self.warmth.map(|(warmth, _)| warmth),
        }
    }

    /// Why the program is stopped, and what its threads do.
    fn stopped(&self, why: &str, system: &System) -> String {
        let all_spin = self.idle > self.ready.len();
        let ready = self.ready.iter().map(|(handle, task)| {
            let word = self.spins.get(handle).filter(|_| all_spin);
            let what = match word {
                Some(word) => format!("spins on {}", system.describe_word(*word)),
                None => format!("runs at {}", system.describe_here(task)),
            };
            (task, what)
        });
        let blocked = self.blocked.iter().map(|(handle, task)| {
            let what = match self.sleepers.get(handle) {
                Some((word, _)) => {
                    format!("sleeps on the futex {}", system.describe_word(*word))
                }
                None => "waits for another thread to end".into(),
            };
            (task, what)
        });
        let mut threads: Vec<_> = ready.chain(blocked).collect();
        threads.sort_unstable_by_key(|(task, _)| task.number());
        let more = threads.len().saturating_sub(SHOWN);
        let shown = threads.iter().take(SHOWN);
        let mut texts: Vec<String> = shown
            .map(|(task, what)| format!("thread {} {what}", name(task)))
            .collect();
        if more > 0 {
            texts.push(format!("and {more} more"));
        }
        format!("{why} {} instructions: {}", self.clock, texts.join("; "))
    }

    fn wake(&mut self, handle: u32, by: Wake) {
        // The woken task has not had its turn.
        self.idle = 0;
        self.sleepers.remove(&handle);
        self.woken.insert(handle, by);
        if let Some(task) = self.blocked.remove(&handle) {
            self.ready.push_back((handle, task));
        }
    }

    /// Wakes each sleeper at the end of its sleep.
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

    /// All sleep: time goes on to the end of the first sleep that has one.
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
        let writes = !matches!(operation, Operation::Load | Operation::TouchRead);
        if writes {
            self.changes += 1;
        }
        if self.warmth.is_some() {
            self.warm(place, width, writes);
        }
        // SAFETY: a place of the process's space, aligned by the hart; one host thread runs all.
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
        // Let the awaited thread run.
        self.until = self.clock;
        self.clock += 1;
    }

    fn watch(&mut self, place: Place, cycles: Option<u64>) -> bool {
        // No other thread runs in this slice.
        self.clock += 1;
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
    fn enter(&mut self, _: Entry) {
        self.changes += 1;
        self.clock += 1;
    }

    fn must_wait(&mut self) -> bool {
        // A system call that comes when the instructions are used up is the other machine's.
        self.left.is_some() && self.clock >= self.until
    }

    fn busy_nanoseconds(&self) -> u64 {
        self.clock
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
        let there: Vec<u32> = there
            .map(|(&handle, _)| handle)
            .take(count as usize)
            .collect();
        for &handle in &there {
            self.wake(handle, Wake::Called);
        }
        there.len() as u64
    }

    fn spawn(&mut self, task: Task, cores: &[usize]) -> u32 {
        let handle = self.next;
        self.next += 1;
        self.set_affinity(handle, cores);
        self.ready.push_back((handle, task));
        handle
    }

    fn disturb(&mut self, handle: u32) {
        // Whoever waits in a loop looks again in its next slice.
        if self.sleepers.contains_key(&handle) {
            self.wake(handle, Wake::Disturbed);
        }
    }

    fn join(&mut self, _: u32) -> bool {
        self.joiners.push(self.running);
        self.sleeps = true;
        true
    }

    fn yield_now(&mut self) {}

    fn set_affinity(&mut self, handle: u32, cores: &[usize]) -> bool {
        if !cores.is_empty() {
            let core = cores[handle as usize % cores.len()];
            self.places.insert(handle, core as u32);
        }
        cores.iter().all(|&core| core < self.cores() as usize)
    }

    fn core(&self) -> u32 {
        let place = self.places.get(&self.running);
        place.copied().unwrap_or(self.running % self.cores())
    }

    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn megahertz(&self) -> f64 {
        self.megahertz
    }

    fn hands_over(&mut self) -> bool {
        self.handed_over = self.left.is_some();
        self.handed_over
    }

    fn mark(&mut self, _: Mark) {}

    fn network(&mut self, _: u32, _: u64, _: u64) -> Delivered {
        Delivered::Nothing
    }
}
