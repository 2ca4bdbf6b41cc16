//! Numbers aligned to a cache line.

use crate::real::Real;
use std::ops::{Deref, DerefMut};

/// Bytes of a cache line, and of the widest vector.
const LINE: usize = 64;

/// A zero-initialised buffer of fixed length.
pub struct Aligned<T> {
    /// The numbers, with unused ones before and after them.
    memory: Vec<T>,
    start: usize,
    length: usize,
}

impl<T: Real> Aligned<T> {
    pub fn new(length: usize) -> Self {
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
