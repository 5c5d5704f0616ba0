//! Mutexes that raise priorities (`pthread_mutexattr_setprotocol`).
//!
//! The kernel requires that the kernel thread which owns such a mutex also unlocks it. But a *carried* thread (a rank
//! of a team) is executed by different kernel threads, one after another. So after a program has made such a mutex,
//! threads are not carried from the next region on ([`is_announced`]).
//!
//! If a mutex that inherits priorities is made while a carried region runs, ranks may use it in this region. So the
//! mutex is made as one without priorities, for its whole life: it still excludes other threads. A mutex with a
//! priority ceiling is made as requested: waiting for it does not involve the kernel thread that owns it.
//!
//! Robust mutexes need no change: the kernel looks at their owner when a thread ends, and carried threads live until
//! the process ends.

use super::registry;
use crate::system::export;
use crate::system::next::Next;
use libc::{pthread_mutex_t, pthread_mutexattr_t};
use std::ffi::c_int;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// Whether a mutex that raises priorities was made.
static ANNOUNCED: AtomicBool = AtomicBool::new(false);

static MUTEX_INIT: Next = Next::new(c"pthread_mutex_init");

/// Finds `pthread_mutex_init` in the C library.
pub(super) fn find() {
    MUTEX_INIT.find();
}

/// Whether threads are no longer to be carried.
///
/// Sequentially consistent, like the other announcements here. A thread that begins a carried region announces the
/// region, and then reads this word. A thread that makes a mutex announces the mutex, and then reads whether a carried
/// region runs. So at least one of the two threads sees the announcement of the other.
pub(super) fn is_announced() -> bool {
    ANNOUNCED.load(SeqCst)
}

unsafe extern "C" {
    fn pthread_mutexattr_getprotocol(of: *const pthread_mutexattr_t, protocol: *mut c_int)
    -> c_int;
    fn pthread_mutexattr_setprotocol(of: *mut pthread_mutexattr_t, protocol: c_int) -> c_int;
}

/// The C library's numbers for protocols.
const NONE: c_int = 0;
const INHERIT: c_int = 1;

/// The priority protocol of a mutex with these attributes.
fn protocol(attributes: *const pthread_mutexattr_t) -> c_int {
    let mut protocol = NONE;
    if !attributes.is_null() {
        // SAFETY: the program passes the attributes. The function writes the number, or leaves it as it is.
        unsafe { pthread_mutexattr_getprotocol(attributes, &raw mut protocol) };
    }
    protocol
}

/// Announces a mutex that raises priorities. Returns whether a carried region runs.
fn announce() -> bool {
    if !ANNOUNCED.swap(true, SeqCst) && crate::environment::settings().displays {
        crate::system::report::line(format_args!(
            "a mutex with a priority protocol: threads are not carried from the next region on"
        ));
    }
    registry::is_in_region()
}

export! {
    fn pthread_mutex_init(
        mutex: *mut pthread_mutex_t, attributes: *const pthread_mutexattr_t,
    ) -> c_int {
        let Some(function) = MUTEX_INIT.find() else { return libc::ENOSYS };
        // SAFETY: the C library's function of this name has this type.
        let function: extern "C" fn(*mut pthread_mutex_t, *const pthread_mutexattr_t) -> c_int =
            unsafe { std::mem::transmute(function) };
        let protocol = protocol(attributes);
        if protocol == NONE || !announce() || protocol != INHERIT {
            return function(mutex, attributes);
        }
        // SAFETY: the attributes are plain numbers. Only a copy is changed.
        let plain = unsafe {
            let mut plain = attributes.read();
            pthread_mutexattr_setprotocol(&raw mut plain, NONE);
            plain
        };
        function(mutex, &raw const plain)
    }
}
