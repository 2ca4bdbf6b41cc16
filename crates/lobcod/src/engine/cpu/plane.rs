//! One plane of the problem as the CPU keeps it.

use super::field::SharedField;
use super::footprint::{Footprint, Layout};
use super::team::Team;
use super::tile::LocalCode;
use crate::engine::{Part, Plane, Problem, ScaledSums, Scaling};
use crate::error::Result;
use crate::grid::{Grid, Tile};
use crate::needles::Code;
use crate::real::Real;
use std::ops::Range;

pub(super) struct PlaneState<T> {
    pub(super) channels: usize,
    /// Size of the signal.
    signal: [usize; 3],
    pub(super) grid: Grid,
    pub(super) layout: Layout,
    /// `Y - B` over the domain.
    pub(super) target: Vec<T>,
    /// `A^2` over the domain; `None`: all 1.
    pub(super) weights: Option<Vec<T>>,
    /// `A^2 (Y - B - sum P_i^T D a_i)` over the domain.
    pub(super) residual: SharedField<T>,
    /// The residual as it was last measured; empty before that.
    measured: Vec<T>,
    position_weights: Option<Vec<T>>,
    position_caps: Option<Vec<u32>>,
    cap: usize,
}

impl<T: Real> PlaneState<T> {
    /// `positions`, where not all are open: those that are, relative to the signal.
    pub(super) fn new(
        plane: Plane<T>,
        positions: Option<&[Range<i64>; 3]>,
        problem: &Problem<T>,
        row_width: usize,
    ) -> Result<Self> {
        let atom = problem.dictionary.extent();
        let grid = match positions {
            None => Grid::new(plane.extent, atom, problem.border, problem.grouping)?,
            Some(positions) => Grid::of_positions(plane.extent, atom, positions, problem.grouping),
        };
        let channels = problem.dictionary.channels();
        let layout = Layout::new(&grid, channels, row_width)?;
        let signal = plane.extent.padded();
        // The padding of the zero border holds zeros that count fully.
        let spread = |data: Vec<T>, with: T| {
            if grid.domain == signal {
                return data;
            }
            let mut out = Vec::new();
            grid.spread(plane.extent, &data, with, &mut out);
            out
        };
        let weights = plane.weights.map(|w| spread(w.into_iter().map(|a| a * a).collect(), T::ONE));
        let target = spread(plane.target, T::ZERO);
        let residual = SharedField::new(target.clone());
        Ok(Self {
            channels,
            signal,
            grid,
            layout,
            target,
            weights,
            residual,
            measured: Vec::new(),
            position_weights: plane.position_weights,
            position_caps: plane.position_caps,
            cap: problem.cap.unwrap_or(usize::MAX),
        })
    }

    /// Number of a needle in the raster of all positions.
    fn position(&self, tile: &Tile, offset: usize) -> usize {
        let at = self.layout.coordinates(offset);
        let p: [usize; 3] = std::array::from_fn(|a| (tile.origin[a] - self.grid.first[a]) as usize + at[a]);
        (p[0] * self.grid.positions[1] + p[1]) * self.grid.positions[2] + p[2]
    }

    /// Penalty weight of a needle.
    #[inline(always)]
    pub(super) fn position_weight(&self, tile: &Tile, offset: usize) -> T {
        self.position_weights.as_ref().map_or(T::ONE, |w| w[self.position(tile, offset)])
    }

    /// Most non-zeros a needle may have.
    #[inline(always)]
    pub(super) fn cap(&self, tile: &Tile, offset: usize) -> usize {
        self.position_caps.as_ref().map_or(self.cap, |caps| caps[self.position(tile, offset)] as usize)
    }

    /// A code of a tile as one of the signal.
    pub(super) fn code(&self, tile: &Tile, code: &LocalCode<T>) -> Code<T> {
        let at = self.layout.coordinates(code.offset as usize);
        let position = std::array::from_fn(|a| (tile.origin[a] + at[a] as i64 - self.grid.signal_at[a] as i64) as i32);
        Code { position, atom: u32::from(code.atom), channel: 0, value: code.value }
    }

    /// Size of the signal.
    pub(super) fn whole(&self) -> Part {
        self.signal.map(|length| 0..length)
    }

    /// Where a sample of the domain lies in a field in which the signal begins at `origin`.
    pub(super) fn in_field(&self, origin: [i64; 3], at: [i64; 3]) -> [i64; 3] {
        std::array::from_fn(|a| origin[a] + at[a] - self.grid.signal_at[a] as i64)
    }

