//! Least squares over the values of given codes, in f64 by conjugate gradients.

use super::params::Observed;
use super::setup::planes_of;
use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::geometry::{InSignal, Point, Raster, Region};
use crate::needles::{Code, Needles};
use crate::real::Real;

/// Reduction of the gradient at which a fit ends, and maximum number of steps.
const ENOUGH: f64 = 1e-14;
const MAX_STEPS: usize = 4000;

/// The samples of one plane with a data term.
pub struct PlaneSamples<'a, T> {
    raster: Raster<InSignal>,
    dictionary: &'a Dictionary<T>,
    /// `Y - B`, and `A^2`.
    target: Vec<f64>,
    weights: Vec<f64>,
}

/// One code with its value in f64.
#[derive(Clone, Copy, Debug)]
pub struct FittedCode {
    pub position: [i32; 3],
    pub atom: u32,
    pub value: f64,
}

impl<'a, T: Real> PlaneSamples<'a, T> {
    /// Plane `plane` of a signal.
    pub fn new(
        observed: &Observed<T>,
        dictionary: &'a Dictionary<T>,
        border: Border,
        plane: usize,
    ) -> Self {
        let (all, atom) = (observed.signal.extent().region(), dictionary.extent().padded());
        let pad = |a: usize| if border == Border::Zero { atom[a] as i64 - 1 } else { 0 };
        let region = Region::of(|a| -pad(a)..all.end(a) + pad(a));
        let periodic = [border == Border::Periodic; 3];
        let raster = Raster { region, channels: dictionary.channels(), periodic };
        let inner = Raster::new(region, 1);
        let (mut target, mut weights) = (vec![0.0; raster.len()], vec![1.0; raster.len()]);
        for c in 0..dictionary.channels() {
            let channel = if dictionary.channels() == 1 { plane } else { c };
            let samples = observed.signal.channel(channel);
            for (i, (at, y)) in all.points().zip(samples).enumerate() {
                let index = c * region.volume() + inner.index(0, at);
                let weight = observed.mask.as_ref().map_or(1.0, |m| m.channel(channel)[i].to_f64());
                weights[index] = weight * weight;
                // Masked samples may hold any value.
                target[index] = if weight > 0.0 { y.to_f64() } else { 0.0 };
            }
        }
        Self { raster, dictionary, target, weights }
    }

    fn add(&self, into: &mut [f64], position: [i32; 3], atom: u32, value: f64) {
        let samples = self.dictionary.atom(atom as usize);
        let size = self.dictionary.extent().padded();
        self.raster.patch(Point::from(position), size, samples, |at, run| {
            into[at..].iter_mut().zip(run).for_each(|(sum, d)| *sum += value * d.to_f64());
        });
    }

    /// `<A^2 atom, field>`, and `||A atom||^2`.
    fn correlate(&self, field: &[f64], code: &FittedCode) -> (f64, f64) {
        let samples = self.dictionary.atom(code.atom as usize);
        let size = self.dictionary.extent().padded();
        let mut sums = (0.0, 0.0);
        self.raster.patch(Point::from(code.position), size, samples, |at, run| {
            for ((d, w), x) in run.iter().zip(&self.weights[at..]).zip(&field[at..]) {
                let d = d.to_f64();
                sums = (sums.0 + d * w * x, sums.1 + d * w * d);
            }
        });
        sums
    }

    /// `1/2 ||A (Y - B - sum of the codes)||^2`.
    pub fn data_term(&self, codes: &[FittedCode]) -> f64 {
        let residual = self.residual(codes);
        0.5 * residual.iter().zip(&self.weights).map(|(r, w)| w * r * r).sum::<f64>()
    }

    fn residual(&self, codes: &[FittedCode]) -> Vec<f64> {
        let mut residual = self.target.clone();
        codes.iter().for_each(|c| self.add(&mut residual, c.position, c.atom, -c.value));
        residual
    }

