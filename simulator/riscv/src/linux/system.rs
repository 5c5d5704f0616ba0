//! The simulated system: its processes. [`System`] owns the process table. A [`Task`] stores the place of its process
//! in this table. A [`Process`] owns the state of its program: memory, files, signals, timers, threads. Processes share
//! physical memory, open files and named sockets by pointers.
//!
//! A system call that concerns one process gets that process. A call that concerns other processes gets the system
//! (`calls/processes.rs`). The run ends when the first process ends, even if others still run.
//!
//! When a process exits, each of its threads ends as soon as the machine resumes the thread. The last thread removes
//! the process and frees its memory. Before that, an access of another thread may still be on its way. A child of
//! `vfork` runs on its parent's memory: the two processes exchange their memory whenever a thread of the child is
//! resumed. They exchange it back when the thread suspends.

use super::news::{Ended, News};
use super::process::Process;
use super::robust::leave_mutexes;
use super::signal::{BY_KILL, Sent};
use super::task::{Task, TaskState};
use super::threads::{FIRST, Thread, Threads};
use super::words;
use super::world::World;
use crate::outcome::ProcessCounts;
use std::collections::BTreeMap;

/// The largest number of processes. Ended children count until their parents wait for them.
pub(super) const MOST: usize = 512;

/// Bytes of a cache line that a message describes.
const LINE: u64 = 64;

/// The most processes that a message names.
const SHOWN: usize = 8;

/// All processes, and what remains of ended processes.
pub(crate) struct System {
    /// The process table. The first process is at 0 until the run ends.
    table: Vec<Option<Box<Process>>>,
    /// Ended children, by number, until their parents wait for them.
    pub(super) ended: BTreeMap<u32, Ended>,
    /// The number of the next process or thread.
    next: u32,
    /// The processor time of ended processes, in nanoseconds.
    used: u64,
    /// Instructions, unsupported calls and counts of ended processes.
    retired: u64,
    absent: BTreeMap<String, String>,
    counts: Vec<ProcessCounts>,
}

impl System {
    pub(super) fn new(first: Process) -> Self {
        Self {
            table: vec![Some(Box::new(first))],
            ended: BTreeMap::new(),
            next: FIRST + 1,
            used: 0,
            retired: 0,
            absent: BTreeMap::new(),
            counts: Vec::new(),
        }
    }

    /// The process of a task.
    #[inline]
    pub(super) fn of(&mut self, task: &Task) -> &mut Process {
        self.at(task.slot)
    }

    #[inline]
    fn at(&mut self, slot: usize) -> &mut Process {
        let process = self.table[slot].as_deref_mut();
        process.expect("a process is there until its last thread has ended")
    }

    pub(crate) fn first(&self) -> &Process {
        self.table[0].as_deref().expect("it ends with the run")
    }

    pub(crate) fn first_mut(&mut self) -> &mut Process {
        self.at(0)
    }

