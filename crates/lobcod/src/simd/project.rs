//! Projection of many channels on a few vectors over the channels.

use super::Vector;
use crate::real::Real;
use std::ops::Range;

/// Projections made at once: their sums and one vector of samples stay in registers.
const AT_ONCE: usize = 4;

/// `into[k][x] = sum_c vectors[k][c] field[c][x]` for the samples `x` of a range; every channel of
/// `field` and of `into` has `stride` samples.
#[inline(always)]
pub fn project<V: Vector>(
    vectors: &[V::Elem],
    channels: usize,
    field: &[V::Elem],
    into: &mut [V::Elem],
    stride: usize,
    range: Range<usize>,
) where
    V::Elem: Real,
{
    let count = vectors.len() / channels;
    assert!(range.start <= range.end && range.end <= stride);
    assert!(field.len() >= channels * stride && into.len() >= count * stride);
    let whole = range.start + (range.end - range.start) / V::LANES * V::LANES;
    let (from, to) = (field.as_ptr(), into.as_mut_ptr());
    for first in (0..count).step_by(AT_ONCE) {
        let here = AT_ONCE.min(count - first);
        for x in (range.start..whole).step_by(V::LANES) {
            let mut sums = [V::splat(V::Elem::ZERO); AT_ONCE];
            for c in 0..channels {
                // SAFETY: `x + LANES` is at most the stride, and the field has all channels.
                let samples = unsafe { V::load(from.add(c * stride + x)) };
                for (i, sum) in sums.iter_mut().enumerate() {
                    let k = first + i.min(here - 1);
                    *sum = samples.mul_add(V::splat(vectors[k * channels + c]), *sum);
                }
            }
            for (i, sum) in sums.into_iter().enumerate().take(here) {
                // SAFETY: as above; `into` has a channel for every vector.
                unsafe { sum.store(to.add((first + i) * stride + x)) };
            }
        }
    }
    for (k, vector) in vectors.chunks_exact(channels).enumerate() {
        for x in whole..range.end {
            let mut sum = V::Elem::ZERO;
            for (c, &u) in vector.iter().enumerate() {
                sum += field[c * stride + x] * u;
            }
            into[k * stride + x] = sum;
        }
    }
}
