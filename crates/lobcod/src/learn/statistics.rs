//! Sufficient statistics of the dictionary for given codes, whose size is independent of the number
//! of signals.
//!
//! With codes `a` fixed, the data term is a quadratic in the atoms with coefficients `C_kl(s) =
//! sum_i a_ik a_(i+s)l` and `b_k = sum_i a_ik P_i F`. `F` is the signal, with unobserved samples
//! (mask, free border) replaced by their reconstruction. The quadratic then majorises the data term
//! and touches it at the current atoms.

use crate::border::Border;
use crate::checkpoint::LearnerState;
use crate::dictionary::{AtomStatistics, Constraints, Dictionary};
use crate::extent::Extent;
use crate::geometry::{InSignal, Raster, Region, index};
use crate::needles::Code;
use crate::real::Real;

/// Correlations of codes with each other and with the signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Box of an atom, channels, atoms.
    size: [usize; 3],
    channels: usize,
    atoms: usize,
    /// `C_kl(s)`: for every pair of atoms all shifts, last axis fastest.
    products: Vec<f64>,
    /// `b_k`, atom after atom.
    pulls: Vec<f64>,
}

/// Residual (multiplied by the squared weights) and codes of a plane.
pub struct Coded<'a, T> {
    pub extent: Extent,
    pub border: Border,
    pub residual: &'a [T],
    pub codes: &'a [Code<T>],
}

impl Statistics {
    /// Bytes that the statistics of these atoms take.
    pub fn bytes<T: Real>(dictionary: &Dictionary<T>) -> u64 {
        let shifts: u64 = dictionary.extent().padded().iter().map(|&h| 2 * h as u64 - 1).product();
        8 * dictionary.len() as u64
            * (dictionary.len() as u64 * shifts + dictionary.atom_len() as u64)
    }

    /// Statistics without codes.
    pub fn new<T: Real>(dictionary: &Dictionary<T>) -> Self {
        let (size, atoms) = (dictionary.extent().padded(), dictionary.len());
        let shifts: usize = size.iter().map(|h| 2 * h - 1).product();
        let (products, pulls) =
            (vec![0.0; atoms * atoms * shifts], vec![0.0; dictionary.data().len()]);
        Self { size, channels: dictionary.channels(), atoms, products, pulls }
    }

    /// Copies statistics of the same atoms without allocating.
    pub fn copy(&mut self, other: &Statistics) {
        self.products.copy_from_slice(&other.products);
        self.pulls.copy_from_slice(&other.pulls);
    }

    /// Multiplies all statistics by `keep`.
    pub fn fade(&mut self, keep: f64) {
        self.products.iter_mut().chain(&mut self.pulls).for_each(|x| *x *= keep);
    }

    /// Clears the statistics of an atom.
    pub fn forget(&mut self, atom: usize) {
        let (n, shifts) = (self.pulls.len() / self.atoms, self.shifts());
        self.pulls[atom * n..(atom + 1) * n].fill(0.0);
        for (pair, products) in self.products.chunks_exact_mut(shifts).enumerate() {
            if pair / self.atoms == atom || pair % self.atoms == atom {
                products.fill(0.0);
            }
        }
    }

    /// Energy of the codes of every atom.
    pub fn energies(&self) -> Vec<f64> {
        let shifts = self.shifts();
        (0..self.atoms).map(|k| self.products[(k * self.atoms + k) * shifts + shifts / 2]).collect()
    }

    fn shifts(&self) -> usize {
        self.size.iter().map(|h| 2 * h - 1).product()
    }

    /// Adds the codes of a plane.
    pub fn gather<T: Real>(&mut self, plane: &Coded<'_, T>, dictionary: &Dictionary<T>) {
        let codes = Occurrence::sorted(plane, self.size);
        self.gather_products(&codes);
        let (field, n) = (Field::of(plane, &codes, dictionary), dictionary.atom_len());
        for code in codes.iter().filter(|c| !c.ghost) {
            let mut pulls =
                self.pulls[code.atom * n..(code.atom + 1) * n].chunks_exact_mut(self.size[2]);
            field.raster.rows(&Region::new(code.at.into(), self.size), |start, length| {
                let pulls = pulls.next().into_iter().flatten();
                pulls
                    .zip(&field.data[start..start + length])
                    .for_each(|(b, f)| *b += code.value * f);
            });
        }
    }

