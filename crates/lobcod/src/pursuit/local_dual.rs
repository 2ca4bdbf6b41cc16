//! A better dual point than the uniformly scaled residual.
//!
//! A single scale shrinks the whole residual because of the one needle that exceeds the penalty
//! most. Here the scale varies over cells, and only cells near such needles shrink.

use super::params::{PursuitParams, Schedule};
use crate::border::Border;
use crate::engine::{Exceeding, Lattice, ScaleField};
use crate::extent::Extent;
use crate::geometry::{Origin, Point, Region};
use std::ops::Range;

/// With fewer cells than this, uniform scaling is nearly as good.
const FEW_CELLS: usize = 1600;
/// Minimum length of a cell along an axis.
const SHORTEST_CELL: usize = 4;

/// Cells of the size of an atom over the samples with a data term; `None` if they are not
/// worthwhile. Smaller cells shrink fewer samples, but steep scales change correlations.
pub fn lattice(params: &PursuitParams, signal: Extent, atom: Extent) -> Option<Lattice> {
    let atom = atom.padded();
    let domain = Region::of(|a| {
        let pad = if params.border == Border::Zero { atom[a] as i64 - 1 } else { 0 };
        -pad..signal.region().end(a) + pad
    });
    let lattice =
        Lattice::new(domain, atom.map(|h| h.max(SHORTEST_CELL)), params.border == Border::Periodic);
    (params.schedule == Schedule::Tiles && lattice.cells() >= FEW_CELLS).then_some(lattice)
}

/// Largest ratio by which needles of each cell exceed the penalty.
#[derive(Clone, Debug)]
pub struct Excess {
    lattice: Lattice,
    /// Extent of an atom.
    atom: [usize; 3],
    /// Index of the first cell with a ratio.
    first: usize,
    pub ratios: Vec<f32>,
}

impl Excess {
    /// For needles in these rows of the first axis, along which cells are numbered.
    pub fn of_rows(lattice: Lattice, atom: Extent, rows: Range<i64>) -> Self {
        let (axis, atom) = (3 - atom.rank(), atom.padded());
        let corner = |row: i64, column: i64| {
            lattice.cell(Point::new(std::array::from_fn(|a| if a == axis { row } else { column })))
        };
        let first = corner(rows.start, i64::from(i32::MIN));
        let last = corner(rows.end - 2 + atom[axis] as i64, i64::from(i32::MAX));
        Self { lattice, atom, first, ratios: vec![1.0; last + 1 - first] }
    }

    /// For all needles.
    pub fn new(lattice: Lattice, atom: Extent) -> Self {
        Self { lattice, atom: atom.padded(), first: 0, ratios: vec![1.0; lattice.cells()] }
    }

    /// Records needles in every cell their patches touch; their signal is at `origin`.
    pub fn record(&mut self, origin: Origin, found: Exceeding) {
        let touched = origin.region_to_whole(&found.region).touched(self.atom);
        let (first, ratios) = (self.first, &mut self.ratios);
        let ratio = found.ratio as f32;
        self.lattice
            .cells_of(&touched, |cell| ratios[cell - first] = ratios[cell - first].max(ratio));
    }

    /// Scales that make the residual dual feasible; `parts` must not be empty.
    pub fn field<'a>(parts: impl Iterator<Item = &'a Excess>) -> ScaleField {
        let mut parts = parts.peekable();
        let mut field = ScaleField::new(parts.peek().expect("at least one part").lattice);
        parts.for_each(|part| field.lower(part.first, &part.ratios));
        field
    }
}
