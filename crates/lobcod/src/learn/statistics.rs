//! Sufficient statistics: all that the best dictionary for given codes depends on, of a size that does not grow with the signals.
//!
//! With the codes `a` held still, the data term is a quadratic in the atoms whose coefficients are the correlations of the codes
//! with each other, `C_kl(s) = sum_i a_ik a_(i+s)l`, and with the signal, `b_k = sum_i a_ik P_i F`. Where every sample counts alike `F`
//! is the signal. Under a mask, and beyond a free border, what is not observed stands in `F` as the present codes and atoms make it:
//! then the quadratic lies above the data term, touches it at the present atoms, and lowering the one lowers the other.

use crate::border::Border;
use crate::checkpoint::Memory;
use crate::dictionary::Dictionary;
use crate::extent::Extent;
use crate::needles::Code;
use crate::real::Real;

/// Correlations of codes with each other and with the signal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Statistics {
    /// Box of an atom, channels, atoms.
    size: [usize; 3],
    channels: usize,
    atoms: usize,
    /// `C_kl(s)`: for every pair of atoms all shifts, last axis fastest.
    products: Vec<f64>,
    /// `b_k`, atom after atom.
    pulls: Vec<f64>,
}

/// What one plane of a signal holds: its residual over the signal (weights squared in it) and its codes.
pub(super) struct Coded<'a, T> {
    pub(super) extent: Extent,
    pub(super) border: Border,
    pub(super) residual: &'a [T],
    pub(super) codes: &'a [Code<T>],
}

impl Statistics {
    /// Bytes the statistics of such atoms take.
    pub(super) fn bytes<T: Real>(dictionary: &Dictionary<T>) -> u64 {
        let shifts: u64 = dictionary.extent().padded().iter().map(|&h| 2 * h as u64 - 1).product();
        8 * dictionary.len() as u64 * (dictionary.len() as u64 * shifts + dictionary.atom_len() as u64)
    }

    /// No codes yet.
    pub(super) fn new<T: Real>(dictionary: &Dictionary<T>) -> Self {
        let (size, atoms) = (dictionary.extent().padded(), dictionary.len());
        let shifts: usize = size.iter().map(|h| 2 * h - 1).product();
        let (products, pulls) = (vec![0.0; atoms * atoms * shifts], vec![0.0; dictionary.data().len()]);
        Self { size, channels: dictionary.channels(), atoms, products, pulls }
    }

    /// Becomes a copy of others of the same atoms, in the memory it has.
    pub(super) fn copy(&mut self, other: &Statistics) {
        self.products.copy_from_slice(&other.products);
        self.pulls.copy_from_slice(&other.pulls);
    }

    /// Makes what was gathered count less.
    pub(super) fn fade(&mut self, keep: f64) {
        self.products.iter_mut().chain(&mut self.pulls).for_each(|x| *x *= keep);
    }

    /// Forgets all about an atom.
    pub(super) fn forget(&mut self, atom: usize) {
        let (n, shifts) = (self.pulls.len() / self.atoms, self.shifts());
        self.pulls[atom * n..(atom + 1) * n].fill(0.0);
        for (pair, products) in self.products.chunks_exact_mut(shifts).enumerate() {
            if pair / self.atoms == atom || pair % self.atoms == atom {
                products.fill(0.0);
            }
        }
    }

    /// Energy of the codes of every atom.
    pub(super) fn energies(&self) -> Vec<f64> {
        let shifts = self.shifts();
        (0..self.atoms).map(|k| self.products[(k * self.atoms + k) * shifts + shifts / 2]).collect()
    }

    fn shifts(&self) -> usize {
        self.size.iter().map(|h| 2 * h - 1).product()
    }

    /// Adds the codes of a plane.
    pub(super) fn gather<T: Real>(&mut self, plane: &Coded<'_, T>, dictionary: &Dictionary<T>) {
        let codes = Placed::sorted(plane, self.size);
        self.gather_products(&codes);
        let field = Field::of(plane, &codes, dictionary);
        let n = dictionary.atom_len();
        for code in codes.iter().filter(|c| !c.ghost) {
            field.add_patch(code.at, code.value, &mut self.pulls[code.atom * n..(code.atom + 1) * n]);
        }
    }

