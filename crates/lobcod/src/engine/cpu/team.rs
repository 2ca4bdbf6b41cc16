//! Threads at work on a session, each with memory of its own.

use super::scratch::Scratch;
use super::shares::Shares;
use super::threads::Threads;
use crate::real::Real;
use std::sync::{Arc, Mutex};

pub(super) struct Team<T> {
    threads: Arc<Threads>,
    scratch: Vec<Mutex<Scratch<T>>>,
}

/// Items that threads take one by one.
struct Items<I>(*mut I);

// SAFETY: every item is handed to one thread only, by shares that give each number once.
unsafe impl<I: Send> Sync for Items<I> {}

impl<I> Items<I> {
    /// # Safety
    /// `i` is inside the slice and asked for once.
    #[allow(clippy::mut_from_ref)]
    unsafe fn take(&self, i: usize) -> &mut I {
        // SAFETY: as the caller vouches.
        unsafe { &mut *self.0.add(i) }
    }
}

impl<T: Real> Team<T> {
    pub(super) fn new(threads: Arc<Threads>, scratch: impl Fn() -> Scratch<T>) -> Self {
        let scratch = (0..threads.count()).map(|_| Mutex::new(scratch())).collect();
        Self { threads, scratch }
    }

    /// Does `work` on every item. Every thread begins with its own share of neighbouring items, the costly ones first, so that from
    /// call to call it finds the samples it wrote in its own cache; who is done takes from the others' ends.
    pub(super) fn each<I: Send>(
        &self,
        items: &mut [I],
        cost: impl Fn(&I) -> usize,
        work: impl Fn(&mut I, &mut Scratch<T>) + Sync,
    ) {
        if items.len() <= 1 || self.scratch.len() == 1 {
            let scratch = &mut *self.scratch[0].lock().expect("no work panicked");
            items.iter_mut().for_each(|item| work(item, scratch));
            return;
        }
        let costs: Vec<usize> = items.iter().map(cost).collect();
        let shares = Shares::new(&costs, self.scratch.len());
        let items = Items(items.as_mut_ptr());
        self.threads.run(&|thread| {
            let scratch = &mut *self.scratch[thread].lock().expect("no work panicked");
            while let Some(i) = shares.take(thread) {
                // SAFETY: the shares give `i` once, and it is below the length.
                work(unsafe { items.take(i) }, scratch);
            }
        });
    }

    pub(super) fn bytes(&self) -> usize {
        self.scratch.iter().map(|s| s.lock().expect("no work panicked").bytes()).sum()
    }
}
