//! A dual point better than the scaled residual.
//!
//! Scaled by one number, the residual pays everywhere for the one needle that exceeds the penalty most. Here the scale varies over a
//! lattice of cells, and only those around needles that exceed the penalty pay.

use super::params::PursuitParams;
use super::setup::grouping;
use crate::border::Border;
use crate::engine::{Lattice, ScaleField, ScaledSums};
use crate::extent::Extent;
use crate::grid::Grouping;
use std::ops::Range;

/// Fewer cells than this: the one needle is mended nearly as soon as the others.
const FEW_CELLS: usize = 1000;

/// Cells of the size of tiles over the samples that carry a data term; `None` where they are not worth it.
pub(super) fn lattice(params: &PursuitParams, signal: Extent, atom: Extent) -> Option<Lattice> {
    let Grouping::Tiles(cell) = grouping(params, signal.rank()) else { return None };
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
    /// Number of the first cell there is a ratio for.
    first: usize,
    ratios: Vec<f64>,
}

impl Excess {
    /// For needles at these places of the first axis. Cells are numbered along it, so theirs follow each other.
    pub(super) fn of_rows(lattice: Lattice, atom: Extent, rows: Range<i64>) -> Self {
        let (middle, axis) = (atom.padded().map(|h| h as i64 / 2), 3 - atom.rank());
        let corner = |row: i64, beside: i64| {
            let at = std::array::from_fn(|a| if a == axis { row + middle[a] } else { beside });
            lattice.cell(at)
        };
        let (first, last) = (corner(rows.start, i64::from(i32::MIN)), corner(rows.end - 1, i64::from(i32::MAX)));
        Self { lattice, middle, first, ratios: vec![1.0; last + 1 - first] }
    }

    /// For all needles.
    pub(super) fn new(lattice: Lattice, atom: Extent) -> Self {
        let middle = atom.padded().map(|h| h as i64 / 2);
        Self { lattice, middle, first: 0, ratios: vec![1.0; lattice.cells()] }
    }

    /// Takes a needle into account.
    pub(super) fn note(&mut self, position: [i64; 3], ratio: f64) {
        let cell = self.lattice.cell(std::array::from_fn(|a| position[a] + self.middle[a]));
        let known = &mut self.ratios[cell - self.first];
        *known = known.max(ratio);
    }

    /// Scales that bring all of it down; there is at least one part.
    pub(super) fn field<'a>(parts: impl Iterator<Item = &'a Excess>) -> ScaleField {
        let mut parts = parts.peekable();
        let lattice = parts.peek().expect("at least one part").lattice;
        let mut ratios = vec![1.0f64; lattice.cells()];
        for part in parts {
            let own = ratios[part.first..].iter_mut().zip(&part.ratios);
            own.for_each(|(all, &ratio)| *all = all.max(ratio));
        }
        ScaleField::new(lattice, &ratios)
    }
}

/// Value of the dual at the scaled residual, divided by what its correlations still exceed the penalty by.
pub(super) fn dual(sums: ScaledSums, excess: f64) -> f64 {
    sums.dot / excess - 0.5 * sums.energy / (excess * excess)
}
