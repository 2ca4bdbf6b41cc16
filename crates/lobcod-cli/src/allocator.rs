//! Memory that runs out ends the program with a sentence, not with a signal.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator; where it has nothing left, the program says so and ends.
struct Telling;

#[global_allocator]
static MEMORY: Telling = Telling;

// SAFETY: every call is handed to the system's allocator as it came, and what that gives is given back, unless it is null.
unsafe impl GlobalAlloc for Telling {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that are asked for.
        told(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        told(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        told(unsafe { System.realloc(old, layout, size) }, size)
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(old, layout) }
    }
}

fn told(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        // Neither takes memory. Nothing is half-written: files take their names when they are whole.
        eprintln!("error: there is no memory left ({bytes} more bytes were asked for); use a smaller picture, or --max-memory");
        std::process::exit(i32::from(crate::FAILED));
    }
    memory
}
