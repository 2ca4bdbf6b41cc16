//! The part of the problem solved or measured for one range of positions.

use super::layout::BandLayout;
use super::order::sort;
use super::pieces::Pieces;
use super::{CodeStore, RowSource, Strip};
use crate::dictionary::Dictionary;
use crate::engine::{Engine, ScaledResidual, ScaledSums, Scaling, Session, State};
use crate::error::Result;
use crate::geometry::{InSignal, InWhole, Origin, Point, Raster, Region};
use crate::mask::Mask;
use crate::needles::Code;
use crate::pursuit::setup::{self, planes_of};
use crate::pursuit::{Observed, PursuitParams};
use crate::real::Real;
use crate::signal::Signal;
use std::ops::Range;

/// The samples that needles of a range touch, minus the contributions of all other needles.
pub struct Window<T> {
    pub positions: Range<i64>,
    pub observed: Observed<T>,
    planes: usize,
    /// Own samples that needles before the window also touch, and the contributions of those
    /// needles: part of the signal in the dual, not of the residual.
    shared: (Region<InSignal>, Vec<T>),
}

/// Builds the windows of all bands.
pub struct Source<'a, T> {
    pub layout: BandLayout,
    pub pieces: Pieces,
    pub signal: &'a mut dyn RowSource<T>,
    pub store: &'a mut dyn CodeStore<T>,
    pub dictionary: &'a Dictionary<T>,
}

impl<T: Real> Source<'_, T> {
    /// The window of a range of positions. `bare`: contributions of other needles are not
    /// subtracted.
    pub fn window(&mut self, positions: Range<i64>, bare: bool) -> Result<Window<T>> {
        let layout = self.layout;
        let piece = self.signal.read(layout.rows(&positions))?;
        let Strip { mut samples, weights } = layout.window(&positions, piece)?;
        let shared = layout.shared(&positions);
        let mut made = part_of(&samples, &shared);
        if !bare {
            let origin = layout.origin(&positions);
            let own = self.pieces.of(&positions);
            let dictionary = self.dictionary;
            for piece in
                self.pieces.of(&layout.around(&positions)).filter(|piece| !own.contains(piece))
            {
                self.store
                    .show(piece, &mut |code| take_off(&mut samples, origin, code, dictionary))?;
            }
        }
        made.iter_mut()
            .zip(part_of(&samples, &shared))
            .for_each(|(before, after)| *before -= after);
        let planes = planes_of(samples.channels(), self.dictionary.channels());
        let observed = Observed { mask: weights.map(Mask::of_part).transpose()?, ..samples.into() };
        Ok(Window { positions, observed, planes, shared: (shared, made) })
    }

    /// Stored codes at the positions of a window, relative to it.
    pub fn codes(&mut self, window: &Window<T>) -> Result<State<T>> {
        let (origin, pieces) =
            (self.layout.origin(&window.positions), self.pieces.of(&window.positions));
        let count = pieces.clone().map(|piece| self.store.kept(piece)).sum::<usize>();
        let mut codes: Vec<_> =
            (0..window.planes).map(|_| Vec::with_capacity(count / window.planes)).collect();
        for piece in pieces {
            self.store.show(piece, &mut |code| {
                let position = origin.to_signal(in_whole(&code)).at.map(|x| x as i32);
                codes[code.channel as usize].push(Code { position, channel: 0, ..code });
            })?;
        }
        Ok(State::of_codes(codes))
    }

    /// Stores the codes of a window, replacing those at its positions.
    pub fn keep(&mut self, positions: Range<i64>, state: State<T>, threads: usize) -> Result<()> {
        let (axis, origin) = (self.layout.axis, self.layout.origin(&positions));
        let mut codes: Vec<Code<T>> = Vec::new();
        for (channel, mut plane) in state.codes.into_iter().enumerate() {
            plane.retain(|code| code.value != T::ZERO);
            for code in &mut plane {
                code.position = origin.to_whole(code.position.into()).at.map(|x| x as i32);
                code.channel = channel as u32;
            }
            if codes.is_empty() { codes = plane } else { codes.append(&mut plane) }
        }
        sort(&mut codes, axis, threads);
        let mut rest = &codes[..];
        for piece in self.pieces.of(&positions) {
            let end = self.pieces.range(piece).end;
            let (own, behind) =
                rest.split_at(rest.partition_point(|code| i64::from(code.position[axis]) < end));
            self.store.keep(piece, own)?;
            rest = behind;
        }
        Ok(())
    }

    /// Opens a session on the window, with all codes zero.
    pub fn open(
        &self,
        engine: &dyn Engine<T>,
        params: &PursuitParams,
        window: &Window<T>,
    ) -> Result<Box<dyn Session<T>>> {
        let problem =
            setup::problem(params, std::slice::from_ref(&window.observed), self.dictionary)?;
        engine.open(problem, Some(&self.layout.open_positions(&window.positions)))
    }
}

impl<T: Real> Window<T> {
    /// Sums over the samples counted with `own` of the positions.
    pub fn sums(
        &self,
        layout: &BandLayout,
        session: &mut dyn Session<T>,
        plane: usize,
        scaling: Scaling,
        own: &Range<i64>,
    ) -> Result<ScaledSums> {
        let session = scaled(session);
        let mut sums =
            session.scaled_sums(plane, scaling, Some(&layout.own(&self.positions, own)))?;
        let (part, made) = &self.shared;
        // Other zones begin beyond the samples that needles before the window touch.
        if own.start > self.positions.start {
            return Ok(sums);
        }
        let residual = session.residual_part(plane, part)?;
        // One channel per plane, or one plane with all channels.
        let made = &made[if self.planes > 1 { plane * residual.len() } else { 0 }..];
        let raster = Raster::new(*part, self.observed.signal.channels() / self.planes);
        raster.rows(part, |row, length| {
            scaling.for_row(raster.point(row), length, |i, scale| {
                sums.dot += scale * residual[row + i].to_f64() * made[row + i].to_f64();
            });
        });
        Ok(sums)
    }
}

/// The samples of a part, channel by channel; 0 where they are NaN or infinite.
fn part_of<T: Real>(signal: &Signal<T>, part: &Region<InSignal>) -> Vec<T> {
    let mut samples = signal.raster().gather(signal.data(), part, T::ZERO, 1);
    samples.iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = T::ZERO);
    samples
}

/// Position of a stored code.
fn in_whole<T>(code: &Code<T>) -> Point<InWhole> {
    Point::new(code.position.map(i64::from))
}

/// Subtracts the contribution of a stored code from a window at `origin`.
fn take_off<T: Real>(
    window: &mut Signal<T>,
    origin: Origin,
    code: Code<T>,
    dictionary: &Dictionary<T>,
) {
    let at = origin.to_signal(in_whole(&code));
    let (raster, first) = window.plane(dictionary.channels(), code.channel);
    let samples = &mut window.data_mut()[first..];
    raster.patch(
        at,
        dictionary.extent().padded(),
        dictionary.atom(code.atom as usize),
        |into, atom| {
            samples[into..].iter_mut().zip(atom).for_each(|(sample, &d)| *sample -= code.value * d);
        },
    );
}

/// The scaled residual of a window's session.
pub fn scaled<T>(session: &mut dyn Session<T>) -> &mut dyn ScaledResidual<T> {
    session.scaled().expect("`Engine::open` with positions supports scaling")
}
