//! Gradient of the data term in the dictionary: `- sum_i P_i R a_i^T`, `n` multiply-adds a code.
//!
//! The products are rounded to whole multiples of one power of two, chosen beforehand so that their sum fits into 64 bits, and added as
//! integers: any order, any cut into parts gives the same bits.

use super::plane::PlaneState;
use super::team::Team;
use super::tile::TileState;
use crate::real::Real;
use crate::simd::{Kernel, Level, Vector};

/// Planes whose parts are held at once before they are added up.
const PARTS_AT_ONCE: usize = 64;

/// Codes whose gradient is asked for.
#[derive(Clone, Copy)]
pub(super) struct Codes<'a, T> {
    /// All tiles, in order.
    pub(super) tiles: &'a [TileState<T>],
    /// One layer of one plane; `None`: all.
    pub(super) layer: Option<(usize, usize)>,
}

/// The largest product of a code and a sample of its patch, and how many codes there are.
#[derive(Clone, Copy, Default)]
pub(super) struct Survey {
    pub(super) largest: f64,
    pub(super) codes: usize,
}

impl Survey {
    /// The multiple of products that is added up: each stays below 2^50, their sum below 2^62. `None` where all are zero, or one is
    /// no number.
    pub(super) fn scale(&self) -> Option<f64> {
        let bits = 50.min(62 - (self.codes.max(1) as f64).log2().ceil() as i32);
        let size = (self.largest.log2().floor() as i32 + 1).max(-900);
        (self.largest.is_finite() && self.largest > 0.0).then(|| 2f64.powi(bits - size))
    }
}

/// Looks at the products.
pub(super) fn survey<T: Real>(level: Level, team: &Team<T>, planes: &mut [PlaneState<T>], codes: Codes<T>) -> Survey {
    let mut parts = codes.parts(planes, 0, 1.0, 0);
    team.each(&mut parts, |part| part.codes(), |part, _| T::dispatch(level, SurveyPart(part)));
    parts.iter().fold(Survey::default(), |sum, part| Survey {
        largest: sum.largest.max(part.survey.largest),
        codes: sum.codes + part.survey.codes,
    })
}

/// The gradient, multiplied by the scale; `numbers` in a dictionary.
pub(super) fn gradient<T: Real>(
    level: Level,
    team: &Team<T>,
    planes: &mut [PlaneState<T>],
    codes: Codes<T>,
    scale: f64,
    numbers: usize,
) -> Vec<i64> {
    let mut sum = vec![0; numbers];
    for (chunk, planes) in planes.chunks_mut(PARTS_AT_ONCE).enumerate() {
        let mut parts = codes.parts(planes, chunk * PARTS_AT_ONCE, scale, numbers);
        team.each(&mut parts, |part| part.codes(), |part, _| T::dispatch(level, AddPart(part)));
        parts.iter().for_each(|part| sum.iter_mut().zip(&part.sums).for_each(|(s, g)| *s += g));
    }
    sum
}

impl<'a, T: Real> Codes<'a, T> {
    /// The parts of planes from number `first` on that have any of the codes.
    fn parts<'b>(&self, planes: &'b mut [PlaneState<T>], first: usize, scale: f64, numbers: usize) -> Vec<Part<'b, T>>
    where
        'a: 'b,
    {
        let part = |(i, plane): (usize, &'b mut PlaneState<T>)| {
            let index = first + i;
            let wanted = self.layer.is_none_or(|(plane, _)| plane == index);
            let place = |p: usize| self.tiles.partition_point(|s| s.plane < p);
            let tiles = &self.tiles[place(index)..place(index + 1)];
            let layer = self.layer.map(|(_, layer)| layer);
            (wanted && !tiles.is_empty()).then(|| Part {
                plane,
                tiles,
                layer,
                survey: Survey::default(),
                scale,
                sums: vec![0; numbers],
            })
        };
        planes.iter_mut().enumerate().filter_map(part).collect()
    }
}

/// The part of one plane.
struct Part<'a, T> {
    plane: &'a mut PlaneState<T>,
    /// Tiles of the plane, in order.
    tiles: &'a [TileState<T>],
    /// Only codes of this layer count; `None`: all.
    layer: Option<usize>,
    survey: Survey,
    scale: f64,
    /// The sums, atom after atom.
    sums: Vec<i64>,
}

impl<T: Real> Part<'_, T> {
    fn codes(&self) -> usize {
        self.tiles.iter().map(|tile| tile.codes.len()).sum()
    }

    /// Calls `f(sums, survey, place among the sums, code, residual)` for every run of the patch of every code.
    #[inline(always)]
    fn each(&mut self, mut f: impl FnMut(&mut [i64], &mut Survey, usize, f64, &[T])) {
        let Self { plane, tiles, layer, survey, sums, .. } = self;
        let n = plane.layout.patch.len();
        for state in tiles.iter() {
            let range = layer.map_or(0..state.codes.len(), |layer| state.codes_of_layer(plane, layer));
            survey.codes += range.len();
            for code in &state.codes[range] {
                let (atom, value) = (code.atom as usize * n, code.value.to_f64());
                plane.with_patch(state.place(&plane.layout, code.offset), |p, residual| {
                    f(sums, survey, atom + p, value, residual)
                });
            }
        }
    }
}

struct SurveyPart<'a, 'b, T>(&'a mut Part<'b, T>);

impl<T: Real> Kernel<T> for SurveyPart<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        self.0.each(|_, survey, _, value, residual| {
            let most = residual.iter().fold(T::ZERO, |most, r| most.max(r.abs())).to_f64() * value.abs();
            survey.largest = survey.largest.max(most);
        });
    }
}

struct AddPart<'a, 'b, T>(&'a mut Part<'b, T>);

impl<T: Real> Kernel<T> for AddPart<'_, '_, T> {
    type Output = ();

    // Written with plain loops, which the compiler vectorises for the level this runs at.
    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        // Added to a number below 2^51, this leaves the nearest whole number in the low bits.
        const SHIFT: f64 = (3u64 << 51) as f64;
        let scale = self.0.scale;
        self.0.each(|sums, _, at, value, residual| {
            let value = value * scale;
            let places = sums[at..at + residual.len()].iter_mut();
            places.zip(residual).for_each(|(sum, r)| {
                *sum -= ((value * r.to_f64() + SHIFT).to_bits() as i64).wrapping_sub(SHIFT.to_bits() as i64);
            });
        });
    }
}
