//! A dual point better than the scaled residual.
//!
//! Scaled by one number, the residual pays everywhere for the one needle that exceeds the penalty most. Here the scale varies over a
//! lattice of cells, and only those around needles that exceed the penalty pay.

use super::params::{PursuitParams, Schedule};
use crate::border::Border;
use crate::engine::{Exceeding, Lattice, ScaleField, ScaledSums};
use crate::extent::Extent;
use std::ops::Range;

/// Fewer cells than this: the one needle is mended nearly as soon as the others.
const FEW_CELLS: usize = 1600;
/// No axis of a cell is shorter, however small the atoms.
const SHORTEST_CELL: usize = 4;

/// Cells of the size of an atom over the samples that carry a data term; `None` where they are not worth it. The smaller a cell, the
/// fewer samples pay for a needle; but a scale that varies much over a patch changes its correlations.
pub(super) fn lattice(params: &PursuitParams, signal: Extent, atom: Extent) -> Option<Lattice> {
    let atom = atom.padded();
    let pad = if params.border == Border::Zero { atom.map(|h| h - 1) } else { [0; 3] };
    let length = std::array::from_fn(|a| signal.padded()[a] + 2 * pad[a]);
    let cell = atom.map(|h| h.max(SHORTEST_CELL));
    let lattice = Lattice::new(pad.map(|pad| -(pad as i64)), length, cell, params.border == Border::Periodic);
    (params.schedule == Schedule::Tiles && lattice.cells() >= FEW_CELLS).then_some(lattice)
}

/// The most by which needles of every cell exceed the penalty.
#[derive(Clone, Debug)]
pub(super) struct Excess {
    lattice: Lattice,
    /// From the first sample of a patch to the last.
    reach: [i64; 3],
    /// Number of the first cell there is a ratio for.
    first: usize,
    pub(super) ratios: Vec<f32>,
}

impl Excess {
    /// For needles at these places of the first axis. Cells are numbered along it, so those of their patches follow each other.
    pub(super) fn of_rows(lattice: Lattice, atom: Extent, rows: Range<i64>) -> Self {
        let (reach, axis) = (reach(atom), 3 - atom.rank());
        let corner = |row: i64, beside: i64| lattice.cell(std::array::from_fn(|a| if a == axis { row } else { beside }));
        let first = corner(rows.start, i64::from(i32::MIN));
        let last = corner(rows.end - 1 + reach[axis], i64::from(i32::MAX));
        Self { lattice, reach, first, ratios: vec![1.0; last + 1 - first] }
    }

    /// For all needles.
    pub(super) fn new(lattice: Lattice, atom: Extent) -> Self {
        Self { lattice, reach: reach(atom), first: 0, ratios: vec![1.0; lattice.cells()] }
    }

    /// Takes needles into account, in every cell their patches touch; the signal they are of begins at `origin`.
    pub(super) fn note(&mut self, origin: [i64; 3], found: Exceeding) {
        let from = std::array::from_fn(|a| origin[a] + found.first[a]);
        let to = std::array::from_fn(|a| origin[a] + found.last[a] + self.reach[a]);
        let (first, ratios) = (self.first, &mut self.ratios);
        let ratio = found.ratio as f32;
        self.lattice.cells_between(from, to, |cell| ratios[cell - first] = ratios[cell - first].max(ratio));
    }

    /// Scales that bring all of it down; there is at least one part.
    pub(super) fn field<'a>(parts: impl Iterator<Item = &'a Excess>) -> ScaleField {
        let mut parts = parts.peekable();
        let mut field = ScaleField::new(parts.peek().expect("at least one part").lattice);
        parts.for_each(|part| field.lower(part.first, &part.ratios));
        field
    }
}

fn reach(atom: Extent) -> [i64; 3] {
    atom.padded().map(|h| h as i64 - 1)
}

/// Value of the dual at the scaled residual, divided by what its correlations still exceed the penalty by.
pub(super) fn dual(sums: ScaledSums, excess: f64) -> f64 {
    sums.dot / excess - 0.5 * sums.energy / (excess * excess)
}
