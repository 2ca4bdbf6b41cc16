//! Gradient of the data term in the dictionary, over one plane: `- sum_i P_i R a_i^T`, `n` multiply-adds a code.

use super::plane::PlaneState;
use super::tile::TileState;
use crate::real::Real;
use crate::simd::{Kernel, Vector};

/// The part of one plane, summed in the order of its tiles and their codes, in `f64`.
pub(super) struct PlaneGradient<'a, T> {
    pub(super) plane: &'a mut PlaneState<T>,
    /// Tiles of the plane, in order.
    pub(super) tiles: Vec<&'a TileState<T>>,
    /// Only codes of this layer count; `None`: all.
    pub(super) layer: Option<usize>,
    /// The sums, atom after atom; zero at first.
    pub(super) sums: Vec<f64>,
}

impl<T: Real> Kernel<T> for &mut PlaneGradient<'_, T> {
    type Output = ();

    // Written with plain loops, which the compiler vectorises for the level this runs at.
    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let PlaneGradient { plane, tiles, layer, sums } = self;
        let n = plane.layout.patch.len();
        for state in tiles.iter() {
            let range = layer.map_or(0..state.codes.len(), |layer| state.codes_of_layer(plane, layer));
            for code in &state.codes[range] {
                let (atom, value) = (code.atom as usize * n, code.value.to_f64());
                let sums = &mut sums[atom..atom + n];
                plane.with_patch(state.place(&plane.layout, code.offset), |p, residual, _| {
                    sums[p..p + residual.len()].iter_mut().zip(residual).for_each(|(g, r)| *g -= value * r.to_f64());
                });
            }
        }
    }
}
