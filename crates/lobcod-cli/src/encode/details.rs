//! Images read piece by piece, minus their base layer.

use crate::args::EncodeArgs;
use crate::machine;
use crate::values::{Cap, StartChoice};
use lobcod::bands::{RowSource, Strip};
use lobcod::base::Base;
use lobcod::{Border, Extent, Real, Signal};
use lobcod_io::ImageRows;
use std::ops::Range;

/// The first option that does not work on images read piece by piece (optionally including
/// checkpoints), and how to avoid it.
pub(super) fn refused(
    args: &EncodeArgs,
    checkpoints: bool,
) -> Option<(&'static str, &'static str)> {
    let (image, codes, problem) = (&args.input, &args.codes, &args.problem);
    let cases = [
        (!args.reference.is_empty(), "scores", "remove --reference"),
        (args.page.report.is_some(), "a report", "remove --report"),
        (
            checkpoints && args.checkpoints.checkpoint.is_some(),
            "checkpoints",
            "remove --checkpoint",
        ),
        (checkpoints && args.checkpoints.resume.is_some(), "checkpoints", "remove --resume"),
        (!matches!(args.solver.start, StartChoice::Zero), "initial codes", "use --start zero"),
        (codes.penalty_map.is_some(), "a penalty map", "remove --penalty-map"),
        (
            matches!(codes.max_nonzeros, Some(Cap::File(_))),
            "a map of maximum non-zeros",
            "use a single number for --max-nonzeros",
        ),
        (image.known.is_some(), "a mask", "remove --known"),
        (image.holes.is_some(), "a mask", "remove --holes"),
        (image.holes_colour.is_some(), "painted holes", "remove --holes-colour"),
        (
            matches!(problem.base, Base::Smooth { .. }),
            "a smooth base",
            "use --base local-mean or none",
        ),
        (problem.border == Border::Periodic, "a periodic border", "use --border free or zero"),
    ];
    cases.into_iter().find(|case| case.0).map(|(_, what, cure)| (what, cure))
}

/// Smallest number of base-layer rows worth a thread.
const LEAST_ROWS: usize = 32;

/// An image minus its base layer, row by row.
pub(super) struct Details {
    pub(super) rows: ImageRows,
    pub(super) base: Base,
    /// Size of an atom.
    pub(super) window: Extent,
    pub(super) threads: usize,
}

impl Details {
    pub(super) fn new(args: &EncodeArgs, rows: ImageRows, window: Extent) -> Self {
        let threads =
            if args.run.threads.count == 0 { machine::threads() } else { args.run.threads.count };
        Self { rows, base: args.problem.base, window, threads }
    }

    /// Rows of the image and of its base layer, identical to those computed from the whole image.
    pub(super) fn split<T: Real>(
        &mut self,
        rows: Range<usize>,
    ) -> lobcod::Result<(Signal<T>, Signal<T>)> {
        let read = self.around::<T>(&rows);
        let Strip { samples, weights } = RowSource::<T>::read(&mut self.rows, read.clone())?;
        if weights.is_some() {
            let cure = "use --base none, or raise --max-memory";
            return Err(lobcod::Error::Data(format!(
                "samples are missing, which the local mean does not support in bands; {cure}"
            )));
        }
        let layer = self.layer(&samples, read.start, &rows)?;
        Ok((samples.rows(rows.start - read.start..rows.end - read.start)?, layer))
    }

    /// Rows on which those of the base layer depend: the mean extends half a window to both sides,
    /// and is reflected at the edges.
    fn around<T: Real>(&self, rows: &Range<usize>) -> Range<usize> {
        let (window, length) =
            (self.window.axes()[0], RowSource::<T>::extent(&self.rows).axes()[0]);
        let start = rows.start.saturating_sub(window).min(length.saturating_sub(window));
        start..(rows.end + window).max(window).min(length)
    }

    /// Rows of the base layer from samples that begin at row `first`, distributed over threads.
    fn layer<T: Real>(
        &self,
        samples: &Signal<T>,
        first: usize,
        rows: &Range<usize>,
    ) -> lobcod::Result<Signal<T>> {
        let each = rows.len().div_ceil(self.threads).max(LEAST_ROWS);
        let parts = (0..rows.len().div_ceil(each))
            .map(|i| rows.start + i * each..(rows.start + (i + 1) * each).min(rows.end));
        let (base, window) = (self.base, self.window);
        let layers = std::thread::scope(|scope| {
            let started = parts.map(|part| (self.around::<T>(&part), part)).map(|(near, part)| {
                scope.spawn(move || {
                    let samples = samples.rows(near.start - first..near.end - first)?;
                    base.layer(&samples, None, window)?
                        .rows(part.start - near.start..part.end - near.start)
                })
            });
            let started: Vec<_> = started.collect();
            let layers =
                started.into_iter().map(|thread| thread.join().expect("a mean does not panic"));
            layers.collect::<lobcod::Result<Vec<Signal<T>>>>()
        })?;
        let extent = Extent::new(&[&[rows.len()], &samples.extent().axes()[1..]].concat())?;
        let mut data = Vec::with_capacity(extent.volume() * samples.channels());
        for c in 0..samples.channels() {
            layers.iter().for_each(|layer| data.extend_from_slice(layer.channel(c)));
        }
        Signal::from_planar(extent, samples.channels(), data)
    }
}

impl<T: Real> RowSource<T> for Details {
    fn extent(&self) -> Extent {
        RowSource::<T>::extent(&self.rows)
    }

    fn channels(&self) -> usize {
        RowSource::<T>::channels(&self.rows)
    }

    fn read(&mut self, rows: Range<usize>) -> lobcod::Result<Strip<T>> {
        if self.base == Base::None {
            return RowSource::<T>::read(&mut self.rows, rows);
        }
        let (mut samples, layer) = self.split::<T>(rows)?;
        samples.data_mut().iter_mut().zip(layer.data()).for_each(|(y, b)| *y -= *b);
        Ok(Strip { samples, weights: None })
    }
}
