//! Threads that stay awake while there is work.
//!
//! A sweep hands out work every few hundred microseconds. Waking a sleeping thread costs tens of them, so the workers spin for a
//! while between two jobs and go to sleep only when none comes.

use std::any::Any;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

/// Looks for a new job before a worker goes to sleep: about a tenth of a millisecond.
const SPINS: usize = 20_000;

/// A job as the workers see it: called once by every thread, with its number.
type Job = *const (dyn Fn(usize) + Sync);

struct Shared {
    /// Number of the newest job; workers wait for it to change.
    newest: AtomicUsize,
    job: Mutex<Option<SendJob>>,
    /// Workers that have not finished the newest job.
    busy: AtomicUsize,
    sleepers: AtomicUsize,
    wake: Condvar,
    bed: Mutex<()>,
    stop: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    spins: usize,
}

#[derive(Clone, Copy)]
struct SendJob(Job);

// SAFETY: the closure behind the pointer is Sync, and `Threads::run` keeps it alive until all workers have left it.
unsafe impl Send for SendJob {}

/// The calling thread and its workers.
pub(super) struct Threads {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// One job at a time, should sessions of one engine run on several threads.
    turn: Mutex<()>,
}

impl Threads {
    /// `count` threads in all, the calling one included.
    pub(super) fn new(count: usize) -> std::io::Result<Self> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let shared = Arc::new(Shared {
            newest: AtomicUsize::new(0),
            job: Mutex::new(None),
            busy: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            wake: Condvar::new(),
            bed: Mutex::new(()),
            stop: AtomicBool::new(false),
            panic: Mutex::new(None),
            // More threads than cores: a spinning one would only keep another from its work.
            spins: if count <= cores { SPINS } else { 0 },
        });
        let mut threads = Self { shared, workers: Vec::new(), turn: Mutex::new(()) };
        for i in 1..count {
            let shared = Arc::clone(&threads.shared);
            let worker = thread::Builder::new().name(format!("lobcod-{i}")).spawn(move || shared.work(i))?;
            threads.workers.push(worker);
        }
        Ok(threads)
    }

    pub(super) fn count(&self) -> usize {
        self.workers.len() + 1
    }

    /// Calls `job(i)` on every thread, `i` its number, and returns when all are done.
    pub(super) fn run(&self, job: &(dyn Fn(usize) + Sync)) {
        if self.workers.is_empty() {
            return job(0);
        }
        let _turn = hold(&self.turn);
        let shared = &*self.shared;
        // SAFETY: only the lifetime is changed. The pointer is used by workers between here and the end of this call, which waits
        // for them even when the job panics.
        let erased = unsafe { std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), Job>(job) };
        *hold(&shared.job) = Some(SendJob(erased));
        shared.busy.store(self.workers.len(), SeqCst);
        shared.newest.fetch_add(1, SeqCst);
        if shared.sleepers.load(SeqCst) > 0 {
            let _bed = hold(&shared.bed);
            shared.wake.notify_all();
        }
        let own = catch_unwind(AssertUnwindSafe(|| job(0)));
        let mut spins = 0;
        while shared.busy.load(SeqCst) > 0 {
            spins += 1;
            if spins < shared.spins {
                spin_loop();
            } else {
                thread::yield_now();
            }
        }
        *hold(&shared.job) = None;
        if let Some(panic) = hold(&shared.panic).take().or(own.err()) {
            resume_unwind(panic);
        }
    }
}

impl Shared {
    fn work(&self, number: usize) {
        let mut seen = 0;
        while self.wait_for_job(&mut seen) {
            let job = hold(&self.job).expect("a job is there until all have done it").0;
            // SAFETY: `Threads::run` keeps the closure alive until `busy` has fallen to 0.
            let done = catch_unwind(AssertUnwindSafe(|| unsafe { (*job)(number) }));
            if let Err(panic) = done {
                hold(&self.panic).get_or_insert(panic);
            }
            self.busy.fetch_sub(1, SeqCst);
        }
    }

    /// Waits until there is a job this worker has not seen; false when there will be none any more.
    fn wait_for_job(&self, seen: &mut usize) -> bool {
        for _ in 0..self.spins {
            if self.newest.load(SeqCst) != *seen {
                *seen = self.newest.load(SeqCst);
                return true;
            }
            spin_loop();
        }
        let mut bed = hold(&self.bed);
        self.sleepers.fetch_add(1, SeqCst);
        while self.newest.load(SeqCst) == *seen && !self.stop.load(SeqCst) {
            bed = self.wake.wait(bed).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        self.sleepers.fetch_sub(1, SeqCst);
        *seen = self.newest.load(SeqCst);
        !self.stop.load(SeqCst)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        drop(hold(&self.shared.bed));
        self.shared.wake.notify_all();
        for worker in self.workers.drain(..) {
            // A worker's panic was passed on by `run`.
            let _ = worker.join();
        }
    }
}

/// The lock, whoever panicked while holding it: nothing behind these locks can be half-changed.
fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_does_every_job_once() {
        for count in [1, 2, 3, 8] {
            let threads = Threads::new(count).unwrap();
            let calls: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            for round in 1..200 {
                threads.run(&|i| {
                    calls[i].fetch_add(1, SeqCst);
                });
                assert!(calls.iter().all(|c| c.load(SeqCst) == round), "{count} threads, round {round}");
                if round % 50 == 0 {
                    thread::sleep(std::time::Duration::from_millis(3));
                }
            }
        }
    }

    #[test]
    fn a_panic_is_passed_on_and_the_threads_live() {
        let threads = Threads::new(3).unwrap();
        for bad in 0..3 {
            let caught = catch_unwind(AssertUnwindSafe(|| threads.run(&|i| assert!(i != bad, "thread {i}"))));
            assert!(caught.is_err());
        }
        let calls = AtomicUsize::new(0);
        threads.run(&|_| {
            calls.fetch_add(1, SeqCst);
        });
        assert_eq!(calls.load(SeqCst), 3);
    }
}
