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
        let part = |signal: &Signal<T>| {
            let axes = signal.extent().axes().to_vec();
            let line = signal.extent().volume() / axes[0];
            let channel = |c: usize| signal.channel(c)[rows.start * line..rows.end * line].iter().copied();
            let data = (0..signal.channels()).flat_map(channel).collect();
            let extent = Extent::new(&[&[rows.len()], &axes[1..]].concat())?;
            Signal::from_planar(extent, signal.channels(), data)
        };
        Ok(Piece { samples: part(&self.samples)?, weights: self.weights.as_ref().map(part).transpose()? })
    }
}

/// Where the codes of bands wait for their turn.
pub trait Shelf<T> {
    /// Keeps the codes of a band, sorted, in place of what was kept before.
    fn keep(&mut self, band: usize, codes: Vec<Code<T>>) -> Result<()>;
    /// Shows the codes of a band in their order; none if nothing was kept.
    fn show(&mut self, band: usize, each: &mut dyn FnMut(Code<T>)) -> Result<()>;
}

/// A shelf in memory.
impl<T: Copy> Shelf<T> for Vec<Vec<Code<T>>> {
    fn keep(&mut self, band: usize, codes: Vec<Code<T>>) -> Result<()> {
        self.resize(self.len().max(band + 1), Vec::new());
        self[band] = codes;
        Ok(())
    }

    fn show(&mut self, band: usize, each: &mut dyn FnMut(Code<T>)) -> Result<()> {
        self.get(band).into_iter().flatten().for_each(|&code| each(code));
        Ok(())
    }
}
