//! One pass over the atoms: each in turn becomes the best of its direction, codes held still.
//!
//! For atom `d` with codes `a_i` at positions `i` the objective in `d'` is at most
//!
//! ```text
//! f(d) - <g, d' - d> + 1/2 <d' - d, H (d' - d)>,     g = sum_i a_i P_i R,    H_pq = sum_ij a_i a_j [i + p = j + q]
//! ```
//!
//! with equality where every pixel counts alike; a mask or a border only takes energy away from `H`, so the bound holds under them
//! too and the objective cannot rise. `H` is a convolution with the autocorrelation of the codes. A few projected steps lower the
//! bound on the unit sphere, then the residual follows: `2 n` multiply-adds a code.

use super::plane::PlaneState;
use super::tile::TileState;
use crate::dictionary::Dictionary;
use crate::real::Real;
use crate::simd::{Kernel, Vector};

/// Steps on the sphere for each atom; each costs one small convolution.
const STEPS: usize = 3;

/// A code as the pass sees it.
#[derive(Clone, Copy)]
struct PlacedCode {
    atom: u32,
    plane: u32,
    /// First sample of the patch, in samples of the domain.
    at: [i32; 3],
    value: f64,
}

/// Improves every atom in turn and keeps the residuals right; gives the largest move of an atom.
pub(super) struct ImproveAtoms<'a, T> {
    pub(super) dictionary: &'a mut Dictionary<T>,
    pub(super) planes: &'a mut [PlaneState<T>],
    pub(super) tiles: &'a [Vec<TileState<T>>],
}

impl<T: Real> Kernel<T> for ImproveAtoms<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) -> f64 {
        let codes = codes_by_atom(self.planes, self.tiles);
        let mut largest = 0.0f64;
        // Written with plain loops, which the compiler vectorises for the level this runs at.
        for group in codes.chunk_by(|a, b| a.atom == b.atom) {
            largest = largest.max(improve_atom(self.dictionary, self.planes, group));
        }
        largest
    }
}

/// All codes, sorted by atom, plane and position.
fn codes_by_atom<T: Real>(planes: &[PlaneState<T>], tiles: &[Vec<TileState<T>>]) -> Vec<PlacedCode> {
    let mut codes = Vec::with_capacity(tiles.iter().flatten().map(|t| t.codes.len()).sum());
    for state in tiles.iter().flatten() {
        let layout = &planes[state.plane].layout;
        codes.extend(state.codes.iter().map(|code| {
            let local = layout.coordinates(code.offset as usize);
            let at = std::array::from_fn(|a| (state.tile.origin[a] + local[a] as i64) as i32);
            PlacedCode { atom: u32::from(code.atom), plane: state.plane as u32, at, value: code.value.to_f64() }
        }));
    }
    codes.sort_unstable_by_key(|c| (c.atom, c.plane, c.at));
    codes
}

/// Improves one atom; returns how far it moved.
#[inline(always)]
fn improve_atom<T: Real>(dictionary: &mut Dictionary<T>, planes: &mut [PlaneState<T>], codes: &[PlacedCode]) -> f64 {
    let atom = codes[0].atom as usize;
    let n = dictionary.atom_len();
    let mut gradient = vec![0.0; n];
    for code in codes {
        let plane = &mut planes[code.plane as usize];
        let value = code.value;
        plane.with_patch(code.at, |p, residual, _| {
            gradient[p..p + residual.len()].iter_mut().zip(residual).for_each(|(g, r)| *g += value * r.to_f64());
        });
    }
    let before: Vec<f64> = dictionary.atom(atom).iter().map(|x| x.to_f64()).collect();
    let after = Bound::new(planes, codes).lower(&before, &gradient);
    let change: Vec<T> = after.iter().zip(&before).map(|(a, b)| T::from_f64(a - b)).collect();
    // The residual follows what the atom became in its own precision.
    let moved: Vec<T> = dictionary.atom(atom).iter().zip(&change).map(|(&d, &c)| (d + c) - d).collect();
    dictionary.move_atom(atom, &moved);
    for code in codes {
        let plane = &mut planes[code.plane as usize];
        let value = T::from_f64(code.value);
        plane.with_patch(code.at, |p, residual, weights| {
            let moved = &moved[p..p + residual.len()];
            match weights {
                None => residual.iter_mut().zip(moved).for_each(|(r, &m)| *r -= value * m),
                Some(w) => residual.iter_mut().zip(moved).zip(w).for_each(|((r, &m), &w)| *r -= value * m * w),
            }
        });
    }
    moved.iter().map(|m| m.to_f64() * m.to_f64()).sum::<f64>().sqrt()
}

