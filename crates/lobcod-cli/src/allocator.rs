//! What the process holds is counted. Memory that runs out, or that a limit does not allow, ends the program with a sentence, not with a
//! signal.

use lobcod::memory::words;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The system's allocator, counting.
struct Telling;

#[global_allocator]
static MEMORY: Telling = Telling;

/// Bytes held now.
static HELD: AtomicU64 = AtomicU64::new(0);
/// Bytes that may be held, and the limit that this comes from, for the sentence.
static MOST: AtomicU64 = AtomicU64::new(u64::MAX);
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);
/// Is the program ending for want of memory? Its last words need some.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Bytes that the program has asked for and not given back.
pub fn held() -> u64 {
    HELD.load(Relaxed)
}

/// From now on the program ends where it would hold more than `most` bytes; `limit` is what people are told.
pub fn allow(most: u64, limit: u64) {
    LIMIT.store(limit, Relaxed);
    MOST.store(most, Relaxed);
}

// SAFETY: every call is handed to the system's allocator as it came, and what that gives is given back, unless it is null.
unsafe impl GlobalAlloc for Telling {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's promises are those that are asked for.
        told(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: as above.
        told(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        // SAFETY: as above.
        let new = told(unsafe { System.realloc(old, layout, size) }, size);
        HELD.fetch_sub(layout.size() as u64, Relaxed);
        new
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as u64, Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(old, layout) }
    }
}

/// Counts what is about to be taken.
fn take(bytes: usize) {
    if HELD.fetch_add(bytes as u64, Relaxed) + bytes as u64 > MOST.load(Relaxed) && !ENDING.swap(true, Relaxed) {
        let limit = words(LIMIT.load(Relaxed));
        eprintln!("error: more than the limit of {limit} is needed; allow more with --max-memory, or use a smaller picture");
        std::process::exit(i32::from(crate::FAILED));
    }
}

fn told(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        if ENDING.swap(true, Relaxed) {
            // Another thread has said it, or this one has and needs memory to end: time for the others to end the program.
            std::thread::sleep(Duration::from_secs(1));
            std::process::exit(i32::from(crate::FAILED));
        }
        // Neither takes memory. Nothing is half-written: files take their names when they are whole.
        eprintln!("error: there is no memory left ({bytes} more bytes were asked for); use a smaller picture, or --max-memory");
        std::process::exit(i32::from(crate::FAILED));
    }
    memory
}
