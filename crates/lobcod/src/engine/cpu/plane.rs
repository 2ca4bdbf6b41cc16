//! One plane of the problem as the CPU keeps it.

use super::cut::Cut;
use super::field::SharedField;
use super::footprint::{Footprint, Layout};
use super::team::Team;
use super::tile::LocalCode;
use crate::engine::{Part, Plane, Problem};
use crate::error::Result;
use crate::grid::{Frame, Grid, Tile, TileRange};
use crate::needles::Code;
use crate::real::Real;
use std::ops::Range;

pub(super) struct PlaneState<T> {
    pub(super) channels: usize,
    /// Size of the signal.
    pub(super) signal: [usize; 3],
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
    /// The first tile among those of the whole plane, and how many that has.
    first_tile: [usize; 3],
    whole_counts: [usize; 3],
    /// Most layers a tile of the whole plane has.
    pub(super) layers: usize,
    pub(super) bands: Bands,
}

/// The bands of a plane in which a pass over the atoms works.
pub(super) struct Bands {
    pub(super) axis: usize,
    /// Length of the whole domain along that axis if it repeats, otherwise 0.
    pub(super) turn: i64,
    /// How many the whole plane has.
    pub(super) count: usize,
    /// Those of this block: number among all, and positions along the axis in samples of the block's domain.
    pub(super) own: Vec<(usize, Range<i64>)>,
}

impl Bands {
    fn new(frame: &Frame, tiles: &TileRange, start: [i64; 3]) -> Self {
        let (axis, all) = (frame.band_axis(), frame.bands());
        let inside = |band: &Range<usize>| !band.is_empty() && tiles[axis].start <= band.start && band.end <= tiles[axis].end;
        let own = all.iter().enumerate().filter(|(_, band)| inside(band)).map(|(number, band)| {
            let positions = frame.positions_of(axis, band);
            (number, positions.start - start[axis]..positions.end - start[axis])
        });
        let turn = if frame.periodic { frame.domain[axis] as i64 } else { 0 };
        Self { axis, turn, count: all.len(), own: own.collect() }
    }
}

