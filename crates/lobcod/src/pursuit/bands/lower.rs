//! Bands that turn out to need more memory than there is are cut into lower ones.

use super::{Band, Work};
use crate::error::{Error, Result};
use crate::needles::Code;
use crate::real::Real;
use crate::report::Status;

/// How the work on a band or seam ended.
pub(super) enum Done {
    With(Status),
    /// It needs this many bytes, more than it may take; nothing was changed.
    Needs(u64),
}

impl Done {
    /// The end of this work and of what followed it.
    pub(super) fn and(self, next: Self) -> Self {
        match (self, next) {
            (Self::With(one), Self::With(other)) => Self::With(one.max(other)),
            (Self::Needs(bytes), _) | (_, Self::Needs(bytes)) => Self::Needs(bytes),
        }
    }
}

impl<T: Real> Work<'_, T> {
    /// Halves every band. Codes stay as they are, but nothing counts as measured.
    pub(super) fn halve_bands(&mut self, needed: u64) -> Result<()> {
        let Some(cut) = self.source.cut.halved() else {
            return Err(Error::Limits { needed, limit: self.allowed.unwrap_or(0) });
        };
        // From the last on: what a band becomes lies behind all bands before it.
        for band in (0..self.bands.len()).rev() {
            let second = cut.positions(2 * band + 1).start;
            let mut halves: [Vec<Code<T>>; 2] = Default::default();
            self.source
                .shelf
                .show(band, &mut |code| halves[usize::from(i64::from(code.position[cut.axis]) >= second)].push(code))?;
            for (half, codes) in halves.into_iter().enumerate().rev() {
                self.source.shelf.keep(2 * band + half, codes)?;
            }
        }
        let half = |band: &Band| Band { begun: band.begun, seam_changed: band.begun, ..Band::default() };
        self.bands = self.bands.iter().flat_map(|band| [half(band), half(band)]).collect();
        self.source.cut = cut;
        Ok(())
    }
}
