//! The functions that the loader calls at the start and end of this library.

use crate::environment::{display, effect, settings};
use crate::system::ending;
use crate::team::context;
use crate::words::bell::WORKERS;
use crate::words::spin;
use crate::{abi, carry};
use manycore_platform::{Native, Platform};

/// The loader calls this after it has loaded the library.
extern "C" fn on_load() {
    Native::start_clock();
    abi::check();
    watch_forks();
    carry::on_load();
    ending::attend(context::free);
    // The settings are read here, before the program changes its environment.
    settings();
    effect::read();
    display(carry::is_preloaded());
}

/// If forks cannot be watched, a child process waits for threads that only its parent has, as it does with GCC's
/// library.
fn watch_forks() {
    let _ = Native::watch_forks();
    if !cfg!(miri) {
        // SAFETY: `in_child` is a function of this library, and may run whenever a child begins.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
}

/// A child process begins, on the thread that has called `fork`. The process has no other thread: none sleeps at the
/// workers' bell, no thread is in a region, and no worker executes a rank.
unsafe extern "C" fn in_child() {
    WORKERS.forget_sleepers();
    spin::forget_regions();
    context::is_no_rank();
}

#[used]
// SAFETY: the loader calls the functions in this section. `ON_LOAD` needs none of the arguments that the loader passes.
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

/// The loader calls this when the process ends. If a program has loaded this library by `dlopen`, `dlclose` may also
/// call it.
extern "C" fn at_end() {
    effect::tell();
}

#[used]
// SAFETY: this holds for the same reason as for `ON_LOAD`.
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = at_end;