    /// The residual over a part of the signal, channel after channel.
    pub(super) fn residual_part(&self, part: &Part) -> Vec<T> {
        let (domain, at) = (self.grid.domain, self.grid.signal_at);
        let size: [usize; 3] = std::array::from_fn(|a| part[a].len());
        let mut out = vec![T::ZERO; self.channels * size.iter().product::<usize>()];
        for (row, line) in out.chunks_exact_mut(size[2].max(1)).enumerate() {
            let (c, z, y) = (row / (size[0] * size[1]), row / size[1] % size[0], row % size[1]);
            let [z, y, x] = [part[0].start + z + at[0], part[1].start + y + at[1], part[2].start + at[2]];
            let start = ((c * domain[0] + z) * domain[1] + y) * domain[2] + x;
            // SAFETY: `&self` of a session that is not at work: nobody writes.
            unsafe { self.residual.read(start, line) };
        }
        out
    }

    /// Fills the footprint of a tile.
    pub(super) fn load(&self, tile: &Tile, into: &mut Footprint<T>) {
        self.layout.load(&self.grid, tile, &self.residual, self.weights.as_deref(), into);
    }

    /// Fills a buffer with the residual of the last measurement over the footprint of a tile.
    pub(super) fn load_measured(&self, tile: &Tile, into: &mut [T]) {
        self.layout.load_samples(&self.grid, tile, &self.measured, into);
    }

    /// Remembers the residual as the one that was measured.
    pub(super) fn keep_measured(&mut self, team: &Team<T>) {
        let residual = self.residual.as_mut_slice();
        self.measured.resize(residual.len(), T::ZERO);
        let mut blocks: Vec<_> = self.measured.chunks_mut(BLOCK).zip(residual.chunks(BLOCK)).collect();
        team.each(&mut blocks, |_| 1, |(measured, residual), _| measured.copy_from_slice(residual));
    }

    /// Makes the residual that of all-zero codes: `A^2 (Y - B)`.
    pub(super) fn reset_residual(&mut self, team: &Team<T>) {
        team.each(
            &mut self.blocks(),
            |_| 1,
            |block, _| match block.weights {
                None => block.residual.copy_from_slice(block.target),
                Some(w) => block.residual.iter_mut().zip(block.target).zip(w).for_each(|((r, &t), &w)| *r = t * w),
            },
        );
    }

    /// Makes the residual zero.
    pub(super) fn clear_residual(&mut self, team: &Team<T>) {
        team.each(&mut self.blocks(), |_| 1, |block, _| block.residual.fill(T::ZERO));
    }

    /// `||r||^2` and `<A (Y - B), r>` in f64, added block by block in order.
    pub(super) fn energies(&mut self, team: &Team<T>) -> (f64, f64) {
        let mut blocks = self.blocks();
        team.each(&mut blocks, |_| 1, |block, _| block.sums = block.energies());
        blocks.iter().fold((0.0, 0.0), |sum, block| (sum.0 + block.sums.0, sum.1 + block.sums.1))
    }

    /// `<A (Y - B), s r>` and `||s r||^2` over a part of the signal or the whole domain, added row by row in order.
    pub(super) fn scaled_sums(&mut self, team: &Team<T>, scaling: Scaling, part: Option<&Part>) -> ScaledSums {
        let domain = self.grid.domain;
        let part: Part = match part {
            None => domain.map(|length| 0..length),
            Some(part) => std::array::from_fn(|a| part[a].start + self.grid.signal_at[a]..part[a].end + self.grid.signal_at[a]),
        };
        let mut runs = Vec::new();
        for row in 0..self.channels * part[0].len() * part[1].len() {
            let (c, z, y) = (row / (part[0].len() * part[1].len()), row / part[1].len() % part[0].len(), row % part[1].len());
            let (z, y) = (part[0].start + z, part[1].start + y);
            for x in part[2].clone().step_by(BLOCK) {
                let length = BLOCK.min(part[2].end - x);
                runs.push((((c * domain[0] + z) * domain[1] + y) * domain[2] + x, length, ScaledSums::default()));
            }
        }
        let plane = &*self;
        team.each(&mut runs, |_| 1, |(start, length, sums), _| *sums = plane.scaled_run(*start, *length, scaling));
        runs.iter().fold(ScaledSums::default(), |sum, (_, _, run)| ScaledSums {
            dot: sum.dot + run.dot,
            energy: sum.energy + run.energy,
        })
    }

    fn scaled_run(&self, start: usize, length: usize, scaling: Scaling) -> ScaledSums {
        let domain = self.grid.domain;
        let line = start / domain[2];
        let first = [line / domain[1] % domain[0], line % domain[1], start % domain[2]];
        let mut residual = vec![T::ZERO; length];
        // SAFETY: in a measurement everybody only reads.
        unsafe { self.residual.read(start, &mut residual) };
        let (target, weights) = (&self.target[start..start + length], self.weights.as_ref().map(|w| &w[start..start + length]));
        let mut sums = ScaledSums::default();
        scaling.field.for_row(self.in_field(scaling.origin, first.map(|x| x as i64)), length, |i, scale| {
            let r = residual[i].to_f64();
            sums.dot += scale * r * target[i].to_f64();
            let weight = weights.map_or(1.0, |w| w[i].to_f64());
            // The residual carries the squared weight, so its energy is r^2 / w.
            sums.energy += if weight > 0.0 { scale * scale * r * r / weight } else { 0.0 };
        });
        sums
    }

