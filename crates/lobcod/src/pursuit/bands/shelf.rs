//! What a pursuit in bands reads from and writes to.

use crate::error::Result;
use crate::extent::Extent;
use crate::needles::Code;
use crate::real::Real;
use crate::signal::Signal;
use std::ops::Range;

/// Samples of a part of a signal, base layer taken off.
#[derive(Clone, Debug)]
pub struct Piece<T> {
    /// The samples.
    pub samples: Signal<T>,
    /// Their weights in [0, 1], one channel for all or one each; `None`: all 1.
    pub weights: Option<Signal<T>>,
}

/// A signal that is read piece by piece.
pub trait Rows<T> {
    /// Size of the whole signal.
    fn extent(&self) -> Extent;
    /// Its channels.
    fn channels(&self) -> usize;
    /// The samples of a range of the first axis.
    fn read(&mut self, rows: Range<usize>) -> Result<Piece<T>>;
}

/// A signal in memory.
impl<T: Real> Rows<T> for Piece<T> {
    fn extent(&self) -> Extent {
        self.samples.extent()
    }

    fn channels(&self) -> usize {
        self.samples.channels()
    }

    fn read(&mut self, rows: Range<usize>) -> Result<Piece<T>> {
        let weights = self.weights.as_ref().map(|weights| weights.rows(rows.clone())).transpose()?;
        Ok(Piece { samples: self.samples.rows(rows)?, weights })
    }
}

/// Where codes wait for their turn, in pieces that follow each other along the first axis.
pub trait Shelf<T> {
    /// Keeps the codes of a piece, sorted, in place of what was kept before.
    fn keep(&mut self, piece: usize, codes: &[Code<T>]) -> Result<()>;
    /// How many codes of a piece are kept.
    fn kept(&self, piece: usize) -> usize;
    /// Shows the codes of a piece in their order; none if nothing was kept.
    fn show(&mut self, piece: usize, each: &mut dyn FnMut(Code<T>)) -> Result<()>;
}

/// A shelf in memory.
impl<T: Copy> Shelf<T> for Vec<Vec<Code<T>>> {
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
