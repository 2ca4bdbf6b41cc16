//! Gradient of the data term in the dictionary: `- sum_i P_i R a_i^T`, `n` multiply-adds a code.

use super::plane::PlaneState;
use super::team::Team;
use super::tile::TileState;
use crate::real::Real;
use crate::simd::{Kernel, Level, Vector};

/// Planes whose parts are held at once before they are added up.
const PARTS_AT_ONCE: usize = 64;

/// The gradient over the codes of one layer of plane `index`; `numbers` in a dictionary.
pub(super) fn layer_gradient<T: Real>(
    level: Level,
    plane: &mut PlaneState<T>,
    tiles: &[TileState<T>],
    index: usize,
    layer: usize,
    numbers: usize,
) -> Vec<f64> {
    let mut part = Part::new(plane, tiles, index, Some(layer), numbers);
    T::dispatch(level, &mut part);
    part.sums
}

/// The gradient over all codes of all planes.
pub(super) fn whole_gradient<T: Real>(
    level: Level,
    team: &Team<T>,
    planes: &mut [PlaneState<T>],
    tiles: &[TileState<T>],
    numbers: usize,
) -> Vec<f64> {
    let mut sum = vec![0.0; numbers];
    for (chunk, planes) in planes.chunks_mut(PARTS_AT_ONCE).enumerate() {
        let part = |(i, plane)| Part::new(plane, tiles, chunk * PARTS_AT_ONCE + i, None, numbers);
        let mut parts: Vec<Part<'_, T>> = planes.iter_mut().enumerate().map(part).collect();
        team.each(&mut parts, |part| part.codes(), |part, _| T::dispatch(level, part));
        // In the order of the planes, whatever the order they ran in.
        parts.iter().for_each(|part| sum.iter_mut().zip(&part.sums).for_each(|(s, g)| *s += g));
    }
    sum
}

/// The part of one plane, summed in the order of its tiles and their codes, in `f64`.
struct Part<'a, T> {
    plane: &'a mut PlaneState<T>,
    /// Tiles of the plane, in order.
    tiles: &'a [TileState<T>],
    /// Only codes of this layer count; `None`: all.
    layer: Option<usize>,
    /// The sums, atom after atom.
    sums: Vec<f64>,
}

impl<'a, T: Real> Part<'a, T> {
    fn new(plane: &'a mut PlaneState<T>, tiles: &'a [TileState<T>], index: usize, layer: Option<usize>, numbers: usize) -> Self {
        let tiles = &tiles[tiles.partition_point(|s| s.plane < index)..tiles.partition_point(|s| s.plane <= index)];
        Self { plane, tiles, layer, sums: vec![0.0; numbers] }
    }

    fn codes(&self) -> usize {
        self.tiles.iter().map(|tile| tile.codes.len()).sum()
    }
}

impl<T: Real> Kernel<T> for &mut Part<'_, T> {
    type Output = ();

    // Written with plain loops, which the compiler vectorises for the level this runs at.
    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let Part { plane, tiles, layer, sums } = self;
        let n = plane.layout.patch.len();
        for state in tiles.iter() {
            let range = layer.map_or(0..state.codes.len(), |layer| state.codes_of_layer(plane, layer));
            for code in &state.codes[range] {
                let (atom, value) = (code.atom as usize * n, code.value.to_f64());
                let sums = &mut sums[atom..atom + n];
                plane.with_patch(state.place(&plane.layout, code.offset), |p, residual| {
                    sums[p..p + residual.len()].iter_mut().zip(residual).for_each(|(g, r)| *g -= value * r.to_f64());
                });
            }
        }
    }
}
