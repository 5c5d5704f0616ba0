//! The functions that the loader calls.

use crate::environment::{display, effect, settings};
use crate::system::ending;
use crate::team::context;
use crate::{abi, carry};

/// Called by the loader.
extern "C" fn on_load() {
    abi::check();
    carry::on_load();
    ending::attend(context::free);
    // They are read here, before the program changes its environment.
    settings();
    effect::read();
    display(carry::is_preloaded());
}

#[used]
// SAFETY: functions in this section are called by the loader, without arguments that are needed.
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

/// Called when the process ends, or a program that has loaded this library late closes it.
extern "C" fn at_end() {
    effect::tell();
}

#[used]
// SAFETY: as above.
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = at_end;
