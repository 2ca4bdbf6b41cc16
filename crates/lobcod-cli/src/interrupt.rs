//! Ctrl-C: the first asks the work to stop and save, the second ends the program at once.

use crate::INTERRUPTED;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

static ASKED: AtomicBool = AtomicBool::new(false);
static WORKING: AtomicBool = AtomicBool::new(false);
/// Time after which people want to know what the program is waiting for.
const GRACE: Duration = Duration::from_millis(700);

/// Starts to listen for Ctrl-C and for requests to terminate.
pub fn listen() {
    let handler = || {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            if WORKING.load(Ordering::SeqCst) {
                crate::output::note("stopping to save the answer so far; Ctrl-C again ends at once");
            }
        });
    };
    // Without a handler the program still ends on Ctrl-C, only without saving; that is no reason to refuse work.
    let _ = ctrlc::set_handler(handler);
}

/// Whether Ctrl-C was pressed.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Says that a solver begins or ends.
pub fn working(so: bool) {
    WORKING.store(so, Ordering::SeqCst);
}
