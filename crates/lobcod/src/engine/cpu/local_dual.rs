//! Reaches in a residual whose scale varies over the signal.
//!
//! Scaled by one number, the residual pays everywhere for the one needle that exceeds the penalty most, and the larger the signal the
//! worse that one is. Where the scale varies, what its slope adds to the correlations is measured here, not bounded: any feasible
//! point proves a gap.

use super::atoms::Atoms;
use super::plane::PlaneState;
use super::scratch::Scratch;
use super::team::Team;
use super::tile::{Layers, TileState};
use crate::engine::{Exceeding, Scaling};
use crate::real::Real;
use crate::simd::{BATCH, Kernel, Level, Reach, Vector};

/// What is asked of a plane.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) penalty: f64,
    pub(super) nonnegative: bool,
    pub(super) scaling: Scaling<'a>,
}

/// Tiles that are looked at together, and positions along an axis that share a box.
const AT_ONCE: usize = 1024;
const BOX: usize = 4;

/// Calls `each` with the plane and the place of needles that exceeded the penalty.
pub(super) fn exceeding<T: Real>(
    penalty: f64,
    team: &Team<T>,
    planes: &[PlaneState<T>],
    tiles: &[TileState<T>],
    each: &mut dyn FnMut(usize, Exceeding),
) {
    let wanted: Vec<&TileState<T>> = tiles.iter().filter(|state| state.largest_correlation > penalty).collect();
    for tiles in wanted.chunks(AT_ONCE) {
        let mut found: Vec<(&TileState<T>, Vec<Exceeding>)> = tiles.iter().map(|&state| (state, Vec::new())).collect();
        team.each(&mut found, |_| 1, |(state, found), scratch| *found = exceeding_of_tile(penalty, planes, state, scratch));
        for (state, found) in found {
            found.into_iter().for_each(|found| each(state.plane, found));
        }
    }
}

/// The boxes of a tile with needles that exceeded the penalty.
fn exceeding_of_tile<T: Real>(
    penalty: f64,
    planes: &[PlaneState<T>],
    state: &TileState<T>,
    scratch: &mut Scratch<T>,
) -> Vec<Exceeding> {
    let plane = &planes[state.plane];
    let boxes = state.tile.size.map(|size| size.div_ceil(BOX));
    let nowhere = Exceeding { first: [i64::MAX; 3], last: [i64::MIN; 3], ratio: 1.0 };
    let mut found = vec![nowhere; boxes.iter().product()];
    Layers::of(&plane.grid, &state.tile).all_needles(&plane.layout, &mut scratch.needles);
    for (&offset, reach) in scratch.needles.iter().zip(&state.reaches).filter(|(_, reach)| reach.to_f64() > penalty) {
        let place = state.place(&plane.layout, offset).map(i64::from);
        let [z, y, x]: [usize; 3] = std::array::from_fn(|a| (place[a] - state.tile.origin[a]) as usize / BOX);
        let (at, found) = (plane.in_field([0; 3], place), &mut found[(z * boxes[1] + y) * boxes[2] + x]);
        found.first = std::array::from_fn(|a| found.first[a].min(at[a]));
        found.last = std::array::from_fn(|a| found.last[a].max(at[a]));
        found.ratio = found.ratio.max(reach.to_f64() / penalty);
    }
    found.retain(|found| found.ratio > 1.0);
    found
}

/// Largest reach of the tiles around which scales are not 1; the penalty if none is larger.
pub(super) fn scaled_reach<'a, T: Real>(
    asked: Asked,
    level: Level,
    team: &Team<T>,
    atoms: &Atoms<T>,
    plane: &PlaneState<T>,
    tiles: impl Iterator<Item = &'a TileState<T>>,
) -> f64 {
    let touched = |tile: &&TileState<T>| {
        let (first, size) = (plane.in_field(asked.scaling.origin, tile.tile.origin), tile.tile.size);
        let end = std::array::from_fn(|a| first[a] + (size[a] + plane.grid.atom[a]) as i64 - 1);
        !asked.scaling.field.is_one_over(first, end)
    };
    let mut seams: Vec<Seam<'_, T>> = tiles.filter(touched).map(|state| Seam { state, largest: T::ZERO }).collect();
    team.each(
        &mut seams,
        |seam| seam.state.cost(),
        |seam, scratch| T::dispatch(level, ScaledTile { atoms, plane, seam, scratch, asked }),
    );
    seams.iter().fold(asked.penalty, |most, seam| most.max(seam.largest.to_f64()))
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
    asked: Asked<'a>,
}

impl<T: Real> Kernel<T> for ScaledTile<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let Self { atoms, plane, seam, scratch, asked } = self;
        let (state, layout, grid) = (seam.state, &plane.layout, &plane.grid);
        plane.load(&state.tile, &mut scratch.footprint);
        let field = &mut scratch.footprint.residual;
        scratch.bounds.find::<V>(layout, grid, field, None);
        let (low, high) = layout.scale(plane, &state.tile, asked.scaling, field);
        let (low, high, spread) = (T::from_f64(low), T::from_f64(high), T::from_f64(high - low));
        let penalty = T::from_f64(asked.penalty);
        let layers = Layers::of(grid, &state.tile);
        layers.all_needles(layout, &mut scratch.needles);
        // A scale between `low` and `high` makes of a correlation at most `low` times it and `spread` times the norm of the patch; of
        // one that is not known, `high` times the norm.
        let may_exceed = |(i, &offset): (usize, &u32)| {
            let at = offset as usize;
            let norm = scratch.bounds.norm(at) * atoms.largest_inverse_weight / plane.position_weight(&state.tile, at);
            let bound = state.reaches.get(i).map_or(high * norm, |reach| low * reach.abs() + spread * norm);
            (bound * atoms.rounding > penalty).then_some(offset)
        };
        let wanted: Vec<u32> = scratch.needles.iter().enumerate().filter_map(may_exceed).collect();
        let rule = Reach { inverse_weights: &atoms.inverse_weights, nonnegative: asked.nonnegative };
        for batch in wanted.chunks(BATCH) {
            atoms.packed.reach(&scratch.footprint.residual, &layout.patch, batch, rule, &mut scratch.correlations);
            for (&offset, &reach) in batch.iter().zip(&scratch.correlations[..]) {
                seam.largest = seam.largest.max(reach / plane.position_weight(&state.tile, offset as usize));
            }
        }
    }
}
