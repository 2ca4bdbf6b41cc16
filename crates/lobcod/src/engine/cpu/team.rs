//! Threads at work on a session, each with memory of its own.

use super::scratch::Scratch;
use super::shares::Shares;
use super::threads::Threads;
use crate::engine::Sweep;
use crate::real::Real;
use std::sync::{Arc, Mutex, MutexGuard};

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

    pub(super) fn threads(&self) -> usize {
        self.scratch.len()
    }

    /// Does `work` on every item; see [`Team::each_of`].
    pub(super) fn each<I: Send>(
        &self,
        items: &mut [I],
        cost: impl Fn(&I) -> usize,
        work: impl Fn(&mut I, &mut Scratch<T>) + Sync,
    ) {
        if items.len() <= 1 || self.scratch.len() == 1 {
            let scratch = &mut *self.hold(0);
            return items.iter_mut().for_each(|item| work(item, scratch));
        }
        let all: Vec<u32> = (0..items.len() as u32).collect();
        let mut shares = self.shares(&all, |i| cost(&items[i as usize]));
        self.each_of(items, &mut shares, work);
    }

    /// Items, named by their numbers, cut into shares of about the same cost.
    pub(super) fn shares(&self, items: &[u32], cost: impl Fn(u32) -> usize) -> Shares {
        Shares::new(items, cost, self.scratch.len())
    }

    /// Does `work` on the items of the shares. Every thread begins with its own share of neighbouring items, so that from call to call
    /// it finds the samples it wrote in its own cache; who is done takes from the others' ends.
    pub(super) fn each_of<I: Send>(&self, items: &mut [I], shares: &mut Shares, work: impl Fn(&mut I, &mut Scratch<T>) + Sync) {
        if self.scratch.len() == 1 {
            let scratch = &mut *self.hold(0);
            return shares.items().iter().for_each(|&i| work(&mut items[i as usize], scratch));
        }
        assert!(shares.end() <= items.len());
        shares.begin();
        let (shares, items) = (&*shares, Items(items.as_mut_ptr()));
        self.threads.run(&|thread| {
            let scratch = &mut *self.hold(thread);
            while let Some(i) = shares.take(thread) {
                // SAFETY: the shares list every item once and give it once, and all are below the length.
                work(unsafe { items.take(i) }, scratch);
            }
        });
    }

    fn hold(&self, thread: usize) -> MutexGuard<'_, Scratch<T>> {
        self.scratch[thread].lock().expect("no work panicked")
    }

    /// What the threads noted of the last sweep.
    pub(super) fn tallies(&self) -> impl Iterator<Item = Sweep> {
        (0..self.scratch.len()).map(|thread| std::mem::take(&mut self.hold(thread).tally))
    }

    pub(super) fn bytes(&self) -> usize {
        self.scratch.iter().map(|s| s.lock().expect("no work panicked").bytes()).sum()
    }
}