    fn gather_products(&mut self, codes: &[Occurrence]) {
        let (overlap, shifts) = (self.size.map(|h| h as i32 - 1), self.shifts());
        let (row, slice) = (2 * overlap[2] + 1, (2 * overlap[1] + 1) * (2 * overlap[2] + 1));
        // Start of each row of codes.
        let mut rows: Vec<([i32; 2], usize)> = Vec::new();
        for (i, code) in codes.iter().enumerate() {
            if rows.last().is_none_or(|last| last.0 != [code.at[0], code.at[1]]) {
                rows.push(([code.at[0], code.at[1]], i));
            }
        }
        let end_of = |r: usize| rows.get(r + 1).map_or(codes.len(), |next| next.1);
        for (r, (at, start)) in rows.iter().enumerate() {
            let first =
                rows.partition_point(|row| row.0 < [at[0] - overlap[0], at[1] - overlap[1]]);
            for (q, (to, from)) in rows.iter().enumerate().skip(first) {
                let apart = [to[0] - at[0], to[1] - at[1]];
                if apart[0] > overlap[0] {
                    break;
                }
                if apart[1].abs() > overlap[1] {
                    continue;
                }
                let others = &codes[*from..end_of(q)];
                let mut near = 0;
                for one in codes[*start..end_of(r)].iter().filter(|c| !c.ghost) {
                    near += others[near..]
                        .iter()
                        .take_while(|o| o.at[2] < one.at[2] - overlap[2])
                        .count();
                    for other in
                        others[near..].iter().take_while(|o| o.at[2] <= one.at[2] + overlap[2])
                    {
                        let shift = apart[0] * slice + apart[1] * row + other.at[2] - one.at[2]
                            + shifts as i32 / 2;
                        self.products
                            [(one.atom * self.atoms + other.atom) * shifts + shift as usize] +=
                            one.value * other.value;
                    }
                }
            }
        }
    }

    /// One pass over the atoms, which never increases the quadratic. Atoms without codes are kept.
    pub fn improve<T: Real>(
        &self,
        dictionary: &Dictionary<T>,
        constraints: &Constraints,
    ) -> Dictionary<T> {
        let n = dictionary.atom_len();
        let mut atoms: Vec<f64> = dictionary.data().iter().map(|x| x.to_f64()).collect();
        let mut seen = vec![0.0; n];
        for k in constraints.frozen..self.atoms {
            let own = &self.products[(k * self.atoms + k) * self.shifts()..][..self.shifts()];
            if own.iter().all(|c| *c == 0.0) {
                continue;
            }
            seen.fill(0.0);
            for l in 0..self.atoms {
                self.add_seen(k, l, &atoms[l * n..(l + 1) * n], &mut seen);
            }
            let atom = &mut atoms[k * n..(k + 1) * n];
            let pulls = &self.pulls[k * n..(k + 1) * n];
            let statistics = AtomStatistics {
                gradient: pulls.iter().zip(&seen).map(|(pull, seen)| pull - seen).collect(),
                autocorrelation: own.to_vec(),
                size: self.size,
            };
            if let Some(lowest) = constraints.best_atom(k, atom.to_vec(), &statistics) {
                atom.copy_from_slice(&lowest);
            }
        }
        dictionary
            .with_data(atoms.into_iter().map(T::from_f64).collect())
            .expect("atoms have unit norm")
    }

