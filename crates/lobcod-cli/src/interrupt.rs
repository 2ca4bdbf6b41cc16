//! Ctrl-C: the first asks the solver to stop and save, the second ends the program at once.

use crate::INTERRUPTED;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Starts to listen for Ctrl-C and for requests to terminate.
pub fn listen() {
    let handler = || {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    };
    // Without a handler the program still ends on Ctrl-C, only without saving; that is no reason to refuse work.
    let _ = ctrlc::set_handler(handler);
}

/// Whether Ctrl-C was pressed.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
