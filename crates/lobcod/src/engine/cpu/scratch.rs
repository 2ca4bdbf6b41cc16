//! Memory one thread works in.

use super::atoms::ColumnStore;
use super::footprint::Footprint;
use super::tile::LocalCode;
use crate::lasso::ActiveCode;
use crate::real::Real;

/// Needles correlated at once; a layer of a tile has about 16.
pub(super) const BATCH: usize = 48;

pub(super) struct Scratch<T> {
    pub(super) footprint: Footprint<T>,
    /// Correlations of a batch.
    pub(super) correlations: Vec<T>,
    /// Offsets of the needles of a layer.
    pub(super) needles: Vec<u32>,
    pub(super) active: Vec<ActiveCode<T>>,
    pub(super) columns: ColumnStore<T>,
    /// Codes of the tile as they come out of a sweep.
    pub(super) codes: Vec<LocalCode<T>>,
}

impl<T: Real> Scratch<T> {
    pub(super) fn new(footprint: usize, stride: usize) -> Self {
        Self {
            footprint: Footprint::new(footprint),
            correlations: vec![T::ZERO; BATCH * stride],
            needles: Vec::new(),
            active: Vec::new(),
            columns: ColumnStore { made: Vec::new(), columns: Vec::new(), weighted_atom: Vec::new() },
            codes: Vec::new(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        (self.footprint.residual.len() + self.footprint.weights.len() + self.correlations.len()) * size_of::<T>()
            + self.codes.capacity() * size_of::<LocalCode<T>>()
            + self.needles.capacity() * 4
    }
}
