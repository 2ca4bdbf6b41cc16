//! Threads that stay awake while there is work.
//!
//! A sweep submits a job every few hundred microseconds and waking a thread costs tens of them, so
//! workers spin for a while before they sleep.

use crate::parallel;
use std::any::Any;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

/// Polls for a new job before a worker sleeps: about a millisecond.
const SPINS: usize = 200_000;

/// A job, called with the index of the thread.
type Job = *const (dyn Fn(usize) + Sync);

/// States of the door of a job: open, and one worker inside.
const OPEN: usize = 1;
const INSIDE: usize = 2;

struct Shared {
    /// Number of the newest job; workers wait for it to change.
    newest: AtomicUsize,
    job: Mutex<Option<NumberedJob>>,
    /// Bit 0: the newest job is open; the rest: twice the number of workers running it.
    door: AtomicUsize,
    sleepers: AtomicUsize,
    wake: Condvar,
    bed: Mutex<()>,
    stop: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    spins: usize,
}

#[derive(Clone, Copy)]
struct NumberedJob {
    number: usize,
    job: Job,
}

// SAFETY: the closure behind the pointer is Sync, and `Threads::run` keeps it alive until all
// workers have finished it.
unsafe impl Send for NumberedJob {}

/// The calling thread and its workers.
pub struct Threads {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// Serialises jobs when sessions of one engine run on several threads.
    turn: Mutex<()>,
}

impl Threads {
    /// Creates `count` threads in total, including the calling one.
    pub fn new(count: usize) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            newest: AtomicUsize::new(0),
            job: Mutex::new(None),
            door: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            wake: Condvar::new(),
            bed: Mutex::new(()),
            stop: AtomicBool::new(false),
            panic: Mutex::new(None),
            // With more threads than cores, a spinning thread would only block another.
            spins: if count <= parallel::count(0) { SPINS } else { 0 },
        });
        let mut threads = Self { shared, workers: Vec::new(), turn: Mutex::new(()) };
        for i in 1..count {
            let shared = Arc::clone(&threads.shared);
            let worker =
                thread::Builder::new().name(format!("lobcod-{i}")).spawn(move || shared.work(i))?;
            threads.workers.push(worker);
        }
        Ok(threads)
    }

    pub fn count(&self) -> usize {
        self.workers.len() + 1
    }

    /// Calls `job(i)` on the calling thread (`i` is 0) and on every worker that starts before that
    /// call returns; returns when all are done. A job must not rely on any worker.
    pub fn run(&self, job: &(dyn Fn(usize) + Sync)) {
        if self.workers.is_empty() {
            return job(0);
        }
        let _turn = hold(&self.turn);
        let shared = &*self.shared;
        // SAFETY: only the lifetime is changed. Workers use the pointer only during this call,
        // which waits for them even if the job panics.
        let erased = unsafe { std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), Job>(job) };
        let number = shared.newest.load(SeqCst) + 1;
        *hold(&shared.job) = Some(NumberedJob { number, job: erased });
        shared.door.store(OPEN, SeqCst);
        shared.newest.store(number, SeqCst);
        if shared.sleepers.load(SeqCst) > 0 {
            let _bed = hold(&shared.bed);
            shared.wake.notify_all();
        }
        let own = catch_unwind(AssertUnwindSafe(|| job(0)));
        let mut spins = 0;
        shared.door.fetch_sub(OPEN, SeqCst);
        while shared.door.load(SeqCst) > 0 {
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
        // Number of the last job this worker entered or found closed.
        let mut seen = 0;
        while self.wait_for_job(&mut seen) {
            if !self.enter() {
                continue;
            }
            let NumberedJob { number: entered, job } =
                hold(&self.job).expect("the job exists while a worker runs it");
            // A worker woken for an earlier job may enter a later one: it must not enter it again.
            seen = entered;
            // SAFETY: `Threads::run` keeps the closure alive until all workers have finished it.
            let done = catch_unwind(AssertUnwindSafe(|| unsafe { (*job)(number) }));
            if let Err(panic) = done {
                hold(&self.panic).get_or_insert(panic);
            }
            self.door.fetch_sub(INSIDE, SeqCst);
        }
    }

    /// Joins the newest job, unless it is already closed.
    fn enter(&self) -> bool {
        let step = |door: usize| (door & OPEN == OPEN).then_some(door + INSIDE);
        self.door.fetch_update(SeqCst, SeqCst, step).is_ok()
    }

    /// Waits for a new job; false when there will be none.
    fn wait_for_job(&self, seen: &mut usize) -> bool {
        for _ in 0..self.spins {
            if self.newest.load(SeqCst) > *seen {
                *seen = self.newest.load(SeqCst);
                return true;
            }
            spin_loop();
        }
        let mut bed = hold(&self.bed);
        self.sleepers.fetch_add(1, SeqCst);
        while self.newest.load(SeqCst) <= *seen && !self.stop.load(SeqCst) {
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
            // `run` has already propagated a worker's panic.
            let _ = worker.join();
        }
    }
}

/// Locks the mutex even if poisoned: the data behind it is always consistent.
fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_work_is_done_once_and_every_thread_enters_a_long_job_once() {
        for count in [1, 2, 3, 8] {
            let threads = Threads::new(count).unwrap();
            for round in 1..200 {
                let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
                threads.run(&|_| {
                    while next.fetch_add(1, SeqCst) < 50 {
                        done.fetch_add(1, SeqCst);
                    }
                });
                assert_eq!(done.load(SeqCst), 50, "{count} threads, round {round}");
                if round % 50 == 0 {
                    thread::sleep(std::time::Duration::from_millis(3));
                }
            }
            for _ in 0..200 {
                let entered: Vec<_> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                // A short job just before: its late workers may enter the long one.
                threads.run(&|_| ());
                threads.run(&|i| {
                    entered[i].fetch_add(1, SeqCst);
                    while entered.iter().any(|calls| calls.load(SeqCst) == 0) {
                        thread::yield_now();
                    }
                });
                assert!(entered.iter().all(|calls| calls.load(SeqCst) == 1), "{entered:?}");
            }
        }
    }

    #[test]
    fn a_panic_is_propagated_and_the_threads_survive() {
        let threads = Threads::new(3).unwrap();
        for bad in 0..3 {
            let here = AtomicUsize::new(0);
            let together = |i: usize| {
                here.fetch_add(1, SeqCst);
                while here.load(SeqCst) < 3 {
                    thread::yield_now();
                }
                assert!(i != bad, "thread {i}");
            };
            assert!(catch_unwind(AssertUnwindSafe(|| threads.run(&together))).is_err());
        }
    }
}