    fn gather_products(&mut self, codes: &[Placed]) {
        let (reach, shifts) = (self.size.map(|h| h as i32 - 1), self.shifts());
        let (row, slice) = (2 * reach[2] + 1, (2 * reach[1] + 1) * (2 * reach[2] + 1));
        // Where the rows of codes begin.
        let mut rows: Vec<([i32; 2], usize)> = Vec::new();
        for (i, code) in codes.iter().enumerate() {
            if rows.last().is_none_or(|last| last.0 != [code.at[0], code.at[1]]) {
                rows.push(([code.at[0], code.at[1]], i));
            }
        }
        let end_of = |r: usize| rows.get(r + 1).map_or(codes.len(), |next| next.1);
        for (r, (at, start)) in rows.iter().enumerate() {
            let first = rows.partition_point(|row| row.0 < [at[0] - reach[0], at[1] - reach[1]]);
            for (q, (to, from)) in rows.iter().enumerate().skip(first) {
                let apart = [to[0] - at[0], to[1] - at[1]];
                if apart[0] > reach[0] {
                    break;
                }
                if apart[1].abs() > reach[1] {
                    continue;
                }
                let others = &codes[*from..end_of(q)];
                let mut near = 0;
                for one in codes[*start..end_of(r)].iter().filter(|c| !c.ghost) {
                    near += others[near..].iter().take_while(|o| o.at[2] < one.at[2] - reach[2]).count();
                    for other in others[near..].iter().take_while(|o| o.at[2] <= one.at[2] + reach[2]) {
                        let shift = apart[0] * slice + apart[1] * row + other.at[2] - one.at[2] + shifts as i32 / 2;
                        self.products[(one.atom * self.atoms + other.atom) * shifts + shift as usize] += one.value * other.value;
                    }
                }
            }
        }
    }

    /// One pass over the atoms, as in the engine, on the quadratic: it never rises. Atoms without codes stay.
    pub(super) fn improve<T: Real>(&self, dictionary: &Dictionary<T>) -> Dictionary<T> {
        let n = dictionary.atom_len();
        let mut atoms: Vec<f64> = dictionary.data().iter().map(|x| x.to_f64()).collect();
        let mut seen = vec![0.0; n];
        for k in 0..self.atoms {
            let own = &self.products[(k * self.atoms + k) * self.shifts()..][..self.shifts()];
            let bound: f64 = own.iter().map(|c| c.abs()).sum();
            if bound == 0.0 {
                continue;
            }
            seen.fill(0.0);
            for l in 0..self.atoms {
                self.add_seen(k, l, &atoms[l * n..(l + 1) * n], &mut seen);
            }
            let atom = &mut atoms[k * n..(k + 1) * n];
            let pulls = &self.pulls[k * n..(k + 1) * n];
            seen.iter_mut().zip(pulls).zip(&*atom).for_each(|((s, b), d)| *s = d + (b - *s) / bound);
            let norm = seen.iter().map(|x| x * x).sum::<f64>().sqrt();
            // Codes beyond the precision say nothing of an atom.
            if norm.is_finite() && norm > 0.0 {
                atom.iter_mut().zip(&seen).for_each(|(d, x)| *d = x / norm);
            }
        }
        dictionary.with_data(atoms.into_iter().map(T::from_f64).collect()).expect("atoms of unit norm")
    }

    /// What the codes of atom `l` put under those of atom `k`: `seen += sum_s C_kl(s) d_l(. - s)`.
    fn add_seen(&self, k: usize, l: usize, atom: &[f64], seen: &mut [f64]) {
        let [depth, height, width] = self.size;
        let (rows, columns) = (2 * height - 1, 2 * width - 1);
        let products = &self.products[(k * self.atoms + l) * self.shifts()..][..self.shifts()];
        for (from, into) in atom.chunks_exact(depth * height * width).zip(seen.chunks_exact_mut(depth * height * width)) {
            for (target, sums) in into.chunks_exact_mut(width).enumerate() {
                for (source, line) in from.chunks_exact(width).enumerate() {
                    let apart = [depth - 1 + target / height - source / height, height - 1 + target % height - source % height];
                    let shifts = &products[(apart[0] * rows + apart[1]) * columns..][..columns];
                    for (x, d) in line.iter().enumerate() {
                        let shifts = &shifts[width - 1 - x..][..width];
                        sums.iter_mut().zip(shifts).for_each(|(s, c)| *s += c * d);
                    }
                }
            }
        }
    }

