//! Numbers that begin at a cache line, so that the vectors of a row lie in as few lines as can be.

use crate::real::Real;
use std::ops::{Deref, DerefMut};

/// Bytes of a cache line, and of the widest vector.
const LINE: usize = 64;

/// So many numbers, at first zero.
pub(crate) struct Aligned<T> {
    /// The numbers, and some in front of and behind them that nobody uses.
    memory: Vec<T>,
    start: usize,
    length: usize,
}

impl<T: Real> Aligned<T> {
    pub(crate) fn new(length: usize) -> Self {
        let spare = LINE / size_of::<T>();
        let memory = vec![T::ZERO; length + spare];
        let start = memory.as_ptr().align_offset(LINE).min(spare);
        Self { memory, start, length }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.memory[self.start..self.start + self.length]
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[self.start..self.start + self.length]
    }
}
