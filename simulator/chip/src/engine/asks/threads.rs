//! Threads: their start and end, their cores, and their data for the front end.

use crate::core_set::CoreSet;
use crate::engine::thread::{Before, Body, State, Thread, Wait};
use crate::engine::{Engine, Event, LONGEST, MAIN};
use crate::os::ThreadId;

impl Engine {
    /// Starts the program's main thread, on core 0 at time 0. If the thread `ran_before` (before simulated time began),
    /// its start takes no time.
    pub(crate) fn start(&mut self, body: Box<dyn Body>, ran_before: bool) {
        let affinity = CoreSet::below(self.config.cores);
        self.threads.push(Thread {
            ran_before,
            ..Thread::new("main".into(), body)
        });
        self.scheduler.spawn(MAIN, affinity, 0);
        self.dispatch(0);
    }

    /// Makes a thread that may run on `affinity`, or on all cores if `affinity` is empty.
    ///
    /// # Errors
    ///
    /// Fails with the number of a core that the machine does not have.
    pub(crate) fn spawn(
        &mut self,
        core: u32,
        name: String,
        body: Box<dyn Body>,
        cpus: &[usize],
    ) -> Result<ThreadId, usize> {
        let affinity = match self.affinity(cpus) {
            Ok(affinity) => affinity,
            Err(wrong) => {
                body.abandon();
                return Err(wrong);
            }
        };
        let thread = self.threads.len() as ThreadId;
        self.threads.push(Thread::new(name, body));
        let at = self.ports[core as usize].clock;
        self.charge_until(self.scheduler.idlest(core, &affinity), at);
        let placement = self.scheduler.spawn(thread, affinity, core);
        self.placed(placement, at);
        self.set_horizon(core);
        Ok(thread)
    }

    /// Adds a thread that was on core `on` before simulated time began, and may run on `cpus`. If the thread ran, it
    /// continues on this core.
    ///
    /// # Errors
    ///
    /// Fails with the number of a core that the machine does not have.
    pub(crate) fn go_on_with(
        &mut self,
        core: u32,
        name: String,
        body: Box<dyn Body>,
        (on, before): (usize, Before),
        cpus: &[usize],
    ) -> Result<ThreadId, usize> {
        let sets = self
            .affinity(cpus)
            .and_then(|all| Ok((all, self.affinity(&[on])?)));
        let (affinity, own) = match sets {
            Ok(sets) => sets,
            Err(wrong) => {
                body.abandon();
                return Err(wrong);
            }
        };
        let thread = self.threads.len() as ThreadId;
        self.threads.push(Thread {
            ran_before: matches!(before, Before::Ran(_)),
            ..Thread::new(name, body)
        });
        let at = self.ports[core as usize].clock;
        match before {
            Before::Ran(after) => {
                self.go_on(thread, own, affinity, at + after.min(LONGEST));
            }
            Before::Slept { address, cycles } => {
                self.scheduler.asleep(at, thread, affinity, on as u32);
                let address = self.addresses.simulated(address as usize);
                let wait = self.sleeps((on as u32, thread), address, at, cycles);
                self.threads[thread as usize].state = State::Blocked(wait);
                self.waits(thread, wait, at);
            }
        }
        self.set_horizon(core);
        Ok(thread)
    }

    /// Starts a new thread on its `own` core at `at`. Later it may run on the cores of `affinity`.
    fn go_on(&mut self, thread: ThreadId, own: CoreSet, affinity: CoreSet, at: u64) {
        let core = own.iter().next().expect("it has a core of its own");
        let placement = self.scheduler.spawn(thread, own, core);
        let port = &mut self.ports[placement.core as usize];
        if placement.idle && !port.waking {
            port.waking = true;
            self.agenda
                .plan(at + self.lookahead, placement.core, Event::Wake);
        } else {
            // Another thread already runs on the core.
            self.threads[thread as usize].ran_before = false;
            self.placed(placement, at);
        }
        self.confine(thread, affinity, at);
    }

    /// Waits for a thread to end. Returns `false` if the thread has ended already. Otherwise the caller must suspend.
    pub(crate) fn join(&mut self, core: u32, thread: ThreadId) -> bool {
        if self.threads[thread as usize].state == State::Ended {
            return false;
        }
        if let Some(me) = self.ports[core as usize].thread {
            self.threads[thread as usize].joiners.push(me);
        }
        self.block(core, Wait::Join(thread));
        true
    }

    /// Sets the cores that a thread may run on from now on. An empty set means all cores.
    ///
    /// # Errors
    ///
    /// Fails with the number of a core that the machine does not have.
    pub(crate) fn set_affinity(
        &mut self,
        core: u32,
        thread: ThreadId,
        cpus: &[usize],
    ) -> Result<(), usize> {
        let affinity = self.affinity(cpus)?;
        let at = self.ports[core as usize].clock;
        self.confine(thread, affinity, at);
        self.set_horizon(core);
        Ok(())
    }

    /// If wake-ups are sticky, returns the cores that a thread may run on, and the cores among them that are not taken.
    /// Returns `None` if all are taken.
    pub(crate) fn cores_elsewhere(
        &self,
        thread: u64,
        is_taken: &dyn Fn(usize) -> bool,
    ) -> Option<(Vec<usize>, Vec<usize>)> {
        let thread = ThreadId::try_from(thread).ok()?;
        let exists = (thread as usize) < self.threads.len();
        if self.config.os.sticky_wakes != Some(true) || !exists {
            return None;
        }
        let all = self
            .scheduler
            .affinity(thread)
            .iter_in(0..self.config.cores);
        let all: Vec<usize> = all.map(|core| core as usize).collect();
        let free: Vec<usize> = all
            .iter()
            .copied()
            .filter(|&core| !is_taken(core))
            .collect();
        (!free.is_empty()).then_some((all, free))
    }

    /// The set of `cpus`, or all cores if `cpus` is empty.
    fn affinity(&self, cpus: &[usize]) -> Result<CoreSet, usize> {
        let cores = self.config.cores;
        match cpus.iter().find(|&&cpu| cpu >= cores as usize) {
            Some(&wrong) => Err(wrong),
            None if cpus.is_empty() => Ok(CoreSet::below(cores)),
            None => Ok(cpus.iter().map(|&cpu| cpu as u32).collect()),
        }
    }

    pub(crate) fn slot(&mut self, core: u32) -> *const () {
        let thread = self.ports[core as usize].thread;
        thread.map_or(std::ptr::null(), |thread| {
            self.threads[thread as usize].slot
        })
    }

    pub(crate) fn set_slot(&mut self, core: u32, value: *const ()) {
        if let Some(thread) = self.ports[core as usize].thread {
            self.threads[thread as usize].slot = value;
        }
    }

    pub(crate) fn take_body(&mut self, core: u32) -> Option<(ThreadId, Box<dyn Body>)> {
        let thread = self.ports[core as usize].thread?;
        let body = self.threads[thread as usize].body.take()?;
        Some((thread, body))
    }

    pub(crate) fn put_body(&mut self, thread: ThreadId, body: Box<dyn Body>) {
        self.threads[thread as usize].body = Some(body);
    }
}
