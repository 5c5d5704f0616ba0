//! More names of functions that block, in front of the C library: see [`blocking`](super::blocking).
//!
//! Some systems set `_FORTIFY_SOURCE` for all programs. Then compilers call another function if they know the size of a
//! buffer. That function also checks the size, and its name ends in `_chk`.

use super::blocking::{go_home, is_zero, next, nexts, will_read};
use super::{sleeps, yields};
use crate::system::export;
use crate::system::next::Next;
use libc::{
    id_t, idtype_t, msghdr, nfds_t, pid_t, pollfd, rusage, siginfo_t, sigset_t, size_t, sockaddr,
    socklen_t, ssize_t, timespec,
};
use std::ffi::{c_int, c_ulong, c_void};

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
    wait4_ = c"wait4": fn(pid_t, *mut c_int, c_int, *mut rusage) -> pid_t;
    thrd_join_ = c"thrd_join": fn(c_ulong, *mut c_int) -> c_int;
    thrd_sleep_ = c"thrd_sleep": fn(*const timespec, *mut timespec) -> c_int;
}

export! {
    abi "C-unwind";

    fn __read_chk(file: c_int, to: *mut c_void, size: size_t, room: size_t) -> ssize_t {
        if size > 0 {
            will_read(file, 0);
        }
        next!(read_chk)(file, to, size, room)
    }

    fn __recv_chk(file: c_int, to: *mut c_void, size: size_t, room: size_t, flags: c_int) -> ssize_t {
        will_read(file, flags);
        next!(recv_chk)(file, to, size, room, flags)
    }

    fn __recvfrom_chk(
        file: c_int, to: *mut c_void, size: size_t, room: size_t, flags: c_int,
        address: *mut sockaddr, length: *mut socklen_t,
    ) -> ssize_t {
        will_read(file, flags);
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
            go_home();
        }
        next!(ppoll_chk)(files, count, timeout, mask, room)
    }

    fn recvfrom(
        file: c_int, to: *mut c_void, size: size_t, flags: c_int, address: *mut sockaddr, length: *mut socklen_t,
    ) -> ssize_t {
        will_read(file, flags);
        next!(recvfrom_)(file, to, size, flags, address, length)
    }

    fn recvmsg(file: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
        will_read(file, flags);
        next!(recvmsg_)(file, message, flags)
    }

    fn accept4(file: c_int, address: *mut sockaddr, size: *mut socklen_t, flags: c_int) -> c_int {
        will_read(file, 0);
        next!(accept4_)(file, address, size, flags)
    }

    fn waitid(kind: idtype_t, id: id_t, information: *mut siginfo_t, options: c_int) -> c_int {
        if options & libc::WNOHANG == 0 {
            go_home();
        }
        next!(waitid_)(kind, id, information, options)
    }

    fn wait4(process: pid_t, status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t {
        if options & libc::WNOHANG == 0 {
            go_home();
        }
        next!(wait4_)(process, status, options, usage)
    }

    fn thrd_join(thread: c_ulong, result: *mut c_int) -> c_int {
        go_home();
        next!(thrd_join_)(thread, result)
    }

    fn thrd_sleep(time: *const timespec, rest: *mut timespec) -> c_int {
        if sleeps::read(time).is_some_and(sleeps::sleeps) {
            return 0;
        }
        next!(thrd_sleep_)(time, rest)
    }
}