/// The quadratic bound of one atom.
struct Bound {
    /// Box of an atom.
    size: [usize; 3],
    /// Shifts at which the codes correlate with themselves, and how strongly; the shift 0 first.
    shifts: Vec<([i32; 3], f64)>,
}

impl Bound {
    fn new<T: Real>(planes: &[PlaneState<T>], codes: &[PlacedCode]) -> Self {
        let size = planes[0].grid.atom;
        let span = size.map(|h| 2 * h - 1);
        let reach = size.map(|h| h as i32 - 1);
        let mut correlation = vec![0.0; span.iter().product()];
        let index = |s: [i32; 3]| {
            let at: [usize; 3] = std::array::from_fn(|a| (s[a] + reach[a]) as usize);
            (at[0] * span[1] + at[1]) * span[2] + at[2]
        };
        for plane_codes in codes.chunk_by(|a, b| a.plane == b.plane) {
            let domain = planes[plane_codes[0].plane as usize].grid.domain.map(|l| l as i32);
            let periodic = planes[plane_codes[0].plane as usize].grid.periodic;
            for (i, one) in plane_codes.iter().enumerate() {
                correlation[index([0; 3])] += one.value * one.value;
                for other in &plane_codes[i + 1..] {
                    let apart: [i32; 3] = std::array::from_fn(|a| other.at[a] - one.at[a]);
                    let flat = (reach[0] == 0, reach[0] == 0 && reach[1] == 0);
                    if !periodic && (apart[0] > reach[0] || (flat.0 && apart[1] > reach[1]) || (flat.1 && apart[2] > reach[2])) {
                        // Sorted by position: nothing behind can overlap any more.
                        break;
                    }
                    // Around a short periodic axis two codes can meet on both sides.
                    for turn in if periodic { 0..27 } else { 13..14 } {
                        let s: [i32; 3] = std::array::from_fn(|a| apart[a] + (turn / [9, 3, 1][a] % 3 - 1) * domain[a]);
                        if (0..3).all(|a| s[a].abs() <= reach[a]) {
                            let product = one.value * other.value;
                            correlation[index(s)] += product;
                            correlation[index(s.map(|x| -x))] += product;
                        }
                    }
                }
            }
        }
        let mut shifts = vec![([0; 3], correlation[index([0; 3])])];
        for z in -reach[0]..=reach[0] {
            for y in -reach[1]..=reach[1] {
                for x in -reach[2]..=reach[2] {
                    let s = [z, y, x];
                    let c = correlation[index(s)];
                    if c != 0.0 && s != [0; 3] {
                        shifts.push((s, c));
                    }
                }
            }
        }
        Self { size, shifts }
    }

    /// `H d`, channel by channel.
    #[inline(always)]
    fn apply(&self, d: &[f64], out: &mut [f64]) {
        let [depth, height, width] = self.size;
        let own = self.shifts[0].1;
        out.iter_mut().zip(d).for_each(|(o, &d)| *o = own * d);
        for (from, into) in d.chunks_exact(depth * height * width).zip(out.chunks_exact_mut(depth * height * width)) {
            for &(s, c) in &self.shifts[1..] {
                let range = |a: usize, l: usize| (s[a].max(0) as usize, (l as i32 + s[a].min(0)) as usize);
                let (zs, ys, xs) = (range(0, depth), range(1, height), range(2, width));
                for z in zs.0..zs.1 {
                    for y in ys.0..ys.1 {
                        let row = (z * height + y) * width;
                        let source = (((z as i32 - s[0]) * height as i32 + y as i32 - s[1]) * width as i32 - s[2]) as isize;
                        let source = (source + xs.0 as isize) as usize;
                        let line = &from[source..source + xs.1 - xs.0];
                        into[row + xs.0..row + xs.1].iter_mut().zip(line).for_each(|(o, &d)| *o += c * d);
                    }
                }
            }
        }
    }

    /// Lowers the bound on the unit sphere from `before`: `d <- normalise(d + (g - H (d - before)) / L)`, `L` above the norm of `H`.
    #[inline(always)]
    fn lower(&self, before: &[f64], gradient: &[f64]) -> Vec<f64> {
        let l: f64 = self.shifts.iter().map(|(_, c)| c.abs()).sum();
        let mut d = before.to_vec();
        let (mut change, mut pull) = (vec![0.0; d.len()], vec![0.0; d.len()]);
        for _ in 0..STEPS {
            change.iter_mut().zip(&d).zip(before).for_each(|((c, d), b)| *c = d - b);
            self.apply(&change, &mut pull);
            d.iter_mut().zip(gradient).zip(&pull).for_each(|((d, g), p)| *d += (g - p) / l);
            let norm = d.iter().map(|x| x * x).sum::<f64>().sqrt();
            d.iter_mut().for_each(|x| *x /= norm);
        }
        d
    }
}
