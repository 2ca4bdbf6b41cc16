//! Gradient of the data term in the dictionary: `- sum_i P_i R a_i^T`, `n` multiply-adds a code.
//!
//! The products are rounded to whole multiples of one power of two, chosen beforehand so that their sum fits into 64 bits, and added as
//! integers: any order, any cut into parts gives the same bits.

use super::plane::PlaneState;
use super::team::Team;
use super::tile::{LocalCode, TileState};
use crate::engine::PlaneLayer;
use crate::real::Real;
use crate::simd::{Kernel, Level, Vector};

/// Planes whose parts are held at once before they are added up.
const PARTS_AT_ONCE: usize = 64;

/// Samples that are looked at side by side.
const LANES: usize = 64;

/// The largest code, the largest sample of the residual, and how many codes there are: none of them depends on how planes are cut.
#[derive(Clone, Copy, Default)]
pub(super) struct Survey {
    pub(super) largest_code: f64,
    pub(super) largest_sample: f64,
    pub(super) codes: usize,
}

impl Survey {
    /// No product of a code and a sample of its patch is larger.
    pub(super) fn largest(&self) -> f64 {
        self.largest_code * self.largest_sample
    }

    /// The multiple of products that is added up: each stays below 2^50, their sum below 2^62. `None` where all are zero, or one is
    /// no number.
    pub(super) fn scale(&self) -> Option<f64> {
        let largest = self.largest();
        if !(largest.is_finite() && largest > 0.0) {
            return None;
        }
        let bits = 50.min(62 - (self.codes.max(1) as f64).log2().ceil() as i32);
        let size = (largest.log2().floor() as i32 + 1).max(-900);
        Some(2f64.powi(bits - size))
    }
}

/// The parts of all planes that have any of the codes.
pub(super) struct Parts<'a, T>(Vec<Part<'a, T>>);

impl<'a, T: Real> Parts<'a, T> {
    /// `tiles`: those of all planes, in order; `layer`: one layer of one plane, `None`: all codes.
    pub(super) fn new(planes: &'a mut [PlaneState<T>], tiles: &'a [TileState<T>], layer: Option<PlaneLayer>) -> Self {
        let part = |(index, plane): (usize, &'a mut PlaneState<T>)| {
            let wanted = layer.is_none_or(|of| of.plane == index);
            let place = |p: usize| tiles.partition_point(|s| s.plane < p);
            let tiles = if wanted { &tiles[place(index)..place(index + 1)] } else { &[] };
            let codes_of = |state: &'a TileState<T>| match layer {
                None => &state.codes[..],
                Some(of) => &state.codes[state.codes_of_layer(plane, of.layer)],
            };
            let tiles: Vec<_> = tiles.iter().map(|state| (state, codes_of(state))).collect();
            (!tiles.is_empty()).then_some(Part { plane, tiles, survey: Survey::default(), sums: Vec::new() })
        };
        Self(planes.iter_mut().enumerate().filter_map(part).collect())
    }

    /// Looks at codes and residual.
    pub(super) fn survey(&mut self, level: Level, team: &Team<T>) -> Survey {
        team.each(&mut self.0, |part| part.codes(), |part, _| T::dispatch(level, SurveyPart(part)));
        self.0.iter().fold(Survey::default(), |sum, part| Survey {
            largest_code: sum.largest_code.max(part.survey.largest_code),
            largest_sample: sum.largest_sample.max(part.survey.largest_sample),
            codes: sum.codes + part.survey.codes,
        })
    }

    /// The gradient, multiplied by the scale; `numbers` in a dictionary.
    pub(super) fn gradient(mut self, level: Level, team: &Team<T>, scale: f64, numbers: usize) -> Vec<i64> {
        let mut sum: Option<Vec<i64>> = None;
        for parts in self.0.chunks_mut(PARTS_AT_ONCE) {
            team.each(parts, |part| part.codes(), |part, _| T::dispatch(level, AddPart { part, scale, numbers }));
            for part in parts {
                let own = std::mem::take(&mut part.sums);
                match &mut sum {
                    None => sum = Some(own),
                    Some(sum) => sum.iter_mut().zip(&own).for_each(|(s, g)| *s = s.wrapping_add(*g)),
                }
            }
        }
        sum.unwrap_or_else(|| vec![0; numbers])
    }
}

