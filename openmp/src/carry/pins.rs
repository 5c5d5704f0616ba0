//! Functions by which a program binds its threads to CPUs, and asks for the CPUs of a thread.
//!
//! If a rank (a thread of a team that workers execute) bound itself by the C library's functions, it would bind its
//! current worker for good. Two workers could then be on one CPU. So these functions are defined here. The kernel
//! thread that made a rank, its [home](super::home), keeps the rank's CPUs: a rank that binds itself binds this thread,
//! and a rank that asks for its CPUs gets those of this thread. So the kernel checks and keeps the set, and the set has
//! its effect while the rank runs at its home. Workers stay on their CPUs.
//!
//! # Another runtime
//!
//! GCC's library may be loaded as well, by the program or by a Python package with its own copy. If the environment
//! variables ask for it, the constructor of GCC's library binds the first thread to the first place. GCC's library does
//! nothing else, since all calls of OpenMP functions come to this library. The loader runs that constructor before the
//! constructor of this library, or long after it. But this library binds threads itself. So it ignores requests to bind
//! that come from libraries with such names, and still finds the CPUs that the process had.

use super::rank::Rank;
use super::{current, registry};
use crate::environment::binds;
use crate::environment::effect::is_in_runtime;
use crate::system::cpus::Cpus;
use crate::system::masks::{errno, set_errno};
use crate::system::next::{self, Next};
use crate::system::threads::number;
use crate::team::context::known;
use libc::{cpu_set_t, pid_t, pthread_t};
use std::ffi::{c_int, c_long, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicI32};

static SET: Next = Next::new(c"sched_setaffinity");
static GET: Next = Next::new(c"sched_getaffinity");
static SET_THREADS: Next = Next::new(c"pthread_setaffinity_np");
static GET_THREADS: Next = Next::new(c"pthread_getaffinity_np");

/// Finds these functions of the C library.
pub(super) fn find() {
    for function in [&SET, &GET, &SET_THREADS, &GET_THREADS] {
        function.find();
    }
}

/// Whether a member of a region that was not carried (whose members workers did not execute) has bound itself. Relaxed:
/// this is an estimate.
static BOUND: AtomicBool = AtomicBool::new(false);

/// The CPUs of new workers. `None` stands for the CPUs of the leader.
///
/// If the leader bound itself as a member of an earlier region, that binding holds for the earlier region only.
pub(super) fn of_new_workers() -> Option<Cpus> {
    let is_bound = BOUND.load(Relaxed);
    is_bound.then(crate::environment::cores::of_watch).flatten()
}

/// The number of the leader's kernel thread, on which worker 0 runs in regions. Relaxed, like the next word: the leader
/// itself writes both.
static LEADER: AtomicI32 = AtomicI32::new(0);
/// Whether the leader has bound itself in a carried region, and not yet outside of one.
static LEADER_IS_BOUND: AtomicBool = AtomicBool::new(false);

/// The calling thread leads the carried team from now on.
pub(super) fn note_leader() {
    LEADER.store(number(), Relaxed);
    LEADER_IS_BOUND.store(false, Relaxed);
}

fn leads(rank: &Rank) -> bool {
    registry::lead().is_some_and(|lead| ptr::eq(lead.rank, rank))
}

/// Called when the calling rank has bound its keeper.
fn has_bound() {
    if current::rank().is_some_and(leads) {
        LEADER_IS_BOUND.store(true, Relaxed);
    }
}

/// The kernel thread that keeps the calling rank's CPUs, or will keep them if the rank `sets` them. `None` if the
/// caller is no rank.
fn keeper(sets: bool) -> Option<pid_t> {
    let rank = current::rank()?;
    if !sets && leads(rank) && !LEADER_IS_BOUND.load(Relaxed) {
        return Some(LEADER.load(Relaxed));
    }
    // SAFETY: null, or a home, which lives for ever. Acquire makes the home's contents visible.
    let home = unsafe { rank.home.load(Acquire).as_ref() }?;
    Some(home.thread)
}

/// The number of the kernel thread that keeps the calling rank's CPUs. `None` if the caller is no rank, or means another
/// thread by `thread`.
fn own_keeper(thread: pid_t, sets: bool) -> Option<pid_t> {
    let is_own = thread == 0 || thread == number();
    is_own.then(|| keeper(sets)).flatten()
}

/// Called when a thread that is not carried, or that has named another thread, has bound `thread`.
fn note(thread: pid_t) {
    let caller = number();
    let thread = if thread == 0 { caller } else { thread };
    let is_member = known().is_some_and(|context| context.team().region().level > 0);
    if thread == caller && is_member {
        BOUND.store(true, Relaxed);
    }
    if thread == LEADER.load(Relaxed) {
        LEADER_IS_BOUND.store(false, Relaxed);
    }
}

/// Whether the address `caller` is in an OpenMP library other than this one.
fn is_runtime(caller: usize) -> bool {
    // Such libraries bind nothing unless the environment variables ask for it.
    binds() && is_in_runtime(caller as *const c_void)
}

/// The C library's function, with its type.
macro_rules! next {
    ($function:ident as $type:ty) => {{
        // SAFETY: the C library's function of this name has this type.
        unsafe { mem::transmute::<*mut c_void, $type>($function.get()) }
    }};
}

type Set = extern "C" fn(pid_t, usize, *const cpu_set_t) -> c_int;
type Get = extern "C" fn(pid_t, usize, *mut cpu_set_t) -> c_int;
type SetThreads = extern "C" fn(pthread_t, usize, *const cpu_set_t) -> c_int;
type GetThreads = extern "C" fn(pthread_t, usize, *mut cpu_set_t) -> c_int;

