//! Positions and boxes, each in its frame.

use super::volume;
use std::array::from_fn;
use std::marker::PhantomData;
use std::ops::{Add, Range, Sub};

/// The frame that counts from the first sample of the whole signal, of which a session may see only
/// a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InWhole;

/// The frame that counts from the first sample of the signal of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InSignal;

/// The frame that counts from the first sample that a session stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InDomain;

/// A position along depth, height and width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Point<F> {
    /// Its coordinates.
    pub at: [i64; 3],
    frame: PhantomData<F>,
}

impl<F> Point<F> {
    /// The position with these coordinates.
    #[inline(always)]
    pub fn new(at: [i64; 3]) -> Self {
        Self { at, frame: PhantomData }
    }
}

impl From<[i32; 3]> for Point<InSignal> {
    #[inline(always)]
    fn from(at: [i32; 3]) -> Self {
        Self::new(at.map(i64::from))
    }
}

/// Location of a window in the whole signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// First sample of the window.
    pub first: Point<InWhole>,
}

impl Origin {
    /// Converts a position from the window to the whole signal.
    #[inline(always)]
    pub fn to_whole(self, at: Point<InSignal>) -> Point<InWhole> {
        self.first + at.at
    }

    /// Converts a position from the whole signal to the window.
    #[inline(always)]
    pub fn to_signal(self, at: Point<InWhole>) -> Point<InSignal> {
        Point::new(at - self.first)
    }

    /// Converts a box from the window to the whole signal.
    #[inline(always)]
    pub fn region_to_whole(self, region: &Region<InSignal>) -> Region<InWhole> {
        Region::new(self.to_whole(region.first()), region.size)
    }

    /// Converts a box from the whole signal to the window.
    pub fn region_to_signal(self, region: &Region<InWhole>) -> Region<InSignal> {
        Region::new(self.to_signal(region.first()), region.size)
    }
}

impl<F> Add<[i64; 3]> for Point<F> {
    type Output = Self;
    #[inline(always)]
    fn add(self, step: [i64; 3]) -> Self {
        Self::new(from_fn(|a| self.at[a] + step[a]))
    }
}

impl<F> Sub for Point<F> {
    type Output = [i64; 3];
    #[inline(always)]
    fn sub(self, other: Self) -> [i64; 3] {
        from_fn(|a| self.at[a] - other.at[a])
    }
}

/// A box of samples or positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Region<F> {
    /// First position.
    pub start: [i64; 3],
    /// Positions along each axis.
    pub size: [usize; 3],
    frame: PhantomData<F>,
}

impl<F: Copy> Region<F> {
    /// A box of this size.
    #[inline(always)]
    pub fn new(start: Point<F>, size: [usize; 3]) -> Self {
        Self { start: start.at, size, frame: PhantomData }
    }

    /// A box of this size that starts at 0.
    pub fn whole(size: [usize; 3]) -> Self {
        Self { start: [0; 3], size, frame: PhantomData }
    }

    /// The box with these ranges along the axes; empty where a range ends before it starts.
    #[inline(always)]
    pub fn of(axis: impl Fn(usize) -> Range<i64>) -> Self {
        let ranges: [Range<i64>; 3] = from_fn(axis);
        let size = from_fn(|a| (ranges[a].end - ranges[a].start).max(0) as usize);
        Self { start: ranges.map(|range| range.start), size, frame: PhantomData }
    }

    /// First position.
    #[inline(always)]
    pub fn first(&self) -> Point<F> {
        Point::new(self.start)
    }

    /// One past the last position along an axis.
    #[inline(always)]
    pub fn end(&self, axis: usize) -> i64 {
        self.start[axis] + self.size[axis] as i64
    }

    /// Positions along an axis.
    #[inline(always)]
    pub fn range(&self, axis: usize) -> Range<i64> {
        self.start[axis]..self.end(axis)
    }

    /// The same box with another range along an axis.
    pub fn with_range(mut self, axis: usize, range: Range<i64>) -> Self {
        (self.start[axis], self.size[axis]) =
            (range.start, (range.end - range.start).max(0) as usize);
        self
    }

    /// Number of positions.
    #[inline(always)]
    pub fn volume(&self) -> usize {
        volume(self.size)
    }

    /// Whether it contains no position.
    pub fn is_empty(&self) -> bool {
        self.size.contains(&0)
    }

    /// Whether it contains this position.
    #[inline(always)]
    pub fn contains(&self, point: Point<F>) -> bool {
        (0..3).all(|a| self.range(a).contains(&point.at[a]))
    }

    /// Whether it contains all of another box.
    #[inline(always)]
    pub fn holds(&self, other: &Self) -> bool {
        (0..3).all(|a| self.start[a] <= other.start[a] && other.end(a) <= self.end(a))
    }

    /// Intersection of two boxes.
    #[inline(always)]
    pub fn shared(&self, other: &Self) -> Self {
        Self::of(|a| self.start[a].max(other.start[a])..self.end(a).min(other.end(a)))
    }

    /// The samples that patches at these positions touch.
    #[inline(always)]
    pub fn touched(&self, atom: [usize; 3]) -> Self {
        Self { size: from_fn(|a| self.size[a] + atom[a] - 1), ..*self }
    }

    /// All positions in order, last axis fastest.
    pub fn points(&self) -> impl Iterator<Item = Point<F>> + use<F> {
        let own = *self;
        super::cells(own.size).map(move |at| own.first() + at.map(|x| x as i64))
    }
}
