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

/// Looks for a new job before a worker goes to sleep: about a millisecond.
const SPINS: usize = 200_000;

/// A job as the workers see it: called with the number of the thread.
type Job = *const (dyn Fn(usize) + Sync);

/// The door of a job: open, and one worker inside.
const OPEN: usize = 1;
const INSIDE: usize = 2;

struct Shared {
    /// Number of the newest job; workers wait for it to change.
    newest: AtomicUsize,
    job: Mutex<Option<SendJob>>,
    /// Is the newest job open to workers (bit 0), and how many are at it (twice their number)?
    door: AtomicUsize,
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
            door: AtomicUsize::new(0),
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

    /// Calls `job(i)` on the calling thread (`i` is 0) and on every worker that comes before that call is over, and returns when all
    /// are done. A worker that the machine has no time for is not waited for, so a job must leave it to whoever is there to do it all.
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
        shared.door.store(OPEN, SeqCst);
        shared.newest.fetch_add(1, SeqCst);
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
        let mut seen = 0;
        while self.wait_for_job(&mut seen) {
            if !self.enter() {
                continue;
            }
            let job = hold(&self.job).expect("a job is there while one is at it").0;
            // SAFETY: `Threads::run` keeps the closure alive until nobody is at it any more.
            let done = catch_unwind(AssertUnwindSafe(|| unsafe { (*job)(number) }));
            if let Err(panic) = done {
                hold(&self.panic).get_or_insert(panic);
            }
            self.door.fetch_sub(INSIDE, SeqCst);
        }
    }

    /// Joins the newest job, unless it is closed already.
    fn enter(&self) -> bool {
        let step = |door: usize| (door & OPEN == OPEN).then_some(door + INSIDE);
        self.door.fetch_update(SeqCst, SeqCst, step).is_ok()
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
    fn all_work_is_done_once_and_every_thread_comes_to_a_long_job() {
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
            let here = AtomicUsize::new(0);
            threads.run(&|_| {
                here.fetch_add(1, SeqCst);
                while here.load(SeqCst) < count {
                    thread::yield_now();
                }
            });
            assert_eq!(here.load(SeqCst), count);
        }
    }

    #[test]
    fn a_panic_is_passed_on_and_the_threads_live() {
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
