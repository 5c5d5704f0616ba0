//! The functions that the loader calls at the library's start and end.

use crate::environment::{display, effect, settings};
use crate::system::ending;
use crate::team::context;
use crate::{abi, carry};

/// The loader calls this after it has loaded the library.
extern "C" fn on_load() {
    abi::check();
    carry::on_load();
    ending::attend(context::free);
    // The settings are read here, before the program changes its environment.
    settings();
    effect::read();
    display(carry::is_preloaded());
}

#[used]
// SAFETY: the loader calls the functions in this section. `ON_LOAD` needs none of the arguments that it passes.
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

/// The loader calls this when the process ends. If a program has loaded this library by `dlopen`, `dlclose` may also
/// call it.
extern "C" fn at_end() {
    effect::tell();
}

#[used]
// SAFETY: as for `ON_LOAD`.
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = at_end;
