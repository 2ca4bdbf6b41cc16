//! One plane of the problem as the CPU keeps it.

use super::field::SharedField;
use super::footprint::{Footprint, Layout};
use super::scales::Scales;
use super::team::Team;
use super::tile::LocalCode;
use crate::engine::{Plane, Problem};
use crate::error::Result;
use crate::grid::{Grid, Tile};
use crate::needles::Code;
use crate::real::Real;

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
    pub(super) fn new(plane: Plane<T>, problem: &Problem<T>, row_width: usize) -> Result<Self> {
        let grid = Grid::new(plane.extent, problem.dictionary.extent(), problem.border, problem.grouping)?;
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

    /// The residual over the signal, without the padding of the zero border.
    pub(super) fn residual_of_signal(&self) -> Vec<T> {
        let (signal, domain, at) = (self.signal, self.grid.domain, self.grid.signal_at);
        let mut out = vec![T::ZERO; self.channels * signal.iter().product::<usize>()];
        for (row, line) in out.chunks_exact_mut(signal[2]).enumerate() {
            let (c, z, y) = (row / (signal[0] * signal[1]), row / signal[1] % signal[0], row % signal[1]);
            let start = ((c * domain[0] + z + at[0]) * domain[1] + y + at[1]) * domain[2] + at[2];
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

    /// `<A (Y - B), s r>` and `||s r||^2` in f64 for scales `s` that vary over the signal, added row by row in order.
    pub(super) fn scaled_energies(&mut self, team: &Team<T>, scales: &Scales) -> (f64, f64) {
        let [depth, height, width] = self.grid.domain;
        let residual = self.residual.as_mut_slice();
        let (target, weights) = (&self.target, self.weights.as_deref());
        let mut rows: Vec<(usize, f64, f64)> = (0..self.channels * depth * height).map(|row| (row, 0.0, 0.0)).collect();
        team.each(
            &mut rows,
            |_| 1,
            |(row, dot, energy), _| {
                let mut values = Vec::new();
                scales.row(*row / height % depth, *row % height, &mut values);
                for x in 0..width {
                    let at = *row * width + x;
                    let (scale, r) = (scales.along(&values, x), residual[at].to_f64());
                    *dot += scale * r * target[at].to_f64();
                    let weight = weights.map_or(1.0, |w| w[at].to_f64());
                    // The residual carries the squared weight, so its energy is r^2 / w.
                    *energy += if weight > 0.0 { scale * scale * r * r / weight } else { 0.0 };
                }
            },
        );
        rows.iter().fold((0.0, 0.0), |sum, row| (sum.0 + row.1, sum.1 + row.2))
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
