//! Runs a task, and handles what stops the task: system calls, signals and faults.

use super::calls::{call as make_call, futex_waits, interrupt, number, woken};
use super::custom;
use super::process::Process;
use super::signal::{self, KILL, Sent};
use super::system::System;
use super::task::{Outcome, Phase, Task, TaskState};
use super::words;
use super::world::{Entry, World};
use crate::hart::{Stop, run};
use crate::memory::{Why, right};

/// Runs the task until it must wait or has ended.
pub(crate) fn resume<W: World>(system: &mut System, task: &mut Task, world: &mut W) -> TaskState {
    let process = system.of(task);
    if process.is_over || process.survivor.is_some_and(|number| number != task.number) {
        return system.end_task(task, world);
    }
    let borrows = process.lender.is_some();
    if borrows {
        system.exchange_memory(task.slot);
    }
    let state = go_on(system, task, world);
    // This does nothing if the task now runs another program, in memory of its own.
    if borrows {
        system.exchange_memory(task.slot);
    }
    match state {
        TaskState::Suspended => state,
        TaskState::Exited if system.is_last_word(task) => state,
        TaskState::Exited => {
            system.finish(task, world);
            system.end_task(task, world)
        }
        TaskState::Ended => system.end_task(task, world),
    }
}

fn go_on<W: World>(system: &mut System, task: &mut Task, world: &mut W) -> TaskState {
    loop {
        let process = system.of(task);
        // A parent that lends its memory to a child of `vfork` ends after the child has given it back.
        if process.signals.stop.is_killed() && !matches!(task.phase, Phase::Lends(_)) {
            return process.die(KILL, "sent by the program");
        }
        let may_stop = match task.phase {
            Phase::Runs => task.hart.is_between_instructions(),
            Phase::Called => true,
            _ => false,
        };
        if may_stop && system.of(task).signals.stop.is_on() {
            match suspend(system, task, world) {
                Some(state) => return state,
                None => continue,
            }
        }
        match task.phase {
            Phase::Runs => {}
            Phase::Called => {
                if world.must_wait() {
                    return TaskState::Suspended;
                }
                let process = system.of(task);
                // Another task may have begun a handler, which blocks signals, and been suspended
                // before it found takers.
                if process.must_find_takers() {
                    process.find_takers(task, world);
                }
                if let Some(state) = call(system, task, world) {
                    return state;
                }
                // The task's phase says whether the call is over.
                continue;
            }
            // The task has been woken.
            Phase::Sleeps | Phase::Naps | Phase::Awaits => {
                if let Some(state) = woken(system.of(task), task, world) {
                    return state;
                }
                // A signal that the sleeper has taken may have stopped the process, or its timer's may let it go on.
                if system.of(task).signals.stop.is_news {
                    tell_change(system, task, world);
                }
                continue;
            }
            Phase::Moves => {
                let cores = system.of(task).threads.cores_of(task.number);
                if !cores.is_empty() && !cores.contains(&(world.core() as usize)) {
                    world.relax();
                    if world.must_wait() {
                        return TaskState::Suspended;
                    }
                    continue;
                }
                task.phase = Phase::Runs;
            }
            Phase::Lends(child) => {
                if system.borrows(child) {
                    if let Some(thread) = system.of(task).threads.get_mut(task.number) {
                        thread.sleeps_in = [number::clone, child.into()];
                    }
                    world.futex_wait(words::children(child), None);
                    return TaskState::Suspended;
                }
                task.phase = Phase::Runs;
            }
            Phase::Outlives => {
                let process = system.of(task);
                match process.threads.beside(task.number) {
                    Some(other) if world.join(other.handle) => return TaskState::Suspended,
                    Some(_) => {}
                    None => task.phase = Phase::Called,
                }
                continue;
            }
            Phase::Lingers(status) => {
                let process = system.of(task);
                return match process.threads.beside(task.number) {
                    Some(other) if world.join(other.handle) => TaskState::Suspended,
                    Some(_) => continue,
                    None => process.exit(status),
                };
            }
        }
        let process = system.of(task);
        if let Some(state) = take_signals(process, task, world) {
            return state;
        }
        if process.signals.stop.is_on() {
            if task.hart.is_between_instructions() {
                continue;
            }
            // The task first ends its instruction, whose access is under way.
            task.hart.alarm = 0;
        }
        // Other threads must take the signals that a new handler blocks, and a timer's signal must
        // wake the readers of a `signalfd`.
        if process.signals.rings || process.must_find_takers() {
            if world.must_wait() {
                return TaskState::Suspended;
            }
            process.ring(world);
            if process.threads.narrowed {
                process.find_takers(task, world);
            }
            continue;
        }
        if process.code.counts() {
            process.code.watch(process.names.allocators());
        }
        let before = task.hart.retired;
        let stop = run(
            &mut task.hart,
            &mut process.memory.space,
            &mut process.code,
            world,
        );
        process.retired += task.hart.retired - before;
        if let Some(state) = stopped(process, task, stop, world) {
            return state;
        }
    }
}

