//! A guest's threads, and the cores that they may use.

use super::core::Core;
use super::run::{Guest, GuestBody};
use crate::engine::Before;
use crate::os::ThreadId;

/// A handle to a guest's thread, which [`Core::spawn`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestThread(pub(super) ThreadId);

impl Core<'_> {
    /// Makes a thread that may run on `cpus`, or on all cores if `cpus` is empty.
    ///
    /// # Errors
    ///
    /// Fails with the number of a core that the machine does not have.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let mut child = None;
    /// let main = move |core: &mut Core<'_>| {
    ///     if child.is_none() {
    ///         let body = |core: &mut Core<'_>| {
    ///             assert_eq!(core.number(), 5);
    ///             State::Ended
    ///         };
    ///         core.enter_kernel_to_spawn();
    ///         child = core.spawn("child".into(), Box::new(body), &[5]).ok();
    ///     }
    ///     match child {
    ///         Some(child) if core.join(child) => State::Suspended,
    ///         _ => State::Exited,
    ///     }
    /// };
    /// let run = Simulation::new(&machine).run_guest(Box::new(main))?;
    /// assert_eq!(run.statistics.threads, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawn(
        &mut self,
        name: String,
        guest: Box<dyn Guest>,
        cpus: &[usize],
    ) -> Result<GuestThread, usize> {
        let body = Box::new(GuestBody(guest));
        self.engine
            .spawn(self.core, name, body, cpus)
            .map(GuestThread)
    }

    /// Adds a thread that existed on core `on` before simulated time began. It may run on `cpus`,
    /// or on all cores if `cpus` is empty. A thread that ran continues on its core at once, without
    /// a spawn, a wake-up or a switch. A sleeper continues to sleep. The scheduler places a thread
    /// that was woken.
    ///
    /// # Errors
    ///
    /// Fails with the number of a core that the machine does not have.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("dahu")?;
    /// let mut child = None;
    /// let main = move |core: &mut Core<'_>| {
    ///     let began = core.clock();
    ///     let body = move |core: &mut Core<'_>| {
    ///         assert_eq!(core.number(), 5);
    ///         // A few cycles pass between cores; a switch alone takes more.
    ///         assert!(core.clock() < began + 100);
    ///         State::Ended
    ///     };
    ///     let ran = (5, Before::Ran(0));
    ///     let child = *child.get_or_insert_with(|| core.go_on_with("child".into(), Box::new(body), ran, &[]));
    ///     match child {
    ///         Ok(child) if core.join(child) => State::Suspended,
    ///         _ => State::Exited,
    ///     }
    /// };
    /// let run = Simulation::new(&machine).run_guest(Box::new(main))?;
    /// assert_eq!(run.statistics.threads, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn go_on_with(
        &mut self,
        name: String,
        guest: Box<dyn Guest>,
        on: (usize, Before),
        cpus: &[usize],
    ) -> Result<GuestThread, usize> {
        let body = Box::new(GuestBody(guest));
        self.engine
            .go_on_with(self.core, name, body, on, cpus)
            .map(GuestThread)
    }

    /// From now on, the run lasts until a thread ends the program ([`State::Exited`](super::State::Exited)), even if
    /// the main thread has ended.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     core.outlive_main();
    ///     let other = |core: &mut Core<'_>| {
    ///         core.execute(50_000, &mut 0);
    ///         State::Exited
    ///     };
    ///     core.spawn("other".into(), Box::new(other), &[1]).expect("core 1 is there");
    ///     State::Ended
    /// };
    /// let run = Simulation::new(&machine).run_guest(Box::new(main))?;
    /// assert!(run.statistics.cycles >= 50_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn outlive_main(&mut self) {
        self.engine.outlive_main();
    }

    /// The thread that runs here.
    ///
    /// # Panics
    ///
    /// Never, since a guest that calls this runs on a core.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     assert_eq!(core.this_thread(), core.this_thread());
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn this_thread(&self) -> GuestThread {
        let thread = self.engine.ports[self.core as usize].thread;
        GuestThread(thread.expect("the calling thread runs on this core"))
    }

    /// Waits for a thread to end. Returns `false` if the thread has ended already. Otherwise the guest must suspend.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let mut child = None;
    /// let main = move |core: &mut Core<'_>| {
    ///     let child = *child.get_or_insert_with(|| {
    ///         let body = |core: &mut Core<'_>| {
    ///             core.execute(5_000, &mut 0);
    ///             State::Ended
    ///         };
    ///         core.spawn("child".into(), Box::new(body), &[]).expect("all cores are there")
    ///     });
    ///     if core.join(child) { State::Suspended } else { State::Exited }
    /// };
    /// let run = Simulation::new(&machine).run_guest(Box::new(main))?;
    /// assert!(run.statistics.cycles > 5_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn join(&mut self, thread: GuestThread) -> bool {
        self.engine.join(self.core, thread.0)
    }

    /// Sets the cores that a thread may run on from now on. An empty set means all cores.
    ///
    /// # Errors
    ///
    /// Fails with the number of a core that the machine does not have.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let mut told = false;
    /// let main = move |core: &mut Core<'_>| {
    ///     if !std::mem::replace(&mut told, true) {
    ///         let me = core.this_thread();
    ///         assert_eq!(core.set_affinity(me, &[64]), Err(64));
    ///         core.set_affinity(me, &[3]).expect("the machine has core 3");
    ///     }
    ///     // The thread moves when it next suspends.
    ///     while core.number() != 3 {
    ///         core.relax();
    ///         if core.must_wait() {
    ///             return State::Suspended;
    ///         }
    ///     }
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_affinity(&mut self, thread: GuestThread, cpus: &[usize]) -> Result<(), usize> {
        self.engine.set_affinity(self.core, thread.0, cpus)
    }

    /// Ends a thread's sleep on a futex or its wait for a line ([`watch`](Self::watch)). A wait that is about to begin
    /// ends too. So the thread can notice another event, such as a signal.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let mut word = 0u64;
    /// let word: *mut u8 = (&raw mut word).cast();
    /// let mut step = 0;
    /// let main = move |core: &mut Core<'_>| {
    ///     step += 1;
    ///     match step {
    ///         1 => {
    ///             let main = core.this_thread();
    ///             let other = move |core: &mut Core<'_>| {
    ///                 core.execute(50_000, &mut 0);
    ///                 core.disturb(main);
    ///                 State::Ended
    ///             };
    ///             core.spawn("other".into(), Box::new(other), &[1]).expect("core 1 is there");
    ///             // SAFETY: the local variable above, which this host thread alone uses.
    ///             drop(unsafe { core.access(FIRST_ADDRESS, word, Width::Eight, Operation::Load) });
    ///         }
    ///         // No core takes the line.
    ///         2 => assert!(core.watch(FIRST_ADDRESS, None)),
    ///         _ => {
    ///             assert!(core.clock() > 50_000);
    ///             return State::Exited;
    ///         }
    ///     }
    ///     State::Suspended
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn disturb(&mut self, thread: GuestThread) {
        self.engine.disturb(self.core, thread.0);
    }
}
