//! A residual that the tiles of a colour write at once.

use std::cell::UnsafeCell;
use std::ops::Range;

/// Samples shared by the tiles of a colour. Their footprints are disjoint, which is what makes writing at once sound.
pub(super) struct SharedField<T> {
    cells: Box<[UnsafeCell<T>]>,
}

// SAFETY: access goes through `read` and `write`, whose callers vouch for disjoint ranges.
unsafe impl<T: Send> Sync for SharedField<T> {}

impl<T: Copy> SharedField<T> {
    pub(super) fn new(data: Vec<T>) -> Self {
        Self { cells: data.into_iter().map(UnsafeCell::new).collect() }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.cells[..])
    }

    /// Copies `into.len()` samples from `start`.
    ///
    /// # Safety
    /// Nobody writes this range meanwhile.
    #[inline(always)]
    pub(super) unsafe fn read(&self, start: usize, into: &mut [T]) {
        let from = &self.cells[start..start + into.len()];
        // SAFETY: the range is inside the field and, as the caller vouches, not being written; UnsafeCell<T> has the layout of T.
        unsafe { copy_run(from.as_ptr().cast::<T>(), into.as_mut_ptr(), into.len()) }
    }

    /// Samples of a range.
    ///
    /// # Safety
    /// Nobody writes this range while the slice lives.
    #[inline(always)]
    pub(super) unsafe fn view(&self, range: Range<usize>) -> &[T] {
        let cells = &self.cells[range];
        // SAFETY: as the caller vouches, nobody writes; UnsafeCell<T> has the layout of T.
        unsafe { std::slice::from_raw_parts(cells.as_ptr().cast::<T>(), cells.len()) }
    }

    /// Copies `from` to `start`.
    ///
    /// # Safety
    /// Nobody else reads or writes this range meanwhile.
    #[inline(always)]
    pub(super) unsafe fn write(&self, start: usize, from: &[T]) {
        let into = &self.cells[start..start + from.len()];
        // SAFETY: the range is inside the field and, as the caller vouches, used by nobody else.
        unsafe { copy_run(from.as_ptr(), into.as_ptr().cast::<T>().cast_mut(), from.len()) }
    }

    /// All samples, while nobody else can hold the field.
    pub(super) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: `&mut self` excludes all other access; UnsafeCell<T> has the layout of T.
        unsafe { std::slice::from_raw_parts_mut(self.cells.as_mut_ptr().cast::<T>(), self.cells.len()) }
    }
}

/// Copies a run of samples, mostly a row of a tile: too short for a call of the system's copying to pay.
///
/// # Safety
/// So many samples can be read and written there, and the two runs have none in common.
#[inline(always)]
unsafe fn copy_run<T: Copy>(from: *const T, into: *mut T, length: usize) {
    const AT_ONCE: usize = 16;
    let mut i = 0;
    // SAFETY: every block ends where the runs end or before it.
    unsafe {
        while i + AT_ONCE <= length {
            into.add(i).cast::<[T; AT_ONCE]>().write(from.add(i).cast::<[T; AT_ONCE]>().read());
            i += AT_ONCE;
        }
        if length >= AT_ONCE {
            let last = length - AT_ONCE;
            into.add(last).cast::<[T; AT_ONCE]>().write(from.add(last).cast::<[T; AT_ONCE]>().read());
        } else {
            std::ptr::copy_nonoverlapping(from, into, length);
        }
    }
}