    /// Adds the overlap of atom `l` with the codes of `k`: `seen += sum_s C_kl(s) d_l(. - s)`.
    fn add_seen(&self, k: usize, l: usize, atom: &[f64], seen: &mut [f64]) {
        let [depth, height, width] = self.size;
        let (rows, columns) = (2 * height - 1, 2 * width - 1);
        let products = &self.products[(k * self.atoms + l) * self.shifts()..][..self.shifts()];
        for (from, into) in atom
            .chunks_exact(depth * height * width)
            .zip(seen.chunks_exact_mut(depth * height * width))
        {
            for (target, sums) in into.chunks_exact_mut(width).enumerate() {
                for (source, line) in from.chunks_exact(width).enumerate() {
                    let apart = [
                        depth - 1 + target / height - source / height,
                        height - 1 + target % height - source % height,
                    ];
                    let shifts = &products[(apart[0] * rows + apart[1]) * columns..][..columns];
                    for (x, d) in line.iter().enumerate() {
                        let shifts = &shifts[width - 1 - x..][..width];
                        sums.iter_mut().zip(shifts).for_each(|(s, c)| *s += c * d);
                    }
                }
            }
        }
    }

    pub fn remember(&self, state: &mut LearnerState) {
        state.insert("products".into(), self.products.clone());
        state.insert("pulls".into(), self.pulls.clone());
    }

    pub fn recall(&mut self, state: &LearnerState) -> Option<()> {
        let products = state.get("products").filter(|found| found.len() == self.products.len())?;
        let pulls = state.get("pulls").filter(|found| found.len() == self.pulls.len())?;
        self.products.clone_from(products);
        self.pulls.clone_from(pulls);
        Some(())
    }
}

/// A code at its position, or its periodic image.
struct Occurrence {
    at: [i32; 3],
    atom: usize,
    value: f64,
    ghost: bool,
}

impl Occurrence {
    /// The codes in raster order, with their periodic images where patches overlap.
    fn sorted<T: Real>(plane: &Coded<'_, T>, size: [usize; 3]) -> Vec<Occurrence> {
        let (length, overlap) =
            (plane.extent.padded().map(|l| l as i32), size.map(|h| h as i32 - 1));
        let mut placed = Vec::with_capacity(plane.codes.len());
        for code in plane.codes {
            let turns = if plane.border == Border::Periodic { 0..27 } else { 13..14 };
            for turn in turns {
                let at: [i32; 3] = std::array::from_fn(|a| {
                    code.position[a] + (turn / [9, 3, 1][a] % 3 - 1) * length[a]
                });
                if turn == 13
                    || (0..3).all(|a| at[a] >= -overlap[a] && at[a] < length[a] + overlap[a])
                {
                    let (atom, value) = (code.atom as usize, code.value.to_f64());
                    placed.push(Occurrence { at, atom, value, ghost: turn != 13 });
                }
            }
        }
        placed.sort_by_key(|p| (p.at, p.atom));
        placed
    }
}

/// The signal used by the statistics, with a margin for every patch that touches it.
struct Field {
    raster: Raster<InSignal>,
    data: Vec<f64>,
}

