//! Linux as a program sees it: memory, files, threads, futexes, signals, time.
//!
//! One [`Process`] is shared by its [`Task`]s. A system call takes effect in one step, in the
//! order of simulated time; it reads and writes the guest's memory beside the caches.

mod call;
mod custom;
mod descriptors;
mod errno;
mod exec;
mod files;
mod groups;
mod host;
mod inherit;
mod load;
mod memory;
mod numbers;
mod paths;
mod poll;
mod proc;
mod shared;
mod signals;
mod sockets;
mod streams;
mod task;
mod threads;
mod time;
mod timers;
mod transfer;
mod volume;
mod waits;
mod world;

pub(crate) use load::{Start, load};
pub use numbers::system_calls;
pub(crate) use task::{Task, TaskState};
pub(crate) use world::{Delivered, Entry, Wake, World};

use crate::elf::Symbols;
use crate::hart::Code;
use crate::memory::{Key, Space};
use crate::source::Sources;
use files::Files;
use signals::{Sent, Signals};
use std::collections::BTreeMap;
use std::fs::File;
use std::rc::Rc;
use timers::Timers;

/// What a process knows of one of its threads.
struct Thread {
    /// The machine's own number of it.
    handle: u32,
    /// Signals that were sent to it, in their order.
    pending: Vec<Sent>,
    /// Signals that it does not take, as its task has them.
    mask: u64,
    /// Signals that it waits for in `rt_sigtimedwait`.
    waits_for: u64,
    /// Cores that it may run on; none for all.
    cores: Vec<usize>,
    /// While it sleeps, the signals that do not end its sleep.
    asleep_to: u64,
    /// Its list of mutexes that are to be unlocked if it ends.
    robust: u64,
}

impl Thread {
    fn new(handle: u32, mask: u64, cores: Vec<usize>) -> Self {
        Self {
            handle,
            pending: Vec::new(),
            mask,
            waits_for: 0,
            cores,
            asleep_to: 0,
            robust: 0,
        }
    }
}

/// A program in execution.
pub(crate) struct Process {
    pub(crate) space: Space,
    pub(crate) code: Code,
    pub(crate) symbols: Symbols,
    sources: Sources,
    files: Files,
    /// Files whose pages the program may have written to.
    shared: Vec<(Key, Rc<File>)>,
    signals: Signals,
    timers: Timers,
    /// Threads by number; the main thread has the process's.
    threads: BTreeMap<u32, Thread>,
    next_thread: u32,
    /// Start and end of what `brk` moves.
    heap: (u64, u64),
    /// The state of the generator behind `getrandom`.
    random: u64,
    arguments: Vec<String>,
    environment: Vec<String>,
    executable: String,
    /// The exit status, once there is one.
    pub(crate) status: Option<i32>,
    /// Why the program could not go on.
    pub(crate) failure: Option<String>,
    /// What killed the program, for its user.
    pub(crate) message: Option<String>,
    /// Instructions of all tasks.
    pub(crate) retired: u64,
}

/// The process's number.
const PROCESS: u32 = 1_000;

impl Process {
    /// The next 64 random bits: splitmix64, by Steele, Lea and Flood.
    fn random_bits(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.random;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ bits >> 31
    }

    /// Fills `to` with random bytes.
    fn random_bytes(&mut self, to: &mut [u8]) {
        for word in to.chunks_mut(8) {
            word.copy_from_slice(&self.random_bits().to_le_bytes()[..word.len()]);
        }
    }

    /// What is in the line at an address: its symbols, or where it is.
    pub(crate) fn describe_line(&self, address: u64) -> String {
        let mut names: Vec<String> = (address..address + 64)
            .step_by(4)
            .filter_map(|at| self.symbols.find(at))
            .collect();
        names.dedup_by_key(|name| name.split('+').next().map(str::to_owned));
        if names.is_empty() {
            self.describe(address)
        } else {
            names.join(", ")
        }
    }

    /// The cores that a thread may run on; none for all.
    pub(crate) fn cores_of(&self, number: u32) -> &[usize] {
        self.threads
            .get(&number)
            .map_or(&[], |thread| &thread.cores)
    }

    /// The thread of this number has another handle from now on.
    pub(crate) fn rename_thread(&mut self, number: u32, handle: u32) {
        if let Some(thread) = self.threads.get_mut(&number) {
            thread.handle = handle;
        }
    }

    /// Where an address is, for a message: by symbol, or by file; and the line of the source.
    pub(crate) fn describe(&self, address: u64) -> String {
        let region = || match self.space.region(address) {
            Some((start, region)) if !region.name.is_empty() => {
                Some(format!("{}+{:#x}", region.name, address - start))
            }
            _ => None,
        };
        let place = self.symbols.find(address).or_else(region);
        let parts: Vec<String> = place
            .into_iter()
            .chain(self.sources.find(address))
            .collect();
        match &*parts {
            [] => format!("{address:#x}"),
            parts => format!("{address:#x} ({})", parts.join(", ")),
        }
    }

    /// Where a thread is, for a message, and from where it was called as far as its return
    /// address tells.
    fn describe_place(&self, pc: u64, back: u64) -> String {
        // The call itself lies before the address that it returns to.
        let call = back.wrapping_sub(2);
        let [here, caller] = [pc, call].map(|at| self.symbols.around(at).map(|(name, _)| name));
        let mut text = self.describe(pc);
        if caller.is_some() && caller != here {
            text += &format!(", called from {}", self.describe(call));
        }
        text
    }
}
