//! A counting allocator. Running out of memory, or exceeding the memory limit, ends the program
//! with an error message instead of a signal.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The system allocator, with a count of allocated bytes.
struct CountingAllocator;

#[global_allocator]
static MEMORY: CountingAllocator = CountingAllocator;

/// Bytes currently allocated.
static HELD: AtomicU64 = AtomicU64::new(0);
/// Largest number of bytes that may be allocated, and the limit quoted in the error message.
static MOST: AtomicU64 = AtomicU64::new(u64::MAX);
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);
/// Set once the program is ending because memory ran out; printing the message needs some.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Bytes currently allocated by the program.
pub fn held() -> u64 {
    HELD.load(Relaxed)
}

/// Makes the program end if it would allocate more than `most` bytes; `limit` is the number in the
/// error message.
pub fn allow(most: u64, limit: u64) {
    LIMIT.store(limit, Relaxed);
    MOST.store(most, Relaxed);
}

// SAFETY: every call is forwarded unchanged to the system allocator, and its result is returned
// unless it is null.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which the system allocator
        // shares.
        non_null(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: as above.
        non_null(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        // SAFETY: as above.
        let new = non_null(unsafe { System.realloc(old, layout, size) }, size);
        HELD.fetch_sub(layout.size() as u64, Relaxed);
        new
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as u64, Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(old, layout) }
    }
}

/// Counts bytes about to be allocated.
fn take(bytes: usize) {
    if HELD.fetch_add(bytes as u64, Relaxed) + bytes as u64 > MOST.load(Relaxed)
        && !ENDING.swap(true, Relaxed)
    {
        let limit = LIMIT.load(Relaxed);
        end(
            "more than the limit of ",
            limit,
            " is needed; raise --max-memory, or use a smaller image",
        );
    }
}

fn non_null(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        if ENDING.swap(true, Relaxed) {
            // Another thread has already reported it, or this one has and is allocating while it
            // exits: give the process time to end.
            std::thread::sleep(Duration::from_secs(1));
            std::process::exit(i32::from(crate::FAILED));
        }
        // No file is left half-written: files are renamed into place when complete.
        end(
            "out of memory: ",
            bytes as u64,
            " more could not be allocated; use a smaller image, or --max-memory",
        );
    }
    memory
}

/// Ends the program with a message about an amount of memory. It must not allocate, so the message
/// is composed in an array and written directly, without the formatting and buffers of `eprintln`.
fn end(before: &str, bytes: u64, after: &str) -> ! {
    let mut message = [0; 160];
    let mut length = 0;
    let mut add = |text: &[u8]| {
        let text = &text[..text.len().min(message.len() - length)];
        message[length..length + text.len()].copy_from_slice(text);
        length += text.len();
    };
    add(b"error: ");
    add(before.as_bytes());
    let mut digits = [0; 20];
    let number = decimal(bytes.div_ceil(1 << 20), &mut digits);
    add(number);
    add(b" MiB");
    add(after.as_bytes());
    add(b"\n");
    write_to_stderr(&message[..length]);
    std::process::exit(i32::from(crate::FAILED))
}

/// The decimal digits of a number.
fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[first..];
        }
    }
}

/// Writes bytes to standard error, which is not buffered; there is nowhere to report a failure.
fn write_to_stderr(bytes: &[u8]) {
    use std::io::Write as _;
    let _ = std::io::stderr().lock().write_all(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_digits() {
        for number in [0, 7, 10, 1234, u64::MAX] {
            assert_eq!(decimal(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }
}
