//! CPU representation of one plane of the problem.

use crate::engine::cpu::data::atoms::Atoms;
use crate::engine::cpu::data::footprint::{Footprint, Layout};
use crate::engine::cpu::data::tile::LocalCode;
use crate::engine::cpu::workers::team::Team;
use crate::engine::{CoefficientWeights, NeedleWeights, Plane, Problem};
use crate::error::Result;
use crate::geometry::{InDomain, InSignal, Point, Raster, Region};
use crate::grid::{Grid, Tile, TileRange, Tiling};
use crate::needles::Code;
use crate::real::Real;
use crate::simd::AtomRows;
use std::array::from_fn;
use std::ops::Range;

/// A plane without its residual: read-only while the residual is written.
pub struct PlaneState<T> {
    pub channels: usize,
    /// The samples of the signal.
    pub signal: Region<InSignal>,
    pub grid: Grid,
    pub layout: Layout,
    /// A patch whose samples are all 1.
    pub inside_rows: AtomRows<T>,
    /// Codes of an atom at a position: one, or one of every channel. Tiles store a code of channel
    /// `c` of atom `k` under the number `k codes_of_atom + c`.
    pub codes_of_atom: usize,
    /// `Y - B` over the domain.
    pub target: Vec<T>,
    /// `A^2` over the domain; `None`: all 1.
    pub weights: Option<Vec<T>>,
    /// The residual when last measured; empty before that.
    measured: Vec<T>,
    position_weights: Option<Vec<T>>,
    pub coefficient_weights: Option<PlacedWeights<T>>,
    position_caps: Option<Vec<u32>>,
    cap: usize,
    /// The tiling of the whole plane, and the tiles stored here.
    tiling: Tiling,
    tiles: TileRange,
    pub bands: Bands,
}

/// The weights of the coefficients at the positions stored here.
pub struct PlacedWeights<T> {
    row_of: Vec<u32>,
    /// Rows of `stride` weights, infinite in the padding.
    rows: Vec<T>,
    stride: usize,
    /// Largest inverse weight of every row.
    largest_inverse: Vec<T>,
}

impl<T: Real> PlacedWeights<T> {
    fn new(row_of: Vec<u32>, given: &CoefficientWeights<T>, stride: usize) -> Self {
        let of_atoms = || given.rows.chunks_exact(given.atoms);
        let mut rows = vec![T::INFINITY; of_atoms().len() * stride];
        for (padded, row) in rows.chunks_exact_mut(stride).zip(of_atoms()) {
            padded[..row.len()].copy_from_slice(row);
        }
        let least = |row: &[T]| row.iter().fold(T::INFINITY, |a, &b| if b < a { b } else { a });
        let largest_inverse = of_atoms().map(|row| T::ONE / least(row)).collect();
        Self { row_of, rows, stride, largest_inverse }
    }

    #[inline(always)]
    fn at(&self, place: usize, position: T) -> NeedleWeights<'_, T> {
        let row = self.row_of[place] as usize;
        let atoms = &self.rows[row * self.stride..(row + 1) * self.stride];
        NeedleWeights { atoms, largest_inverse: self.largest_inverse[row], position }
    }
}

/// The bands of a plane used by a pass over the atoms.
pub struct Bands {
    pub axis: usize,
    /// Length of the whole domain along that axis if it is periodic, otherwise 0.
    pub turn: i64,
    /// Number of bands of the whole plane.
    pub count: usize,
    /// Bands of this block: index, and positions along the axis in the domain.
    pub own: Vec<(usize, Range<i64>)>,
}

impl Bands {
    fn new(tiling: &Tiling, tiles: &TileRange, grid: &Grid) -> Self {
        let (axis, all) = (tiling.band_axis(), tiling.bands());
        let inside = |band: &Range<usize>| {
            !band.is_empty() && tiles[axis].start <= band.start && band.end <= tiles[axis].end
        };
        let own = all.iter().enumerate().filter(|(_, band)| inside(band)).map(|(number, band)| {
            let (positions, start) = (tiling.positions_of(axis, band), grid.origin.at[axis]);
            (number, positions.start - start..positions.end - start)
        });
        let turn = if tiling.periodic { tiling.domain.size[axis] as i64 } else { 0 };
        Self { axis, turn, count: all.len(), own: own.collect() }
    }
}