    /// The processes in the table.
    pub(super) fn all(&self) -> impl Iterator<Item = &Process> {
        self.table.iter().filter_map(|process| process.as_deref())
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Process> {
        let table = self.table.iter_mut();
        table.filter_map(|process| process.as_deref_mut())
    }

    /// All processes except the one at `slot`.
    pub(super) fn others_mut(&mut self, slot: usize) -> impl Iterator<Item = &mut Process> {
        let table = self.table.iter_mut().enumerate();
        table.filter_map(move |(at, process)| process.as_deref_mut().filter(|_| at != slot))
    }

    /// The process of this number, unless it has exited.
    pub(super) fn numbered(&mut self, number: u32) -> Option<&mut Process> {
        let mut all = self.all_mut();
        all.find(|process| process.number == number && !process.is_over)
    }

    /// Takes the number of a new process or thread.
    pub(super) fn take_number(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    pub(super) fn is_full(&self) -> bool {
        self.all().count() + self.ended.len() >= MOST
    }

    /// Adds a process. Returns its place in the table.
    pub(super) fn add(&mut self, process: Process) -> usize {
        let process = Some(Box::new(process));
        match self.table.iter().position(Option::is_none) {
            Some(slot) => {
                self.table[slot] = process;
                slot
            }
            None => {
                self.table.push(process);
                self.table.len() - 1
            }
        }
    }

    /// Sets the main thread of a new process, once the thread has a handle.
    pub(super) fn enter_thread(&mut self, slot: usize, number: u32, thread: Thread) {
        self.at(slot).threads = Threads::new(number, thread);
    }

    /// If a process has a lender (the process whose memory it uses after `vfork`), exchanges the memory of the two.
    pub(super) fn exchange_memory(&mut self, slot: usize) {
        let Some(lender) = self.at(slot).lender else {
            return;
        };
        let [Some(one), Some(other)] = self
            .table
            .get_disjoint_mut([slot, lender])
            .expect("two places of the table")
        else {
            unreachable!("a lender that ends leaves its memory to the borrower")
        };
        std::mem::swap(&mut one.memory, &mut other.memory);
        std::mem::swap(&mut one.code, &mut other.code);
        std::mem::swap(&mut one.names, &mut other.names);
    }

    /// Whether the process of this number runs on another process's memory.
    pub(super) fn borrows(&self, number: u32) -> bool {
        let mut all = self.all();
        all.any(|process| process.number == number && process.lender.is_some())
    }

    /// Whether the end of a task's process ends the run.
    pub(super) fn is_last_word(&mut self, task: &Task) -> bool {
        task.slot == 0 || self.of(task).failure.is_some()
    }

    /// Marks the process of a task as exited, and wakes its other threads so that they end.
    pub(super) fn finish<W: World>(&mut self, task: &Task, world: &mut W) {
        let process = self.of(task);
        if !process.is_over {
            // Other processes may wait for mutexes of this process. They find no owner in a process that has exited.
            process.is_over = true;
            process.signals.stop.forget_news();
            let threads: Vec<u32> = process.threads.numbers().collect();
            for thread in threads {
                leave_mutexes(process, thread, world);
            }
        }
        for handle in process.threads.handles_beside(task.number) {
            world.disturb(handle);
        }
    }

    /// Removes a task that ends. The last task of a process removes the process too.
    pub(super) fn end_task<W: World>(&mut self, task: &Task, world: &mut W) -> TaskState {
        let process = self.of(task);
        process.tasks -= 1;
        process.used += world.own_nanoseconds();
        process
            .timers
            .end_thread(task.number, world.own_nanoseconds());
        process.threads.remove(task.number);
        if process.files.drop_opening(task.number) {
            world.futex_wake(words::STREAMS, u32::MAX);
        }
        let process = self.of(task);
        if process.tasks == 0 {
            self.bury(task.slot, world);
        } else if process.must_find_takers() {
            process.find_takers(task, world);
        }
        TaskState::Ended
    }

    /// Removes a process without threads: closes its files and notifies its parent.
    fn bury<W: World>(&mut self, slot: usize, world: &mut W) {
        self.leave_memory(slot);
        let Some(process) = self.table[slot].take() else {
            return;
        };
        self.retired += process.retired;
        self.used += process.used;
        keep_first(&mut self.absent, process.absent.clone());
        if process.code.counts() {
            self.counts.push(process.counts(Some(world.nanoseconds())));
        }
        let number = process.number;
        self.leave_children(number, process.parent, world);
        self.release_orphaned_groups(world);
        let ended = Ended {
            parent: process.parent,
            group: process.group,
            status: process.status.unwrap_or(0),
            killed_by: process.killed_by,
            used: process.used + process.used_by_children,
        };
        drop(process);
        // Threads of other processes may wait for the ends of streams that this process has just closed.
        world.futex_wake(words::STREAMS, u32::MAX);
        // The parent may wait in `vfork` for this process.
        world.futex_wake(words::children(number), u32::MAX);
        self.leave_ended(number, ended, world);
    }

    /// Leaves an ended child to its parent, and notifies the parent. Nothing remains of a child that has no parent or
    /// whose parent ignores its children.
    fn leave_ended<W: World>(&mut self, number: u32, ended: Ended, world: &mut W) {
        let parent = ended.parent;
        // A parent that exits leaves the child to its own parent later.
        let Some(process) = self.all().find(|it| it.number == parent) else {
            return;
        };
        let notice = ended.news(number).notice();
        if !process.signals.forgets_children() {
            self.ended.insert(number, ended);
        }
        // A waiting parent looks for the child before it takes the signal.
        world.futex_wake(words::children(parent), u32::MAX);
        if let Some(process) = self.numbered(parent) {
            let (signals, threads) = (&mut process.signals, &mut process.threads);
            // The call fails only for a number that is no signal.
            let _ = signals.send_to_process(threads, world, notice);
        }
    }

    /// Notifies the parents of processes that were stopped or go on.
    pub(super) fn tell_changes<W: World>(&mut self, world: &mut W) {
        loop {
            let news = self.all_mut().find(|it| it.signals.stop.is_news).map(|it| {
                it.signals.stop.is_news = false;
                (it.number, it.parent, it.signals.stop.change)
            });
            let Some((number, parent, change)) = news else {
                return;
            };
            world.futex_wake(words::children(parent), u32::MAX);
            let parent = self
                .numbered(parent)
                .filter(|it| it.signals.hears_of_stops());
            if let (Some(process), Some(change)) = (parent, change) {
                let notice = News::of_change(number, change).notice();
                let (signals, threads) = (&mut process.signals, &mut process.threads);
                // The call fails only for a number that is no signal.
                let _ = signals.send_to_process(threads, world, notice);
            }
        }
    }

    /// Gives the children of a process that ends to its nearest ancestor that takes orphans, and sends the signals that
    /// they have asked for.
    fn leave_children<W: World>(&mut self, number: u32, parent: u32, world: &mut W) {
        let mut new = parent;
        while let Some(process) = self.all().find(|it| it.number == new)
            && (process.is_over || !process.is_reaper)
        {
            new = process.parent;
        }
        for orphan in self.all_mut().filter(|other| other.parent == number) {
            orphan.parent = new;
            let sent = Sent::by_process(orphan.death_signal, BY_KILL, number, 0);
            if orphan.death_signal != 0 {
                // The number is a signal's.
                let _ = orphan
                    .signals
                    .send_to_process(&mut orphan.threads, world, sent);
            }
        }
        let ended = self.ended.extract_if(.., |_, it| it.parent == number);
        for (number, ended) in ended.collect::<Vec<_>>() {
            let ended = Ended {
                parent: new,
                ..ended
            };
            self.leave_ended(number, ended, world);
        }
    }

    /// The processor time of a task's process, in nanoseconds. Of other processes that still run, a process with
    /// several threads counts the time too.
    pub(super) fn used<W: World>(&mut self, task: &Task, world: &W) -> u64 {
        let ended = self.used;
        let is_alone = ended == 0 && self.all().count() == 1;
        let process = self.of(task);
        let used = match process.threads.count() {
            1 if !is_alone => process.used + world.own_nanoseconds(),
            _ => world.busy_nanoseconds().saturating_sub(ended),
        };
        process.reported = process.reported.max(used);
        process.reported
    }

    /// If another process borrows the memory of a process that ends, the borrower keeps the memory.
    fn leave_memory(&mut self, slot: usize) {
        let places = 0..self.table.len();
        let mut borrowers = places.filter(|&at| {
            let process = self.table[at].as_deref();
            process.is_some_and(|process| process.lender == Some(slot))
        });
        let Some(heir) = borrowers.next() else {
            return;
        };
        let others: Vec<usize> = borrowers.collect();
        self.exchange_memory(heir);
        self.at(heir).lender = None;
        for other in others {
            self.at(other).lender = Some(heir);
        }
    }
}

/// Answers about all processes, for the run's user.
impl System {
    /// Instructions of all processes.
    pub(crate) fn retired(&self) -> u64 {
        let alive: u64 = self.all().map(|process| process.retired).sum();
        self.retired + alive
    }

    /// The counts of each process, ordered by number.
    pub(crate) fn counts(&self) -> Vec<ProcessCounts> {
        if !self.first().code.counts() {
            return Vec::new();
        }
        let alive = self.all().map(|process| process.counts(None));
        let mut counts: Vec<_> = self.counts.iter().cloned().chain(alive).collect();
        counts.sort_by_key(|process| process.number);
        counts
    }

    /// Unsupported calls that programs made.
    pub(crate) fn absent(&self) -> BTreeMap<String, String> {
        let mut all = self.absent.clone();
        for process in self.all() {
            keep_first(&mut all, process.absent.clone());
        }
        all
    }

    /// The first failure of a process: something that is not supported.
    pub(crate) fn take_failure(&mut self) -> Option<String> {
        self.all_mut().find_map(|process| process.failure.take())
    }

    /// A message about the signal that killed the first process, and about processes that still run.
    pub(crate) fn take_message(&mut self) -> Option<String> {
        let killed = self.first_mut().message.take();
        let others = self.all().skip(1).filter(|process| !process.is_over);
        let mut others: Vec<String> = others.map(Process::title).collect();
        let count = others.len();
        if count > SHOWN {
            others.truncate(SHOWN);
            others.push(format!("and {} more", count - SHOWN));
        }
        let left = (self.first().status.is_some() && count > 0).then(|| {
            format!(
                "ended while {count} of its processes still ran: {}",
                others.join(", ")
            )
        });
        let parts: Vec<String> = killed.into_iter().chain(left).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Writes changed pages of mapped files back to the files.
    pub(crate) fn write_back(&self) {
        self.first().memory.write_back();
    }

    /// Describes the word at a physical address.
    pub(crate) fn describe_word(&self, physical: u64) -> String {
        let found = self.all().find_map(|process| process.find_word(physical));
        found.unwrap_or_else(|| format!("at {physical:#x}"))
    }

    /// Describes what a thread waits on: a word of the program's memory or of the kernel. `thread` is the thread's
    /// name, which ends with its number unless the thread is the main thread.
    pub(crate) fn describe_wait(&self, thread: &str, physical: u64) -> String {
        let found = self.all().find_map(|process| process.find_word(physical));
        found.unwrap_or_else(|| {
            let number = thread.rsplit(' ').next();
            let number = number.and_then(|it| it.parse().ok()).unwrap_or(FIRST);
            let mut all = self.all();
            let process = all.find(|process| process.threads.get(number).is_some());
            process.map_or_else(|| "of the kernel".into(), |it| it.awaited(number))
        })
    }

    /// Describes the place of a task.
    pub(crate) fn describe_here(&self, task: &Task) -> String {
        let process = self.table[task.slot].as_deref();
        let Some(process) = process else {
            return String::new();
        };
        let place = process.describe_here(task);
        match process.number {
            FIRST => place,
            _ => format!("{place} of process {}", process.title()),
        }
    }

    /// Describes a cache line by its heap blocks. Without heap blocks, describes it by its symbols.
    pub(crate) fn describe_line(&self, physical: u64) -> Option<String> {
        self.all().find_map(|process| {
            let space = &process.memory.space;
            let address = space.virtual_of(physical)?;
            let blocks = process.code.allocated(address, address + LINE);
            let heap = process.names.describe_heap(address, &blocks);
            Some(heap.unwrap_or_else(|| process.names.describe_line(space, address)))
        })
    }

    /// The cores that a task may run on. Empty means all cores.
    pub(crate) fn cores_of(&self, task: &Task) -> Vec<usize> {
        let process = self.table[task.slot].as_deref();
        process.map_or_else(Vec::new, |process| {
            process.threads.cores_of(task.number).to_vec()
        })
    }

    /// Gives a thread another handle.
    pub(crate) fn rename(&mut self, slot: usize, number: u32, handle: u32) {
        self.at(slot).threads.rename(number, handle);
    }
}

/// Adds the unsupported calls of a process to all calls. A name keeps its first place.
fn keep_first(all: &mut BTreeMap<String, String>, more: BTreeMap<String, String>) {
    for (name, place) in more {
        all.entry(name).or_insert(place);
    }
}
