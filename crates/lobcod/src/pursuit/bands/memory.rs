//! Chooses the height of bands from the memory limit.

use super::layout::BandLayout;
use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::engine::{Engine, Plane, Problem};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::needles::Code;
use crate::pursuit::Pursuit;
use crate::pursuit::local_dual::lattice;
use crate::pursuit::setup::{EXPECTED_DENSITY, planes_of};
use crate::pursuit::smooth_layer::layer_bytes;
use crate::real::Real;

/// The properties of a signal that determine the memory of a run in bands.
#[derive(Clone, Copy, Debug)]
pub struct BandedShape {
    /// Size of the whole signal.
    pub extent: Extent,
    /// Number of channels.
    pub channels: usize,
    /// Whether it has weights.
    pub masked: bool,
}

impl Pursuit {
    /// Estimates the working memory, in bytes, of bands with this many rows: the session of a band
    /// and, unless the engine has its own memory, samples and codes.
    pub fn band_memory<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        shape: BandedShape,
        dictionary: &Dictionary<T>,
        rows: usize,
    ) -> Result<u64> {
        let layout = BandLayout::new(shape.extent, dictionary.extent(), self.params.border, rows);
        let middle = layout.count / 2;
        let (band, seam) = (layout.positions(middle), (middle > 0).then(|| layout.seam(middle)));
        // The rows solved or measured around a seam may outnumber those of a low band.
        let extents = std::iter::once(band)
            .chain(seam)
            .chain(layout.zones())
            .map(|positions| layout.extent(&positions));
        let extent = extents.max_by_key(|extent| extent.volume()).expect("at least one band");
        let planes = planes_of(shape.channels, dictionary.channels());
        let session = self.session_memory(
            engine,
            BandedShape { extent, ..shape },
            Border::Free,
            dictionary,
            false,
        )?;
        if engine.own_memory().is_some() {
            return Ok(session);
        }
        let samples =
            extent.volume() * shape.channels * size_of::<T>() * (1 + usize::from(shape.masked));
        let codes = EXPECTED_DENSITY * (extent.volume() * planes * size_of::<Code<T>>()) as f64;
        // Excess over the penalty and scales are stored for the whole signal.
        let cells = lattice(&self.params, shape.extent, dictionary.extent())
            .map_or(0, |lattice| lattice.cells());
        Ok(session + samples as u64 + codes as u64 + (2 * cells * planes * size_of::<f32>()) as u64)
    }

    /// Estimates the working memory, in bytes, of a run on the whole signal at once.
    pub fn whole_memory<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        shape: BandedShape,
        dictionary: &Dictionary<T>,
    ) -> Result<u64> {
        self.session_memory(engine, shape, self.params.border, dictionary, false)
    }

    /// Like [`Pursuit::whole_memory`], for dictionary learning.
    pub fn learning_memory<T: Real>(
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
        let plane = Plane { weights: shape.masked.then(Vec::new), ..Plane::empty(shape.extent) };
        let problem = Problem {
            planes: vec![plane; planes_of(shape.channels, dictionary.channels())],
            dictionary: dictionary.clone(),
            border,
            grouping: self.params.grouping(dictionary.extent().rank()),
            atom_weights: Vec::new(),
            elastic: 0.0,
            joint: None,
            nonnegative: self.params.nonnegative,
            local: self.params.local,
            cap: self.params.max_nonzeros,
            learning,
        };
        let session = engine.estimate_memory(&problem, EXPECTED_DENSITY)?;
        let layers = if self.params.smooth_layer > 0.0 {
            layer_bytes(shape.extent.volume(), shape.channels, usize::from(shape.masked))
        } else {
            0
        };
        Ok(session + layers)
    }

    /// Maximum number of rows per band within this many bytes; an error if even the lowest bands
    /// need more.
    pub fn rows_within<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        shape: BandedShape,
        dictionary: &Dictionary<T>,
        bytes: u64,
    ) -> Result<usize> {
        let atom = dictionary.extent();
        let positions = shape.extent.axes()[0] + atom.axes()[0] - 1;
        let (mut too_few, mut enough) =
            (0, BandLayout::new(shape.extent, atom, Border::Free, 1).count);
        let needed =
            |bands: usize| self.band_memory(engine, shape, dictionary, positions.div_ceil(bands));
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
