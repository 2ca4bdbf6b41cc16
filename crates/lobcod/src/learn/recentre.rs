//! Atoms that sit off the middle of what they stand for are moved in their box.
//!
//! An atom learnt a few samples off sees only part of its pattern; codes and atom then agree on the wrong place and no small step
//! leads out. The residual around its codes shows what lies beyond the box: where a shifted box would hold more energy, the atom moves
//! there and its codes with it.

use super::course::Pass;
use super::replace::residual_of;
use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::engine::State;
use crate::needles::Code;
use crate::real::Real;

/// A shifted box must hold this much more energy than the present one.
const GAIN: f64 = 1.005;

/// Moves atoms whose pattern goes on beyond their box, and their codes with them; returns how many moved.
pub(super) fn recentre<T: Real>(pass: &mut Pass<'_, '_, T>) -> usize {
    let (dictionary, border) = (pass.session.dictionary().clone(), pass.border());
    let codes = pass.session.fetch().codes;
    let patterns = Patterns::gather(pass, &codes, &dictionary);
    let n = dictionary.atom_len();
    let mut data = dictionary.data().to_vec();
    let mut shifts = vec![[0i32; 3]; dictionary.len()];
    for (k, shift) in shifts.iter_mut().enumerate() {
        let (best, atom) = patterns.best_box(k);
        if best != [0; 3] {
            *shift = best;
            data[k * n..(k + 1) * n].iter_mut().zip(atom).for_each(|(d, x)| *d = T::from_f64(x));
        }
    }
    let moved = shifts.iter().filter(|s| **s != [0; 3]).count();
    if moved == 0 {
        return 0;
    }
    let Ok(moved_dictionary) = Dictionary::new(dictionary.extent(), dictionary.channels(), data) else { return 0 };
    let h = dictionary.extent().padded().map(|l| l as i32);
    let shifted = pass.extents.iter().zip(codes).map(|(extent, codes)| {
        let l = extent.padded().map(|l| l as i32);
        let place = |code: Code<T>| {
            let s = shifts[code.atom as usize];
            let mut position: [i32; 3] = std::array::from_fn(|a| code.position[a] + s[a]);
            if border == Border::Periodic {
                position = std::array::from_fn(|a| position[a].rem_euclid(l[a]));
            }
            let inside = (0..3).all(|a| position[a] > -h[a] && position[a] < l[a]);
            inside.then_some(Code { position, ..code })
        };
        codes.into_iter().filter_map(place).collect()
    });
    let state = State { codes: shifted.collect(), pending: Vec::new() };
    pass.session.set_dictionary(moved_dictionary);
    pass.session.restore(&state);
    pass.session.refresh();
    moved
}

/// For every atom the pattern around its codes, in a window that reaches half a box beyond it on each side.
struct Patterns {
    /// Box of an atom, and what the window has more on each side.
    size: [usize; 3],
    reach: [usize; 3],
    channels: usize,
    windows: Vec<Vec<f64>>,
}

impl Patterns {
    fn gather<T: Real>(pass: &Pass<'_, '_, T>, codes: &[Vec<Code<T>>], dictionary: &Dictionary<T>) -> Self {
        let size = dictionary.extent().padded();
        let reach = size.map(|h| h / 2);
        let channels = dictionary.channels();
        let mut patterns = Self { size, reach, channels, windows: Vec::new() };
        let window = patterns.window();
        patterns.windows = vec![vec![0.0; channels * window.iter().product::<usize>()]; dictionary.len()];
        let mut energy = vec![0.0; dictionary.len()];
        for (plane, codes) in codes.iter().enumerate() {
            let residual = residual_of(pass, plane);
            let l = pass.extents[plane].padded();
            for code in codes {
                let value = code.value.to_f64();
                energy[code.atom as usize] += value * value;
                let sums = &mut patterns.windows[code.atom as usize];
                let first: [i64; 3] = std::array::from_fn(|a| i64::from(code.position[a]) - reach[a] as i64);
                let skipped = (-first[2]).clamp(0, window[2] as i64) as usize;
                let end = (l[2] as i64 - first[2]).clamp(skipped as i64, window[2] as i64) as usize;
                for (row, sums) in sums.chunks_exact_mut(window[2]).enumerate() {
                    let (c, z, y) = (row / (window[0] * window[1]), row / window[1] % window[0], row % window[1]);
                    let (z, y) = (first[0] + z as i64, first[1] + y as i64);
                    if (0..l[0] as i64).contains(&z) && (0..l[1] as i64).contains(&y) && skipped < end {
                        let start = ((z as usize * l[1] + y as usize) * l[2]) as i64 + first[2] + skipped as i64;
                        let line = &residual.channel(c)[start as usize..start as usize + end - skipped];
                        sums[skipped..end].iter_mut().zip(line).for_each(|(sum, r)| *sum += value * r.to_f64());
                    }
                }
            }
        }
        for (k, sums) in patterns.windows.iter_mut().enumerate() {
            if energy[k] == 0.0 {
                continue;
            }
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum /= energy[k];
                let [c, at @ ..] = coordinates(i, window);
                if (0..3).all(|a| (reach[a]..reach[a] + size[a]).contains(&at[a])) {
                    let p: [usize; 3] = std::array::from_fn(|a| at[a] - reach[a]);
                    *sum += dictionary.atom(k)[((c * size[0] + p[0]) * size[1] + p[1]) * size[2] + p[2]].to_f64();
                }
            }
        }
        patterns
    }

    fn window(&self) -> [usize; 3] {
        std::array::from_fn(|a| self.size[a] + 2 * self.reach[a])
    }

    /// The shift of the box that holds most, and what it holds; no shift where the gain is small.
    fn best_box(&self, k: usize) -> ([i32; 3], Vec<f64>) {
        let energy = |atom: &[f64]| atom.iter().map(|x| x * x).sum::<f64>();
        let mut best = ([0; 3], self.cut(k, self.reach));
        let mut most = GAIN * energy(&best.1);
        for z in 0..=2 * self.reach[0] {
            for y in 0..=2 * self.reach[1] {
                for x in 0..=2 * self.reach[2] {
                    let atom = self.cut(k, [z, y, x]);
                    if energy(&atom) > most {
                        most = energy(&atom);
                        let shift = std::array::from_fn(|a| [z, y, x][a] as i32 - self.reach[a] as i32);
                        best = (shift, atom);
                    }
                }
            }
        }
        best
    }

    /// What a box at this place of the window holds.
    fn cut(&self, k: usize, at: [usize; 3]) -> Vec<f64> {
        let window = self.window();
        let count = self.channels * self.size.iter().product::<usize>();
        let sample = |i: usize| {
            let [c, p @ ..] = coordinates(i, self.size);
            self.windows[k][((c * window[0] + at[0] + p[0]) * window[1] + at[1] + p[1]) * window[2] + at[2] + p[2]]
        };
        (0..count).map(sample).collect()
    }
}

/// Channel, depth, height and width of sample `i` of a box.
fn coordinates(i: usize, size: [usize; 3]) -> [usize; 4] {
    [i / (size[0] * size[1] * size[2]), i / (size[1] * size[2]) % size[0], i / size[2] % size[1], i % size[2]]
}
