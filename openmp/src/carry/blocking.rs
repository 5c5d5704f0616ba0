//! Functions of the C library that block. A rank (a thread of a team) that calls such a function continues on its own
//! kernel thread, its [home](super::home).
//!
//! If a worker executed such a call, the worker would block with the rank. So these functions are defined here, in
//! front of those of the C library. The rank leaves its worker to other ranks, and its own kernel thread makes the
//! call, as it would without this library. The rank stays at its home until it waits in an OpenMP function. So ranks
//! that repeatedly meet at a `pthread` barrier are usual threads meanwhile, and take as long as such threads.
//!
//! If a first query shows that the call will not wait, the rank makes the call on its worker. The same holds if the
//! rank cannot leave ([`yields::leave`]). If the worker then blocks, the [watchdog](super::watchdog) lets another rank
//! continue at its home.
//!
//! Ranks that block repeatedly are faster if they are at home from the beginning. So each such call is reported to
//! [`trials`](super::trials), which may keep all ranks at home.
//!
//! # Nothing is missed
//!
//! The rank calls the C library's own function, with the program's arguments, after it has moved to its home. To the
//! program the move is a delay of the calling thread. So the program's synchronisation works as it does without this
//! library.

use super::{registry, yields};
use crate::system::export;
use crate::system::masks::{errno, set_errno};
use crate::system::next::Next;
use libc::{
    clockid_t, epoll_event, fd_set, nfds_t, pollfd, pthread_barrier_t, pthread_cond_t,
    pthread_mutex_t, pthread_t, sem_t, sigset_t, size_t, sockaddr, socklen_t, ssize_t, timespec,
    timeval,
};
use std::ffi::{c_int, c_ulong, c_void};
use std::ptr;

/// How often a rank that finds a semaphore taken, or would wait at a futex, lets other ranks run before it goes home.
const PASSES: u32 = 4;

/// Sends the calling rank home, if a worker executes it and it can leave.
pub(super) fn go_home() {
    let Some(division) = registry::division() else {
        return;
    };
    let goes = yields::rank().is_some_and(|rank| !division.is_at_home() || !rank.is_at_home());
    if goes {
        division.found_trouble();
        yields::leave(|rank| {
            rank.goes_home.set(true);
            rank.wait_once(None);
            Some(())
        });
    }
}

/// Sends the calling rank home before a call, unless the call `will_return` at once. The rank asks only if a worker
/// executes it.
pub(super) fn go_home_unless(will_return: impl FnOnce() -> bool) {
    if yields::rank().is_none() {
        return;
    }
    let error = errno();
    if !will_return() {
        go_home();
    }
    set_errno(error);
}

/// Called before the program calls `futex`. If the operation would wait, since the word is `expected`, the calling rank
/// lets other ranks run, and then may go home.
pub(super) fn will_wait_at(word: *const u32, operation: usize, expected: u32) {
    const WAITS: [c_int; 2] = [libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET];
    let flags = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
    if !WAITS.contains(&(operation as c_int & !flags)) || yields::rank().is_none() {
        return;
    }
    // SAFETY: the program passes its word, which is aligned. The kernel refuses other addresses.
    let is_as_expected =
        || word.is_aligned() && !word.is_null() && unsafe { word.read_volatile() } == expected;
    for _ in 0..PASSES {
        if !is_as_expected() || !yields::pass() {
            break;
        }
    }
    if is_as_expected() {
        go_home();
    }
}

/// Whether the time limit is 0, so that the call does not wait.
pub(super) fn is_zero(time: *const timespec) -> bool {
    // SAFETY: the program passes the address of a time, or null.
    unsafe { time.as_ref() }.is_some_and(|time| time.tv_sec == 0 && time.tv_nsec == 0)
}

/// The C library's functions, by their names and types.
macro_rules! nexts {
    ($($function:ident = $name:literal $($version:literal)?: fn($($type:ty),*) -> $result:ty;)*) => {
        $(
            #[allow(non_snake_case)]
            mod $function {
                use super::*;
                pub(super) static NEXT: Next = nexts!(@ $name $($version)?);
                pub(super) type Type = extern "C-unwind" fn($($type),*) -> $result;
            }
        )*

        /// Finds the C library's functions.
        pub(super) fn find() {
            $($function::NEXT.find();)*
        }
    };
    (@ $name:literal) => { Next::new($name) };
    (@ $name:literal $version:literal) => { Next::of_version($name, $version) };
}

