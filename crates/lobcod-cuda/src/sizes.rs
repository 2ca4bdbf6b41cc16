//! Sizes of a problem, computed without listing its tiles.

use crate::schedule::own_grouping;
use lobcod::Result;
use lobcod::engine::{Plane, Problem};
use lobcod::geometry::{InSignal, Region, volume};
use lobcod::grid::Tiling;
use std::array::from_fn;

/// Sizes of a problem on the device.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sizes {
    pub(crate) tiles: usize,
    pub(crate) samples: usize,
    pub(crate) positions: usize,
    /// Samples and positions of the largest plane, possibly of different planes.
    pub(crate) plane_samples: usize,
    pub(crate) plane_positions: usize,
    /// Size of the largest footprint; all tiles use it.
    pub(crate) footprint: [usize; 3],
    /// Distance between rows, slices and channels of a footprint, and its samples.
    pub(crate) strides: [usize; 4],
    /// Maximum number of needles and layers of a tile.
    pub(crate) most_needles: usize,
    pub(crate) most_layers: usize,
    /// Whether any patch extends beyond the domain or has a weight.
    pub(crate) clipped: bool,
}

/// The tiles of every plane of a problem; with `positions`, only of these.
pub(crate) fn tilings(
    problem: &Problem<f32>,
    positions: Option<&Region<InSignal>>,
) -> Result<Vec<Tiling>> {
    let atom = problem.dictionary.extent();
    let grouping = own_grouping(problem.grouping, atom.rank());
    let tiling = |plane: &Plane<f32>| match positions {
        Some(positions) => Ok(Tiling::of_positions(plane.extent, atom, positions, grouping)),
        None => Tiling::new(plane.extent, atom, problem.border, grouping),
    };
    problem.planes.iter().map(tiling).collect()
}

impl Sizes {
    pub(crate) fn of(problem: &Problem<f32>, tilings: &[Tiling]) -> Self {
        let (atom, channels) =
            (problem.dictionary.extent().padded(), problem.dictionary.channels());
        let largest =
            |a: usize| tilings.iter().map(|tiling| tiling.largest_tile()[a]).max().unwrap_or(1);
        let footprint = from_fn(|a| largest(a) + atom[a] - 1);
        let [_, height, width] = footprint;
        let strides = [width, height * width, volume(footprint), channels * volume(footprint)];
        let mut sizes = Self { footprint, strides, ..Self::default() };
        for (tiling, plane) in tilings.iter().zip(&problem.planes) {
            let (samples, positions) =
                (channels * tiling.domain.volume(), tiling.positions.volume());
            sizes.samples += samples;
            sizes.positions += positions;
            sizes.plane_samples = sizes.plane_samples.max(samples);
            sizes.plane_positions = sizes.plane_positions.max(positions);
            sizes.tiles += volume(tiling.tile_counts());
            sizes.most_needles = sizes.most_needles.max(volume(tiling.largest_tile()));
            sizes.most_layers = sizes.most_layers.max(tiling.layers());
            let leaves = !tiling.periodic && !tiling.domain.holds(&tiling.positions.touched(atom));
            sizes.clipped |= plane.weights.is_some() || leaves;
        }
        sizes
    }
}
