//! How tall bands may be.

use super::cut::Cut;
use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::engine::{Engine, Plane, Problem};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::needles::Code;
use crate::pursuit::Pursuit;
use crate::pursuit::local_dual::lattice;
use crate::pursuit::setup::{EXPECTED_DENSITY, grouping, planes_of};
use crate::real::Real;

/// A signal to be coded in bands, as far as memory depends on it.
#[derive(Clone, Copy, Debug)]
pub struct BandedShape {
    /// Size of the whole signal.
    pub extent: Extent,
    /// Its channels.
    pub channels: usize,
    /// Has it weights?
    pub masked: bool,
}

impl Pursuit {
    /// Bytes of working memory that bands of this many rows are expected to need on an engine: the session of a band and, unless the
    /// engine has memory of its own, its samples and its codes on their way from and to the shelf.
    pub fn band_memory<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        shape: BandedShape,
        dictionary: &Dictionary<T>,
        rows: usize,
    ) -> Result<u64> {
        let cut = Cut::new(shape.extent, dictionary.extent(), self.params.border, rows);
        let middle = cut.count / 2;
        let (band, seam) = (cut.positions(middle), (middle > 0).then(|| cut.seam(middle)));
        // The rows worked on or measured around a seam may be more than those of low bands.
        let extents = std::iter::once(band).chain(seam).chain(cut.zones()).map(|positions| cut.extent(&positions));
        let extent = extents.max_by_key(|extent| extent.volume()).expect("there is a band");
        let planes = planes_of(shape.channels, dictionary.channels());
        let session = self.session_memory(engine, BandedShape { extent, ..shape }, Border::Free, dictionary, false)?;
        if engine.own_memory().is_some() {
            return Ok(session);
        }
        let samples = extent.volume() * shape.channels * size_of::<T>() * (1 + usize::from(shape.masked));
        let codes = EXPECTED_DENSITY * (extent.volume() * planes * size_of::<Code<T>>()) as f64;
        // What exceeds the penalty, and the scales made of it, are kept for the whole signal.
        let cells = lattice(&self.params, shape.extent, dictionary.extent()).map_or(0, |lattice| lattice.cells());
        Ok(session + samples as u64 + codes as u64 + (2 * cells * planes * size_of::<f32>()) as u64)
    }

    /// Bytes of working memory that the signal is expected to need as a whole on an engine.
    pub fn whole_memory<T: Real>(&self, engine: &dyn Engine<T>, shape: BandedShape, dictionary: &Dictionary<T>) -> Result<u64> {
        self.session_memory(engine, shape, self.params.border, dictionary, false)
    }

    /// The same where the atoms are learnt as well.
    pub(crate) fn learning_memory<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        shape: BandedShape,
        dictionary: &Dictionary<T>,
    ) -> Result<u64> {
        self.session_memory(engine, shape, self.params.border, dictionary, true)
    }

    fn session_memory<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        shape: BandedShape,
        border: Border,
        dictionary: &Dictionary<T>,
        learning: bool,
    ) -> Result<u64> {
        let plane = Plane {
            extent: shape.extent,
            target: Vec::new(),
            weights: shape.masked.then(Vec::new),
            position_weights: None,
            position_caps: None,
            held: None,
        };
        let problem = Problem {
            planes: vec![plane; planes_of(shape.channels, dictionary.channels())],
            dictionary: dictionary.clone(),
            border,
            grouping: grouping(&self.params, dictionary.extent().rank()),
            atom_weights: Vec::new(),
            nonnegative: self.params.nonnegative,
            local: self.params.local,
            cap: self.params.max_nonzeros,
            learning,
        };
        engine.estimate_memory(&problem, EXPECTED_DENSITY)
    }

    /// The most rows a band may have within this many bytes on an engine; an error where even the lowest bands need more.
    pub fn rows_within<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        shape: BandedShape,
        dictionary: &Dictionary<T>,
        bytes: u64,
    ) -> Result<usize> {
        let atom = dictionary.extent();
        let positions = shape.extent.axes()[0] + atom.axes()[0] - 1;
        let (mut too_few, mut enough) = (0, Cut::most(shape.extent, atom));
        let needed = |bands: usize| self.band_memory(engine, shape, dictionary, positions.div_ceil(bands));
        let least = needed(enough)?;
        if least > bytes {
            return Err(Error::Limits { needed: least, limit: bytes });
        }
        while enough - too_few > 1 {
            let middle = (too_few + enough) / 2;
            if needed(middle)? > bytes { too_few = middle } else { enough = middle }
        }
        Ok(positions.div_ceil(enough))
    }
}