nexts! {
    barrier_wait = c"pthread_barrier_wait": fn(*mut pthread_barrier_t) -> c_int;
    cond_wait = c"pthread_cond_wait" c"GLIBC_2.3.2": fn(*mut pthread_cond_t, *mut pthread_mutex_t) -> c_int;
    cond_timedwait = c"pthread_cond_timedwait" c"GLIBC_2.3.2":
        fn(*mut pthread_cond_t, *mut pthread_mutex_t, *const timespec) -> c_int;
    cond_clockwait = c"pthread_cond_clockwait":
        fn(*mut pthread_cond_t, *mut pthread_mutex_t, clockid_t, *const timespec) -> c_int;
    cnd_wait_ = c"cnd_wait": fn(*mut c_void, *mut c_void) -> c_int;
    cnd_timedwait_ = c"cnd_timedwait": fn(*mut c_void, *mut c_void, *const timespec) -> c_int;
    sem_trywait_ = c"sem_trywait": fn(*mut sem_t) -> c_int;
    sem_wait_ = c"sem_wait": fn(*mut sem_t) -> c_int;
    sem_timedwait_ = c"sem_timedwait": fn(*mut sem_t, *const timespec) -> c_int;
    sem_clockwait_ = c"sem_clockwait": fn(*mut sem_t, clockid_t, *const timespec) -> c_int;
    poll_ = c"poll": fn(*mut pollfd, nfds_t, c_int) -> c_int;
    ppoll_ = c"ppoll": fn(*mut pollfd, nfds_t, *const timespec, *const sigset_t) -> c_int;
    select_ = c"select": fn(c_int, *mut fd_set, *mut fd_set, *mut fd_set, *mut timeval) -> c_int;
    pselect_ = c"pselect":
        fn(c_int, *mut fd_set, *mut fd_set, *mut fd_set, *const timespec, *const sigset_t) -> c_int;
    epoll_wait_ = c"epoll_wait": fn(c_int, *mut epoll_event, c_int, c_int) -> c_int;
    epoll_pwait_ = c"epoll_pwait": fn(c_int, *mut epoll_event, c_int, c_int, *const sigset_t) -> c_int;
    read_ = c"read": fn(c_int, *mut c_void, size_t) -> ssize_t;
    recv_ = c"recv": fn(c_int, *mut c_void, size_t, c_int) -> ssize_t;
    accept_ = c"accept": fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int;
    join = c"pthread_join": fn(pthread_t, *mut *mut c_void) -> c_int;
    tryjoin = c"pthread_tryjoin_np": fn(pthread_t, *mut *mut c_void) -> c_int;
}

/// The C library's function.
macro_rules! next {
    ($function:ident) => {{
        // SAFETY: the C library's function of this name has this type.
        unsafe { std::mem::transmute::<*mut c_void, $function::Type>($function::NEXT.get()) }
    }};
}

pub(super) use {next, nexts};

/// Takes the semaphore, at once or after other ranks have run. If that fails, sends the calling rank home. Returns
/// whether the semaphore was taken.
fn has_taken(semaphore: *mut sem_t) -> bool {
    let error = errno();
    let is_there = || next!(sem_trywait_)(semaphore) == 0;
    let mut passes = (0..PASSES).take_while(|_| yields::pass());
    let is_taken = is_there() || passes.any(|_| is_there()) || is_there();
    set_errno(error);
    if !is_taken {
        go_home();
    }
    is_taken
}

/// Whether the file is ready. An invalid file, or one at its end, is ready as well: a call does not wait for it.
pub(super) fn is_readable(file: c_int) -> bool {
    let mut asked = pollfd {
        fd: file,
        events: libc::POLLIN,
        revents: 0,
    };
    next!(poll_)(&raw mut asked, 1, 0) != 0
}

/// Sends the calling rank home if it would wait for the file. `flags` and `size` are arguments of `recv`.
pub(super) fn will_read(file: c_int, flags: c_int, size: size_t) {
    if flags & (libc::MSG_DONTWAIT | libc::MSG_ERRQUEUE) != 0 {
        return;
    }
    let has_all = || {
        let mut count: c_int = 0;
        // SAFETY: the call writes the number of bytes that can be read.
        unsafe { libc::ioctl(file, libc::FIONREAD, &raw mut count) };
        flags & libc::MSG_WAITALL == 0 || usize::try_from(count).is_ok_and(|count| count >= size)
    };
    // SAFETY: the call reads the flags of the file.
    let waits = || unsafe { libc::fcntl(file, libc::F_GETFL) } & libc::O_NONBLOCK == 0;
    go_home_unless(|| (is_readable(file) && has_all()) || !waits());
}

/// Whether `select` would return at once with these sets.
fn is_selected(count: c_int, sets: [*const fd_set; 3]) -> bool {
    let Ok(words) = usize::try_from(count).map(|count| count.div_ceil(c_ulong::BITS as usize))
    else {
        return true;
    };
    // `select` writes to the sets, so it gets copies.
    let mut copies = [[0 as c_ulong; libc::FD_SETSIZE / c_ulong::BITS as usize]; 3];
    if words > copies[0].len() {
        return false;
    }
    let mut addresses = [ptr::null_mut(); 3];
    for ((set, copy), address) in sets.into_iter().zip(&mut copies).zip(&mut addresses) {
        if !set.is_null() {
            // SAFETY: the program's sets have a bit for each of `count` files, in whole words.
            unsafe { ptr::copy_nonoverlapping(set.cast(), copy.as_mut_ptr(), words) };
            *address = copy.as_mut_ptr().cast();
        }
    }
    let [read, write, other] = addresses;
    let mut none = timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    next!(select_)(count, read, write, other, &raw mut none) != 0
}

