//! The threads of an engine, each with memory of its own.

use super::scratch::Scratch;
use crate::real::Real;
use rayon::prelude::*;
use std::sync::{Arc, Mutex};

pub(super) struct Team<T> {
    pool: Arc<rayon::ThreadPool>,
    scratch: Vec<Mutex<Scratch<T>>>,
}

impl<T: Real> Team<T> {
    pub(super) fn new(pool: Arc<rayon::ThreadPool>, scratch: impl Fn() -> Scratch<T>) -> Self {
        let scratch = (0..pool.current_num_threads()).map(|_| Mutex::new(scratch())).collect();
        Self { pool, scratch }
    }

    /// Does `work` on every item, spread over the threads.
    pub(super) fn each<I: Send>(&self, items: &mut [I], work: impl Fn(&mut I, &mut Scratch<T>) + Sync) {
        let one = |item: &mut I| {
            let thread = rayon::current_thread_index().unwrap_or(0);
            work(item, &mut self.scratch[thread].lock().expect("no work panicked"));
        };
        if self.scratch.len() == 1 {
            items.iter_mut().for_each(one);
        } else {
            self.pool.install(|| items.par_iter_mut().for_each(one));
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.scratch.iter().map(|s| s.lock().expect("no work panicked").bytes()).sum()
    }
}
