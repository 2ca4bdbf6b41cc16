//! Gradient of the data term in the dictionary: `- sum_i P_i R a_i^T`, `n` multiply-adds per code.
//!
//! Products are rounded to multiples of a power of two and summed as 64-bit integers, so the sums
//! are bit-identical in any order.

use crate::engine::PlaneLayer;
use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::data::tile::{LocalCode, TileState};
use crate::engine::cpu::workers::team::Team;
use crate::geometry::Region;
use crate::real::Real;
use crate::simd::{Kernel, Level, Vector};

/// Planes whose parts are held simultaneously before they are added.
const PARTS_AT_ONCE: usize = 64;

/// Samples processed side by side.
const LANES: usize = 64;

/// Largest code and sample, and the number of codes, independent of how planes are split.
#[derive(Clone, Copy, Default)]
pub struct Survey {
    pub largest_code: f64,
    pub largest_sample: f64,
    pub codes: usize,
}

impl Survey {
    /// Upper bound on the product of a code and a sample of its patch.
    pub fn largest(&self) -> f64 {
        self.largest_code * self.largest_sample
    }

    /// Factor of the products: each is below 2^50, their sum below 2^62. `None` if all are zero or
    /// one is NaN or infinite.
    pub fn scale(&self) -> Option<f64> {
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
pub struct PlanesWithCodes<'a, T>(Vec<PlaneSums<'a, T>>);

impl<'a, T: Real> PlanesWithCodes<'a, T> {
    /// `tiles`: those of all planes, in order; `layer`: one layer of one plane, `None`: all codes.
    pub fn new(
        planes: &'a [PlaneState<T>],
        residuals: &'a [Vec<T>],
        tiles: &'a [TileState<T>],
        layer: Option<PlaneLayer>,
    ) -> Self {
        let part = |(index, plane): (usize, &'a PlaneState<T>)| {
            let wanted = layer.is_none_or(|of| of.plane == index);
            let place = |p: usize| tiles.partition_point(|s| s.plane < p);
            let tiles = if wanted { &tiles[place(index)..place(index + 1)] } else { &[] };
            let codes_of = |state: &'a TileState<T>| match layer {
                None => &state.codes[..],
                Some(of) => &state.codes[state.codes_of_layer(plane, of.layer)],
            };
            let tiles: Vec<_> = tiles.iter().map(|state| (state, codes_of(state))).collect();
            let residual = &residuals[index][..];
            (!tiles.is_empty()).then_some(PlaneSums {
                plane,
                residual,
                tiles,
                survey: Survey::default(),
                sums: Vec::new(),
            })
        };
        Self(planes.iter().enumerate().filter_map(part).collect())
    }

    /// Scans codes and residual.
    pub fn survey(&mut self, level: Level, team: &Team<T>) -> Survey {
        team.each(
            &mut self.0,
            |part| part.codes(),
            |part, _| T::dispatch(level, SurveyPlane(part)),
        );
        self.0.iter().fold(Survey::default(), |sum, part| Survey {
            largest_code: sum.largest_code.max(part.survey.largest_code),
            largest_sample: sum.largest_sample.max(part.survey.largest_sample),
            codes: sum.codes + part.survey.codes,
        })
    }

    /// The gradient, multiplied by the scale; `numbers` is the length of a dictionary.
    pub fn gradient(
        mut self,
        level: Level,
        team: &Team<T>,
        scale: f64,
        numbers: usize,
    ) -> Vec<i64> {
        let mut sum: Option<Vec<i64>> = None;
        for parts in self.0.chunks_mut(PARTS_AT_ONCE) {
            team.each(
                parts,
                |part| part.codes(),
                |part, _| T::dispatch(level, AddPlane { part, scale, numbers }),
            );
            for part in parts {
                let own = std::mem::take(&mut part.sums);
                match &mut sum {
                    None => sum = Some(own),
                    Some(sum) => {
                        sum.iter_mut().zip(&own).for_each(|(s, g)| *s = s.wrapping_add(*g))
                    }
                }
            }
        }
        sum.unwrap_or_else(|| vec![0; numbers])
    }
}

