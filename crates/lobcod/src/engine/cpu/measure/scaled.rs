//! Correlations in a residual whose scale varies over the signal.
//!
//! The effect of the slope of the scale on the correlations is measured, not bounded: any feasible
//! point proves a gap.

use crate::engine::cpu::data::atoms::Atoms;
use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::data::scratch::Scratch;
use crate::engine::cpu::data::tile::TileState;
use crate::engine::cpu::measure::special::reach;
use crate::engine::cpu::session::CpuSession;
use crate::engine::cpu::workers::team::Team;
use crate::engine::{Exceeding, ScaledResidual, ScaledSums, Scaling};
use crate::error::Result;
use crate::geometry::{self, InSignal, Region};
use crate::grid::Layers;
use crate::real::Real;
use crate::simd::{BATCH, Kernel, Level, Vector};
use std::array::from_fn;

/// Parameters of a query on a plane.
#[derive(Clone, Copy)]
struct DualRequest<'a> {
    penalty: f64,
    nonnegative: bool,
    scaling: Scaling<'a>,
}

/// Tiles processed together, and positions along an axis that share a box.
const AT_ONCE: usize = 1024;
const BOX: usize = 4;

/// Calls `each` with the plane and the location of needles that exceeded the penalty.
fn exceeding<T: Real>(
    penalty: f64,
    team: &Team<T>,
    planes: &[PlaneState<T>],
    tiles: &[TileState<T>],
    each: &mut dyn FnMut(usize, Exceeding),
) {
    let wanted: Vec<&TileState<T>> =
        tiles.iter().filter(|state| state.largest_correlation > penalty).collect();
    for tiles in wanted.chunks(AT_ONCE) {
        let mut found: Vec<(&TileState<T>, Vec<Exceeding>)> =
            tiles.iter().map(|&state| (state, Vec::new())).collect();
        team.each(
            &mut found,
            |_| 1,
            |(state, found), scratch| *found = exceeding_of_tile(penalty, planes, state, scratch),
        );
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
    let (plane, tile) = (&planes[state.plane], state.tile.region);
    let boxes = tile.size.map(|size| size.div_ceil(BOX));
    // First and last needle of every box, and their largest ratio.
    let mut found = vec![([usize::MAX; 3], [0; 3], 1.0f64); geometry::volume(boxes)];
    scratch.needles.clear();
    Layers::of(&plane.grid, &state.tile)
        .all_needles(plane.layout.needle_strides(), &mut scratch.needles);
    for (&offset, reach) in
        scratch.needles.iter().zip(&state.reaches).filter(|(_, reach)| reach.exceeds(penalty))
    {
        let at = plane.layout.coordinates(offset as usize);
        let (first, last, ratio) = &mut found[geometry::index(at.map(|x| x / BOX), boxes)];
        *first = from_fn(|a| first[a].min(at[a]));
        *last = from_fn(|a| last[a].max(at[a]));
        *ratio = ratio.max(reach.bound().to_f64() / penalty);
    }
    let exceeding =
        found.into_iter().filter(|(.., ratio)| *ratio > 1.0).map(|(first, last, ratio)| {
            let start = plane.grid.to_signal(tile.first() + first.map(|x| x as i64));
            Exceeding { region: Region::new(start, from_fn(|a| last[a] + 1 - first[a])), ratio }
        });
    exceeding.collect()
}

/// Largest correlation of tiles with scales other than 1; at least the penalty.
fn scaled_correlation<'a, T: Real>(
    request: DualRequest,
    level: Level,
    team: &Team<T>,
    atoms: &Atoms<T>,
    (plane, residual): (&PlaneState<T>, &[T]),
    tiles: impl Iterator<Item = &'a TileState<T>>,
) -> f64 {
    let touched = |state: &&TileState<T>| {
        let touched = plane.touched(&state.tile);
        !request
            .scaling
            .is_one_over(&Region::new(plane.grid.to_signal(touched.first()), touched.size))
    };
    let mut scaled: Vec<ScaledTileState<'_, T>> =
        tiles.filter(touched).map(|state| ScaledTileState { state, largest: T::ZERO }).collect();
    team.each(
        &mut scaled,
        |tile| tile.state.cost(),
        |tile, scratch| {
            T::dispatch(level, ScaledTile { atoms, plane, residual, tile, scratch, request })
        },
    );
    scaled.iter().fold(request.penalty, |most, tile| most.max(tile.largest.to_f64()))
}

/// A tile with scales other than 1, and its largest scaled correlation.
struct ScaledTileState<'a, T> {
    state: &'a TileState<T>,
    largest: T,
}

