//! Describes, for error messages, what a thread that sleeps in the kernel waits for.

use super::table::{name_of, number};
use crate::linux::files::Open;
use crate::linux::process::Process;

impl Process {
    /// Describes what a thread of the process waits for, by the number and the first argument of the call that put the
    /// thread to sleep.
    pub(in crate::linux) fn awaited(&self, thread: u32) -> String {
        let Some(thread) = self.threads.get(thread) else {
            return "of the kernel".into();
        };
        let [call, first] = thread.sleeps_in;
        let name = name_of(call);
        let of_file = |what| format!("of a wait for {what} ({name} of file {})", first as i32);
        let what = match call {
            number::read
            | number::readv
            | number::write
            | number::writev
            | number::sendto
            | number::sendmsg
            | number::recvfrom
            | number::recvmsg
            | number::accept
            | number::accept4 => return of_file(kind(self, first)),
            number::epoll_pwait => return of_file("files"),
            number::ppoll | number::pselect6 => "files",
            number::wait4 | number::waitid | number::clone => "a child",
            number::openat => "the other side of a FIFO",
            number::splice | number::tee | number::vmsplice => "a pipe",
            number::rt_sigsuspend | number::rt_sigtimedwait => "a signal",
            number::nanosleep | number::clock_nanosleep => "its time",
            _ => "the kernel",
        };
        format!("of a wait for {what} ({name})")
    }
}

/// The kind of an open file.
fn kind(process: &Process, number: u64) -> &'static str {
    match process.files.get(number) {
        Ok(Open::Stream(end)) if !end.is_socket() => "a pipe",
        Ok(Open::Stream(_) | Open::Socket(_)) => "a socket",
        Ok(Open::Events(_)) => "a counter",
        Ok(Open::Clock(_)) => "a clock",
        Ok(Open::Signals(_)) => "signals",
        _ => "a file",
    }
}
