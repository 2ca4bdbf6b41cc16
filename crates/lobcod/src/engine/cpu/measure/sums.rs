//! Sums over the residual of a plane.

use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::workers::team::Team;
use crate::engine::{ScaledSums, Scaling};
use crate::exact::ExactSum;
use crate::geometry::{InDomain, InSignal, Region};
use crate::grid::Tile;
use crate::real::Real;
use crate::simd::{Kernel, Level, Vector};

/// Sums over a tile's own samples.
struct Energies<'a, T> {
    plane: &'a PlaneState<T>,
    residual: &'a [T],
    tile: &'a Tile,
}

impl<T: Real> Kernel<T> for Energies<'_, T> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) -> (f64, f64) {
        let plane = self.plane;
        let mut sums = Chains::default();
        plane.raster().rows(&plane.grid.own_samples(self.tile), |start, length| {
            let row = start..start + length;
            sums.add(
                &self.residual[row.clone()],
                &plane.target[row.clone()],
                plane.weights.as_ref().map(|w| &w[row]),
            );
        });
        sums.sums()
    }
}

impl<T: Real> PlaneState<T> {
    /// `||r||^2` and `<A (Y - B), r>` over a tile's own samples, in f64.
    pub fn energies(&self, level: Level, tile: &Tile, residual: &[T]) -> (f64, f64) {
        T::dispatch(level, Energies { plane: self, residual, tile })
    }

    /// `<A (Y - B), s r>` and `||s r||^2` over a part of the signal, or over the tiles' own
    /// samples, as exact sums.
    pub fn scaled_sums(
        &self,
        team: &Team<T>,
        residual: &[T],
        scaling: Scaling,
        part: Option<&Region<InSignal>>,
    ) -> [ExactSum; 2] {
        let boxes: Vec<Region<InDomain>> = match part {
            None => self.grid.tiles.iter().map(|tile| self.grid.own_samples(tile)).collect(),
            Some(part) => {
                let part = self.grid.region_to_domain(part);
                let rows = part.with_range(2, part.start[2]..part.start[2] + 1);
                rows.points().map(|first| Region::new(first, [1, 1, part.size[2]])).collect()
            }
        };
        let mut boxes: Vec<_> =
            boxes.into_iter().map(|region| (region, ScaledSums::default())).collect();
        team.each(
            &mut boxes,
            |_| 1,
            |(part, sums), _| {
                self.raster().rows(part, |start, length| {
                    *sums = *sums + self.scaled_run(residual, start, length, scaling)
                });
            },
        );
        [
            boxes.iter().map(|(_, sums)| sums.dot).collect(),
            boxes.iter().map(|(_, sums)| sums.energy).collect(),
        ]
    }

    fn scaled_run(
        &self,
        residual: &[T],
        start: usize,
        length: usize,
        scaling: Scaling,
    ) -> ScaledSums {
        let own = start..start + length;
        let (residual, target) = (&residual[own.clone()], &self.target[own.clone()]);
        let weights = self.weights.as_ref().map(|w| &w[own]);
        let mut sums = ScaledSums::default();
        scaling.for_row(self.grid.to_signal(self.raster().point(start)), length, |i, scale| {
            let r = residual[i].to_f64();
            sums.dot += scale * r * target[i].to_f64();
            let weight = weights.map_or(1.0, |w| w[i].to_f64());
            // The residual includes the squared weight, so its energy is r^2 / w.
            sums.energy += if weight > 0.0 { scale * scale * r * r / weight } else { 0.0 };
        });
        sums
    }
}

/// Energy of the residual and its product with the target, with eight accumulators each.
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
            // The residual includes the squared weight, so its energy is r^2 / w.
            Some(w) => add_up(energy, residual.len(), |x| {
                if w[x] > T::ZERO {
                    residual[x].to_f64() * residual[x].to_f64() / w[x].to_f64()
                } else {
                    0.0
                }
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
