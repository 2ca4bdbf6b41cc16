//! Multi-threading: parts of an array, and teams that synchronise at a barrier.
//!
//! Results are the same for any number of threads if they depend only on the index of the item.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

/// Polls at a barrier before the thread yields its core.
const SPINS: usize = 2000;

/// Number of threads for a parameter in which 0 means all cores.
pub fn count(threads: usize) -> usize {
    if threads == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { threads }
}

/// Number of samples for which a thread is worth its start.
const SAMPLES_PER_THREAD: usize = 8192;

/// Number of threads for signals with this many samples: the given number, or, where it is 0, one
/// thread for each 8,192 samples, at least one and at most all cores.
pub fn count_for(threads: usize, samples: usize) -> usize {
    if threads > 0 { threads } else { count(0).min(samples / SAMPLES_PER_THREAD).max(1) }
}

/// Distributes whole groups of items over up to `threads` threads (0: all cores), at least `least`
/// groups each. Group `g` is `start(g)..start(g + 1)`.
pub fn groups<T: Send>(
    data: &mut [T],
    groups: usize,
    start: impl Fn(usize) -> usize,
    least: usize,
    threads: usize,
    work: impl Fn(Range<usize>, &mut [T]) + Sync,
) {
    let shares = count(threads).min(groups / least.max(1)).max(1);
    if shares == 1 {
        return work(0..groups, data);
    }
    let mut rest = data;
    let parts = (0..shares).map(|share| {
        let own = share * groups / shares..(share + 1) * groups / shares;
        let items = start(own.end) - start(own.start);
        (own, rest.split_off_mut(..items).expect("groups cover the data"))
    });
    let parts = Mutex::new(parts.collect::<Vec<_>>().into_iter());
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        while let Some((range, part)) = next() {
            work(range, part);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..shares {
            // If no thread is available (limits on threads or memory), the others do its part.
            if Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
}

/// Distributes chunks of `length` items, with their index, over up to `threads` threads, each with
/// its own state from `open`.
pub fn chunks<T: Send, S>(
    data: &mut [T],
    length: usize,
    threads: usize,
    open: impl Fn() -> S + Sync,
    work: impl Fn(usize, &mut [T], &mut S) + Sync,
) {
    let items = data.len();
    groups(
        data,
        items.div_ceil(length),
        |chunk| items.min(chunk * length),
        1,
        threads,
        |range, part| {
            let mut own = open();
            range.zip(part.chunks_mut(length)).for_each(|(i, chunk)| work(i, chunk, &mut own));
        },
    );
}

/// Runs one worker on each of up to `threads` threads concurrently; `split` creates the workers,
/// which synchronise at the barrier.
pub fn team<W: Send>(
    threads: usize,
    split: impl FnOnce(usize) -> Vec<W>,
    run: impl Fn(W, &Barrier) + Sync,
) {
    std::thread::scope(|scope| {
        let (run, mut others) = (&run, Vec::new());
        for _ in 1..count(threads).max(1) {
            let (sender, receiver) = channel::<(W, Arc<Barrier>)>();
            let work =
                move || receiver.recv().map_or((), |(worker, barrier)| run(worker, &barrier));
            // If no thread is available, the others do its part.
            if Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
            others.push(sender);
        }
        let barrier = Arc::new(Barrier { threads: others.len() + 1, ..Barrier::default() });
        let mut workers = split(barrier.threads).into_iter();
        let first = workers.next().expect("at least one worker");
        for (worker, sender) in workers.zip(others) {
            sender.send((worker, Arc::clone(&barrier))).expect("one thread per worker");
        }
        run(first, &barrier);
    });
}

/// A barrier at which the threads of a team wait for each other.
#[derive(Default)]
pub struct Barrier {
    threads: usize,
    waiting: AtomicUsize,
    round: AtomicUsize,
}

impl Barrier {
    /// Waits for all others.
    pub fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut looks = 0;
        while self.round.load(Ordering::Acquire) == round {
            looks += 1;
            if looks < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }
}