/// Which tiles of a plane a session works on.
#[derive(Clone, Copy)]
pub(super) enum Tiles<'a> {
    All,
    /// Those of these positions alone, relative to the signal.
    Positions(&'a [Range<i64>; 3]),
    /// A block of those of the whole plane.
    Block(&'a TileRange),
}

impl<T: Real> PlaneState<T> {
    pub(super) fn new(plane: Plane<T>, tiles: Tiles, problem: &Problem<T>, row_width: usize) -> Result<Self> {
        let atom = problem.dictionary.extent();
        let frame = match tiles {
            Tiles::Positions(positions) => Frame::of_positions(plane.extent, atom, positions, problem.grouping),
            _ => Frame::new(plane.extent, atom, problem.border, problem.grouping)?,
        };
        let all = frame.all();
        let tiles = if let Tiles::Block(tiles) = tiles { tiles } else { &all };
        let grid = frame.block(tiles);
        let channels = problem.dictionary.channels();
        let layout = Layout::new(&grid, channels, row_width)?;
        let cut = Cut { frame: &frame, grid: &grid, held: plane.held.as_ref(), signal: plane.extent.padded() };
        // The padding of the zero border holds zeros that count fully.
        let weights = plane.weights.map(|w| cut.samples(w.into_iter().map(|a| a * a).collect(), T::ONE));
        let target = cut.samples(plane.target, T::ZERO);
        // The session makes it; zeros are not written before.
        let residual = SharedField::new(vec![T::ZERO; target.len()]);
        Ok(Self {
            channels,
            signal: plane.extent.padded(),
            first_tile: tiles.each_ref().map(|range| range.start),
            layers: frame.layers(),
            bands: Bands::new(&frame, tiles, grid.start),
            whole_counts: frame.tile_counts(),
            position_weights: plane.position_weights.map(|map| cut.positions(map)),
            position_caps: plane.position_caps.map(|map| cut.positions(map)),
            grid,
            layout,
            target,
            weights,
            residual,
            measured: Vec::new(),
            cap: problem.cap.unwrap_or(usize::MAX),
        })
    }

    /// Number of a tile in the grid of the whole plane.
    pub(super) fn whole_index(&self, index: usize) -> usize {
        let [_, ny, nx] = self.grid.tile_counts;
        let at = [index / (ny * nx), index / nx % ny, index % nx];
        let [z, y, x]: [usize; 3] = std::array::from_fn(|a| self.first_tile[a] + at[a]);
        (z * self.whole_counts[1] + y) * self.whole_counts[2] + x
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
        let position =
            std::array::from_fn(|a| (self.grid.start[a] + tile.origin[a] + at[a] as i64 - self.grid.signal_at[a] as i64) as i32);
        Code { position, atom: u32::from(code.atom), channel: 0, value: code.value }
    }

    /// Where a position of the signal lies in the domain.
    pub(super) fn in_domain(&self, position: [i32; 3]) -> [i64; 3] {
        std::array::from_fn(|a| i64::from(position[a]) + self.grid.signal_at[a] as i64 - self.grid.start[a])
    }

    /// Size of the signal.
    pub(super) fn whole(&self) -> Part {
        self.signal.map(|length| 0..length)
    }

    /// Where a sample of the domain lies in a field in which the signal begins at `origin`.
    pub(super) fn in_field(&self, origin: [i64; 3], at: [i64; 3]) -> [i64; 3] {
        std::array::from_fn(|a| origin[a] + self.grid.start[a] + at[a] - self.grid.signal_at[a] as i64)
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
    #[inline(always)]
    pub(super) fn load(&self, tile: &Tile, into: &mut Footprint<T>) {
        self.layout.load(&self.grid, tile, &self.residual, self.weights.as_deref(), into);
    }

    /// Fills a buffer with the residual of the last measurement over the footprint of a tile.
    #[inline(always)]
    pub(super) fn load_measured(&self, tile: &Tile, into: &mut [T]) {
        self.layout.load_samples(&self.grid, tile, &self.measured, into);
    }

    /// Remembers the residual as the one that was measured.
    pub(super) fn keep_measured(&mut self, team: &Team<T>) {
        let residual = self.residual.as_mut_slice();
        if self.measured.len() != residual.len() {
            // Not resized: such zeros are not written before the threads copy over them.
            self.measured = vec![T::ZERO; residual.len()];
        }
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

    /// Calls `f(start in the domain, length)` for the rows of a box of samples, channel after channel.
    #[inline(always)]
    pub(super) fn for_rows(&self, part: &Part, mut f: impl FnMut(usize, usize)) {
        let domain = self.grid.domain;
        if part.iter().any(|range| range.is_empty()) {
            return;
        }
        for c in 0..self.channels {
            for z in part[0].clone() {
                for y in part[1].clone() {
                    f(((c * domain[0] + z) * domain[1] + y) * domain[2] + part[2].start, part[2].len());
                }
            }
        }
    }

    /// The domain in blocks of some thousand samples.
    fn blocks(&mut self) -> Vec<Block<'_, T>> {
        let residual = self.residual.as_mut_slice().chunks_mut(BLOCK);
        let block = |(i, (residual, target)): (usize, (_, _))| {
            let weights = self.weights.as_ref().map(|w| &w[i * BLOCK..(i * BLOCK + BLOCK).min(w.len())]);
            Block { residual, target, weights }
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
            let mut sample = 0;
            for c in 0..*channels {
                for z in 0..depth {
                    let mut start = ((c * domain[0] + first[0] + z) * domain[1] + first[1]) * domain[2] + first[2];
                    for _ in 0..height {
                        f(sample, &residual[start..start + width]);
                        (sample, start) = (sample + width, start + domain[2]);
                    }
                }
            }
            return;
        }
        let place = |axis: usize, i: usize| -> Option<usize> {
            let (p, l) = (at[axis] as i64 + i as i64, domain[axis] as i64);
            if grid.periodic[axis] { Some((p % l) as usize) } else { (0..l).contains(&p).then_some(p as usize) }
        };
        for c in 0..*channels {
            for z in 0..depth {
                for y in 0..height {
                    let (Some(gz), Some(gy)) = (place(0, z), place(1, y)) else { continue };
                    let line = ((c * domain[0] + gz) * domain[1] + gy) * domain[2];
                    let row = ((c * depth + z) * height + y) * width;
                    let mut x = if grid.periodic[2] { 0 } else { (-at[2]).clamp(0, width as i32) as usize };
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
}