    pub(super) fn remember(&self, memory: &mut Memory) {
        memory.insert("products".into(), self.products.clone());
        memory.insert("pulls".into(), self.pulls.clone());
    }

    pub(super) fn recall(&mut self, memory: &Memory) -> Option<()> {
        let products = memory.get("products").filter(|found| found.len() == self.products.len())?;
        let pulls = memory.get("pulls").filter(|found| found.len() == self.pulls.len())?;
        self.products.clone_from(products);
        self.pulls.clone_from(pulls);
        Some(())
    }
}

/// A code at its place, or the image of one a turn around a periodic domain.
struct Placed {
    at: [i32; 3],
    atom: usize,
    value: f64,
    ghost: bool,
}

impl Placed {
    /// The codes in the order of the raster; on a periodic domain with their images as far as patches reach.
    fn sorted<T: Real>(plane: &Coded<'_, T>, size: [usize; 3]) -> Vec<Placed> {
        let (length, reach) = (plane.extent.padded().map(|l| l as i32), size.map(|h| h as i32 - 1));
        let mut placed = Vec::with_capacity(plane.codes.len());
        for code in plane.codes {
            let turns = if plane.border == Border::Periodic { 0..27 } else { 13..14 };
            for turn in turns {
                let at: [i32; 3] = std::array::from_fn(|a| code.position[a] + (turn / [9, 3, 1][a] % 3 - 1) * length[a]);
                if turn == 13 || (0..3).all(|a| at[a] >= -reach[a] && at[a] < length[a] + reach[a]) {
                    let (atom, value) = (code.atom as usize, code.value.to_f64());
                    placed.push(Placed { at, atom, value, ghost: turn != 13 });
                }
            }
        }
        placed.sort_by_key(|p| (p.at, p.atom));
        placed
    }
}

/// The signal as the statistics see it, with room for every patch that touches it.
struct Field {
    size: [usize; 3],
    atom: [usize; 3],
    data: Vec<f64>,
}

impl Field {
    fn of<T: Real>(plane: &Coded<'_, T>, codes: &[Placed], dictionary: &Dictionary<T>) -> Self {
        let (length, atom) = (plane.extent.padded(), dictionary.extent().padded());
        let size: [usize; 3] = std::array::from_fn(|a| length[a] + 3 * (atom[a] - 1));
        let volume: usize = size.iter().product();
        let mut field = Self { size, atom, data: vec![0.0; dictionary.channels() * volume] };
        for code in codes {
            for (row, samples) in dictionary.atom(code.atom).chunks_exact(atom[2]).enumerate() {
                let start = field.row_start(code.at, row);
                let line = &mut field.data[start..start + atom[2]];
                line.iter_mut().zip(samples).for_each(|(f, d)| *f += code.value * d.to_f64());
            }
        }
        for (i, f) in field.data.iter_mut().enumerate() {
            let at = [i % volume / (size[1] * size[2]), i / size[2] % size[1], i % size[2]];
            let at: [i64; 3] = std::array::from_fn(|a| at[a] as i64 - (atom[a] as i64 - 1));
            let inside = (0..3).all(|a| (0..length[a] as i64).contains(&at[a]));
            match plane.border {
                Border::Zero if !inside => *f = 0.0,
                Border::Free if !inside => {}
                _ => {
                    let p: [usize; 3] = std::array::from_fn(|a| at[a].rem_euclid(length[a] as i64) as usize);
                    let sample = ((i / volume * length[0] + p[0]) * length[1] + p[1]) * length[2] + p[2];
                    *f += plane.residual[sample].to_f64();
                }
            }
        }
        field
    }

    /// `into += value * patch`.
    fn add_patch(&self, at: [i32; 3], value: f64, into: &mut [f64]) {
        for (row, into) in into.chunks_exact_mut(self.atom[2]).enumerate() {
            let start = self.row_start(at, row);
            into.iter_mut().zip(&self.data[start..start + self.atom[2]]).for_each(|(b, f)| *b += value * f);
        }
    }

