//! A dual point better than the scaled residual.
//!
//! Scaled by one number, the residual pays everywhere for the one needle that exceeds the penalty most, and the larger the signal the
//! worse that one is. Here every tile has a scale of its own. What the seams between tiles add to the correlations is measured, not
//! bounded, and scales the whole: any feasible point proves a gap.

use super::atoms::Atoms;
use super::plane::PlaneState;
use super::scales::Scales;
use super::scratch::Scratch;
use super::team::Team;
use super::tile::{Layers, TileState};
use crate::real::Real;
use crate::simd::{BATCH, Kernel, Level, Reach, Vector};

/// Fewer tiles than this: the one needle is mended nearly as soon as the others.
const FEW_TILES: usize = 1000;

/// What is asked of a plane whose needles were just measured.
pub(super) struct Asked {
    pub(super) penalty: f64,
    pub(super) nonnegative: bool,
    /// A value of the dual that is not above this is not worth the work.
    pub(super) worth: f64,
}

/// Value of the dual at a feasible point, if it may exceed what is worth it. The tiles are those of the plane, in order.
pub(super) fn local_dual<T: Real>(
    asked: &Asked,
    level: Level,
    team: &Team<T>,
    atoms: &Atoms<T>,
    plane: &mut PlaneState<T>,
    tiles: &[TileState<T>],
) -> Option<f64> {
    if tiles.len() < FEW_TILES || tiles.iter().any(|tile| tile.reaches.is_empty()) {
        return None;
    }
    let largest: Vec<f64> = tiles.iter().map(|tile| tile.largest_correlation / asked.penalty).collect();
    let scales = Scales::new(&plane.grid, &largest);
    let (dot, energy) = plane.scaled_energies(team, &scales);
    if dot - 0.5 * energy <= asked.worth {
        return None;
    }
    let mut seams: Vec<Seam<'_, T>> =
        tiles.iter().filter(|tile| !scales.are_one_around(tile.index)).map(|state| Seam { state, largest: T::ZERO }).collect();
    let (plane, scales) = (&*plane, &scales);
    team.each(
        &mut seams,
        |seam| seam.state.cost(),
        |seam, scratch| T::dispatch(level, ScaledTile { atoms, plane, seam, scratch, scales, asked }),
    );
    let excess = seams.iter().fold(asked.penalty, |most, seam| most.max(seam.largest.to_f64())) / asked.penalty;
    Some(dot / excess - 0.5 * energy / (excess * excess))
}

/// A tile with scales that are not all 1, and the largest reach of its needles in the scaled residual.
struct Seam<'a, T> {
    state: &'a TileState<T>,
    largest: T,
}

/// Finds the largest reach of a tile in the scaled residual, as far as it is above the penalty.
struct ScaledTile<'a, 'b, T> {
    atoms: &'a Atoms<T>,
    plane: &'a PlaneState<T>,
    seam: &'a mut Seam<'b, T>,
    scratch: &'a mut Scratch<T>,
    scales: &'a Scales,
    asked: &'a Asked,
}

impl<T: Real> Kernel<T> for ScaledTile<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let Self { atoms, plane, seam, scratch, scales, asked } = self;
        let (state, layout, grid) = (seam.state, &plane.layout, &plane.grid);
        plane.load(&state.tile, &mut scratch.footprint);
        let field = &mut scratch.footprint.residual;
        scratch.bounds.find::<V>(layout, grid, field, None);
        let (low, high) = layout.scale(grid, &state.tile, scales, field);
        let (low, spread) = (T::from_f64(low), T::from_f64(high - low));
        let penalty = T::from_f64(asked.penalty);
        let layers = Layers::of(grid, &state.tile);
        layers.all_needles(layout, &mut scratch.needles);
        // A scale between `low` and `high` makes of a correlation at most `low` times it and `spread` times the norm of the patch.
        let reaches = state.reaches.iter();
        let may_exceed = |(&offset, reach): (&u32, &T)| {
            let offset = offset as usize;
            let norm = scratch.bounds.norm(offset) * atoms.largest_inverse_weight / plane.position_weight(&state.tile, offset);
            ((low * reach.abs() + spread * norm) * atoms.rounding > penalty).then_some(offset as u32)
        };
        let wanted: Vec<u32> = scratch.needles.iter().zip(reaches).filter_map(may_exceed).collect();
        let rule = Reach { inverse_weights: &atoms.inverse_weights, nonnegative: asked.nonnegative };
        for batch in wanted.chunks(BATCH) {
            atoms.packed.reach(&scratch.footprint.residual, &layout.patch, batch, rule, &mut scratch.correlations);
            for (&offset, &reach) in batch.iter().zip(&scratch.correlations) {
                seam.largest = seam.largest.max(reach / plane.position_weight(&state.tile, offset as usize));
            }
        }
    }
}
