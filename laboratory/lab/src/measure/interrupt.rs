//! Ctrl-C: the first press asks the study to stop after the current loop. A second press ends the process.

use crate::failure::Interrupted;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Handles ctrl-C for the rest of the process.
pub(crate) fn watch() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        // Without a handler ctrl-C ends the process at once, and the journal (the file of measurements) still holds
        // every finished cell.
        let _ = ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
    });
}

/// Whether ctrl-C was pressed.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Fails after ctrl-C. For a command that writes its results at its end.
pub(crate) fn go_on() -> Result<(), Interrupted> {
    match asked() {
        true => Err(Interrupted("interrupted; nothing was written".into())),
        false => Ok(()),
    }
}
