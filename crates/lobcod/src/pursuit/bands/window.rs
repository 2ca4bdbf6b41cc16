//! One band at work.

use super::cut::Cut;
use super::order::sort;
use super::pieces::Pieces;
use super::{Piece, Rows, Shelf};
use crate::dictionary::Dictionary;
use crate::engine::{Engine, Part, ScaledResidual, ScaledSums, Scaling, Session, State};
use crate::error::Result;
use crate::mask::Mask;
use crate::needles::Code;
use crate::pursuit::setup::{self, planes_of};
use crate::pursuit::{Observed, PursuitParams};
use crate::real::Real;
use crate::signal::Signal;
use std::ops::Range;

/// The samples that the needles of a range of positions touch, less what all other needles make of them.
pub(super) struct Window<T> {
    pub(super) positions: Range<i64>,
    pub(super) observed: Observed<T>,
    planes: usize,
    /// Own samples that needles before them touch too, and what these make of them: no part of the residual, but of the
    /// signal that the dual is measured with.
    shared: (Part, Vec<T>),
}

/// What the windows of all bands are made from.
pub(super) struct Source<'a, T> {
    pub(super) cut: Cut,
    pub(super) pieces: Pieces,
    pub(super) signal: &'a mut dyn Rows<T>,
    pub(super) shelf: &'a mut dyn Shelf<T>,
    pub(super) dictionary: &'a Dictionary<T>,
}

impl<T: Real> Source<'_, T> {
    /// The window of a range of positions. `bare`: what other needles make is left in.
    pub(super) fn window(&mut self, positions: Range<i64>, bare: bool) -> Result<Window<T>> {
        let cut = self.cut;
        let piece = self.signal.read(cut.rows(&positions))?;
        let Piece { mut samples, weights } = cut.window(&positions, piece)?;
        let shared = cut.shared(&positions);
        let mut made = part_of(&samples, &shared);
        if !bare {
            let (origin, own, dictionary) = (cut.origin(&positions), self.pieces.of(&positions), self.dictionary);
            for piece in self.pieces.of(&cut.around(&positions)).filter(|piece| !own.contains(piece)) {
                self.shelf.show(piece, &mut |code| take_off(&mut samples, origin, code, dictionary))?;
            }
        }
        made.iter_mut().zip(part_of(&samples, &shared)).for_each(|(before, after)| *before -= after);
        let planes = planes_of(samples.channels(), self.dictionary.channels());
        let observed = Observed { mask: weights.map(Mask::of_part).transpose()?, ..samples.into() };
        Ok(Window { positions, observed, planes, shared: (shared, made) })
    }

    /// The codes on the shelf at the positions of a window, relative to it.
    pub(super) fn codes(&mut self, window: &Window<T>) -> Result<State<T>> {
        let (origin, pieces) = (self.cut.origin(&window.positions), self.pieces.of(&window.positions));
        let count = pieces.clone().map(|piece| self.shelf.kept(piece)).sum::<usize>();
        let mut codes: Vec<_> = (0..window.planes).map(|_| Vec::with_capacity(count / window.planes)).collect();
        for piece in pieces {
            self.shelf.show(piece, &mut |code| {
                let position = std::array::from_fn(|a| (i64::from(code.position[a]) - origin[a]) as i32);
                codes[code.channel as usize].push(Code { position, channel: 0, ..code });
            })?;
        }
        Ok(State { codes, pending: Vec::new() })
    }

    /// Puts the codes of a window on the shelf, in place of those that were at its positions.
    pub(super) fn keep(&mut self, positions: Range<i64>, state: State<T>, threads: usize) -> Result<()> {
        let (axis, origin) = (self.cut.axis, self.cut.origin(&positions));
        let mut codes: Vec<Code<T>> = Vec::new();
        for (channel, mut plane) in state.codes.into_iter().enumerate() {
            plane.retain(|code| code.value != T::ZERO);
            for code in &mut plane {
                code.position = std::array::from_fn(|a| (i64::from(code.position[a]) + origin[a]) as i32);
                code.channel = channel as u32;
            }
            if codes.is_empty() { codes = plane } else { codes.append(&mut plane) }
        }
        sort(&mut codes, axis, threads);
        let mut rest = &codes[..];
        for piece in self.pieces.of(&positions) {
            let end = self.pieces.range(piece).end;
            let (own, behind) = rest.split_at(rest.partition_point(|code| i64::from(code.position[axis]) < end));
            self.shelf.keep(piece, own)?;
            rest = behind;
        }
        Ok(())
    }

    /// A session of the window, all codes zero.
    pub(super) fn open(&self, engine: &dyn Engine<T>, params: &PursuitParams, window: &Window<T>) -> Result<Box<dyn Session<T>>> {
        let problem = setup::problem(params, std::slice::from_ref(&window.observed), self.dictionary)?;
        engine.open_part(problem, &self.cut.open_positions(&window.positions))
    }
}