/// Computes the largest scaled correlation of a tile above the penalty.
struct ScaledTile<'a, 'b, T> {
    atoms: &'a Atoms<T>,
    plane: &'a PlaneState<T>,
    residual: &'a [T],
    tile: &'a mut ScaledTileState<'b, T>,
    scratch: &'a mut Scratch<T>,
    request: DualRequest<'a>,
}

impl<T: Real> Kernel<T> for ScaledTile<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let Self { atoms, plane, residual, tile, scratch, request } = self;
        let state = tile.state;
        let layout = &plane.layout;
        let grid = &plane.grid;
        plane.load(&state.tile, residual, &mut scratch.footprint);
        let field = &mut scratch.footprint.residual;
        scratch.bounds.find::<V>(layout, grid, field, None);
        let (low, high) = layout.scale(plane, &state.tile, request.scaling, field);
        let (low, high, spread) = (T::from_f64(low), T::from_f64(high), T::from_f64(high - low));
        let penalty = T::from_f64(request.penalty);
        let layers = Layers::of(grid, &state.tile);
        scratch.needles.clear();
        layers.all_needles(layout.needle_strides(), &mut scratch.needles);
        // A scale in `low..=high` changes a correlation to at most `low` times it plus `spread`
        // times the norm of the patch, or `high` times the norm if it is unknown.
        let may_exceed = |(i, &offset): (usize, &u32)| {
            let at = offset as usize;
            let weights = plane.needle_weights(atoms, &state.tile, at);
            let norm = scratch.bounds.norm(at) * weights.largest_inverse / weights.position;
            let bound = state
                .reaches
                .get(i)
                .map_or(high * norm, |reach| low * reach.bound() + spread * norm);
            (bound * atoms.rounding > penalty).then_some(offset)
        };
        let wanted: Vec<u32> = scratch.needles.iter().enumerate().filter_map(may_exceed).collect();
        scratch.projected.begin();
        for batch in wanted.chunks(BATCH) {
            if plane.coefficient_weights.is_some() {
                let (field, into) = (&scratch.footprint.residual, &mut scratch.correlations);
                atoms.packed.correlate(field, &layout.patch, batch, into);
                for (&offset, c) in batch.iter().zip(into.chunks_exact(atoms.packed.stride)) {
                    let weights = plane.needle_weights(atoms, &state.tile, offset as usize);
                    tile.largest = tile.largest.max(reach(c, &weights, request.nonnegative));
                }
                continue;
            }
            atoms.reach::<V>(
                layout,
                &scratch.footprint.residual,
                &mut scratch.projected,
                batch,
                request.nonnegative,
                &mut scratch.correlations,
            );
            for (&offset, &reach) in batch.iter().zip(&scratch.correlations[..]) {
                tile.largest =
                    tile.largest.max(reach / plane.position_weight(&state.tile, offset as usize));
            }
        }
    }
}

impl<T: Real> ScaledResidual<T> for CpuSession<T> {
    fn exceeding(&mut self, penalty: f64, each: &mut dyn FnMut(usize, Exceeding)) -> Result<()> {
        exceeding(penalty, &self.team, &self.planes, &self.tiles, each);
        Ok(())
    }

    fn scaled_sums(
        &mut self,
        plane: usize,
        scaling: Scaling,
        part: Option<&Region<InSignal>>,
    ) -> Result<ScaledSums> {
        self.follow();
        let sums =
            self.planes[plane].scaled_sums(&self.team, &self.residuals[plane], scaling, part);
        let sums = self.exchange.sums(sums.into(), &mut []);
        Ok(ScaledSums { dot: sums[0], energy: sums[1] })
    }

    fn scaled_correlation(&mut self, plane: usize, scaling: Scaling, penalty: f64) -> Result<f64> {
        self.follow();
        let request = DualRequest { penalty, nonnegative: self.nonnegative, scaling };
        let tiles = self.tiles.iter().filter(|state| state.plane == plane);
        let of = (&self.planes[plane], &self.residuals[plane][..]);
        let mut largest =
            [scaled_correlation(request, self.level, &self.team, &self.atoms, of, tiles)];
        self.exchange.reduce(&mut [], &mut largest);
        Ok(largest[0])
    }

    fn residual_part(&mut self, plane: usize, part: &Region<InSignal>) -> Result<Vec<T>> {
        self.follow();
        let own = &self.planes[plane];
        Ok(own.raster().gather(
            &self.residuals[plane],
            &own.grid.region_to_domain(part),
            T::ZERO,
            self.team.threads(),
        ))
    }
}
