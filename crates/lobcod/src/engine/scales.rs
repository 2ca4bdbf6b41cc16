//! A scale of the residual that varies smoothly over the signal.

use std::ops::RangeInclusive;

/// Cells of equal size that cover the samples of a signal, whatever the tiles and bands it is worked on in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// First sample.
    pub start: [i64; 3],
    /// Samples along each axis.
    pub length: [usize; 3],
    /// Cells along each axis.
    pub counts: [usize; 3],
    /// Does the signal repeat?
    pub periodic: bool,
}

impl Lattice {
    /// Cells of about `cell` samples over the samples from `start` on.
    pub fn new(start: [i64; 3], length: [usize; 3], cell: [usize; 3], periodic: bool) -> Self {
        let counts = std::array::from_fn(|a| (length[a] + cell[a] / 2).div_euclid(cell[a]).max(1));
        Self { start, length, counts, periodic }
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.counts.iter().product()
    }

    /// Number of the cell that holds a sample; beyond the edge, that of the nearest.
    pub fn cell(&self, at: [i64; 3]) -> usize {
        let [z, y, x]: [usize; 3] = std::array::from_fn(|axis| self.wrapped(axis, self.along(axis, at[axis]).floor() as i64));
        self.number([z, y, x])
    }

    /// Calls `f` with the number of every cell that holds a sample of the box from `first` to `last`.
    pub fn cells_between(&self, first: [i64; 3], last: [i64; 3], mut f: impl FnMut(usize)) {
        let [z, y, x]: [RangeInclusive<i64>; 3] = std::array::from_fn(|axis| {
            let along = |at: i64| self.along(axis, at).floor() as i64;
            along(first[axis])..=along(last[axis])
        });
        for z in z.map(|cell| self.wrapped(0, cell)) {
            for y in y.clone().map(|cell| self.wrapped(1, cell)) {
                x.clone().for_each(|cell| f(self.number([z, y, self.wrapped(2, cell)])));
            }
        }
    }

    fn number(&self, [z, y, x]: [usize; 3]) -> usize {
        (z * self.counts[1] + y) * self.counts[2] + x
    }

    /// Where the middle of a sample lies along an axis, in cells.
    #[inline(always)]
    fn along(&self, axis: usize, at: i64) -> f64 {
        ((at - self.start[axis]) as f64 + 0.5) * self.counts[axis] as f64 / self.length[axis] as f64
    }

    #[inline(always)]
    fn wrapped(&self, axis: usize, cell: i64) -> usize {
        let count = self.counts[axis] as i64;
        if self.periodic { cell.rem_euclid(count) as usize } else { cell.clamp(0, count - 1) as usize }
    }

    /// The three cells whose values make the scale at a sample, and their shares: the quadratic B-spline.
    #[inline(always)]
    fn place(&self, axis: usize, at: i64) -> Place {
        let along = self.along(axis, at).clamp(0.0, self.counts[axis] as f64);
        let cell = (along as i64).min(self.counts[axis] as i64 - 1);
        let u = along - cell as f64;
        let (before, behind) = (0.5 * (1.0 - u) * (1.0 - u), 0.5 * u * u);
        let cells = [-1, 0, 1].map(|step| self.wrapped(axis, cell + step));
        Place { cells, shares: [before, 1.0 - before - behind, behind] }
    }
}

#[derive(Clone, Copy)]
struct Place {
    cells: [usize; 3],
    shares: [f64; 3],
}

