//! A scale of the residual that varies smoothly over the signal.

use crate::geometry::{self, InSignal, InWhole, Origin, Point, Region};
use std::array::from_fn;
use std::ops::Range;

/// The frame that counts cells.
#[derive(Clone, Copy)]
struct InCells;

/// Cells of equal size over the samples of a signal, independent of tiles and bands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// The samples.
    pub region: Region<InWhole>,
    /// Cells along each axis.
    pub counts: [usize; 3],
    /// Whether the signal is periodic.
    pub periodic: bool,
}

/// Scales `s` of the residual.
#[derive(Clone, Copy, Debug)]
pub struct Scaling<'a> {
    /// The scales.
    pub field: &'a ScaleField,
    /// Location of the signal among the samples covered by the scales.
    pub origin: Origin,
}

impl Scaling<'_> {
    /// Calls `f(i, scale)` for the `count` samples of a row of the signal from `from` on.
    #[inline(always)]
    pub fn for_row(&self, from: Point<InSignal>, count: usize, f: impl FnMut(usize, f64)) {
        self.field.for_row(self.origin.to_whole(from), count, f);
    }

    /// Whether all scales of a region of the signal are 1.
    pub fn is_one_over(&self, region: &Region<InSignal>) -> bool {
        self.field.is_one_over(&self.origin.region_to_whole(region))
    }
}

impl Lattice {
    /// Cells of about `cell` samples over a region.
    pub fn new(region: Region<InWhole>, cell: [usize; 3], periodic: bool) -> Self {
        let counts = from_fn(|a| ((region.size[a] + cell[a] / 2) / cell[a]).max(1));
        Self { region, counts, periodic }
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        geometry::volume(self.counts)
    }

    /// Index of the cell that contains a sample; beyond the edge, of the nearest cell.
    pub fn cell(&self, at: Point<InWhole>) -> usize {
        self.number(from_fn(|axis| self.wrapped(axis, self.floor(axis, at.at[axis]))))
    }

    /// Calls `f` with the index of every cell that contains a sample of the region.
    pub fn cells_of(&self, region: &Region<InWhole>, f: impl FnMut(usize)) {
        self.numbers(|a| self.floor(a, region.start[a])..self.floor(a, region.end(a) - 1) + 1)
            .for_each(f);
    }

    /// Indices of the cells in these ranges along the axes, which may extend beyond the edge.
    fn numbers(&self, along: impl Fn(usize) -> Range<i64>) -> impl Iterator<Item = usize> {
        let own = *self;
        Region::<InCells>::of(along)
            .points()
            .map(move |at| own.number(from_fn(|a| own.wrapped(a, at.at[a]))))
    }

    #[inline(always)]
    fn number(&self, cell: [usize; 3]) -> usize {
        geometry::index(cell, self.counts)
    }

    /// Centre of a sample along an axis, in cells.
    #[inline(always)]
    fn along(&self, axis: usize, at: i64) -> f64 {
        ((at - self.region.start[axis]) as f64 + 0.5) * self.counts[axis] as f64
            / self.region.size[axis] as f64
    }

    fn floor(&self, axis: usize, at: i64) -> i64 {
        self.along(axis, at).floor() as i64
    }

    #[inline(always)]
    fn wrapped(&self, axis: usize, cell: i64) -> usize {
        let count = self.counts[axis] as i64;
        if self.periodic {
            cell.rem_euclid(count) as usize
        } else {
            cell.clamp(0, count - 1) as usize
        }
    }

    /// The three cells of the quadratic B-spline at a sample, and their weights.
    #[inline(always)]
    fn interpolation(&self, axis: usize, at: i64) -> Interpolation {
        let along = self.along(axis, at).clamp(0.0, self.counts[axis] as f64);
        let cell = (along as i64).min(self.counts[axis] as i64 - 1);
        let u = along - cell as f64;
        let (before, behind) = (0.5 * (1.0 - u) * (1.0 - u), 0.5 * u * u);
        let cells = [-1, 0, 1].map(|step| self.wrapped(axis, cell + step));
        Interpolation { cells, weights: [before, 1.0 - before - behind, behind] }
    }
}

#[derive(Clone, Copy)]
struct Interpolation {
    cells: [usize; 3],
    weights: [f64; 3],
}

/// One value per cell, with smooth interpolation between them.
#[derive(Clone, Debug)]
pub struct ScaleField {
    lattice: Lattice,
    values: Vec<f32>,
}

impl ScaleField {
    /// The scale 1 everywhere on a lattice.
    pub fn new(lattice: Lattice) -> Self {
        Self { lattice, values: vec![1.0; lattice.cells()] }
    }

    /// Lowers the scales so that nothing exceeds the penalty: `excess` of the cells from `first`
    /// on, as multiples of the penalty.
    pub fn lower(&mut self, first: usize, excess: &[f32]) {
        let (lattice, values) = (self.lattice, &mut self.values);
        for (cell, &excess) in (first..).zip(excess).filter(|(_, excess)| **excess > 1.0) {
            let at = geometry::cell(cell, lattice.counts).map(|x| x as i64);
            let near = |a: usize| if lattice.counts[a] == 1 { 0..1 } else { at[a] - 1..at[a] + 2 };
            lattice.numbers(near).for_each(|cell| values[cell] = values[cell].min(1.0 / excess));
        }
    }

    /// The cells.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// The value of every cell; the scale at a sample is interpolated by quadratic B-splines.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The scale 1 everywhere.
    pub fn ones() -> Self {
        Self::new(Lattice::new(Region::whole([1; 3]), [1; 3], false))
    }

    /// Whether all scales of a region are 1.
    pub fn is_one_over(&self, region: &Region<InWhole>) -> bool {
        let near = |a: usize| {
            self.lattice.floor(a, region.start[a]) - 1..self.lattice.floor(a, region.end(a) - 1) + 2
        };
        self.lattice.numbers(near).all(|cell| self.values[cell] == 1.0)
    }

    /// Calls `f(i, scale)` for the `count` samples of a row from `from` on.
    #[inline(always)]
    fn for_row(&self, from: Point<InWhole>, count: usize, mut f: impl FnMut(usize, f64)) {
        let from = from.at;
        let (z, y) =
            (self.lattice.interpolation(0, from[0]), self.lattice.interpolation(1, from[1]));
        let mixed = |x: usize| -> f64 {
            let planes = z.cells.iter().zip(&z.weights);
            let rows = planes.map(|(&cz, &sz)| {
                sz * (0..3)
                    .map(|i| {
                        y.weights[i]
                            * f64::from(self.values[self.lattice.number([cz, y.cells[i], x])])
                    })
                    .sum::<f64>()
            });
            rows.sum()
        };
        let (mut cell, mut values) = (usize::MAX - 1, [0.0; 3]);
        for i in 0..count {
            let x = self.lattice.interpolation(2, from[2] + i as i64);
            if x.cells[1] == cell + 1 {
                values = [values[1], values[2], mixed(x.cells[2])];
            } else if x.cells[1] != cell {
                values = x.cells.map(mixed);
            }
            cell = x.cells[1];
            f(i, (0..3).map(|k| x.weights[k] * values[k]).sum());
        }
    }
}
