//! Input and output of a pursuit in bands.

use crate::error::Result;
use crate::extent::Extent;
use crate::needles::Code;
use crate::real::Real;
use crate::signal::Signal;
use std::ops::Range;

/// Samples of a part of a signal, base layer subtracted.
#[derive(Clone, Debug)]
pub struct Strip<T> {
    /// The samples.
    pub samples: Signal<T>,
    /// Their weights in [0, 1], with one channel or as many as the samples; `None`: all 1.
    pub weights: Option<Signal<T>>,
}

/// A signal that is read in strips of rows.
pub trait RowSource<T> {
    /// Size of the whole signal.
    fn extent(&self) -> Extent;
    /// Number of channels.
    fn channels(&self) -> usize;
    /// Reads the samples of a range along the first axis.
    fn read(&mut self, rows: Range<usize>) -> Result<Strip<T>>;
}

/// A signal in memory.
impl<T: Real> RowSource<T> for Strip<T> {
    fn extent(&self) -> Extent {
        self.samples.extent()
    }

    fn channels(&self) -> usize {
        self.samples.channels()
    }

    fn read(&mut self, rows: Range<usize>) -> Result<Strip<T>> {
        let weights =
            self.weights.as_ref().map(|weights| weights.rows(rows.clone())).transpose()?;
        Ok(Strip { samples: self.samples.rows(rows)?, weights })
    }
}

/// Storage for the codes that are not being solved, in consecutive pieces along the first axis.
pub trait CodeStore<T> {
    /// Stores the sorted codes of a piece, replacing those stored before.
    fn keep(&mut self, piece: usize, codes: &[Code<T>]) -> Result<()>;
    /// Number of stored codes of a piece.
    fn kept(&self, piece: usize) -> usize;
    /// Visits the codes of a piece in order; none if nothing was stored.
    fn show(&mut self, piece: usize, each: &mut dyn FnMut(Code<T>)) -> Result<()>;
}

/// A store in memory.
impl<T: Copy> CodeStore<T> for Vec<Vec<Code<T>>> {
    fn keep(&mut self, piece: usize, codes: &[Code<T>]) -> Result<()> {
        self.resize(self.len().max(piece + 1), Vec::new());
        self[piece] = codes.to_vec();
        Ok(())
    }

    fn kept(&self, piece: usize) -> usize {
        self.get(piece).map_or(0, Vec::len)
    }

    fn show(&mut self, piece: usize, each: &mut dyn FnMut(Code<T>)) -> Result<()> {
        self.get(piece).into_iter().flatten().for_each(|&code| each(code));
        Ok(())
    }
}
