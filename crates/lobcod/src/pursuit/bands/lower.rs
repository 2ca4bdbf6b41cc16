//! Splits bands that need more memory than is available into lower ones.

use super::zones::Zone;
use super::{BandState, BandedSolver};
use crate::error::{Error, Result};
use crate::needles::Code;
use crate::pursuit::solver::is_stopped_early;
use crate::real::Real;
use crate::report::Status;

/// How the work on a band or seam ended.
pub enum Done {
    With(Status),
    /// It needs this many bytes, more than the limit; nothing was changed.
    Needs(u64),
}

impl Done {
    /// Combines the end of this work with that of the next.
    pub fn and(self, next: Self) -> Self {
        match (self, next) {
            (Self::With(one), Self::With(other)) => Self::With(one.max(other)),
            (Self::Needs(bytes), _) | (_, Self::Needs(bytes)) => Self::Needs(bytes),
        }
    }

    /// Whether the run continues.
    pub fn continues(&self) -> bool {
        matches!(self, Self::With(status) if !is_stopped_early(*status))
    }
}

impl<T: Real> BandedSolver<'_, T> {
    /// Halves every band. Codes are kept, but all measurements are invalidated.
    pub fn halve_bands(&mut self, needed: u64) -> Result<()> {
        let Some(layout) = self.source.layout.halved() else {
            return Err(Error::Limits {
                needed,
                limit: self.run.context().max_memory.unwrap_or(0),
            });
        };
        let (old, new) = (&self.source.pieces, self.source.pieces.split_further(&layout));
        // Backwards: the pieces that replace a piece come after all pieces before it.
        for piece in (0..old.count()).rev() {
            let mut codes: Vec<Code<T>> = Vec::with_capacity(self.source.store.kept(piece));
            self.source.store.show(piece, &mut |code| codes.push(code))?;
            for part in new.of(&old.range(piece)).rev() {
                let start = new.range(part).start;
                let own =
                    codes.partition_point(|code| i64::from(code.position[layout.axis]) < start);
                self.source.store.keep(part, &codes[own..])?;
                codes.truncate(own);
            }
        }
        let half = |band: &BandState| BandState {
            started: band.started,
            seam_changed: band.started,
            ..BandState::default()
        };
        self.bands = self.bands.iter().flat_map(|band| [half(band), half(band)]).collect();
        self.zones = layout.zones().into_iter().map(Zone::new).collect();
        (self.source.layout, self.source.pieces) = (layout, new);
        Ok(())
    }
}
