//! Coarse work on several threads: chunks of an array, each written by one thread.

use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// Threads meant by a parameter in which 0 stands for all cores.
pub(crate) fn count(threads: usize) -> usize {
    if threads == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { threads }
}

/// Hands every chunk of `length` items, with its number, to one of up to `threads` threads; `open` makes what a thread works with.
///
/// What is written to a chunk must depend on its number alone, so the answer is the same on any number of threads.
pub(crate) fn chunks<T: Send, S>(
    data: &mut [T],
    length: usize,
    threads: usize,
    open: impl Fn() -> S + Sync,
    work: impl Fn(usize, &mut [T], &mut S) + Sync,
) {
    let all = data.len().div_ceil(length);
    let share = all.div_ceil(count(threads).max(1)).max(1);
    let run = |first: usize, part: &mut [T]| {
        let mut own = open();
        part.chunks_mut(length).enumerate().for_each(|(i, chunk)| work(first + i, chunk, &mut own));
    };
    if share >= all {
        return run(0, data);
    }
    let parts = Mutex::new(data.chunks_mut(share * length).enumerate());
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work_off = || {
        while let Some((i, part)) = next() {
            run(i * share, part);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..all.div_ceil(share) {
            // Where no thread is to be had (limits on threads or memory), the others do its part.
            if Builder::new().spawn_scoped(scope, work_off).is_err() {
                break;
            }
        }
        work_off();
    });
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_chunk_is_seen_once_with_its_number() {
        for (items, length, threads) in [(0, 3, 2), (1, 3, 2), (10, 3, 1), (10, 3, 2), (10, 3, 7), (12, 3, 4), (5, 9, 3)] {
            let mut data = vec![0usize; items];
            super::chunks(&mut data, length, threads, || (), |i, chunk, ()| chunk.iter_mut().for_each(|x| *x += 1 + i));
            assert!(data.iter().enumerate().all(|(i, x)| *x == 1 + i / length), "{items} {length} {threads}");
        }
    }
}