/// Suspends a task of a stopped process until a signal lets the process go on. Returns `None` if the signal of a timer of
/// the task has done so.
fn suspend<W: World>(system: &mut System, task: &Task, world: &mut W) -> Option<TaskState> {
    if world.must_wait() {
        return Some(TaskState::Suspended);
    }
    system.of(task).expire_timers(task, world);
    tell_change(system, task, world);
    let process = system.of(task);
    if !process.signals.stop.is_on() {
        return None;
    }
    let due = process
        .timers
        .next_of(&process.threads, task.number, signal::CONTINUING);
    let time = due.map(|due| due.saturating_sub(world.nanoseconds()));
    world.futex_wait(words::children(process.number), time);
    Some(TaskState::Suspended)
}

/// Tells sleeping threads and the parent that the task's process is stopped or goes on.
fn tell_change<W: World>(system: &mut System, task: &Task, world: &mut W) {
    system.of(task).end_sleeps_by_stop(world);
    system.tell_changes(world);
}

fn stopped<W: World>(
    process: &mut Process,
    task: &mut Task,
    stop: Stop,
    world: &mut W,
) -> Option<TaskState> {
    match stop {
        Stop::Suspended => return Some(TaskState::Suspended),
        Stop::Rung => {}
        Stop::SystemCall => {
            world.enter(entry(&task.hart.x));
            // On the return from the kernel, the hart loses the reservation that `lr` made.
            task.hart.lose_reservation();
            world.drop_reservation();
            task.phase = Phase::Called;
        }
        Stop::Custom(instruction) => return custom::execute(process, task, instruction, world),
        Stop::Breakpoint => {
            let sent = Sent::fault(signal::TRAP, task.hart.pc);
            return raise(process, task, sent, "ebreak");
        }
        Stop::Misaligned(address) => {
            let what = format!("an atomic access to {address:#x}, which is not aligned");
            return raise(process, task, Sent::fault(signal::BUS, address), &what);
        }
        Stop::Illegal(word) => {
            let what = format!(
                "the bits {word:#010x} are not an instruction of this machine (compile with -march=rv64gc)"
            );
            let sent = Sent::fault(signal::ILLEGAL, task.hart.pc);
            return raise(process, task, sent, &what);
        }
        Stop::Fault(fault) if fault.why == Why::Exhausted => {
            process.failure = Some(format!(
                "the program uses more than the {} MiB of memory that --memory gives it",
                process.memory.space.physical().used() >> 20
            ));
            return Some(TaskState::Exited);
        }
        Stop::Fault(fault) => {
            let way = match fault.wanted {
                right::READ => "a read of",
                right::WRITE => "a write to",
                _ => "a jump to",
            };
            let (signal, code, why) = match fault.why {
                Why::Forbidden => (
                    signal::SEGMENT,
                    signal::BY_RIGHTS,
                    "which the rights of the mapping forbid",
                ),
                Why::BehindFile => (
                    signal::BUS,
                    signal::BY_NO_FILE,
                    "behind the end of the file that is mapped there",
                ),
                Why::Unmapped | Why::Exhausted => {
                    (signal::SEGMENT, signal::BY_FAULT, "where nothing is mapped")
                }
            };
            let what = format!("{way} {:#x}, {why}", fault.address);
            let sent = Sent {
                code,
                ..Sent::fault(signal, fault.address)
            };
            return raise(process, task, sent, &what);
        }
    }
    None
}

