//! Ctrl-C: the first stops the run and saves, the second ends the program immediately.

use crate::INTERRUPTED;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

static REQUESTED: AtomicBool = AtomicBool::new(false);
static WORKING: AtomicBool = AtomicBool::new(false);
/// Delay before the program explains what it is waiting for.
const GRACE: Duration = Duration::from_millis(700);

/// Installs the handler for Ctrl-C and termination requests.
pub fn listen() {
    let handler = || {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            if WORKING.load(Ordering::SeqCst) {
                crate::output::note(
                    "stopping to save the result so far; press Ctrl-C again to quit immediately",
                );
            }
        });
    };
    // Without a handler Ctrl-C still ends the program, only without saving, so the work can
    // proceed.
    let _ = ctrlc::set_handler(handler);
}

/// Whether Ctrl-C was pressed.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// Records whether a solver is running.
pub fn set_working(working: bool) {
    WORKING.store(working, Ordering::SeqCst);
}