extern "C" fn set(thread: pid_t, size: usize, cpus: *const cpu_set_t, caller: usize) -> c_int {
    let keeper = own_keeper(thread, true);
    if keeper.is_none() && is_runtime(caller) {
        return 0;
    }
    let result = next!(SET as Set)(keeper.unwrap_or(thread), size, cpus);
    if result == 0 {
        bound(thread, keeper);
    }
    result
}

/// Called when the caller has bound `thread`. `keeper` is the result of [`own_keeper`].
fn bound(thread: pid_t, keeper: Option<pid_t>) {
    match keeper {
        Some(_) => has_bound(),
        None => note(thread),
    }
}

/// The kernel thread that keeps the caller's CPUs, if the caller is a rank and means itself by `thread`.
fn is_own(thread: pthread_t, sets: bool) -> Option<pid_t> {
    // SAFETY: the call has no arguments.
    let is_own = thread == unsafe { libc::pthread_self() };
    is_own.then(|| keeper(sets)).flatten()
}

extern "C" fn set_threads(
    thread: pthread_t,
    size: usize,
    cpus: *const cpu_set_t,
    caller: usize,
) -> c_int {
    let Some(keeper) = is_own(thread, true) else {
        if is_runtime(caller) {
            return 0;
        }
        let result = next!(SET_THREADS as SetThreads)(thread, size, cpus);
        // SAFETY: the call has no arguments.
        if result == 0 && thread == unsafe { libc::pthread_self() } {
            note(0);
        }
        return result;
    };
    let result = by_number(|| next!(SET as Set)(keeper, size, cpus));
    if result == 0 {
        has_bound();
    }
    result
}

/// Calls a function that sets `errno`. Returns the error's number instead, and leaves `errno` unchanged.
fn by_number(call: impl FnOnce() -> c_int) -> c_int {
    let before = errno();
    let result = if call() == 0 { 0 } else { errno() };
    set_errno(before);
    result
}

/// Does what the system call does. Returns `None` if the call does not concern CPUs. Also returns `None` if the call
/// reads the CPUs of a thread that is no rank.
pub(super) fn raw(number: c_long, arguments: [usize; 6]) -> Option<c_long> {
    if number != libc::SYS_sched_setaffinity && number != libc::SYS_sched_getaffinity {
        return None;
    }
    let thread = arguments[0] as pid_t;
    let sets = number == libc::SYS_sched_setaffinity;
    let keeper = own_keeper(thread, sets);
    if keeper.is_none() && !sets {
        return None;
    }
    let thread_or_keeper = keeper.unwrap_or(thread) as usize;
    let [_, size, cpus, a, b, c] = arguments;
    // SAFETY: any number of a thread is sound, and the caller vouches for the other arguments.
    let result = unsafe { next::syscall(number, [thread_or_keeper, size, cpus, a, b, c]) };
    if sets && result == 0 {
        bound(thread, keeper);
    }
    Some(result)
}

/// Defines functions that pass the address of their caller as one more argument.
macro_rules! with_caller {
    ($($name:ident = $body:ident ($($type:ty),*);)*) => {
        $(
            #[cfg(target_arch = "x86_64")]
            #[cfg_attr(not(any(test, miri)), unsafe(no_mangle))]
            #[cfg_attr(any(test, miri), allow(dead_code))]
            #[unsafe(naked)]
            extern "C" fn $name($(_: $type),*) -> c_int {
                std::arch::naked_asm!("mov rcx, [rsp]", "jmp {}", sym $body)
            }

            #[cfg(target_arch = "aarch64")]
            #[cfg_attr(not(any(test, miri)), unsafe(no_mangle))]
            #[cfg_attr(any(test, miri), allow(dead_code))]
            #[unsafe(naked)]
            extern "C" fn $name($(_: $type),*) -> c_int {
                std::arch::naked_asm!("mov x3, x30", "b {}", sym $body)
            }

            #[cfg(target_arch = "riscv64")]
            #[cfg_attr(not(any(test, miri)), unsafe(no_mangle))]
            #[cfg_attr(any(test, miri), allow(dead_code))]
            #[unsafe(naked)]
            extern "C" fn $name($(_: $type),*) -> c_int {
                std::arch::naked_asm!("mv a3, ra", "tail {}", sym $body)
            }
        )*
    };
}

with_caller! {
    sched_setaffinity = set(pid_t, usize, *const cpu_set_t);
    pthread_setaffinity_np = set_threads(pthread_t, usize, *const cpu_set_t);
}

/// Defines functions for programs.
macro_rules! define {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> c_int $body:block)*) => {
        $(
            // Tests call the C library's functions.
            #[cfg_attr(not(any(test, miri)), unsafe(no_mangle))]
            #[cfg_attr(any(test, miri), allow(dead_code))]
            extern "C" fn $name($($argument: $type),*) -> c_int $body
        )*
    };
}

define! {
    fn sched_getaffinity(thread: pid_t, size: usize, cpus: *mut cpu_set_t) -> c_int {
        next!(GET as Get)(own_keeper(thread, false).unwrap_or(thread), size, cpus)
    }

    fn pthread_getaffinity_np(thread: pthread_t, size: usize, cpus: *mut cpu_set_t) -> c_int {
        match is_own(thread, false) {
            Some(keeper) => by_number(|| next!(GET as Get)(keeper, size, cpus)),
            None => next!(GET_THREADS as GetThreads)(thread, size, cpus),
        }
    }
}
