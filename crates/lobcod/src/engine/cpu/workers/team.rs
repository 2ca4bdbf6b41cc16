//! Threads working on a session, each with its own memory.

use crate::engine::Sweep;
use crate::engine::cpu::data::scratch::Scratch;
use crate::engine::cpu::workers::pool::Threads;
use crate::engine::cpu::workers::shares::Shares;
use crate::real::Real;
use std::sync::{Arc, Mutex, MutexGuard};

pub struct Team<T> {
    threads: Arc<Threads>,
    scratch: Vec<Mutex<Scratch<T>>>,
}

/// Items that threads take individually.
struct Items<I>(*mut I);

// SAFETY: every item is handed to only one thread, because the shares yield each index once.
unsafe impl<I: Send> Sync for Items<I> {}

impl<I> Items<I> {
    /// # Safety
    ///
    /// `i` is inside the slice and requested only once.
    #[allow(clippy::mut_from_ref)]
    unsafe fn take(&self, i: usize) -> &mut I {
        // SAFETY: guaranteed by the caller.
        unsafe { &mut *self.0.add(i) }
    }
}

impl<T: Real> Team<T> {
    pub fn new(threads: Arc<Threads>, scratch: impl Fn() -> Scratch<T>) -> Self {
        let scratch = (0..threads.count()).map(|_| Mutex::new(scratch())).collect();
        Self { threads, scratch }
    }

    pub fn threads(&self) -> usize {
        self.scratch.len()
    }

    /// Runs `work` on every item; see [`Team::each_of`].
    pub fn each<I: Send>(
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

    /// Divides items, identified by index, into shares of similar cost.
    pub fn shares(&self, items: &[u32], cost: impl Fn(u32) -> usize) -> Shares {
        Shares::new(items, cost, self.scratch.len())
    }

    /// Runs `work` on the items of the shares. Every thread begins with its own share, whose
    /// samples are in its cache, then takes from the ends of the others.
    pub fn each_of<I: Send>(
        &self,
        items: &mut [I],
        shares: &mut Shares,
        work: impl Fn(&mut I, &mut Scratch<T>) + Sync,
    ) {
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
                // SAFETY: the shares list every item once and yield it once, and all are below the
                // length.
                work(unsafe { items.take(i) }, scratch);
            }
        });
    }

    fn hold(&self, thread: usize) -> MutexGuard<'_, Scratch<T>> {
        self.scratch[thread].lock().expect("no thread panicked")
    }

    /// Statistics of the last sweep, per thread.
    pub fn tallies(&self) -> impl Iterator<Item = Sweep> {
        (0..self.scratch.len()).map(|thread| std::mem::take(&mut self.hold(thread).tally))
    }

    pub fn bytes(&self) -> usize {
        self.scratch.iter().map(|s| s.lock().expect("no thread panicked").bytes()).sum()
    }
}
