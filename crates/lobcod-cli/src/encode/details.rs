//! Pictures read piece by piece, less their base layer.

use crate::args::EncodeArgs;
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

/// A picture less its base layer, row by row.
pub(super) struct Details {
    pub(super) rows: PictureRows,
    pub(super) base: Base,
    /// Box of an atom.
    pub(super) window: Extent,
}

impl Details {
    /// Rows of the picture, and of its base layer; the same numbers as those of the whole.
    pub(super) fn split<T: Real>(&mut self, rows: Range<usize>) -> lobcod::Result<(Signal<T>, Signal<T>)> {
        let (window, length) = (self.window.axes()[0], Rows::<T>::extent(&self.rows).axes()[0]);
        // A mean reaches half a window to both sides, and as far back again where the edge reflects it.
        let start = rows.start.saturating_sub(window).min(length.saturating_sub(window));
        let end = (rows.end + window).max(window).min(length);
        let Piece { samples, weights } = Rows::<T>::read(&mut self.rows, start..end)?;
        if weights.is_some() {
            let cure = "use --base none, or allow more memory";
            return Err(lobcod::Error::Data(format!("samples are missing, which the local mean in bands cannot have; {cure}")));
        }
        let layer = self.base.layer(&samples, None, self.window)?;
        let inner = rows.start - start..rows.end - start;
        let part = |signal| Piece { samples: signal, weights: None }.read(inner.clone()).map(|piece| piece.samples);
        Ok((part(samples)?, part(layer)?))
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
