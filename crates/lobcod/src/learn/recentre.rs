//! Shifts atoms that are off the centre of their pattern within their box.
//!
//! Small steps do not escape a wrong location. The residual around the codes shows what is outside
//! the box; if a shifted box would contain more energy, the atom moves there with its codes.

use super::replace::residual_of;
use super::solver::Pass;
use crate::border::Border;
use crate::dictionary::{Constraints, Dictionary, squares};
use crate::engine::{Share, State};
use crate::error::Result;
use crate::geometry::{Point, Raster, Region, cell, cells, index, volume};
use crate::needles::Code;
use crate::real::Real;
use std::array::from_fn;

/// Required ratio of the energy of a shifted box to that of the current one.
const GAIN: f64 = 1.005;
/// Passes between checks whether atoms are centred in their boxes.
const EVERY: usize = 8;

/// Whether a pass begins with such a check.
pub fn is_due(pass: usize) -> bool {
    pass % EVERY == 1 && pass > 1
}

/// Moves atoms whose pattern extends beyond their box, with their codes; returns how many.
pub fn recentre<T: Real>(pass: &mut Pass<'_, '_, T>) -> Result<usize> {
    let (dictionary, border) = (pass.session.dictionary().clone(), pass.params.border);
    let codes = pass.session.state(Share::All)?.codes;
    let patterns = Patterns::gather(pass, &codes, &dictionary)?;
    let n = dictionary.atom_len();
    let mut data = dictionary.data().to_vec();
    let mut shifts = vec![[0i32; 3]; dictionary.len()];
    for (k, shift) in shifts.iter_mut().enumerate() {
        if k < pass.constraints.frozen {
            continue;
        }
        let (best, atom) = patterns.best_box(k, pass.constraints);
        if best == [0; 3] {
            continue;
        }
        let atom: Vec<T> = atom.into_iter().map(T::from_f64).collect();
        if let Some(atom) = pass.constraints.new_atom(k, &atom) {
            *shift = best;
            data[k * n..(k + 1) * n].copy_from_slice(&atom);
        }
    }
    let moved = shifts.iter().filter(|s| **s != [0; 3]).count();
    if moved == 0 {
        return Ok(0);
    }
    let Ok(moved_dictionary) = Dictionary::new(dictionary.extent(), dictionary.channels(), data)
    else {
        return Ok(0);
    };
    let shifted = pass.extents.iter().zip(codes).map(|(extent, codes)| {
        let l = extent.padded().map(|l| l as i32);
        let place = |code: Code<T>| {
            let s = shifts[code.atom as usize];
            let mut position: [i32; 3] = from_fn(|a| code.position[a] + s[a]);
            if border == Border::Periodic {
                position = from_fn(|a| position[a].rem_euclid(l[a]));
            }
            let positions = border.positions(*extent, dictionary.extent());
            positions.contains(position.into()).then_some(Code { position, ..code })
        };
        codes.into_iter().filter_map(place).collect()
    });
    let state = State::of_codes(shifted.collect());
    pass.atoms().set_dictionary(moved_dictionary)?;
    pass.session.restore(&state)?;
    Ok(moved)
}

/// The frame that counts from the first sample of a pattern.
#[derive(Clone, Copy)]
struct InPattern;

/// The pattern around the codes of every atom, with a margin of half a box on each side.
struct Patterns {
    /// Extent of an atom, and margin of the window on each side.
    size: [usize; 3],
    radius: [usize; 3],
    channels: usize,
    windows: Vec<Vec<f64>>,
}

impl Patterns {
    fn gather<T: Real>(
        pass: &mut Pass<'_, '_, T>,
        codes: &[Vec<Code<T>>],
        dictionary: &Dictionary<T>,
    ) -> Result<Self> {
        let size = dictionary.extent().padded();
        let radius = size.map(|h| h / 2);
        let channels = dictionary.channels();
        let mut patterns = Self { size, radius, channels, windows: Vec::new() };
        let window = patterns.window();
        patterns.windows = vec![vec![0.0; channels * volume(window)]; dictionary.len()];
        let mut energy = vec![0.0; dictionary.len()];
        for (plane, codes) in codes.iter().enumerate() {
            let residual = residual_of(pass, plane)?;
            for code in codes {
                let value = code.value.to_f64();
                energy[code.atom as usize] += value * value;
                let sums = &mut patterns.windows[code.atom as usize];
                let first = Point::from(code.position) + radius.map(|r| -(r as i64));
                residual.raster().runs(
                    &Region::new(first, window),
                    |[c, z, y, x], from, length| {
                        let Some(from) = from else { return };
                        let at = c * volume(window) + index([z, y, x], window);
                        let line = &residual.data()[from..from + length];
                        sums[at..at + length]
                            .iter_mut()
                            .zip(line)
                            .for_each(|(sum, r)| *sum += value * r.to_f64());
                    },
                );
            }
        }
        for (k, sums) in patterns.windows.iter_mut().enumerate() {
            if energy[k] == 0.0 {
                continue;
            }
            sums.iter_mut().for_each(|sum| *sum /= energy[k]);
            for (i, d) in dictionary.atom(k).iter().enumerate() {
                let at = cell(i % volume(size), size);
                let place = index(from_fn(|a| at[a] + radius[a]), window);
                sums[i / volume(size) * volume(window) + place] += d.to_f64();
            }
        }
        Ok(patterns)
    }

    fn window(&self) -> [usize; 3] {
        from_fn(|a| self.size[a] + 2 * self.radius[a])
    }

    /// The shift of the box with the most energy, and its samples; none if the gain is small.
    fn best_box(&self, k: usize, constraints: &Constraints) -> ([i32; 3], Vec<f64>) {
        let mut best = ([0; 3], self.crop(k, self.radius, constraints));
        let mut most = GAIN * squares(&best.1);
        for at in cells(self.radius.map(|r| 2 * r + 1)) {
            let atom = self.crop(k, at, constraints);
            if squares(&atom) > most {
                most = squares(&atom);
                best = (from_fn(|a| at[a] as i32 - self.radius[a] as i32), atom);
            }
        }
        best
    }

    /// The samples of a box at this offset in the window, 0 outside the size of the atom.
    fn crop(&self, k: usize, at: [usize; 3], constraints: &Constraints) -> Vec<f64> {
        let window = Raster::new(Region::<InPattern>::whole(self.window()), self.channels);
        let region = Region::new(Point::new(at.map(|x| x as i64)), self.size);
        let mut samples = window.gather(&self.windows[k], &region, 0.0, 1);
        constraints.zero_outside(k, &mut samples);
        samples
    }
}
