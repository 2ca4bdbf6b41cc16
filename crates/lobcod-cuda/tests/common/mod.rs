//! Shared helpers of the device tests.

use lobcod_cuda::CudaEngine;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The engine, if there is a device.
pub fn engine() -> Option<CudaEngine> {
    CudaEngine::new().inspect_err(|error| lobcod_conformance::skipped(error)).ok()
}

/// Runs work items concurrently. Kernels of many shapes are compiled, and small problems leave a
/// device idle.
pub fn at_once<T: Sync>(engine: &CudaEngine, work: &[T], each: impl Fn(&CudaEngine, &T) + Sync) {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers.min(work.len()) {
            let own = engine.another().unwrap();
            let (next, each) = (&next, &each);
            scope.spawn(move || {
                while let Some(piece) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    each(&own, piece);
                }
            });
        }
    });
}
