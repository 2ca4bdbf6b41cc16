//! A signal read in strips, minus its base layer.

use super::store::{RowSource, Strip};
use crate::base::Base;
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::real::Real;
use crate::signal::Signal;
use std::ops::Range;

/// Smallest number of base-layer rows worth a thread.
const LEAST_ROWS: usize = 32;

/// A source of rows minus its base layer, which is computed strip by strip.
///
/// The base layer is none or the local mean; other layers depend on the whole signal.
pub struct DetailRows<R> {
    rows: R,
    base: Base,
    /// Size of an atom.
    window: Extent,
    threads: usize,
}

impl<R> DetailRows<R> {
    /// The detail of a signal for atoms of this size, computed on this many threads.
    pub fn new(rows: R, base: Base, window: Extent, threads: usize) -> Self {
        Self { rows, base, window, threads: threads.max(1) }
    }

    /// The source of the rows.
    pub fn source(&self) -> &R {
        &self.rows
    }

    /// Rows of the signal and of its base layer, identical to those computed from the whole signal.
    pub fn split<T: Real>(&mut self, rows: Range<usize>) -> Result<(Signal<T>, Signal<T>)>
    where
        R: RowSource<T>,
    {
        let length = self.rows.extent().axes()[0];
        let read = self.around(&rows, length);
        let Strip { samples, weights } = self.rows.read(read.clone())?;
        if weights.is_some() {
            let cure = "use the base none, or raise the memory limit";
            return Err(Error::Data(format!(
                "samples are missing, which the local mean does not support in bands; {cure}"
            )));
        }
        let layer = self.layer(&samples, read.start, &rows, length)?;
        Ok((samples.rows(rows.start - read.start..rows.end - read.start)?, layer))
    }

    /// Rows on which those of the base layer depend: the mean extends half a window to both sides,
    /// and is reflected at the edges.
    fn around(&self, rows: &Range<usize>, length: usize) -> Range<usize> {
        let window = self.window.axes()[0];
        let start = rows.start.saturating_sub(window).min(length.saturating_sub(window));
        start..(rows.end + window).max(window).min(length)
    }

    /// Rows of the base layer from samples that begin at row `first`, distributed over threads.
    fn layer<T: Real>(
        &self,
        samples: &Signal<T>,
        first: usize,
        rows: &Range<usize>,
        length: usize,
    ) -> Result<Signal<T>> {
        let each = rows.len().div_ceil(self.threads).max(LEAST_ROWS);
        let parts = (0..rows.len().div_ceil(each))
            .map(|i| rows.start + i * each..(rows.start + (i + 1) * each).min(rows.end));
        let (base, window) = (self.base, self.window);
        let layers = std::thread::scope(|scope| {
            let started =
                parts.map(|part| (self.around(&part, length), part)).map(|(near, part)| {
                    scope.spawn(move || {
                        let samples = samples.rows(near.start - first..near.end - first)?;
                        base.layer(&samples, None, window)?
                            .rows(part.start - near.start..part.end - near.start)
                    })
                });
            let started: Vec<_> = started.collect();
            let layers =
                started.into_iter().map(|thread| thread.join().expect("a mean does not panic"));
            layers.collect::<Result<Vec<Signal<T>>>>()
        })?;
        let extent = Extent::new(&[&[rows.len()], &samples.extent().axes()[1..]].concat())?;
        let mut data = Vec::with_capacity(extent.volume() * samples.channels());
        for c in 0..samples.channels() {
            layers.iter().for_each(|layer| data.extend_from_slice(layer.channel(c)));
        }
        Signal::from_planar(extent, samples.channels(), data)
    }
}

impl<T: Real, R: RowSource<T>> RowSource<T> for DetailRows<R> {
    fn extent(&self) -> Extent {
        self.rows.extent()
    }

    fn channels(&self) -> usize {
        self.rows.channels()
    }

    fn read(&mut self, rows: Range<usize>) -> Result<Strip<T>> {
        if self.base == Base::None {
            return self.rows.read(rows);
        }
        let (mut samples, layer) = self.split(rows)?;
        samples.data_mut().iter_mut().zip(layer.data()).for_each(|(y, b)| *y -= *b);
        Ok(Strip { samples, weights: None })
    }
}
