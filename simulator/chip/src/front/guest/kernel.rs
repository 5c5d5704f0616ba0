//! A guest's requests to the operating system: kernel calls, sleep, and fences.

use super::core::Core;
use super::threads::GuestThread;
use crate::engine::{DISTURBED, LATE};
use crate::os::ThreadId;
use std::collections::HashSet;
use std::ops::Range;

impl Core<'_> {
    /// Enters the kernel.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     let before = core.clock();
    ///     core.enter_kernel();
    ///     assert_eq!(core.clock() - before, core.machine().os.syscall.max(1));
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enter_kernel(&mut self) {
        self.engine.enter_kernel(self.core);
    }

    /// Continues a kernel call that began before simulated time: the call takes `cycles` more.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     let before = core.clock();
    ///     core.go_on_in_kernel(5_000);
    ///     assert_eq!(core.clock() - before, 5_000);
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn go_on_in_kernel(&mut self, cycles: u64) {
        self.engine.go_on_in_kernel(self.core, cycles);
    }

    /// Enters the kernel to wait on a futex.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     let before = core.clock();
    ///     core.enter_futex_wait();
    ///     let os = &core.machine().os;
    ///     assert_eq!(core.clock() - before, os.syscall + os.futex_wait);
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enter_futex_wait(&mut self) {
        self.engine.enter_futex_wait(self.core);
    }

    /// Enters the kernel to make a thread.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     let before = core.clock();
    ///     core.enter_kernel_to_spawn();
    ///     assert_eq!(core.clock() - before, core.machine().os.spawn);
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enter_kernel_to_spawn(&mut self) {
        self.engine.enter_kernel_to_spawn(self.core);
    }

    /// Sleeps on the futex at `address` for at most `cycles`. Before this call, the guest compares the word in the
    /// order of simulated time ([`must_wait`](Self::must_wait)). After this call, the guest must suspend.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let mut sleeps = false;
    /// let main = move |core: &mut Core<'_>| {
    ///     if sleeps {
    ///         // No thread woke it: its time was over.
    ///         assert!(core.timed_out());
    ///         return State::Exited;
    ///     }
    ///     sleeps = true;
    ///     core.enter_futex_wait();
    ///     core.futex_wait(FIRST_ADDRESS, Some(10_000));
    ///     State::Suspended
    /// };
    /// let run = Simulation::new(&machine).run_guest(Box::new(main))?;
    /// assert!(run.statistics.cycles > 10_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn futex_wait(&mut self, address: u64, cycles: Option<u64>) {
        self.engine.futex_wait(self.core, address as usize, cycles);
    }

    /// Whether the latest sleep on a futex ended by its timeout.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let mut sleeps = false;
    /// let main = move |core: &mut Core<'_>| {
    ///     if std::mem::replace(&mut sleeps, true) {
    ///         assert!(core.timed_out());
    ///         return State::Exited;
    ///     }
    ///     core.futex_wait(FIRST_ADDRESS, Some(1));
    ///     State::Suspended
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn timed_out(&mut self) -> bool {
        self.reply().0 == LATE
    }

    /// Whether the latest sleep on a futex was ended by [`disturb`](Self::disturb).
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let mut step = 0;
    /// let main = move |core: &mut Core<'_>| {
    ///     step += 1;
    ///     if step == 2 {
    ///         // No thread woke it, and it had no timeout.
    ///         assert!(core.disturbed() && !core.timed_out());
    ///         return State::Exited;
    ///     }
    ///     let main = core.this_thread();
    ///     let other = move |core: &mut Core<'_>| {
    ///         core.execute(50_000, &mut 0);
    ///         if core.must_wait() {
    ///             return State::Suspended;
    ///         }
    ///         core.disturb(main);
    ///         State::Ended
    ///     };
    ///     core.spawn("other".into(), Box::new(other), &[1]).expect("core 1 is there");
    ///     core.futex_wait(FIRST_ADDRESS, None);
    ///     State::Suspended
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn disturbed(&mut self) -> bool {
        self.reply().0 == DISTURBED
    }

    /// Wakes up to `count` threads that sleep at `address`. Returns the number of woken threads.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     // No thread sleeps there.
    ///     assert_eq!(core.futex_wake(FIRST_ADDRESS, 1), 0);
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn futex_wake(&mut self, address: u64, count: u32) -> usize {
        self.engine.futex_wake(self.core, address as usize, count)
    }

    /// The guest's kernel has written `addresses` for a program, without an access of the core. Guests that
    /// [watch](Self::watch) a line of these addresses continue.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let mut machine = Config::preset("atac-64")?;
    /// # machine.cores = 2;
    /// let mut data = [0_u64];
    /// let word = data.as_mut_ptr().cast::<u8>();
    /// let mut step = 0;
    /// let main = move |core: &mut Core<'_>| {
    ///     step += 1;
    ///     match step {
    ///         1 => {
    ///             let other = |core: &mut Core<'_>| {
    ///                 core.execute(50_000, &mut 0);
    ///                 core.written(&[FIRST_ADDRESS..FIRST_ADDRESS + 8]);
    ///                 State::Ended
    ///             };
    ///             core.spawn("other".into(), Box::new(other), &[1]).expect("core 1 is there");
    ///             // SAFETY: the local variable above, which this host thread alone uses.
    ///             drop(unsafe { core.access(FIRST_ADDRESS, word, Width::Eight, Operation::Load) });
    ///         }
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
    pub fn written(&mut self, addresses: &[Range<u64>]) {
        self.engine.written(self.core, addresses);
    }

    /// Executes a fence on this core, and on all other cores that run these `threads`. Linux does so in `membarrier`: the
    /// core interrupts the other cores one after another, and waits for the last. Stores of guests are done in order, so
    /// the fence waits for no store. The guest must be in the order of simulated time ([`must_wait`](Self::must_wait)).
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("dahu")?;
    /// let mut step = 0;
    /// let mut others = Vec::new();
    /// let main = move |core: &mut Core<'_>| {
    ///     step += 1;
    ///     if step == 1 {
    ///         for cpu in 1..4 {
    ///             let busy = |core: &mut Core<'_>| {
    ///                 core.execute(1_000_000, &mut 0);
    ///                 State::Ended
    ///             };
    ///             let thread = core.spawn(format!("busy {cpu}"), Box::new(busy), &[cpu]);
    ///             others.push(thread.expect("the core is there"));
    ///         }
    ///         core.execute(500_000, &mut 0);
    ///     }
    ///     if core.must_wait() {
    ///         return State::Suspended;
    ///     }
    ///     let (before, machine) = (core.clock(), core.machine().clone());
    ///     // The third thread is not interrupted.
    ///     core.fence(&others[..2]);
    ///     let waits = 2 * machine.os.ipi + machine.os.interrupt;
    ///     assert!(waits > 0);
    ///     assert_eq!(core.clock() - before, machine.atomics.fence + waits);
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fence(&mut self, threads: &[GuestThread]) {
        let threads: HashSet<ThreadId> = threads.iter().map(|thread| thread.0).collect();
        let counts = |thread| threads.contains(&thread);
        self.engine.fence_all(self.core, counts);
    }

    /// Lets other threads of the core run. The guest must suspend.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let mut yielded = false;
    /// let main = move |core: &mut Core<'_>| {
    ///     if yielded {
    ///         return State::Exited;
    ///     }
    ///     yielded = true;
    ///     core.enter_kernel();
    ///     core.yield_now();
    ///     State::Suspended
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn yield_now(&mut self) {
        self.engine.yield_now(self.core);
    }
}
