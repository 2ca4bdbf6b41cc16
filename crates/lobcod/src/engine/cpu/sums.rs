//! Sums over the residual of a plane.

use super::plane::PlaneState;
use super::team::Team;
use crate::engine::{Part, ScaledSums, Scaling};
use crate::exact::ExactSum;
use crate::grid::Tile;
use crate::real::Real;
use crate::simd::{Kernel, Level, Vector};

/// Sums over a tile's own samples.
struct Energies<'a, T> {
    plane: &'a PlaneState<T>,
    tile: &'a Tile,
}

impl<T: Real> Kernel<T> for Energies<'_, T> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) -> (f64, f64) {
        let plane = self.plane;
        let mut sums = Chains::default();
        plane.for_rows(&plane.grid.own_samples(self.tile), |start, length| {
            let range = start..start + length;
            // SAFETY: in a measurement everybody only reads.
            let residual = unsafe { plane.residual.view(range.clone()) };
            sums.add(residual, &plane.target[range.clone()], plane.weights.as_ref().map(|w| &w[range]));
        });
        sums.sums()
    }
}

impl<T: Real> PlaneState<T> {
    /// `||r||^2` and `<A (Y - B), r>` over a tile's own samples, in f64.
    pub(super) fn energies(&self, level: Level, tile: &Tile) -> (f64, f64) {
        T::dispatch(level, Energies { plane: self, tile })
    }

    /// `<A (Y - B), s r>` and `||s r||^2` over a part of the signal, or over the tiles' own samples; exact sums of what is measured
    /// row by row or tile by tile.
    pub(super) fn scaled_sums(&mut self, team: &Team<T>, scaling: Scaling, part: Option<&Part>) -> [ExactSum; 2] {
        let mut boxes: Vec<(Part, ScaledSums)> = match part {
            None => self.grid.tiles.iter().map(|tile| (self.grid.own_samples(tile), ScaledSums::default())).collect(),
            Some(part) => {
                let at = self.grid.signal_at;
                let [z, y, x]: Part = std::array::from_fn(|a| part[a].start + at[a]..part[a].end + at[a]);
                let rows = z.flat_map(|z| y.clone().map(move |y| (z, y)));
                rows.map(|(z, y)| ([z..z + 1, y..y + 1, x.clone()], ScaledSums::default())).collect()
            }
        };
        let plane = &*self;
        team.each(
            &mut boxes,
            |_| 1,
            |(part, sums), _| {
                plane.for_rows(part, |start, length| {
                    let row = plane.scaled_run(start, length, scaling);
                    *sums = ScaledSums { dot: sums.dot + row.dot, energy: sums.energy + row.energy };
                });
            },
        );
        [boxes.iter().map(|(_, sums)| sums.dot).collect(), boxes.iter().map(|(_, sums)| sums.energy).collect()]
    }

    fn scaled_run(&self, start: usize, length: usize, scaling: Scaling) -> ScaledSums {
        let domain = self.grid.domain;
        let line = start / domain[2];
        let first = [line / domain[1] % domain[0], line % domain[1], start % domain[2]];
        let mut residual = vec![T::ZERO; length];
        // SAFETY: in a measurement everybody only reads.
        unsafe { self.residual.read(start, &mut residual) };
        let (target, weights) = (&self.target[start..start + length], self.weights.as_ref().map(|w| &w[start..start + length]));
        let mut sums = ScaledSums::default();
        scaling.field.for_row(self.in_field(scaling.origin, first.map(|x| x as i64)), length, |i, scale| {
            let r = residual[i].to_f64();
            sums.dot += scale * r * target[i].to_f64();
            let weight = weights.map_or(1.0, |w| w[i].to_f64());
            // The residual carries the squared weight, so its energy is r^2 / w.
            sums.energy += if weight > 0.0 { scale * scale * r * r / weight } else { 0.0 };
        });
        sums
    }
}

/// Energy of the residual and its product with the target, each in eight chains, which the compiler can vectorise.
#[derive(Default)]
struct Chains {
    energy: [f64; 8],
    dot: [f64; 8],
}

impl Chains {
    #[inline(always)]
    fn add<T: Real>(&mut self, residual: &[T], target: &[T], weights: Option<&[T]>) {
        let (dot, energy) = (&mut self.dot, &mut self.energy);
        add_up(dot, residual.len(), |x| residual[x].to_f64() * target[x].to_f64());
        match weights {
            None => add_up(energy, residual.len(), |x| residual[x].to_f64() * residual[x].to_f64()),
            // The residual carries the squared weight, so its energy is r^2 / w.
            Some(w) => add_up(energy, residual.len(), |x| {
                if w[x] > T::ZERO { residual[x].to_f64() * residual[x].to_f64() / w[x].to_f64() } else { 0.0 }
            }),
        }
    }

    fn sums(&self) -> (f64, f64) {
        (self.energy.iter().sum(), self.dot.iter().sum())
    }
}

#[inline(always)]
fn add_up(chains: &mut [f64; 8], count: usize, f: impl Fn(usize) -> f64) {
    let whole = count / 8 * 8;
    for x in (0..whole).step_by(8) {
        for (i, chain) in chains.iter_mut().enumerate() {
            *chain += f(x + i);
        }
    }
    (whole..count).for_each(|x| chains[0] += f(x));
}