impl<T: Real> PlaneState<T> {
    /// `tiles` of the tiling of the plane; `None`: all.
    pub fn new(
        plane: Plane<T>,
        tiling: Tiling,
        tiles: Option<TileRange>,
        problem: &Problem<T>,
        atoms: &Atoms<T>,
        threads: usize,
    ) -> Result<Self> {
        let tiles = tiles.unwrap_or_else(|| tiling.all());
        let grid = tiling.block(&tiles);
        let channels = problem.channels(&plane);
        let codes_of_atom = problem.codes_of_atom(&plane);
        let layout = Layout::new(&grid, channels, atoms.rows.width)?;
        let signal = plane.extent.region();
        let region = plane.held.unwrap_or(signal);
        let periodic = from_fn(|a| tiling.periodic && region.size[a] == signal.size[a]);
        let given = Raster { region, channels, periodic };
        // The padding of the zero border holds zeros with weight 1.
        let squared = plane.weights.map(|w| w.into_iter().map(|a| a * a).collect());
        let weights = squared.map(|squared| grid.lay(&given, squared, T::ONE, threads));
        let all = Raster::new(tiling.positions, 1);
        let own = Region::new(grid.to_signal(grid.positions.first()), grid.positions.size);
        Ok(Self {
            channels,
            signal,
            bands: Bands::new(&tiling, &tiles, &grid),
            target: grid.lay(&given, plane.target, T::ZERO, threads),
            weights,
            position_weights: plane
                .position_weights
                .map(|map| all.gather(&map, &own, T::ONE, threads)),
            coefficient_weights: plane.coefficient_weights.map(|given| {
                let row_of = all.gather(&given.row_of, &own, 0, threads);
                PlacedWeights::new(row_of, &given, atoms.packed.stride)
            }),
            position_caps: plane.position_caps.map(|map| all.gather(&map, &own, 0, threads)),
            tiling,
            tiles,
            inside_rows: {
                let samples = channels * crate::geometry::volume(grid.atom);
                let lanes = atoms.packed.lanes();
                AtomRows::from_data(&vec![T::ONE; samples], grid.atom[2], samples, lanes)
            },
            codes_of_atom,
            grid,
            layout,
            measured: Vec::new(),
            cap: problem.cap.unwrap_or(usize::MAX),
        })
    }

    /// The samples of the domain that are stored here.
    #[inline(always)]
    pub fn raster(&self) -> Raster<InDomain> {
        self.grid.raster(self.channels)
    }

    /// The samples of the signal among those that are stored here, which are all of them unless
    /// ranks share the plane.
    pub fn gather_own(&self, samples: &[T], threads: usize) -> Vec<T> {
        self.raster().gather(samples, &self.grid.region_to_domain(&self.signal), T::ZERO, threads)
    }

    /// The samples that a tile touches.
    #[inline(always)]
    pub fn touched(&self, tile: &Tile) -> Region<InDomain> {
        tile.region.touched(self.grid.atom)
    }

    /// Index of a tile in the tiling of the whole plane.
    pub fn whole_index(&self, index: usize) -> usize {
        let at = crate::geometry::cell(index, self.grid.tile_counts);
        self.tiling.number(from_fn(|a| self.tiles[a].start + at[a]))
    }

    /// Maximum number of layers of a tile of the whole plane.
    pub fn layers(&self) -> usize {
        self.tiling.layers()
    }

    /// Raster index of a needle among all positions.
    #[inline(always)]
    fn position(&self, tile: &Tile, offset: usize) -> usize {
        Raster::new(self.grid.positions, 1).index(0, self.point(tile, offset))
    }

    /// First sample of the patch at `offset` of the footprint of a tile.
    #[inline(always)]
    pub fn point(&self, tile: &Tile, offset: usize) -> Point<InDomain> {
        tile.region.first() + self.layout.coordinates(offset).map(|x| x as i64)
    }

    /// Penalty weight of a needle.
    #[inline(always)]
    pub fn position_weight(&self, tile: &Tile, offset: usize) -> T {
        self.position_weights.as_ref().map_or(T::ONE, |w| w[self.position(tile, offset)])
    }