impl Field {
    fn of<T: Real>(plane: &Coded<'_, T>, codes: &[Occurrence], dictionary: &Dictionary<T>) -> Self {
        let all = plane.extent.region();
        let atom = dictionary.extent().padded();
        let channels = dictionary.channels();
        let raster = Raster::new(
            Region::of(|a| 1 - atom[a] as i64..all.end(a) + 2 * (atom[a] as i64 - 1)),
            channels,
        );
        let mut data = vec![0.0; raster.len()];
        for code in codes {
            raster.patch(code.at.into(), atom, dictionary.atom(code.atom), |into, samples| {
                data[into..]
                    .iter_mut()
                    .zip(samples)
                    .for_each(|(f, d)| *f += code.value * d.to_f64());
            });
        }
        let signal = Raster {
            periodic: [plane.border == Border::Periodic; 3],
            ..Raster::new(all, channels)
        };
        signal.runs(&raster.region, |[c, z, y, x], from, length| {
            let at = c * raster.region.volume() + index([z, y, x], raster.region.size);
            let run = &mut data[at..at + length];
            match from {
                Some(from) => {
                    run.iter_mut().zip(&plane.residual[from..]).for_each(|(f, r)| *f += r.to_f64())
                }
                None if plane.border == Border::Zero => run.fill(0.0),
                None => {}
            }
        });
        Self { raster, data }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{
        Context, CpuEngine, Discovery, Engine, Measure, Plane, Problem, Session, Share, Support,
        Visit,
    };
    use crate::grid::Grouping;
    use crate::pursuit::Local;

    const PENALTY: f64 = 1.5;

    fn open(
        axes: &[usize],
        atom: &[usize],
        channels: usize,
        border: Border,
        masked: bool,
    ) -> Box<dyn Session<f64>> {
        let extent = Extent::new(axes).unwrap();
        let count = extent.volume() * channels;
        let weight = |i: usize| [1.0, 0.0, 1.0, 0.5, 1.0][i * 13 % 5];
        let wave = |i: usize| {
            4.0 * (i as f64 * 0.61).sin()
                + 2.0 * (i as f64 * 0.113).cos()
                + (i * 7 % 19) as f64 * 0.2
        };
        let plane = Plane {
            target: (0..count)
                .map(|i| if masked && weight(i) == 0.0 { 0.0 } else { wave(i) })
                .collect(),
            weights: masked.then(|| (0..count).map(weight).collect()),
            ..Plane::empty(extent)
        };
        let problem = Problem {
            planes: vec![plane],
            dictionary: Dictionary::random(Extent::new(atom).unwrap(), channels, 6, 5).unwrap(),
            border,
            grouping: Grouping::Tiles(6),
            atom_weights: vec![1.0; 6],
            elastic: 0.0,
            joint: None,
            nonnegative: false,
            local: Local::Coordinate,
            cap: None,
            learning: true,
        };
        let (mut session, context) =
            (CpuEngine::new(1).unwrap().open(problem, None).unwrap(), Context::default());
        let sweep = Discovery {
            penalty: PENALTY,
            visit: Visit::All,
            local_tolerance: 1e-6,
            layer_seed: None,
        };
        session.discover(&sweep, &context).unwrap();
        session
            .support(&Support { penalty: PENALTY, sweeps: 1, rounds: 3, tolerance: 0.0 }, &context)
            .unwrap();
        session.measure(Measure::Objective, &context).unwrap();
        session
    }

    fn improved(session: &mut dyn Session<f64>, extent: Extent, border: Border) -> Dictionary<f64> {
        let mut statistics = Statistics::new(session.dictionary());
        let (residual, state) = (session.residual(0).unwrap(), session.state(Share::All).unwrap());
        let plane = Coded { extent, border, residual: &residual, codes: &state.codes[0] };
        statistics.gather(&plane, session.dictionary());
        statistics.improve(session.dictionary(), &Constraints::default())
    }

    #[test]
    fn a_pass_on_statistics_agrees_with_the_engine_and_never_raises_the_objective() {
        let shapes: [(&[usize], &[usize], usize); 4] = [
            (&[61], &[5], 1),
            (&[19, 23], &[4, 5], 1),
            (&[17, 14], &[3, 4], 3),
            (&[8, 9, 10], &[2, 3, 3], 1),
        ];
        for (axes, atom, channels) in shapes {
            for border in Border::ALL {
                for masked in [false, true] {
                    let name = format!("{axes:?} {border} masked {masked}");
                    let mut session = open(axes, atom, channels, border, masked);
                    let objective = |session: &mut dyn Session<f64>| {
                        session.measure(Measure::Objective, &Context::default()).unwrap()[0]
                            .residual_energy
                    };
                    let before = objective(&mut *session);
                    let by_statistics = improved(&mut *session, Extent::new(axes).unwrap(), border);
                    let first = session.dictionary().clone();
                    session
                        .learning()
                        .improve_atoms(&Constraints::default(), &Context::default())
                        .unwrap();
                    if border != Border::Free && !masked {
                        for (a, b) in by_statistics.data().iter().zip(session.dictionary().data()) {
                            assert!(
                                (a - b).abs() < 1e-9,
                                "{name}: {a} on statistics, {b} in the engine"
                            );
                        }
                    }
                    session.learning().set_dictionary(by_statistics.clone()).unwrap();
                    let after = objective(&mut *session);
                    assert!(
                        after < before,
                        "{name}: the data term changed from {before} to {after}"
                    );
                    assert_ne!(first.data(), by_statistics.data());
                }
            }
        }
    }
}