/// One value a cell, and between them a smooth surface that hardly varies over a patch.
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

    /// Lowers the scales so that what exceeds the penalty comes down to it, and nothing by more than its neighbourhood asks for:
    /// `excess` of the cells from number `first` on, in shares of the penalty.
    pub fn lower(&mut self, first: usize, excess: &[f32]) {
        let (lattice, values) = (self.lattice, &mut self.values);
        let [_, ny, nx] = lattice.counts;
        for (cell, &excess) in (first..).zip(excess).filter(|(_, excess)| **excess > 1.0) {
            let at = [cell / (ny * nx), cell / nx % ny, cell % nx];
            let near = |a: usize| {
                let steps = if lattice.counts[a] == 1 { 0..=0 } else { -1..=1 };
                steps.map(move |step| lattice.wrapped(a, at[a] as i64 + step))
            };
            for z in near(0) {
                for y in near(1) {
                    for x in near(2) {
                        let value = &mut values[lattice.number([z, y, x])];
                        *value = value.min(1.0 / excess);
                    }
                }
            }
        }
    }

    /// The cells.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// The value of every cell; the scale at a sample is their quadratic B-spline there.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The scale 1 everywhere.
    pub fn ones() -> Self {
        Self::new(Lattice::new([0; 3], [1; 3], [1; 3], false))
    }

    /// Are all scales 1 in the box from `start` to `end`?
    pub fn is_one_over(&self, start: [i64; 3], end: [i64; 3]) -> bool {
        let near = |axis: usize| {
            let first = self.lattice.along(axis, start[axis]).floor() as i64 - 1;
            let last = self.lattice.along(axis, end[axis] - 1).floor() as i64 + 1;
            (first..=last).map(move |cell| self.lattice.wrapped(axis, cell))
        };
        near(0).all(|z| near(1).all(|y| near(2).all(|x| self.values[self.lattice.number([z, y, x])] == 1.0)))
    }

    /// Calls `f(i, scale)` for the `count` samples of a row from `from` on.
    #[inline(always)]
    pub fn for_row(&self, from: [i64; 3], count: usize, mut f: impl FnMut(usize, f64)) {
        let (z, y) = (self.lattice.place(0, from[0]), self.lattice.place(1, from[1]));
        let mixed = |x: usize| -> f64 {
            let planes = z.cells.iter().zip(&z.shares);
            let rows = planes.map(|(&cz, &sz)| {
                sz * (0..3).map(|i| y.shares[i] * f64::from(self.values[self.lattice.number([cz, y.cells[i], x])])).sum::<f64>()
            });
            rows.sum()
        };
        let (mut cell, mut values) = (usize::MAX - 1, [0.0; 3]);
        for i in 0..count {
            let x = self.lattice.place(2, from[2] + i as i64);
            if x.cells[1] == cell + 1 {
                values = [values[1], values[2], mixed(x.cells[2])];
            } else if x.cells[1] != cell {
                values = x.cells.map(mixed);
            }
            cell = x.cells[1];
            f(i, (0..3).map(|k| x.shares[k] * values[k]).sum());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_one_far_away_and_low_enough_where_it_matters() {
        for (start, periodic) in [([0, 0, 0], false), ([0, -5, -4], false), ([0, 0, 0], true)] {
            let lattice = Lattice::new(start, [1, 150, 140], [16; 3], periodic);
            let mut excess = vec![1.0f32; lattice.cells()];
            let bad = [0, 70, 66];
            excess[lattice.cell(bad)] = 1.25;
            let mut field = ScaleField::new(lattice);
            field.lower(0, &excess);
            let mut ones = 0;
            for y in start[1]..start[1] + 150 {
                field.for_row([0, y, start[2]], 140, |i, scale| {
                    let at = [0, y, start[2] + i as i64];
                    assert!((0.8 - 1e-6..=1.0 + 1e-6).contains(&scale));
                    let one = scale > 1.0 - 1e-6;
                    ones += usize::from(one);
                    assert!(lattice.cell(at) != lattice.cell(bad) || scale < 0.8 + 1e-6, "{scale} at {at:?}");
                    assert!(one || !field.is_one_over(at, at.map(|x| x + 1)));
                });
            }
            assert!(ones > 150 * 140 / 2);
            assert!(field.is_one_over([0, 0, 0], [1, 8, 8]) && !field.is_one_over([0, 60, 60], [1, 80, 80]));
        }
    }
}
