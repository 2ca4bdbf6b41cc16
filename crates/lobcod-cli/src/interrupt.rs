//! Ctrl-C: the first asks the work to stop and save, the second ends the program at once.

use crate::INTERRUPTED;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static ASKED: AtomicBool = AtomicBool::new(false);
static WORKING: AtomicBool = AtomicBool::new(false);
/// How long work whose unfinished answer is of no use may go on before it is cut off.
const GRACE: Duration = Duration::from_millis(700);

/// What becomes of work that is broken off.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    /// The answer so far is saved, however long the sweep still takes that is under way.
    Kept,
    /// The answer so far is saved if it can be had at once; else nothing is written.
    Dropped,
}

/// Starts to listen for Ctrl-C and for requests to terminate.
pub fn listen(unfinished: Unfinished) {
    let handler = move || {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        match unfinished {
            Unfinished::Kept => {
                std::thread::spawn(|| {
                    std::thread::sleep(GRACE);
                    if !WORKING.load(Ordering::SeqCst) {
                        return;
                    }
                    crate::output::note("stopping after this sweep to save the answer so far; Ctrl-C again ends at once");
                });
            }
            Unfinished::Dropped => {
                std::thread::spawn(cut_off);
            }
        }
    };
    // Without a handler the program still ends on Ctrl-C, only without saving; that is no reason to refuse work.
    let _ = ctrlc::set_handler(handler);
}

/// Ends the program unless the work ends by itself. What is being saved is saved: files are written whole or not at all.
fn cut_off() {
    let clock = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(50));
        if clock.elapsed() >= GRACE && WORKING.load(Ordering::SeqCst) {
            crate::output::note("interrupted: the answer was not ready, so nothing was written");
            std::process::exit(i32::from(INTERRUPTED));
        }
    }
}

/// Whether Ctrl-C was pressed.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Says that a solver begins or ends.
pub fn working(so: bool) {
    WORKING.store(so, Ordering::SeqCst);
}
