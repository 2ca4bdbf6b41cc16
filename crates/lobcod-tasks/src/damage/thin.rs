//! Scratches and spots: thin or small structures that differ from everything around them.

use super::paths::path_lengths;
use crate::components::{Component, components};
use crate::morphology::{dilate, erode};
use lobcod::Signal;
use lobcod::base::box_mean;

/// Least difference in lightness (0 to 100) from the surroundings.
const LEAST: f32 = 5.0;
/// Least difference, in root mean squares of the differences around.
const STRONGER: f32 = 1.6;
/// Side of the box for that mean.
const AROUND: usize = 61;
/// Least length of a scratch in pixels, and as a fraction of the longer side.
const SHORTEST: usize = 60;
const SHORTEST_FRACTION: f32 = 0.06;
/// A scratch is that close, in lightness, to the brightest or darkest tone of the image, and its
/// own tones differ by less than this.
const EXTREME: f32 = 18.0;
const UNIFORM: f32 = 8.0;
/// Fraction of the pixels beyond the brightest and darkest tone.
const TAIL: f32 = 0.02;
/// A spot is stronger than anything around it by this factor.
const SPOT: f32 = 2.0;
/// Least difference of a spot in lightness.
const SPOT_LEAST: f32 = 12.0;

/// Whether damage is brighter or darker than its surroundings.
#[derive(Clone, Copy, PartialEq)]
pub enum Polarity {
    Bright,
    Dark,
}

pub const POLARITIES: [Polarity; 2] = [Polarity::Bright, Polarity::Dark];

/// How much every pixel differs from what remains without thin structures.
pub struct Thin<'a> {
    light: &'a [f32],
    size: [usize; 2],
    radius: usize,
    bright: Vec<f32>,
    dark: Vec<f32>,
    /// Root mean square of the differences around.
    usual: Vec<f32>,
    /// The darkest and the brightest tone.
    tones: [f32; 2],
}

impl<'a> Thin<'a> {
    pub fn new(light: &'a Signal<f32>, threads: usize) -> Self {
        let [_, height, width] = light.extent().padded();
        let (size, light) = ([height, width], light.data());
        // Structures up to about 1/200 of the longer side are thin.
        let radius = (height.max(width) + 200) / 400;
        let radius = radius.max(2) + 1;
        let opened = dilate(&erode(light, size, radius, threads), size, radius, threads);
        let closed = erode(&dilate(light, size, radius, threads), size, radius, threads);
        let difference =
            |a: &[f32], b: &[f32]| -> Vec<f32> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
        let (bright, dark) = (difference(light, &opened), difference(&closed, light));
        let mut usual: Vec<f32> =
            bright.iter().zip(&dark).map(|(b, d)| b.max(*d).powi(2)).collect();
        // Boxes at the border hold fewer pixels.
        let mut covered = vec![1.0; light.len()];
        box_mean(&mut usual, size, AROUND, threads);
        box_mean(&mut covered, size, AROUND, threads);
        usual.iter_mut().zip(covered).for_each(|(u, c)| *u = (*u / c).max(0.0).sqrt());
        let mut sorted = light.to_vec();
        sorted.sort_by(f32::total_cmp);
        let tail = (TAIL * (sorted.len() - 1) as f32) as usize;
        let tones = [sorted[tail], sorted[sorted.len() - 1 - tail]];
        Self { light, size, radius, bright, dark, usual, tones }
    }

    /// Half the side of the largest thin structure.
    pub fn radius(&self) -> usize {
        self.radius
    }

    fn difference(&self, polarity: Polarity) -> &[f32] {
        if polarity == Polarity::Bright { &self.bright } else { &self.dark }
    }

    /// Pixels that differ much from their surroundings, with gaps of one pixel closed.
    pub fn candidates(&self, polarity: Polarity, threads: usize) -> Vec<bool> {
        let set: Vec<f32> = self
            .difference(polarity)
            .iter()
            .zip(&self.usual)
            .map(|(&d, &u)| f32::from(u8::from(d > LEAST.max(STRONGER * u))))
            .collect();
        let closed = erode(&dilate(&set, self.size, 1, threads), self.size, 1, threads);
        closed.iter().map(|&x| x > 0.0).collect()
    }

    /// Long paths of candidates of one extreme tone.
    pub fn scratches(&self, polarity: Polarity, candidates: &[bool]) -> Vec<Vec<usize>> {
        let [height, width] = self.size;
        let shortest = SHORTEST.max((SHORTEST_FRACTION * height.max(width) as f32) as usize);
        let long: Vec<bool> = path_lengths(candidates, self.size)
            .into_iter()
            .map(|length| length as usize >= shortest)
            .collect();
        let is_damage = |found: &Component| self.has_extreme_tone(polarity, found);
        let found = components(&long, self.size).into_iter();
        found.filter(is_damage).map(|found| found.pixels).collect()
    }

    /// Whether the stronger half of the pixels has one tone, near the brightest or darkest.
    fn has_extreme_tone(&self, polarity: Polarity, found: &Component) -> bool {
        // Darker is larger where damage is dark.
        let sign = if polarity == Polarity::Bright { 1.0 } else { -1.0 };
        let mut tones: Vec<f32> = found.pixels.iter().map(|&i| sign * self.light[i]).collect();
        tones.sort_by(f32::total_cmp);
        let stronger = &tones[tones.len() / 2..];
        let at = |fraction: f32| stronger[(fraction * (stronger.len() - 1) as f32) as usize];
        let limit = if polarity == Polarity::Bright { self.tones[1] } else { -self.tones[0] };
        at(0.5) > limit - EXTREME && at(0.9) - at(0.0) < UNIFORM
    }

    /// Small compact parts of the candidates that are far stronger than anything near them.
    pub fn spots(&self, polarity: Polarity, candidates: &[bool]) -> Vec<Vec<usize>> {
        let largest = 3.2 * (self.radius - 1) as f32 + 4.0;
        let is_small = |spot: &Component| {
            let [height, width] = spot.bounds.size;
            let diagonal = (height as f32).hypot(width as f32);
            let compact = 2 * height.max(width) <= 5 * height.min(width);
            spot.pixels.len() >= 4 && diagonal <= largest && compact
        };
        let stands_out = |spot: &Component| {
            let strength = |i: usize| self.difference(polarity)[i];
            let peak = spot.pixels.iter().map(|&i| strength(i)).fold(0.0, f32::max);
            peak > SPOT_LEAST && peak > SPOT * self.strongest_around(spot)
        };
        let spots = components(candidates, self.size).into_iter();
        spots.filter(|spot| is_small(spot) && stands_out(spot)).map(|spot| spot.pixels).collect()
    }

    /// The largest difference of either polarity in a ring around the bounding box.
    fn strongest_around(&self, spot: &Component) -> f32 {
        let width = self.size[1];
        let inner = spot.bounds.widened(2, self.size);
        let outer = spot.bounds.widened(4 * self.radius, self.size);
        outer
            .pixels(width)
            .filter(|i| !inner.contains([i / width, i % width]))
            .map(|i| self.bright[i].max(self.dark[i]))
            .fold(0.0, f32::max)
    }
}
