//! Working memory of one thread.

use crate::engine::Sweep;
use crate::engine::cpu::data::atoms::{ColumnStore, GramStore};
use crate::engine::cpu::data::footprint::Footprint;
use crate::engine::cpu::data::rank_one::Projected;
use crate::engine::cpu::data::tile::{Candidate, LocalCode};
use crate::engine::cpu::sweep::bounds::Bounds;
use crate::lasso::{ActiveCode, ActiveGroups};
use crate::real::Real;
use crate::simd::{Aligned, BATCH};

pub struct Scratch<T> {
    pub footprint: Footprint<T>,
    /// The residual of the last measurement over the footprint.
    pub measured: Vec<T>,
    pub bounds: Bounds<T>,
    /// Projections of the footprint, for atoms of rank 1.
    pub projected: Projected<T>,
    /// Correlations of a batch.
    pub correlations: Aligned<T>,
    /// Offsets of the needles of a layer.
    pub needles: Vec<u32>,
    pub active: Vec<ActiveCode<T>>,
    /// Groups of codes of a needle, in joint sparsity.
    pub groups: ActiveGroups<T>,
    pub gram: GramStore<T>,
    pub columns: ColumnStore<T>,
    /// The same of every channel, in joint sparsity.
    pub channel_columns: Vec<ColumnStore<T>>,
    /// Needles visited by a discovery sweep in the tile.
    pub visits: Vec<Candidate>,
    /// Codes resulting from the visits, and their range for each visit.
    pub codes: Vec<LocalCode<T>>,
    pub found: Vec<(u32, u32)>,
    /// All codes of the tile after a sweep.
    pub collected: Vec<LocalCode<T>>,
    /// Statistics of the sweep over the tiles of this thread.
    pub tally: Sweep,
}

impl<T: Real> Scratch<T> {
    /// `correlations`: the number of correlations of a needle.
    pub fn new(footprint: usize, correlations: usize) -> Self {
        Self {
            footprint: Footprint::new(footprint),
            measured: vec![T::ZERO; footprint],
            bounds: Bounds::new(),
            projected: Projected::new(),
            correlations: Aligned::new(BATCH * correlations),
            needles: Vec::new(),
            active: Vec::new(),
            groups: ActiveGroups::default(),
            gram: GramStore::new(),
            columns: ColumnStore::new(),
            channel_columns: Vec::new(),
            visits: Vec::new(),
            codes: Vec::new(),
            found: Vec::new(),
            collected: Vec::new(),
            tally: Sweep::default(),
        }
    }

    pub fn bytes(&self) -> usize {
        self.footprint.bytes()
            + self.bounds.bytes()
            + self.projected.bytes()
            + self.gram.bytes()
            + self.measured.len() * size_of::<T>()
            + self.correlations.len() * size_of::<T>()
            + (self.codes.capacity() + self.collected.capacity()) * size_of::<LocalCode<T>>()
            + self.visits.capacity() * size_of::<Candidate>()
            + self.found.capacity() * size_of::<(u32, u32)>()
            + self.needles.capacity() * 4
    }
}