/// Delivers a signal that the hart's own instruction raised, or lets the signal kill the process.
fn raise(process: &mut Process, task: &mut Task, sent: Sent, what: &str) -> Option<TaskState> {
    if process.deliver_fault(task, sent) {
        return None;
    }
    let place = process.describe_here(task);
    let while_blocked = match task.mask & sent.signal.bit() {
        0 => "",
        _ => ", while the signal is blocked (as it is in its own handler)",
    };
    let what = format!("{what}{while_blocked}, at {place}");
    Some(process.die(sent.signal, &what))
}

fn call<W: World>(system: &mut System, task: &mut Task, world: &mut W) -> Option<TaskState> {
    system.of(task).files.set_now(world.nanoseconds());
    let outcome = make_call(system, task, world);
    system.show_file_writes(task);
    let process = system.of(task);
    if process.must_find_takers() {
        process.find_takers(task, world);
    }
    match outcome {
        Outcome::Return(value) => task.give(value),
        Outcome::Fail(number) => task.give(number.negated()),
        Outcome::Restored => task.phase = Phase::Runs,
        Outcome::Yield => {
            task.give(0);
            return Some(TaskState::Suspended);
        }
        Outcome::Move => {
            task.give(0);
            task.phase = Phase::Moves;
        }
        Outcome::Sleep => {
            task.phase = Phase::Sleeps;
            return Some(TaskState::Suspended);
        }
        Outcome::Nap => {
            task.phase = Phase::Naps;
            return Some(TaskState::Suspended);
        }
        Outcome::Await => {
            task.phase = Phase::Awaits;
            return Some(TaskState::Suspended);
        }
        Outcome::Interrupted => return interrupt(process, task, world),
        Outcome::Exit(status) => return Some(process.exit(status)),
        Outcome::Lend(child) => {
            task.give(child.into());
            task.phase = Phase::Lends(child);
        }
        Outcome::Outlive => {
            process.survivor = Some(task.number);
            for handle in process.threads.handles_beside(task.number) {
                world.disturb(handle);
            }
            task.phase = Phase::Outlives;
        }
        Outcome::End if task.number == process.number => {
            process.lingers = true;
            task.phase = Phase::Lingers((task.hart.x[10] & 0xFF) as i32);
        }
        Outcome::End => return Some(TaskState::Ended),
    }
    None
}

/// Takes the signals that were sent to the task, and sets its alarm to its next timer. Does nothing if no signal was
/// sent since the last look and the time of the alarm has not come. This suffices, because every other cause that lets
/// the task take a signal, such as a new mask, sets the alarm to 0.
#[inline]
fn take_signals<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
) -> Option<TaskState> {
    let sent = process.signals.sent;
    if task.seen == sent && world.cycles() < task.hart.alarm {
        return None;
    }
    task.seen = sent;
    look_for_signals(process, task, world)
}

#[cold]
#[inline(never)]
fn look_for_signals<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
) -> Option<TaskState> {
    let (signals, threads) = (&mut process.signals, &mut process.threads);
    // Other threads notice the expired timers only once this task is in the order of simulated time
    // (`World::must_wait`).
    process.timers.expire(signals, threads, task.number, world);
    let look = process.timers.look(signals, threads, task, world);
    // A handler begins between two instructions. If a signal stops the process, later signals wait
    // until the process continues.
    while task.hart.is_between_instructions() && !process.signals.stop.is_on() {
        let Some(sent) = process.signals.next(&mut process.threads, task) else {
            break;
        };
        if process.stops(sent.signal) {
            continue;
        }
        if !process.deliver(task, sent) && !sent.signal.is_harmless() {
            return Some(process.die(sent.signal, "sent by the program"));
        }
    }
    task.hart.alarm = if process.signals.is_sent(&process.threads, task) {
        0
    } else {
        let due = process
            .timers
            .next_of(&process.threads, task.number, u64::MAX);
        let due = due.into_iter().chain(look).min();
        due.map_or(u64::MAX, |time| world.cycles_at(time))
    };
    None
}

/// The kind of a system call's entry into the kernel.
fn entry(x: &[u64; 64]) -> Entry {
    match x[17] {
        number::clone => Entry::Spawn,
        number::futex if futex_waits(x[11]) => Entry::Wait,
        _ => Entry::Plain,
    }
}
