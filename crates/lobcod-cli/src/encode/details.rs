//! Pictures read piece by piece, less their base layer.

use crate::args::EncodeArgs;
use crate::machine;
use crate::values::{Cap, StartChoice};
use lobcod::base::Base;
use lobcod::{Border, Extent, Piece, Real, Rows, Signal};
use lobcod_image::PictureRows;
use std::ops::Range;

/// What was asked for that pictures read piece by piece do not offer (checkpoints perhaps among them), and what to do about it.
pub(super) fn refused(args: &EncodeArgs, checkpoints: bool) -> Option<(&'static str, &'static str)> {
    let (picture, codes, problem) = (&args.picture, &args.codes, &args.problem);
    let cases = [
        (!args.reference.is_empty(), "scores", "leave out --reference"),
        (args.report.is_some(), "a report", "leave out --report"),
        (checkpoints && args.checkpoints.checkpoint.is_some(), "checkpoints", "leave out --checkpoint"),
        (checkpoints && args.checkpoints.resume.is_some(), "checkpoints", "leave out --resume"),
        (!matches!(args.solver.start, StartChoice::Zero), "first codes", "use --start zero"),
        (codes.penalty_map.is_some(), "a penalty map", "leave out --penalty-map"),
        (matches!(codes.max_nonzeros, Some(Cap::File(_))), "a map of caps", "give --max-nonzeros one number"),
        (picture.known.is_some(), "a mask", "leave out --known"),
        (picture.holes.is_some(), "a mask", "leave out --holes"),
        (matches!(problem.base, Base::Smooth { .. }), "a smooth base", "use --base local-mean or none"),
        (problem.border == Border::Periodic, "a periodic border", "use --border free or zero"),
    ];
    cases.into_iter().find(|case| case.0).map(|(_, what, cure)| (what, cure))
}

/// Fewer rows of a base layer than this are not worth a thread.
const LEAST_ROWS: usize = 32;

/// A picture less its base layer, row by row.
pub(super) struct Details {
    pub(super) rows: PictureRows,
    pub(super) base: Base,
    /// Box of an atom.
    pub(super) window: Extent,
    pub(super) threads: usize,
}

impl Details {
    pub(super) fn new(args: &EncodeArgs, rows: PictureRows, window: Extent) -> Self {
        let threads = if args.run.threads == 0 { machine::threads() } else { args.run.threads };
        Self { rows, base: args.problem.base, window, threads }
    }

    /// Rows of the picture, and of its base layer; the same numbers as those of the whole.
    pub(super) fn split<T: Real>(&mut self, rows: Range<usize>) -> lobcod::Result<(Signal<T>, Signal<T>)> {
        let read = self.around::<T>(&rows);
        let Piece { samples, weights } = Rows::<T>::read(&mut self.rows, read.clone())?;
        if weights.is_some() {
            let cure = "use --base none, or allow more memory";
            return Err(lobcod::Error::Data(format!("samples are missing, which the local mean in bands cannot have; {cure}")));
        }
        let layer = self.layer(&samples, read.start, &rows)?;
        Ok((samples.rows(rows.start - read.start..rows.end - read.start)?, layer))
    }

    /// Rows that those of the base layer depend on: a mean reaches half a window to both sides, and as far back again where the
    /// edge reflects it.
    fn around<T: Real>(&self, rows: &Range<usize>) -> Range<usize> {
        let (window, length) = (self.window.axes()[0], Rows::<T>::extent(&self.rows).axes()[0]);
        let start = rows.start.saturating_sub(window).min(length.saturating_sub(window));
        start..(rows.end + window).max(window).min(length)
    }

    /// Rows of the base layer from samples that begin at row `first`, a part of them on every thread.
    fn layer<T: Real>(&self, samples: &Signal<T>, first: usize, rows: &Range<usize>) -> lobcod::Result<Signal<T>> {
        let each = rows.len().div_ceil(self.threads).max(LEAST_ROWS);
        let parts = (0..rows.len().div_ceil(each)).map(|i| rows.start + i * each..(rows.start + (i + 1) * each).min(rows.end));
        let (base, window) = (self.base, self.window);
        let layers = std::thread::scope(|scope| {
            let started = parts.map(|part| (self.around::<T>(&part), part)).map(|(near, part)| {
                scope.spawn(move || {
                    let samples = samples.rows(near.start - first..near.end - first)?;
                    base.layer(&samples, None, window)?.rows(part.start - near.start..part.end - near.start)
                })
            });
            let started: Vec<_> = started.collect();
            let layers = started.into_iter().map(|thread| thread.join().expect("a mean does not panic"));
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

impl<T: Real> Rows<T> for Details {
    fn extent(&self) -> Extent {
        Rows::<T>::extent(&self.rows)
    }

    fn channels(&self) -> usize {
        Rows::<T>::channels(&self.rows)
    }

    fn read(&mut self, rows: Range<usize>) -> lobcod::Result<Piece<T>> {
        if self.base == Base::None {
            return Rows::<T>::read(&mut self.rows, rows);
        }
        let (mut samples, layer) = self.split::<T>(rows)?;
        samples.data_mut().iter_mut().zip(layer.data()).for_each(|(y, b)| *y -= *b);
        Ok(Piece { samples, weights: None })
    }
}