/// Joins the thread if it has ended, and returns whether it did. Otherwise sends the calling rank home.
pub(super) fn has_joined(thread: pthread_t, result: *mut *mut c_void) -> bool {
    if yields::rank().is_none() {
        return false;
    }
    let joined = next!(tryjoin)(thread, result);
    if joined == libc::EBUSY {
        go_home();
    }
    joined == 0
}

// Threads that wait for each other.
export! {
    abi "C-unwind";

    fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
        go_home();
        next!(barrier_wait)(barrier)
    }

    fn pthread_cond_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int {
        go_home();
        next!(cond_wait)(condition, mutex)
    }

    fn pthread_cond_timedwait(
        condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, time: *const timespec,
    ) -> c_int {
        go_home();
        next!(cond_timedwait)(condition, mutex, time)
    }

    fn pthread_cond_clockwait(
        condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: clockid_t, time: *const timespec,
    ) -> c_int {
        go_home();
        next!(cond_clockwait)(condition, mutex, clock, time)
    }

    fn cnd_wait(condition: *mut c_void, mutex: *mut c_void) -> c_int {
        go_home();
        next!(cnd_wait_)(condition, mutex)
    }

    fn cnd_timedwait(condition: *mut c_void, mutex: *mut c_void, time: *const timespec) -> c_int {
        go_home();
        next!(cnd_timedwait_)(condition, mutex, time)
    }

    fn sem_wait(semaphore: *mut sem_t) -> c_int {
        if yields::rank().is_some() && has_taken(semaphore) {
            return 0;
        }
        next!(sem_wait_)(semaphore)
    }

    fn sem_timedwait(semaphore: *mut sem_t, time: *const timespec) -> c_int {
        if yields::rank().is_some() && has_taken(semaphore) {
            return 0;
        }
        next!(sem_timedwait_)(semaphore, time)
    }

    fn sem_clockwait(semaphore: *mut sem_t, clock: clockid_t, time: *const timespec) -> c_int {
        if yields::rank().is_some() && has_taken(semaphore) {
            return 0;
        }
        next!(sem_clockwait_)(semaphore, clock, time)
    }

    fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int {
        if has_joined(thread, result) {
            return 0;
        }
        next!(join)(thread, result)
    }
}

// Files.
export! {
    abi "C-unwind";

    fn poll(files: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
        let poll = next!(poll_);
        if timeout != 0 && yields::rank().is_some() {
            let found = poll(files, count, 0);
            if found != 0 {
                return found;
            }
            go_home();
        }
        poll(files, count, timeout)
    }

    fn ppoll(files: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int {
        if !is_zero(timeout) {
            go_home_unless(|| next!(poll_)(files, count, 0) != 0);
        }
        next!(ppoll_)(files, count, timeout, mask)
    }

    fn select(
        count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, timeout: *mut timeval,
    ) -> c_int {
        // SAFETY: the program passes the address of a time, or null.
        let time = unsafe { timeout.as_ref() };
        if !time.is_some_and(|time| time.tv_sec == 0 && time.tv_usec == 0) {
            go_home_unless(|| is_selected(count, [read, write, other].map(|set| set.cast_const())));
        }
        next!(select_)(count, read, write, other, timeout)
    }

    fn pselect(
        count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set,
        timeout: *const timespec, mask: *const sigset_t,
    ) -> c_int {
        if !is_zero(timeout) {
            go_home_unless(|| is_selected(count, [read, write, other].map(|set| set.cast_const())));
        }
        next!(pselect_)(count, read, write, other, timeout, mask)
    }

    fn epoll_wait(file: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int {
        if timeout != 0 {
            go_home_unless(|| is_readable(file));
        }
        next!(epoll_wait_)(file, events, most, timeout)
    }

    fn epoll_pwait(
        file: c_int, events: *mut epoll_event, most: c_int, timeout: c_int, mask: *const sigset_t,
    ) -> c_int {
        if timeout != 0 {
            go_home_unless(|| is_readable(file));
        }
        next!(epoll_pwait_)(file, events, most, timeout, mask)
    }

    fn read(file: c_int, to: *mut c_void, size: size_t) -> ssize_t {
        if size > 0 {
            will_read(file, 0, size);
        }
        next!(read_)(file, to, size)
    }

    fn recv(file: c_int, to: *mut c_void, size: size_t, flags: c_int) -> ssize_t {
        will_read(file, flags, size);
        next!(recv_)(file, to, size, flags)
    }

    fn accept(file: c_int, address: *mut sockaddr, size: *mut socklen_t) -> c_int {
        will_read(file, 0, 0);
        next!(accept_)(file, address, size)
    }
}
