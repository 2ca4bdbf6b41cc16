//! Bands that turn out to need more memory than there is are cut into lower ones.

use super::zones::Zone;
use super::{Band, Work};
use crate::error::{Error, Result};
use crate::needles::Code;
use crate::pursuit::solver::is_broken_off;
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

    /// Is there more to be done?
    pub(super) fn goes_on(&self) -> bool {
        matches!(self, Self::With(status) if !is_broken_off(*status))
    }
}

impl<T: Real> Work<'_, T> {
    /// Halves every band. Codes stay as they are, but nothing counts as measured.
    pub(super) fn halve_bands(&mut self, needed: u64) -> Result<()> {
        let Some(cut) = self.source.cut.halved() else {
            return Err(Error::Limits { needed, limit: self.allowed.unwrap_or(0) });
        };
        let (old, new) = (&self.source.pieces, self.source.pieces.cut_further(&cut));
        // From the last on: what a piece becomes lies behind all pieces before it.
        for piece in (0..old.count()).rev() {
            let mut codes: Vec<Code<T>> = Vec::with_capacity(self.source.shelf.kept(piece));
            self.source.shelf.show(piece, &mut |code| codes.push(code))?;
            for part in new.of(&old.range(piece)).rev() {
                let start = new.range(part).start;
                let own = codes.partition_point(|code| i64::from(code.position[cut.axis]) < start);
                self.source.shelf.keep(part, &codes[own..])?;
                codes.truncate(own);
            }
        }
        let half = |band: &Band| Band { begun: band.begun, seam_changed: band.begun, ..Band::default() };
        self.bands = self.bands.iter().flat_map(|band| [half(band), half(band)]).collect();
        self.zones = cut.zones().into_iter().map(Zone::new).collect();
        (self.source.cut, self.source.pieces) = (cut, new);
        Ok(())
    }
}
