//! Mutexes that raise priorities (`pthread_mutexattr_setprotocol`).
//!
//! The kernel wants the kernel thread that owns such a mutex to unlock it. A carried rank has no
//! kernel thread of its own. So a program that makes one has threads that are not carried, from the next
//! region on: [`is_announced`].
//!
//! If the mutex inherits priorities, and a carried region runs when it is made, ranks may use it in this region. So it is made as a
//! mutex without priorities: it keeps threads apart as before, all its life. A mutex with a ceiling is made as asked for:
//! the kernel has no part in waiting for it.
//!
//! Robust mutexes need nothing: the kernel looks at their owner when a thread ends, and a rank's thread is there until the
//! process ends.

use super::registry;
use crate::system::export;
use crate::system::next::Next;
use libc::{pthread_mutex_t, pthread_mutexattr_t};
use std::ffi::c_int;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// Whether there is such a mutex.
static ANNOUNCED: AtomicBool = AtomicBool::new(false);

static MUTEX_INIT: Next = Next::new(c"pthread_mutex_init");

/// The function behind this one is looked for.
pub(super) fn find() {
    MUTEX_INIT.find();
}

/// Whether threads are not to be carried any more.
///
/// Sequentially consistent, as all announcements here: a thread that begins a carried region
/// announces it and then asks this; a thread that makes a mutex announces it and then asks whether
/// a region is carried. At least one of the two threads sees the other's word.
pub(super) fn is_announced() -> bool {
    ANNOUNCED.load(SeqCst)
}

unsafe extern "C" {
    fn pthread_mutexattr_getprotocol(of: *const pthread_mutexattr_t, protocol: *mut c_int)
    -> c_int;
    fn pthread_mutexattr_setprotocol(of: *mut pthread_mutexattr_t, protocol: c_int) -> c_int;
}

/// In the C library's numbers.
const NONE: c_int = 0;
const INHERIT: c_int = 1;

/// How a mutex of these attributes raises priorities.
fn protocol(attributes: *const pthread_mutexattr_t) -> c_int {
    let mut protocol = NONE;
    if !attributes.is_null() {
        // SAFETY: the program's; the number is written, or stays.
        unsafe { pthread_mutexattr_getprotocol(attributes, &raw mut protocol) };
    }
    protocol
}

/// Announces such a mutex. Returns whether a carried region runs.
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
        // SAFETY: it is the function of this name.
        let function: extern "C" fn(*mut pthread_mutex_t, *const pthread_mutexattr_t) -> c_int =
            unsafe { std::mem::transmute(function) };
        let protocol = protocol(attributes);
        if protocol == NONE || !announce() || protocol != INHERIT {
            return function(mutex, attributes);
        }
        // SAFETY: the attributes are plain numbers; of a copy one is changed.
        let plain = unsafe {
            let mut plain = attributes.read();
            pthread_mutexattr_setprotocol(&raw mut plain, NONE);
            plain
        };
        function(mutex, &raw const plain)
    }
}
