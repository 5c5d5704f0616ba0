//! More names of functions that block, in front of the C library: see [`blocking`](super::blocking).
//!
//! Some systems set `_FORTIFY_SOURCE` for all programs. Then compilers call another function if they know the size of a
//! buffer. That function also checks the size, and its name ends in `_chk`.

use super::blocking::{
    go_home, go_home_unless, has_joined, is_readable, is_zero, next, nexts, will_read,
};
use super::{sleeps, yields};
use crate::system::export;
use crate::system::next::Next;
use libc::{
    clockid_t, epoll_event, id_t, idtype_t, iovec, mmsghdr, msghdr, nfds_t, pid_t, pollfd,
    pthread_t, rusage, siginfo_t, sigset_t, size_t, sockaddr, socklen_t, ssize_t, timespec,
};
use std::ffi::{c_int, c_uint, c_void};
use std::{mem, ptr};

nexts! {
    read_chk = c"__read_chk": fn(c_int, *mut c_void, size_t, size_t) -> ssize_t;
    recv_chk = c"__recv_chk": fn(c_int, *mut c_void, size_t, size_t, c_int) -> ssize_t;
    recvfrom_chk = c"__recvfrom_chk":
        fn(c_int, *mut c_void, size_t, size_t, c_int, *mut sockaddr, *mut socklen_t) -> ssize_t;
    poll_chk = c"__poll_chk": fn(*mut pollfd, nfds_t, c_int, size_t) -> c_int;
    ppoll_chk = c"__ppoll_chk": fn(*mut pollfd, nfds_t, *const timespec, *const sigset_t, size_t) -> c_int;
    recvfrom_ = c"recvfrom": fn(c_int, *mut c_void, size_t, c_int, *mut sockaddr, *mut socklen_t) -> ssize_t;
    recvmsg_ = c"recvmsg": fn(c_int, *mut msghdr, c_int) -> ssize_t;
    accept4_ = c"accept4": fn(c_int, *mut sockaddr, *mut socklen_t, c_int) -> c_int;
    waitid_ = c"waitid": fn(idtype_t, id_t, *mut siginfo_t, c_int) -> c_int;
    waitpid_ = c"waitpid": fn(pid_t, *mut c_int, c_int) -> pid_t;
    wait_ = c"wait": fn(*mut c_int) -> pid_t;
    wait4_ = c"wait4": fn(pid_t, *mut c_int, c_int, *mut rusage) -> pid_t;
    wait3_ = c"wait3": fn(*mut c_int, c_int, *mut rusage) -> pid_t;
    readv_ = c"readv": fn(c_int, *const iovec, c_int) -> ssize_t;
    recvmmsg_ = c"recvmmsg": fn(c_int, *mut mmsghdr, c_uint, c_int, *mut timespec) -> c_int;
    epoll_pwait2_ = c"epoll_pwait2":
        fn(c_int, *mut epoll_event, c_int, *const timespec, *const sigset_t) -> c_int;
    timedjoin = c"pthread_timedjoin_np": fn(pthread_t, *mut *mut c_void, *const timespec) -> c_int;
    clockjoin = c"pthread_clockjoin_np":
        fn(pthread_t, *mut *mut c_void, clockid_t, *const timespec) -> c_int;
    thrd_join_ = c"thrd_join": fn(pthread_t, *mut c_int) -> c_int;
    thrd_sleep_ = c"thrd_sleep": fn(*const timespec, *mut timespec) -> c_int;
}

/// Sends the calling rank home if it would wait for a child process.
fn will_wait(kind: idtype_t, id: id_t, options: c_int) {
    if options & libc::WNOHANG != 0 {
        return;
    }
    go_home_unless(|| {
        // SAFETY: all zeros are a valid value.
        let mut child: siginfo_t = unsafe { mem::zeroed() };
        let options = options | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: the call has written the number of the child, or 0 if the call would wait.
        next!(waitid_)(kind, id, &raw mut child, options) != 0 || unsafe { child.si_pid() } != 0
    });
}

/// Like [`will_wait`], with the arguments of `waitpid`.
fn will_wait_for(process: pid_t, options: c_int) {
    // SAFETY: the call has no arguments.
    let own_group = || unsafe { libc::getpgrp() };
    let (kind, id) = match process {
        -1 => (libc::P_ALL, 0),
        0 => (libc::P_PGID, own_group()),
        1.. => (libc::P_PID, process),
        _ => (libc::P_PGID, process.wrapping_neg()),
    };
    will_wait(kind, id.cast_unsigned(), options | libc::WEXITED);
}

