//! The agenda: the queue of the machine's events and the queue of the running cores.

use super::port::Port;
use crate::os::ThreadId;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// An event of the machine. It happens at its time, whichever core runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The core's request reaches its next stage.
    Arrive,
    /// The core's request for this line reaches its next stage. The core does not wait for it.
    Flight { line: u32 },
    /// The home of a line (the place that serialises the line's requests) may serve the next request.
    Free(u32),
    /// The time limit of a spinning core ends. The event is void if the core's plan (its latest entry in the agenda) is
    /// no longer `plan`.
    Patience { plan: u32 },
    /// A core must look at its run queue.
    Wake,
    /// The core must preempt the thread, if the thread still runs there.
    Displace { thread: ThreadId },
    /// The core must preempt the thread, if the thread still runs there and may not.
    Leave { thread: ThreadId },
    /// The scheduler's clock interrupt.
    Tick,
    /// An interrupt by another core.
    Interrupt,
    /// A timed wait ends, if the thread is still in this wait.
    Timeout { thread: ThreadId, wait: u32 },
    /// A message may have reached the core's buffer. The event is void if the core's plan is no longer `plan`.
    Message { plan: u32 },
}

/// The order of a queue: the time, then the core, then the number of the plan or event. The key is one number, so that
/// a comparison needs no jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

impl Key {
    #[inline]
    fn new(time: u64, core: u32, plan: u32) -> Self {
        Self(u128::from(time) << 64 | u128::from(core) << 32 | u128::from(plan))
    }

    #[inline]
    fn time(self) -> u64 {
        (self.0 >> 64) as u64
    }

    #[inline]
    fn core(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    fn plan(self) -> u32 {
        self.0 as u32
    }
}

/// An event in the queue. Only its key is compared.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    event: Event,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

/// The two queues. They are separate because a running core may run ahead of the clock of another core, but not beyond
/// the time of an event.
#[derive(Default)]
pub(crate) struct Agenda {
    events: BinaryHeap<Reverse<Entry>>,
    cores: BinaryHeap<Reverse<Key>>,
    sequence: u32,
    now: u64,
}

/// The first entry of both queues.
pub(crate) enum Next {
    Event(u64, u32, Event),
    Core(u64, u32),
    Nothing,
}

impl Agenda {
    pub(crate) fn plan(&mut self, time: u64, core: u32, event: Event) {
        debug_assert!(time >= self.now, "{event:?} at {time} is in the past");
        self.sequence = self.sequence.wrapping_add(1);
        let key = Key::new(time, core, self.sequence);
        self.events.push(Reverse(Entry { key, event }));
    }

    /// Adds a plan: the port's core continues at its clock. Earlier plans of the core become void.
    pub(crate) fn go_on(&mut self, port: &mut Port) {
        debug_assert!(port.clock >= self.now, "core {} is late", port.core);
        port.plan = port.plan.wrapping_add(1);
        let key = Key::new(port.clock, port.core, port.plan);
        self.cores.push(Reverse(key));
    }

    #[inline]
    pub(crate) fn next_event(&self) -> u64 {
        self.events
            .peek()
            .map_or(u64::MAX, |Reverse(entry)| entry.key.time())
    }

    #[inline]
    pub(crate) fn next_core(&mut self, ports: &[Port]) -> (u64, u32) {
        while let Some(&Reverse(key)) = self.cores.peek() {
            if ports[key.core() as usize].plan == key.plan() {
                return (key.time(), key.core());
            }
            self.cores.pop();
        }
        (u64::MAX, u32::MAX)
    }

    /// Advances the present to `time`. The running core knows that nothing happens before `time`.
    pub(crate) fn reach(&mut self, time: u64) {
        self.now = self.now.max(time);
    }

    /// The present: the time of the entry that was taken last, or the time that was reached.
    /// Nothing can happen earlier.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// Takes the first entry. At equal times, events come before cores, and lower cores before
    /// higher.
    // This is inlined into the loop of each front end, like `Engine::step`.
    #[inline(always)]
    pub(crate) fn take(&mut self, ports: &[Port]) -> Next {
        let (time, core) = self.next_core(ports);
        match self.events.peek() {
            Some(&Reverse(Entry { key, event })) if key.time() <= time => {
                self.events.pop();
                self.now = key.time();
                Next::Event(key.time(), key.core(), event)
            }
            _ if time < u64::MAX => {
                self.cores.pop();
                self.now = time;
                Next::Core(time, core)
            }
            _ => Next::Nothing,
        }
    }
}
