//! A dual point better than the scaled residual.
//!
//! Scaled by one number, the residual pays everywhere for the one needle that exceeds the penalty most. Here the scale varies over a
//! lattice of cells, and only those around needles that exceed the penalty pay.

use super::params::{PursuitParams, Schedule};
use crate::border::Border;
use crate::engine::{Lattice, ScaleField, ScaledSums};
use crate::extent::Extent;
use crate::grid::Grouping;

/// Fewer cells than this: the one needle is mended nearly as soon as the others.
const FEW_CELLS: usize = 1000;

/// Cells of the size of tiles over the samples that carry a data term; `None` where they are not worth it.
pub(super) fn lattice(params: &PursuitParams, signal: Extent, atom: Extent) -> Option<Lattice> {
    let tile = params.tile.map_or(Grouping::default_tiles(signal.rank()), Grouping::Tiles);
    let (Schedule::Tiles, Grouping::Tiles(cell)) = (params.schedule, tile) else { return None };
    let pad = if params.border == Border::Zero { atom.padded().map(|h| h - 1) } else { [0; 3] };
    let length = std::array::from_fn(|a| signal.padded()[a] + 2 * pad[a]);
    let lattice = Lattice::new(pad.map(|pad| -(pad as i64)), length, cell, params.border == Border::Periodic);
    (lattice.cells() >= FEW_CELLS).then_some(lattice)
}

/// The most by which needles of every cell exceed the penalty.
#[derive(Clone, Debug)]
pub(super) struct Excess {
    lattice: Lattice,
    /// Half an atom: a needle belongs to the cell of its middle.
    middle: [i64; 3],
    ratios: Vec<f64>,
}

impl Excess {
    pub(super) fn new(lattice: Lattice, atom: Extent) -> Self {
        Self { lattice, middle: atom.padded().map(|h| h as i64 / 2), ratios: vec![1.0; lattice.cells()] }
    }

    /// Takes a needle into account.
    pub(super) fn note(&mut self, position: [i64; 3], ratio: f64) {
        let cell = &mut self.ratios[self.lattice.cell(std::array::from_fn(|a| position[a] + self.middle[a]))];
        *cell = cell.max(ratio);
    }

    /// Scales that bring all of it down.
    pub(super) fn field(&self) -> ScaleField {
        ScaleField::new(self.lattice, &self.ratios)
    }
}

/// Value of the dual at the scaled residual, divided by what its correlations still exceed the penalty by.
pub(super) fn dual(sums: ScaledSums, excess: f64) -> f64 {
    sums.dot / excess - 0.5 * sums.energy / (excess * excess)
}