    /// Penalty weights of the codes of a needle.
    #[inline(always)]
    pub fn needle_weights<'a>(
        &'a self,
        atoms: &'a Atoms<T>,
        tile: &Tile,
        offset: usize,
    ) -> NeedleWeights<'a, T> {
        let position = self.position_weight(tile, offset);
        match &self.coefficient_weights {
            None => NeedleWeights {
                atoms: &atoms.weights,
                largest_inverse: atoms.largest_inverse_weight,
                position,
            },
            Some(placed) => placed.at(self.position(tile, offset), position),
        }
    }

    /// Maximum number of non-zeros of a needle.
    #[inline(always)]
    pub fn cap(&self, tile: &Tile, offset: usize) -> usize {
        self.position_caps
            .as_ref()
            .map_or(self.cap, |caps| caps[self.position(tile, offset)] as usize)
    }

    /// Converts a code of a tile to a code of the signal.
    pub fn code(&self, tile: &Tile, code: &LocalCode<T>) -> Code<T> {
        let position =
            self.grid.to_signal(self.point(tile, code.offset as usize)).at.map(|x| x as i32);
        let (number, each) = (u32::from(code.atom), self.codes_of_atom as u32);
        Code { position, atom: number / each, channel: number % each, value: code.value }
    }

    /// The atom of a code of a tile.
    #[inline(always)]
    pub fn atom_of(&self, number: u16) -> usize {
        number as usize / self.codes_of_atom
    }

    /// Whether two codes of a tile are of one atom at one position.
    #[inline(always)]
    pub fn is_one_group(&self, a: &LocalCode<T>, b: &LocalCode<T>) -> bool {
        a.offset == b.offset && self.atom_of(a.atom) == self.atom_of(b.atom)
    }

    /// Number under which tiles store a code.
    pub fn number(&self, code: &Code<T>) -> u32 {
        let each = self.codes_of_atom as u32;
        if each == 1 { code.atom } else { code.atom * each + code.channel }
    }

    /// Whether any weight of the patch at a position differs from 1.
    pub fn is_clipped(&self, at: Point<InDomain>) -> bool {
        let mut clipped = false;
        self.raster().runs(&Region::new(at, self.grid.atom), |_, from, length| {
            clipped |= match (from, &self.weights) {
                (None, _) => true,
                (Some(from), Some(weights)) => {
                    weights[from..from + length].iter().any(|&w| w != T::ONE)
                }
                (Some(_), None) => false,
            };
        });
        clipped
    }

    /// Fills the footprint of a tile from the residual.
    #[inline(always)]
    pub fn load(&self, tile: &Tile, residual: &[T], into: &mut Footprint<T>) {
        self.layout.load(&self.raster(), &self.touched(tile), residual, &mut into.residual);
        self.load_weights(tile, into);
    }

    /// Fills the weights of a footprint, unless all are 1.
    #[inline(always)]
    pub fn load_weights(&self, tile: &Tile, into: &mut Footprint<T>) {
        self.load_weights_of(&self.layout, tile, into);
    }

    /// The same for a footprint with another layout.
    #[inline(always)]
    pub fn load_weights_of(&self, layout: &Layout, tile: &Tile, into: &mut Footprint<T>) {
        let (grid, region) = (&self.grid, self.touched(tile));
        let leaves = |a: usize| {
            !grid.periodic[a] && (region.start[a] < 0 || region.end(a) > grid.domain[a] as i64)
        };
        into.weighted = self.weights.is_some() || (0..3).any(leaves);
        if !into.weighted {
            return;
        }
        into.inside = from_fn(|a| {
            if grid.periodic[a] {
                return (0, usize::MAX);
            }
            let end = grid.domain[a] as i64 - grid.atom[a] as i64 + 1 - region.start[a];
            ((-region.start[a]).max(0) as usize, end.max(0) as usize)
        });
        into.masked = self.weights.is_some();
        layout.runs(&self.raster(), &region, |at, from, length| {
            let run = &mut into.weights[at..at + length];
            match (from, &self.weights) {
                (Some(start), Some(weights)) => {
                    run.copy_from_slice(&weights[start..start + length])
                }
                (Some(_), None) => run.fill(T::ONE),
                (None, _) => run.fill(T::ZERO),
            }
        });
    }

    /// Fills a buffer with the residual of the last measurement over the footprint of a tile.
    #[inline(always)]
    pub fn load_measured(&self, tile: &Tile, into: &mut [T]) {
        self.layout.load(&self.raster(), &self.touched(tile), &self.measured, into);
    }

    /// Saves the residual as the last measured one.
    pub fn keep_measured(&mut self, team: &Team<T>, residual: &[T]) {
        if self.measured.len() != residual.len() {
            // Newly allocated zeros are not written before the threads overwrite them.
            self.measured = vec![T::ZERO; residual.len()];
        }
        let mut blocks: Vec<_> =
            self.measured.chunks_mut(BLOCK).zip(residual.chunks(BLOCK)).collect();
        team.each(&mut blocks, |_| 1, |(measured, residual), _| measured.copy_from_slice(residual));
    }

    /// Sets the residual of all-zero codes, `A^2 (Y - B)`; zero if `to_zero`.
    pub fn reset(&self, team: &Team<T>, residual: &mut [T], to_zero: bool) {
        let mut blocks: Vec<_> = residual.chunks_mut(BLOCK).enumerate().collect();
        team.each(
            &mut blocks,
            |_| 1,
            |(i, block), _| {
                let own = *i * BLOCK..*i * BLOCK + block.len();
                match &self.weights {
                    _ if to_zero => block.fill(T::ZERO),
                    None => block.copy_from_slice(&self.target[own]),
                    Some(w) => {
                        let known = self.target[own.clone()].iter().zip(&w[own]);
                        block.iter_mut().zip(known).for_each(|(r, (&t, &w))| *r = t * w);
                    }
                }
            },
        );
    }

    /// Replaces `Y - B`, given over the signal, and changes the residual accordingly.
    pub fn retarget(&mut self, target: Vec<T>, residual: &mut [T], threads: usize) {
        let periodic = [self.tiling.periodic; 3];
        let given = Raster { region: self.signal, channels: self.channels, periodic };
        let target = self.grid.lay(&given, target, T::ZERO, threads);
        for (i, (&new, &old)) in target.iter().zip(&self.target).enumerate() {
            let weight = self.weights.as_ref().map_or(T::ONE, |weights| weights[i]);
            residual[i] += weight * (new - old);
        }
        self.target = target;
    }

    pub fn bytes(&self) -> usize {
        fn of<T>(samples: &Option<Vec<T>>) -> usize {
            samples.as_ref().map_or(0, |s| size_of_val(&s[..]))
        }
        size_of_val(&self.target[..])
            + of(&self.weights)
            + size_of_val(&self.measured[..])
            + of(&self.position_weights)
            + of(&self.position_caps)
            + self.coefficient_weights.as_ref().map_or(0, |w| {
                size_of_val(&w.row_of[..])
                    + size_of_val(&w.rows[..])
                    + size_of_val(&w.largest_inverse[..])
            })
            + size_of_val(&self.layout.patch[..])
    }
}