impl<T: Real> Window<T> {
    /// Sums over the samples that are counted with `own` of the window's positions, with the signal as it is.
    pub(super) fn sums(
        &self,
        cut: &Cut,
        session: &mut dyn Session<T>,
        plane: usize,
        scaling: Scaling,
        own: &Range<i64>,
    ) -> ScaledSums {
        let session = scaled(session);
        let mut sums = session.scaled_sums(plane, scaling, Some(&cut.own(&self.positions, own)));
        let (part, made) = &self.shared;
        // Zones begin with their window or far behind what needles before it touch.
        if own.start > self.positions.start {
            return sums;
        }
        let residual = session.residual_part(plane, part);
        let size: [usize; 3] = std::array::from_fn(|a| part[a].len());
        // Planes of one channel each, or one of all.
        let made = made[if self.planes > 1 { plane * residual.len() } else { 0 }..].chunks(size[2].max(1));
        for (row, (residual, made)) in residual.chunks(size[2].max(1)).zip(made).enumerate() {
            let first = [row / size[1] % size[0], row % size[1], 0];
            let first = std::array::from_fn(|a| scaling.origin[a] + (part[a].start + first[a]) as i64);
            scaling.field.for_row(first, residual.len(), |i, scale| {
                sums.dot += scale * residual[i].to_f64() * made[i].to_f64();
            });
        }
        sums
    }
}

/// The samples of a part, channel after channel; 0 where they are no numbers.
fn part_of<T: Real>(signal: &Signal<T>, part: &Part) -> Vec<T> {
    let size = signal.extent().padded();
    let mut samples = Vec::new();
    for c in 0..signal.channels() {
        for z in part[0].clone() {
            for y in part[1].clone() {
                let row = ((c * size[0] + z) * size[1] + y) * size[2];
                let line = &signal.data()[row + part[2].start..row + part[2].end];
                samples.extend(line.iter().map(|&x| if x.is_finite() { x } else { T::ZERO }));
            }
        }
    }
    samples
}

/// Takes what a code makes off a window that begins at `origin`.
fn take_off<T: Real>(window: &mut Signal<T>, origin: [i64; 3], code: Code<T>, dictionary: &Dictionary<T>) {
    let (size, [depth, height, width]) = (window.extent().padded(), dictionary.extent().padded());
    let by_channel = planes_of(window.channels(), dictionary.channels()) > 1;
    let inside = |axis: usize, offset: usize| {
        let at = i64::from(code.position[axis]) + offset as i64 - origin[axis];
        (0..size[axis] as i64).contains(&at).then_some(at as usize)
    };
    for (row, line) in dictionary.atom(code.atom as usize).chunks_exact(width).enumerate() {
        let (c, z, y) = (row / (depth * height), row / height % depth, row % height);
        let (Some(z), Some(y)) = (inside(0, z), inside(1, y)) else { continue };
        let c = if by_channel { code.channel as usize } else { c };
        let start = ((c * size[0] + z) * size[1] + y) * size[2];
        for (x, &sample) in line.iter().enumerate() {
            if let Some(x) = inside(2, x) {
                window.data_mut()[start + x] -= code.value * sample;
            }
        }
    }
}

/// The scaled residual of a window's session.
pub(super) fn scaled<T>(session: &mut dyn Session<T>) -> &mut dyn ScaledResidual<T> {
    session.scaled().expect("what `Engine::open_part` promises")
}
