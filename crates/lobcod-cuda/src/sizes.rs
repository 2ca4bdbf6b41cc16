//! How large a problem is, known before any of its tiles is listed.

use crate::schedule::own_grouping;
use lobcod::engine::Problem;
use lobcod::grid::Frame;
use lobcod::{Border, Result};
use std::ops::Range;

/// Positions that codes may be at, relative to the signal; `None`: all there are.
pub(crate) type OpenPositions<'a> = Option<&'a [Range<i64>; 3]>;

/// Sizes of a problem on the device.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sizes {
    pub(crate) tiles: usize,
    pub(crate) samples: usize,
    pub(crate) positions: usize,
    /// Samples and positions of the largest plane, if not of the same one.
    pub(crate) plane_samples: usize,
    pub(crate) plane_positions: usize,
    /// Distance between rows, slices and channels of a footprint, and its samples.
    pub(crate) strides: [usize; 3],
    pub(crate) footprint: usize,
    /// Most needles and layers of a tile.
    pub(crate) most_needles: usize,
    pub(crate) most_layers: usize,
    /// Does any patch leave the domain, or have a weight?
    pub(crate) cut: bool,
}

/// The frame of every plane of a problem.
pub(crate) fn frames(problem: &Problem<f32>, positions: OpenPositions) -> Result<Vec<Frame>> {
    let atom = problem.dictionary.extent();
    let grouping = own_grouping(problem.grouping, atom.rank());
    let frame = |plane: &lobcod::engine::Plane<f32>| match positions {
        Some(positions) => Ok(Frame::of_positions(plane.extent, atom, positions, grouping)),
        None => Frame::new(plane.extent, atom, problem.border, grouping),
    };
    problem.planes.iter().map(frame).collect()
}

impl Sizes {
    pub(crate) fn of(problem: &Problem<f32>, frames: &[Frame]) -> Self {
        let (atom, channels) = (problem.dictionary.extent().padded(), problem.dictionary.channels());
        let largest: [usize; 3] = std::array::from_fn(|a| frames.iter().map(|frame| frame.largest_tile()[a]).max().unwrap_or(1));
        let row = largest[2] + atom[2] - 1;
        let slice = (largest[1] + atom[1] - 1) * row;
        let channel = (largest[0] + atom[0] - 1) * slice;
        let mut sizes = Self { strides: [row, slice, channel], footprint: channels * channel, ..Self::default() };
        for (frame, plane) in frames.iter().zip(&problem.planes) {
            let (samples, positions) = (channels * frame.domain.iter().product::<usize>(), frame.positions.iter().product());
            sizes.samples += samples;
            sizes.positions += positions;
            sizes.plane_samples = sizes.plane_samples.max(samples);
            sizes.plane_positions = sizes.plane_positions.max(positions);
            sizes.tiles += frame.tile_counts().iter().product::<usize>();
            sizes.most_needles = sizes.most_needles.max(frame.largest_tile().iter().product());
            sizes.most_layers = sizes.most_layers.max(frame.layers());
            let leaves = |a: usize| {
                let end = frame.first[a] + (frame.positions[a] + frame.atom[a]) as i64 - 1;
                frame.first[a] < 0 || end > frame.domain[a] as i64
            };
            sizes.cut |= plane.weights.is_some() || (problem.border == Border::Free && (0..3).any(leaves));
        }
        sizes
    }
}
