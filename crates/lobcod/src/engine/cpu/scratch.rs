//! Memory one thread works in.

use super::atoms::{ColumnStore, GramStore};
use super::bounds::Bounds;
use super::footprint::Footprint;
use super::tile::{Candidate, LocalCode};
use crate::engine::Sweep;
use crate::lasso::ActiveCode;
use crate::real::Real;
use crate::simd::{Aligned, BATCH, RoughPatches};

pub(super) struct Scratch<T> {
    pub(super) footprint: Footprint<T>,
    /// The residual of the last measurement over the footprint.
    pub(super) measured: Vec<T>,
    pub(super) bounds: Bounds<T>,
    pub(super) rough: RoughPatches<T>,
    /// Correlations of a batch.
    pub(super) correlations: Aligned<T>,
    /// Offsets of the needles of a layer.
    pub(super) needles: Vec<u32>,
    pub(super) active: Vec<ActiveCode<T>>,
    pub(super) gram: GramStore<T>,
    pub(super) columns: ColumnStore<T>,
    /// Needles a discovery sweep visits in the tile.
    pub(super) visits: Vec<Candidate>,
    /// Codes that came out of the visits, and which of them each visit gave.
    pub(super) codes: Vec<LocalCode<T>>,
    pub(super) found: Vec<(u32, u32)>,
    /// All codes of the tile after a sweep.
    pub(super) collected: Vec<LocalCode<T>>,
    /// What the sweep did in the tiles of this thread.
    pub(super) tally: Sweep,
}

impl<T: Real> Scratch<T> {
    pub(super) fn new(footprint: usize, stride: usize) -> Self {
        Self {
            footprint: Footprint::new(footprint),
            measured: vec![T::ZERO; footprint],
            bounds: Bounds::new(),
            rough: RoughPatches::new(),
            correlations: Aligned::new(BATCH * stride),
            needles: Vec::new(),
            active: Vec::new(),
            gram: GramStore::new(),
            columns: ColumnStore { made: Vec::new(), columns: Vec::new(), weighted_atom: Vec::new() },
            visits: Vec::new(),
            codes: Vec::new(),
            found: Vec::new(),
            collected: Vec::new(),
            tally: Sweep::default(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.footprint.bytes()
            + self.bounds.bytes()
            + self.gram.bytes()
            + self.measured.len() * size_of::<T>()
            + self.correlations.len() * size_of::<T>()
            + (self.codes.capacity() + self.collected.capacity()) * size_of::<LocalCode<T>>()
            + self.visits.capacity() * size_of::<Candidate>()
            + self.found.capacity() * size_of::<(u32, u32)>()
            + self.needles.capacity() * 4
    }
}