/// The part of one plane.
struct PlaneSums<'a, T> {
    plane: &'a PlaneState<T>,
    residual: &'a [T],
    /// Tiles of the plane, in order, with their relevant codes.
    tiles: Vec<(&'a TileState<T>, &'a [LocalCode<T>])>,
    survey: Survey,
    /// The sums, atom by atom; empty until computed.
    sums: Vec<i64>,
}

impl<T: Real> PlaneSums<'_, T> {
    fn codes(&self) -> usize {
        self.tiles.iter().map(|(_, codes)| codes.len()).sum()
    }

    /// Calls `f(sums, index, code, residual)` for every run of every patch.
    #[inline(always)]
    fn each(&mut self, mut f: impl FnMut(&mut [i64], usize, f64, &[T])) {
        let Self { plane, residual, tiles, sums, .. } = self;
        let n = plane.layout.patch.len();
        let raster = plane.raster();
        let [depth, height, width] = plane.grid.atom;
        for (state, codes) in tiles.iter() {
            for code in codes.iter() {
                let (atom, value) = (code.atom as usize * n, code.value.to_f64());
                let patch =
                    Region::new(plane.point(&state.tile, code.offset as usize), plane.grid.atom);
                raster.runs(&patch, |[c, z, y, x], from, length| {
                    if let Some(from) = from {
                        let sample = ((c * depth + z) * height + y) * width + x;
                        f(sums, atom + sample, value, &residual[from..from + length]);
                    }
                });
            }
        }
    }
}

struct SurveyPlane<'a, 'b, T>(&'a mut PlaneSums<'b, T>);

impl<T: Real> Kernel<T> for SurveyPlane<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let PlaneSums { residual, tiles, survey, .. } = self.0;
        let most = |most: T, x: T| if x.abs() > most { x.abs() } else { most };
        // Independent lanes, so that the compiler vectorises.
        let mut lanes = [T::ZERO; LANES];
        let (chunks, rest) = residual.as_chunks::<LANES>();
        chunks.iter().for_each(|chunk| {
            lanes.iter_mut().zip(chunk).for_each(|(lane, &r)| *lane = most(*lane, r))
        });
        survey.largest_sample =
            lanes.iter().chain(rest).fold(T::ZERO, |largest, &x| most(largest, x)).to_f64();
        for (_, codes) in tiles.iter() {
            survey.codes += codes.len();
            let largest =
                codes.iter().fold(T::ZERO, |largest, code| most(largest, code.value)).to_f64();
            survey.largest_code = survey.largest_code.max(largest);
        }
    }
}

struct AddPlane<'a, 'b, T> {
    part: &'a mut PlaneSums<'b, T>,
    scale: f64,
    numbers: usize,
}

impl<T: Real> Kernel<T> for AddPlane<'_, '_, T> {
    type Output = ();

    // Plain loops, which the compiler vectorises for the active level.
    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        // Added to a number below 2^51, this leaves the nearest integer in the low bits.
        const SHIFT: f64 = (3u64 << 51) as f64;
        let Self { part, scale, numbers } = self;
        part.sums = vec![0; numbers];
        part.each(|sums, at, value, residual| {
            let value = value * scale;
            let places = sums[at..at + residual.len()].iter_mut();
            places.zip(residual).for_each(|(sum, r)| {
                // Wraps if a sample is NaN or infinite; then the objective is as well.
                let product = ((value * r.to_f64() + SHIFT).to_bits() as i64)
                    .wrapping_sub(SHIFT.to_bits() as i64);
                *sum = sum.wrapping_sub(product);
            });
        });
    }
}

/// Converts sums to the units of the gradient, in place.
pub struct InUnits {
    pub sums: Vec<i64>,
    pub scale: f64,
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
