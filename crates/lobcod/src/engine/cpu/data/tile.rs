//! A tile and its codes.

use crate::engine::cpu::data::atoms::Atoms;
use crate::engine::cpu::data::changes::Seen;
use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::sweep::fit::FittedValue;
use crate::grid::{Layers, Tile};
use crate::real::Real;
use crate::simd::Level;
use std::ops::Range;

/// A non-zero code of a tile.
#[derive(Clone, Copy)]
pub struct LocalCode<T> {
    /// Start of its patch in the footprint.
    pub offset: u32,
    pub atom: u16,
    /// Whether any weight of its patch differs from 1.
    pub clipped: bool,
    pub value: T,
    /// Energy of its atom under the weights of its patch.
    pub curvature: T,
}

/// A needle that violates optimality, with the range of its codes.
#[derive(Clone, Copy)]
pub struct Candidate {
    pub layer: u32,
    pub offset: u32,
    pub codes: (u32, u32),
}

/// A tile with its codes, ordered by layer, needle and atom.
pub struct TileState<T> {
    pub plane: usize,
    /// Index of the tile among those of all planes.
    pub number: usize,
    /// Index of the tile in the grid of its plane.
    pub index: usize,
    pub tile: Tile,
    pub codes: Vec<LocalCode<T>>,
    /// Version of the atoms for which the curvatures were computed.
    pub curvatures: usize,
    pub candidates: Vec<Candidate>,
    /// Largest change of a code in the last sweep, and in its last round.
    pub largest_change: f64,
    pub last_change: f64,
    /// `sum weight_ik |a_ik|` when last measured, and `||r||^2` and `<A (Y - B), r>` over its own
    /// samples.
    pub weighted_l1: f64,
    /// `sum a_ik^2` when last measured.
    pub squares: f64,
    pub energies: (f64, f64),
    /// Largest correlation when last measured.
    pub largest_correlation: f64,
    /// Largest correlation of an unpenalised code, and `sum (|c_ik| - threshold_ik)^2` over the
    /// correlations above their thresholds, when last measured; only with special weights or a
    /// quadratic term.
    pub unpenalised_correlation: f64,
    pub excess: f64,
    /// Reach of every needle, in the order of the layers, when last measured. Empty: unknown.
    pub reaches: Vec<Reach<T>>,
    /// The values of its codes while they are fitted, and a sum over them.
    pub fit: Vec<FittedValue<T>>,
    pub sum: f64,
    /// Needles correlated, or codes updated, by the last sweep or measurement.
    pub visited: usize,
    pub seen: Seen,
}

/// Largest correlation of a needle, or an upper bound of it, which is stored with a negative sign.
#[derive(Clone, Copy, Debug)]
pub struct Reach<T>(T);

impl<T: Real> Reach<T> {
    pub fn exact(correlation: T) -> Self {
        Self(correlation)
    }

    pub fn at_most(bound: T) -> Self {
        Self(-bound)
    }

    pub fn is_exact(self) -> bool {
        !self.0.to_f64().is_sign_negative()
    }

    /// The correlation, or its upper bound.
    pub fn bound(self) -> T {
        self.0.abs()
    }

    /// Whether the correlation is known and larger than the threshold.
    pub fn exceeds(self, threshold: f64) -> bool {
        self.0.to_f64() > threshold
    }
}

impl<T: Real> TileState<T> {
    pub fn new(plane: usize, number: usize, index: usize, tile: Tile) -> Self {
        Self {
            plane,
            number,
            index,
            tile,
            codes: Vec::new(),
            curvatures: 0,
            candidates: Vec::new(),
            largest_change: 0.0,
            last_change: 0.0,
            weighted_l1: 0.0,
            squares: 0.0,
            energies: (0.0, 0.0),
            largest_correlation: f64::INFINITY,
            unpenalised_correlation: 0.0,
            excess: 0.0,
            reaches: Vec::new(),
            fit: Vec::new(),
            sum: 0.0,
            visited: 0,
            seen: Seen::NOTHING,
        }
    }

    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.codes.capacity() * size_of::<LocalCode<T>>()
            + self.candidates.capacity() * size_of::<Candidate>()
            + self.fit.capacity() * size_of::<FittedValue<T>>()
            + self.reaches.capacity() * size_of::<Reach<T>>()
    }

    /// Rough cost of work on the tile.
    pub fn cost(&self) -> usize {
        self.codes.len() + 8
    }

    /// Measures the codes and the residual.
    pub fn measure_codes(
        &mut self,
        level: Level,
        plane: &PlaneState<T>,
        residual: &[T],
        atoms: &Atoms<T>,
    ) {
        self.energies = plane.energies(level, &self.tile, residual);
        let size = |code: &LocalCode<T>| {
            let weights = plane.needle_weights(atoms, &self.tile, code.offset as usize);
            weights.of(code.atom as usize).to_f64() * code.value.to_f64().abs()
        };
        self.weighted_l1 = match atoms.joint {
            None => self.codes.iter().map(size).sum(),
            Some(norm) => {
                let groups = self.codes.chunk_by(|a, b| plane.is_one_group(a, b));
                let size = |group: &[LocalCode<T>]| {
                    let LocalCode { offset, atom, .. } = group[0];
                    let weights = plane.needle_weights(atoms, &self.tile, offset as usize);
                    weights.of(plane.atom_of(atom)).to_f64()
                        * norm.of(group.iter().map(|code| code.value.to_f64()))
                };
                groups.map(size).sum()
            }
        };
        self.squares = self.codes.iter().map(|code| code.value.to_f64().powi(2)).sum();
    }

    /// Range of the codes of a layer.
    pub fn codes_of_layer(&self, plane: &PlaneState<T>, layer: usize) -> Range<usize> {
        let layers = Layers::of(&plane.grid, &self.tile);
        let of =
            |code: &LocalCode<T>| layers.layer_of(plane.layout.coordinates(code.offset as usize));
        self.codes.partition_point(|c| of(c) < layer)
            ..self.codes.partition_point(|c| of(c) <= layer)
    }

    /// Sorts the codes by layer.
    pub fn sort(&mut self, plane: &PlaneState<T>) {
        let layers = Layers::of(&plane.grid, &self.tile);
        self.codes.sort_by_cached_key(|c| {
            (layers.order(plane.layout.coordinates(c.offset as usize)), c.atom)
        });
    }
}