export! {
    abi "C-unwind";

    fn __read_chk(file: c_int, to: *mut c_void, size: size_t, room: size_t) -> ssize_t {
        if size > 0 {
            will_read(file, 0, size);
        }
        next!(read_chk)(file, to, size, room)
    }

    fn __recv_chk(file: c_int, to: *mut c_void, size: size_t, room: size_t, flags: c_int) -> ssize_t {
        will_read(file, flags, size);
        next!(recv_chk)(file, to, size, room, flags)
    }

    fn __recvfrom_chk(
        file: c_int, to: *mut c_void, size: size_t, room: size_t, flags: c_int,
        address: *mut sockaddr, length: *mut socklen_t,
    ) -> ssize_t {
        will_read(file, flags, size);
        next!(recvfrom_chk)(file, to, size, room, flags, address, length)
    }

    fn __poll_chk(files: *mut pollfd, count: nfds_t, timeout: c_int, room: size_t) -> c_int {
        let poll = next!(poll_chk);
        if timeout != 0 && yields::rank().is_some() {
            let found = poll(files, count, 0, room);
            if found != 0 {
                return found;
            }
            go_home();
        }
        poll(files, count, timeout, room)
    }

    fn __ppoll_chk(
        files: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t, room: size_t,
    ) -> c_int {
        if !is_zero(timeout) {
            go_home_unless(|| next!(poll_chk)(files, count, 0, room) != 0);
        }
        next!(ppoll_chk)(files, count, timeout, mask, room)
    }

    fn recvfrom(
        file: c_int, to: *mut c_void, size: size_t, flags: c_int, address: *mut sockaddr, length: *mut socklen_t,
    ) -> ssize_t {
        will_read(file, flags, size);
        next!(recvfrom_)(file, to, size, flags, address, length)
    }

    fn recvmsg(file: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
        will_read(file, flags, usize::MAX);
        next!(recvmsg_)(file, message, flags)
    }

    fn accept4(file: c_int, address: *mut sockaddr, size: *mut socklen_t, flags: c_int) -> c_int {
        will_read(file, 0, 0);
        next!(accept4_)(file, address, size, flags)
    }

    fn waitid(kind: idtype_t, id: id_t, information: *mut siginfo_t, options: c_int) -> c_int {
        will_wait(kind, id, options);
        next!(waitid_)(kind, id, information, options)
    }

    fn waitpid(process: pid_t, status: *mut c_int, options: c_int) -> pid_t {
        will_wait_for(process, options);
        next!(waitpid_)(process, status, options)
    }

    fn wait(status: *mut c_int) -> pid_t {
        will_wait_for(-1, 0);
        next!(wait_)(status)
    }

    fn wait4(process: pid_t, status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t {
        will_wait_for(process, options);
        next!(wait4_)(process, status, options, usage)
    }

    fn wait3(status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t {
        will_wait_for(-1, options);
        next!(wait3_)(status, options, usage)
    }

    fn readv(file: c_int, to: *const iovec, count: c_int) -> ssize_t {
        will_read(file, 0, 0);
        next!(readv_)(file, to, count)
    }

    fn recvmmsg(
        file: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, timeout: *mut timespec,
    ) -> c_int {
        // Without this flag the call waits for all messages.
        let waits_for_all = count > 1 && flags & libc::MSG_WAITFORONE == 0;
        let all = if waits_for_all { libc::MSG_WAITALL } else { 0 };
        will_read(file, flags | all, usize::MAX);
        next!(recvmmsg_)(file, messages, count, flags, timeout)
    }

    fn epoll_pwait2(
        file: c_int, events: *mut epoll_event, most: c_int, timeout: *const timespec, mask: *const sigset_t,
    ) -> c_int {
        if !is_zero(timeout) {
            go_home_unless(|| is_readable(file));
        }
        next!(epoll_pwait2_)(file, events, most, timeout, mask)
    }

    fn pthread_timedjoin_np(thread: pthread_t, result: *mut *mut c_void, time: *const timespec) -> c_int {
        if has_joined(thread, result) {
            return 0;
        }
        next!(timedjoin)(thread, result, time)
    }

    fn pthread_clockjoin_np(
        thread: pthread_t, result: *mut *mut c_void, clock: clockid_t, time: *const timespec,
    ) -> c_int {
        if has_joined(thread, result) {
            return 0;
        }
        next!(clockjoin)(thread, result, clock, time)
    }

    fn thrd_join(thread: pthread_t, result: *mut c_int) -> c_int {
        let mut value = ptr::null_mut();
        if has_joined(thread, &raw mut value) {
            // SAFETY: the program passes the address of a number, or null.
            unsafe { result.as_mut() }.into_iter().for_each(|result| *result = value.addr() as c_int);
            return 0;
        }
        next!(thrd_join_)(thread, result)
    }

    fn thrd_sleep(time: *const timespec, rest: *mut timespec) -> c_int {
        if sleeps::read(time).is_some_and(sleeps::sleeps) {
            return 0;
        }
        next!(thrd_sleep_)(time, rest)
    }
}