    /// Minimises the data term plus `elastic/2` times the sum of squares over the values of the
    /// `free` codes, with the `fixed` ones kept.
    pub fn fit(&self, fixed: &[FittedCode], free: &mut [FittedCode], elastic: f64) {
        let mut residual = self.residual(fixed);
        // Gradient, curvature and scale at zero; codes hidden by the mask stay zero.
        let at_zero: Vec<(f64, f64)> = free.iter().map(|c| self.correlate(&residual, c)).collect();
        let inverse: Vec<f64> =
            at_zero.iter().map(|(_, q)| if *q > 0.0 { 1.0 / (q + elastic) } else { 0.0 }).collect();
        let size: f64 = at_zero.iter().zip(&inverse).map(|((c, _), p)| c * c * p).sum();
        for c in free.iter() {
            self.add(&mut residual, c.position, c.atom, -c.value);
        }
        let descent = |residual: &[f64], free: &[FittedCode]| -> Vec<f64> {
            free.iter().map(|c| self.correlate(residual, c).0 - elastic * c.value).collect()
        };
        let norm = |g: &[f64]| g.iter().zip(&inverse).map(|(g, p)| g * g * p).sum::<f64>();
        let mut gradient = descent(&residual, free);
        let mut direction: Vec<f64> = gradient.iter().zip(&inverse).map(|(g, p)| g * p).collect();
        let mut energy = norm(&gradient);
        for step in 0..MAX_STEPS {
            if energy <= ENOUGH * ENOUGH * size {
                break;
            }
            let mut along = vec![0.0; residual.len()];
            for (c, d) in free.iter().zip(&direction) {
                self.add(&mut along, c.position, c.atom, *d);
            }
            let curvature = along.iter().zip(&self.weights).map(|(x, w)| w * x * x).sum::<f64>()
                + elastic * direction.iter().map(|d| d * d).sum::<f64>();
            if curvature <= 0.0 {
                break;
            }
            let length = energy / curvature;
            residual.iter_mut().zip(&along).for_each(|(r, x)| *r -= length * x);
            free.iter_mut().zip(&direction).for_each(|(c, d)| c.value += length * d);
            // The updated residual drifts slowly.
            if step % 50 == 49 {
                residual = self.residual(fixed);
                free.iter().for_each(|c| self.add(&mut residual, c.position, c.atom, -c.value));
            }
            gradient = descent(&residual, free);
            let before = std::mem::replace(&mut energy, norm(&gradient));
            for ((d, g), p) in direction.iter_mut().zip(&gradient).zip(&inverse) {
                *d = g * p + energy / before * *d;
            }
        }
    }
}

/// Needles with the same support and the values that minimise the data term; returns the data term
/// too.
pub fn debias<T: Real>(
    observed: &Observed<T>,
    dictionary: &Dictionary<T>,
    needles: &Needles<T>,
) -> (Needles<T>, f64) {
    let (mut codes, mut data_term) = (Vec::with_capacity(needles.nonzeros()), 0.0);
    for plane in 0..planes_of(observed.signal.channels(), dictionary.channels()) {
        let samples = PlaneSamples::new(observed, dictionary, needles.border(), plane);
        let own = needles.codes().iter().filter(|c| c.channel as usize == plane);
        let mut free: Vec<FittedCode> = own.map(FittedCode::from).collect();
        samples.fit(&[], &mut free, 0.0);
        data_term += samples.data_term(&free);
        codes.extend(free.iter().map(|c| c.code(plane as u32)));
    }
    (Needles::new(needles.extent(), needles.channels(), needles.border(), codes), data_term)
}

impl FittedCode {
    /// The code in the precision of the signal.
    pub fn code<T: Real>(&self, channel: u32) -> Code<T> {
        let Self { position, atom, value } = *self;
        Code { position, atom, channel, value: T::from_f64(value) }
    }
}

impl<T: Real> From<&Code<T>> for FittedCode {
    fn from(code: &Code<T>) -> Self {
        Self { position: code.position, atom: code.atom, value: code.value.to_f64() }
    }
}