/// Samples in a block of the domain.
const BLOCK: usize = 8192;

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::border::Border;
    use crate::dictionary::Dictionary;
    use crate::extent::Extent;
    use crate::grid::Grouping;
    use crate::pursuit::Local;
    use crate::simd::Level;

    /// A plane of zeros and its residual.
    pub(in crate::engine::cpu) fn plane(
        axes: &[usize],
        atom: &[usize],
        border: Border,
        tile: usize,
    ) -> (PlaneState<f64>, Vec<f64>) {
        let (extent, grouping) = (Extent::new(axes).unwrap(), Grouping::Tiles(tile));
        let problem = Problem {
            planes: Vec::new(),
            dictionary: Dictionary::random(Extent::new(atom).unwrap(), 1, 2, 0).unwrap(),
            border,
            grouping,
            atom_weights: vec![1.0; 2],
            elastic: 0.0,
            joint: None,
            nonnegative: false,
            local: Local::Coordinate,
            cap: None,
            learning: false,
        };
        let tiling = Tiling::new(extent, problem.dictionary.extent(), border, grouping).unwrap();
        let plane = Plane { target: vec![0.0; extent.volume()], ..Plane::empty(extent) };
        let atoms = Atoms::new(problem.dictionary.clone(), &[1.0; 2], 0.0, None, Level::Portable);
        let plane = PlaneState::new(plane, tiling, None, &problem, &atoms, 1).unwrap();
        let residual = vec![0.0; plane.raster().len()];
        (plane, residual)
    }
}