/// The part of one plane.
struct Part<'a, T> {
    plane: &'a mut PlaneState<T>,
    /// Tiles of the plane, in order, each with the codes that count.
    tiles: Vec<(&'a TileState<T>, &'a [LocalCode<T>])>,
    survey: Survey,
    /// The sums, atom after atom; empty before they are made.
    sums: Vec<i64>,
}

impl<T: Real> Part<'_, T> {
    fn codes(&self) -> usize {
        self.tiles.iter().map(|(_, codes)| codes.len()).sum()
    }

    /// Calls `f(sums, place among the sums, code, residual)` for every run of the patch of every code.
    #[inline(always)]
    fn each(&mut self, mut f: impl FnMut(&mut [i64], usize, f64, &[T])) {
        let Self { plane, tiles, sums, .. } = self;
        let n = plane.layout.patch.len();
        for (state, codes) in tiles.iter() {
            for code in codes.iter() {
                let (atom, value) = (code.atom as usize * n, code.value.to_f64());
                let place = state.place(&plane.layout, code.offset);
                plane.with_patch(place, |p, residual| f(sums, atom + p, value, residual));
            }
        }
    }
}

struct SurveyPart<'a, 'b, T>(&'a mut Part<'b, T>);

impl<T: Real> Kernel<T> for SurveyPart<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let Part { plane, tiles, survey, .. } = self.0;
        let most = |most: T, x: T| if x.abs() > most { x.abs() } else { most };
        // Side by side, for the compiler.
        let mut lanes = [T::ZERO; LANES];
        let (chunks, rest) = plane.residual.as_mut_slice().as_chunks::<LANES>();
        chunks.iter().for_each(|chunk| lanes.iter_mut().zip(chunk).for_each(|(lane, &r)| *lane = most(*lane, r)));
        survey.largest_sample = lanes.iter().chain(rest).fold(T::ZERO, |largest, &x| most(largest, x)).to_f64();
        for (_, codes) in tiles.iter() {
            survey.codes += codes.len();
            let largest = codes.iter().fold(T::ZERO, |largest, code| most(largest, code.value)).to_f64();
            survey.largest_code = survey.largest_code.max(largest);
        }
    }
}

struct AddPart<'a, 'b, T> {
    part: &'a mut Part<'b, T>,
    scale: f64,
    numbers: usize,
}

impl<T: Real> Kernel<T> for AddPart<'_, '_, T> {
    type Output = ();

    // Written with plain loops, which the compiler vectorises for the level this runs at.
    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        // Added to a number below 2^51, this leaves the nearest whole number in the low bits.
        const SHIFT: f64 = (3u64 << 51) as f64;
        let Self { part, scale, numbers } = self;
        part.sums = vec![0; numbers];
        part.each(|sums, at, value, residual| {
            let value = value * scale;
            let places = sums[at..at + residual.len()].iter_mut();
            places.zip(residual).for_each(|(sum, r)| {
                // It wraps where a sample is no number, and then the objective is none either.
                let product = ((value * r.to_f64() + SHIFT).to_bits() as i64).wrapping_sub(SHIFT.to_bits() as i64);
                *sum = sum.wrapping_sub(product);
            });
        });
    }
}

/// Sums back in the units of the gradient, in the same memory.
pub(super) struct InUnits {
    pub(super) sums: Vec<i64>,
    pub(super) scale: f64,
}

impl<T: Real> Kernel<T> for InUnits {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(mut self) -> Vec<f64> {
        // The reciprocal of a power of two is exact.
        let unit = 1.0 / self.scale;
        for sum in &mut self.sums {
            *sum = (*sum as f64 * unit).to_bits() as i64;
        }
        self.sums.into_iter().map(|bits| f64::from_bits(bits as u64)).collect()
    }
}