    /// The domain in blocks of some thousand samples.
    fn blocks(&mut self) -> Vec<Block<'_, T>> {
        let residual = self.residual.as_mut_slice().chunks_mut(BLOCK);
        let block = |(i, (residual, target)): (usize, (_, _))| {
            let weights = self.weights.as_ref().map(|w| &w[i * BLOCK..(i * BLOCK + BLOCK).min(w.len())]);
            Block { residual, target, weights, sums: (0.0, 0.0) }
        };
        residual.zip(self.target.chunks(BLOCK)).enumerate().map(block).collect()
    }

    /// Calls `f(first sample of the patch, residual)` for the runs of the patch at `at` that lie in the domain.
    #[inline(always)]
    pub(super) fn with_patch(&mut self, at: [i32; 3], mut f: impl FnMut(usize, &[T])) {
        let Self { grid, residual, channels, .. } = self;
        let ([depth, height, width], domain) = (grid.atom, grid.domain);
        let residual = residual.as_mut_slice();
        if (0..3).all(|a| at[a] >= 0 && at[a] as usize + grid.atom[a] <= domain[a]) {
            // Wholly inside: every row is one run.
            let first = [at[0] as usize, at[1] as usize, at[2] as usize];
            for row in 0..*channels * depth * height {
                let (c, z, y) = (row / (depth * height), row / height % depth, row % height);
                let start = ((c * domain[0] + first[0] + z) * domain[1] + first[1] + y) * domain[2] + first[2];
                f(row * width, &residual[start..start + width]);
            }
            return;
        }
        let place = |axis: usize, i: usize| -> Option<usize> {
            let (p, l) = (at[axis] as i64 + i as i64, domain[axis] as i64);
            if grid.periodic { Some((p % l) as usize) } else { (0..l).contains(&p).then_some(p as usize) }
        };
        for c in 0..*channels {
            for z in 0..depth {
                for y in 0..height {
                    let (Some(gz), Some(gy)) = (place(0, z), place(1, y)) else { continue };
                    let line = ((c * domain[0] + gz) * domain[1] + gy) * domain[2];
                    let row = ((c * depth + z) * height + y) * width;
                    let mut x = if grid.periodic { 0 } else { (-at[2]).clamp(0, width as i32) as usize };
                    while x < width {
                        let Some(gx) = place(2, x) else { break };
                        let run = (width - x).min(domain[2] - gx);
                        f(row + x, &residual[line + gx..line + gx + run]);
                        x += run;
                    }
                }
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.target[..])
            + self.weights.as_ref().map_or(0, |w| size_of_val(&w[..]))
            + self.residual.bytes()
            + size_of_val(&self.measured[..])
            + self.position_weights.as_ref().map_or(0, |w| size_of_val(&w[..]))
            + self.position_caps.as_ref().map_or(0, |w| size_of_val(&w[..]))
            + size_of_val(&self.layout.patch[..])
    }
}

/// Samples in a block of the domain.
const BLOCK: usize = 8192;

/// A part of the domain.
struct Block<'a, T> {
    residual: &'a mut [T],
    target: &'a [T],
    weights: Option<&'a [T]>,
    sums: (f64, f64),
}

impl<T: Real> Block<'_, T> {
    fn energies(&self) -> (f64, f64) {
        let (r, t) = (&*self.residual, self.target);
        let dot = sum(r.len(), |x| r[x].to_f64() * t[x].to_f64());
        let energy = match self.weights {
            None => sum(r.len(), |x| r[x].to_f64() * r[x].to_f64()),
            // The residual carries the squared weight, so its energy is r^2 / w.
            Some(w) => sum(r.len(), |x| if w[x] > T::ZERO { r[x].to_f64() * r[x].to_f64() / w[x].to_f64() } else { 0.0 }),
        };
        (energy, dot)
    }
}

/// Sum in four chains, which the compiler can vectorise.
#[inline(always)]
fn sum(count: usize, f: impl Fn(usize) -> f64) -> f64 {
    let mut chains = [0.0; 4];
    let whole = count / 4 * 4;
    for x in (0..whole).step_by(4) {
        for (i, chain) in chains.iter_mut().enumerate() {
            *chain += f(x + i);
        }
    }
    (whole..count).for_each(|x| chains[0] += f(x));
    chains.iter().sum()
}