    /// Where a row of the patch at `at` begins. The field begins `atom - 1` before the signal and ends twice as far behind it.
    fn row_start(&self, at: [i32; 3], row: usize) -> usize {
        let [depth, height, _] = self.atom;
        let (c, z, y) = (row / (depth * height), row / height % depth, row % height);
        let place = |axis: usize, i: usize| (i64::from(at[axis]) + (i + self.atom[axis] - 1) as i64) as usize;
        ((c * self.size[0] + place(0, z)) * self.size[1] + place(1, y)) * self.size[2] + place(2, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{CpuEngine, Discovery, Engine, Measure, Plane, Problem, Session, Support, Visit};
    use crate::grid::Grouping;
    use crate::pursuit::Local;

    const PENALTY: f64 = 1.5;

    fn open(axes: &[usize], atom: &[usize], channels: usize, border: Border, masked: bool) -> Box<dyn Session<f64>> {
        let extent = Extent::new(axes).unwrap();
        let count = extent.volume() * channels;
        let weight = |i: usize| [1.0, 0.0, 1.0, 0.5, 1.0][i * 13 % 5];
        let wave = |i: usize| 4.0 * (i as f64 * 0.61).sin() + 2.0 * (i as f64 * 0.113).cos() + (i * 7 % 19) as f64 * 0.2;
        let plane = Plane {
            extent,
            target: (0..count).map(|i| if masked && weight(i) == 0.0 { 0.0 } else { wave(i) }).collect(),
            weights: masked.then(|| (0..count).map(weight).collect()),
            position_weights: None,
            position_caps: None,
            held: None,
        };
        let problem = Problem {
            planes: vec![plane],
            dictionary: Dictionary::random(Extent::new(atom).unwrap(), channels, 6, 5).unwrap(),
            border,
            grouping: Grouping::Tiles(6),
            atom_weights: vec![1.0; 6],
            nonnegative: false,
            local: Local::Coordinate,
            cap: None,
            learning: true,
        };
        let mut session = CpuEngine::new(1).unwrap().open(problem).unwrap();
        session.discover(&Discovery { penalty: PENALTY, visit: Visit::All, local_tolerance: 1e-6, layer_seed: None });
        session.support(&Support { penalty: PENALTY, sweeps: 1, rounds: 3, tolerance: 0.0 });
        session.refresh();
        session
    }

    fn improved(session: &dyn Session<f64>, extent: Extent, border: Border) -> Dictionary<f64> {
        let mut statistics = Statistics::new(session.dictionary());
        let (residual, state) = (session.residual(0), session.fetch());
        let plane = Coded { extent, border, residual: &residual, codes: &state.codes[0] };
        statistics.gather(&plane, session.dictionary());
        statistics.improve(session.dictionary())
    }

    #[test]
    fn a_pass_on_statistics_is_the_pass_of_the_engine_where_every_sample_counts_and_never_raises_the_objective() {
        let shapes: [(&[usize], &[usize], usize); 4] =
            [(&[61], &[5], 1), (&[19, 23], &[4, 5], 1), (&[17, 14], &[3, 4], 3), (&[8, 9, 10], &[2, 3, 3], 1)];
        for (axes, atom, channels) in shapes {
            for border in Border::ALL {
                for masked in [false, true] {
                    let name = format!("{axes:?} {border} masked {masked}");
                    let mut session = open(axes, atom, channels, border, masked);
                    let objective = |session: &mut dyn Session<f64>| session.measure(Measure::Objective)[0].residual_energy;
                    let before = objective(&mut *session);
                    let by_statistics = improved(&*session, Extent::new(axes).unwrap(), border);
                    let first = session.dictionary().clone();
                    session.improve_atoms();
                    if border != Border::Free && !masked {
                        for (a, b) in by_statistics.data().iter().zip(session.dictionary().data()) {
                            assert!((a - b).abs() < 1e-9, "{name}: {a} on statistics, {b} in the engine");
                        }
                    }
                    session.set_dictionary(by_statistics.clone());
                    session.refresh();
                    let after = objective(&mut *session);
                    assert!(after < before, "{name}: the data term went from {before} to {after}");
                    assert_ne!(first.data(), by_statistics.data());
                }
            }
        }
    }
}
