//! The interface of the WebAssembly module: plain functions on its memory.
//!
//! The host allocates room for a request, writes it there and runs it; events arrive through an
//! imported function. One instance runs one job after another.

use crate::events::Listener;
use crate::job::{DEFECT, Machine, PROTOCOL, failure, run};
use lobcod::engine::CpuEngine;
use lobcod::run::{Stop, set_time_source};
use std::alloc::{Layout, alloc};
use std::time::Duration;

/// Memory for a job, of the 4 GiB that a module can address.
const MAX_MEMORY: u64 = 3 << 30;
/// Pixels of all images of a job: larger ones take too long on one thread.
const MAX_PIXELS: usize = 3_000_000;
/// Alignment of requests.
const ALIGNMENT: usize = 8;

#[link(wasm_import_module = "lobcod")]
unsafe extern "C" {
    /// Milliseconds since some moment.
    safe fn now() -> f64;
    /// Receives an event, whose bytes are valid during the call.
    safe fn event(at: *const u8, length: usize);
    /// Whether the job should stop: non-zero if so.
    safe fn stopped() -> i32;
}

struct Host;

impl Listener for Host {
    fn event(&mut self, message: Vec<u8>) {
        event(message.as_ptr(), message.len());
    }

    fn stop(&self) -> Stop {
        Stop::when(|| stopped() != 0)
    }
}

/// Version of the messages.
#[unsafe(no_mangle)]
pub extern "C" fn lobcod_protocol() -> u32 {
    PROTOCOL as u32
}

/// Room for a request; null if there is not enough memory.
#[unsafe(no_mangle)]
pub extern "C" fn lobcod_alloc(length: usize) -> *mut u8 {
    match Layout::from_size_align(length.max(1), ALIGNMENT) {
        // SAFETY: the size is not zero.
        Ok(layout) => unsafe { alloc(layout) },
        Err(_) => std::ptr::null_mut(),
    }
}

/// Runs the request and frees its room; 0 after a result, 1 after an error.
///
/// # Safety
/// `request` comes from [`lobcod_alloc`] with this length, and is filled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lobcod_run(request: *mut u8, length: usize) -> i32 {
    set_time_source(|| Duration::from_secs_f64(now().max(0.0) / 1e3));
    std::panic::set_hook(Box::new(|panic| {
        Host.event(failure(&format!("{DEFECT} ({panic})")).to_bytes());
    }));
    // SAFETY: the caller guarantees room of this length and alignment from the same allocator.
    let bytes = unsafe { std::slice::from_raw_parts(request, length) };
    let machine = Machine::new(|_, _| Ok(Box::new(CpuEngine::new(1)?)), Some(MAX_MEMORY));
    let machine = machine.with_max_pixels(MAX_PIXELS);
    let worked = run(bytes, &machine, &mut Host);
    // SAFETY: as above; nothing refers to the request any more.
    unsafe {
        std::alloc::dealloc(request, Layout::from_size_align_unchecked(length.max(1), ALIGNMENT))
    };
    i32::from(!worked)
}
