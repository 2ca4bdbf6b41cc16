//! One level of the pyramid of a hole and its surroundings.

use super::holes::Hole;
use super::patches::{RADIUS, SIDE, distance};
use lobcod::{Real, Signal};
use rand::{Rng, RngExt};

/// Surroundings that are copied from, in sizes of the hole, and at least this many pixels.
const AROUND: usize = 2;
const LEAST_AROUND: usize = 48;
/// Depth of a hole, in pixels, at the coarsest level.
const SHALLOW: usize = 3;
/// Shortest side of a level.
const SMALLEST: usize = 6 * SIDE;
/// Passes over the patches in a round of matching.
const PASSES: usize = 2;

/// A window of the image.
pub struct Level {
    size: [usize; 2],
    channels: usize,
    depth: usize,
    /// The colours of a pixel, one pixel after the other.
    data: Vec<f32>,
    hidden: Vec<bool>,
    /// Pixels of the hole that is filled.
    target: Vec<bool>,
    /// Centres of patches that touch the hole.
    centres: Vec<usize>,
    /// Centres of patches without missing pixels.
    sources: Vec<usize>,
    is_source: Vec<bool>,
    /// The centre of the patch that every centre copies, and its distance.
    copied: Vec<usize>,
    distances: Vec<f32>,
}

impl Level {
    /// The window around a hole, at full resolution.
    pub fn around<T: Real>(hole: &Hole, image: &Signal<T>, hidden: &[bool]) -> Self {
        let [_, height, width] = image.extent().padded();
        let margin = (AROUND * hole.bounds.size[0].max(hole.bounds.size[1])).max(LEAST_AROUND);
        let window = hole.bounds.widened(margin, [height, width]);
        let channels = image.channels();
        let data = window
            .pixels(width)
            .flat_map(|i| (0..channels).map(move |c| image.channel(c)[i].to_f64() as f32))
            .collect();
        let mut target = vec![false; window.area()];
        for i in &hole.pixels {
            let at = [i / width - window.start[0], i % width - window.start[1]];
            target[at[0] * window.size[1] + at[1]] = true;
        }
        let hidden = window.pixels(width).map(|i| hidden[i]).collect();
        Self::new(window.size, channels, hole.depth, data, hidden, target)
    }

    fn new(
        size: [usize; 2],
        channels: usize,
        depth: usize,
        mut data: Vec<f32>,
        hidden: Vec<bool>,
        target: Vec<bool>,
    ) -> Self {
        // Missing samples may hold anything, NaN included.
        for (colours, _) in data.chunks_exact_mut(channels).zip(&hidden).filter(|(_, h)| **h) {
            colours.fill(0.0);
        }
        let any_in_patch = |set: &[bool]| -> Vec<bool> {
            let inside = |i: usize| {
                let (y, x) = (i / size[1], i % size[1]);
                y >= RADIUS && x >= RADIUS && y + RADIUS < size[0] && x + RADIUS < size[1]
            };
            let any = |i: usize| {
                let first = i - RADIUS * size[1] - RADIUS;
                (0..SIDE).any(|row| set[first + row * size[1]..][..SIDE].contains(&true))
            };
            (0..set.len()).map(|i| inside(i) && any(i)).collect()
        };
        let inside: Vec<bool> = any_in_patch(&vec![true; hidden.len()]);
        let (holes, targets) = (any_in_patch(&hidden), any_in_patch(&target));
        let is_source: Vec<bool> = inside.iter().zip(&holes).map(|(i, h)| *i && !h).collect();
        let indices = |set: &[bool]| (0..set.len()).filter(|&i| set[i]).collect::<Vec<_>>();
        let (centres, sources) = (indices(&targets), indices(&is_source));
        let (copied, distances) = (vec![0; hidden.len()], vec![f32::INFINITY; hidden.len()]);
        Self {
            size,
            channels,
            depth,
            data,
            hidden,
            target,
            centres,
            sources,
            is_source,
            copied,
            distances,
        }
    }

    /// The level of half the resolution; `None` if the hole is shallow enough here.
    pub fn halved(&self) -> Option<Level> {
        let size = self.size.map(|n| n / 2);
        if self.depth <= SHALLOW || size[0].min(size[1]) < SMALLEST {
            return None;
        }
        let children = |k: usize| {
            let first = k / size[1] * 2 * self.size[1] + k % size[1] * 2;
            [first, first + 1, first + self.size[1], first + self.size[1] + 1]
        };
        let count = size[0] * size[1];
        let mut data = Vec::new();
        let mut hidden = Vec::new();
        let mut target = Vec::new();
        for k in 0..count {
            let known: Vec<usize> = children(k).into_iter().filter(|&i| !self.hidden[i]).collect();
            for c in 0..self.channels {
                let sum: f32 = known.iter().map(|i| self.data[i * self.channels + c]).sum();
                data.push(sum / known.len().max(1) as f32);
            }
            hidden.push(known.len() < 2);
            target.push(known.len() < 2 && children(k).iter().any(|&i| self.target[i]));
        }
        let depth = self.depth.div_ceil(2);
        Some(Self::new(size, self.channels, depth, data, hidden, target))
    }

    /// First content of the hole: from the coarser level, or random. `None` without sources.
    pub fn start(&mut self, coarser: Option<&Level>, rng: &mut impl Rng) -> Option<()> {
        if self.sources.is_empty() || self.centres.is_empty() {
            return None;
        }
        for k in 0..self.centres.len() {
            let i = self.centres[k];
            let finer = coarser.and_then(|coarser| self.source_of_coarser(coarser, i));
            self.copied[i] =
                finer.unwrap_or_else(|| self.sources[rng.random_range(0..self.sources.len())]);
        }
        match coarser {
            Some(_) => self.average(),
            None => self.fill_from_the_rim(),
        }
        Some(())
    }

    /// The source of a patch according to the coarser level.
    fn source_of_coarser(&self, coarser: &Level, i: usize) -> Option<usize> {
        let at = [i / self.size[1], i % self.size[1]];
        let half = [0, 1].map(|a| (at[a] / 2).clamp(RADIUS, coarser.size[a] - 1 - RADIUS));
        let below = half[0] * coarser.size[1] + half[1];
        if coarser.distances[below].is_infinite() {
            return None;
        }
        let from = coarser.copied[below];
        let from = [from / coarser.size[1], from % coarser.size[1]];
        let place = [0, 1].map(|a| 2 * from[a] + at[a] % 2);
        let source = place[0] * self.size[1] + place[1];
        (place[0] < self.size[0] && place[1] < self.size[1] && self.is_source[source])
            .then_some(source)
    }

    /// Fills the hole from outside inwards with means of neighbours.
    fn fill_from_the_rim(&mut self) {
        let [height, width] = self.size;
        let mut open = self.hidden.clone();
        loop {
            let mut filled = Vec::new();
            for i in (0..open.len()).filter(|&i| open[i]) {
                let (y, x) = (i / width, i % width);
                let near: Vec<usize> = (y.saturating_sub(1)..(y + 2).min(height))
                    .flat_map(|v| {
                        (x.saturating_sub(1)..(x + 2).min(width)).map(move |u| v * width + u)
                    })
                    .filter(|&j| !open[j])
                    .collect();
                if !near.is_empty() {
                    let mean = |c: usize| {
                        near.iter().map(|j| self.data[j * self.channels + c]).sum::<f32>()
                            / near.len() as f32
                    };
                    filled.push((i, (0..self.channels).map(mean).collect::<Vec<f32>>()));
                }
            }
            if filled.is_empty() {
                break;
            }
            for (i, colours) in filled {
                self.data[i * self.channels..][..self.channels].copy_from_slice(&colours);
                open[i] = false;
            }
        }
    }

    /// PatchMatch: patches try the neighbours of what their own neighbours copy, and random places
    /// ever closer to what they copy themselves.
    pub fn match_patches(&mut self, rng: &mut impl Rng) {
        for k in 0..self.centres.len() {
            let i = self.centres[k];
            self.distances[i] = self.distance(i, self.copied[i], f32::INFINITY);
        }
        let width = self.size[1] as isize;
        for pass in 0..PASSES {
            let forwards = pass % 2 == 0;
            for k in 0..self.centres.len() {
                let i = self.centres[if forwards { k } else { self.centres.len() - 1 - k }];
                for step in [1, width] {
                    let step = if forwards { -step } else { step };
                    let neighbour = i.wrapping_add_signed(step);
                    if self.distances.get(neighbour).is_some_and(|d| d.is_finite()) {
                        self.attempt(i, self.copied[neighbour].wrapping_add_signed(-step));
                    }
                }
                let mut radius = self.size[0].max(self.size[1]) as i64;
                while radius >= 1 {
                    let from = self.copied[i];
                    let at = [from / self.size[1], from % self.size[1]];
                    let place = [0, 1].map(|a| {
                        let shift = rng.random_range(-radius..=radius);
                        (at[a] as i64 + shift).clamp(0, self.size[a] as i64 - 1) as usize
                    });
                    self.attempt(i, place[0] * self.size[1] + place[1]);
                    radius /= 2;
                }
            }
        }
    }

    /// Copies from `source` if it is allowed and fits better.
    fn attempt(&mut self, i: usize, source: usize) {
        if self.is_source.get(source) != Some(&true) || source == self.copied[i] {
            return;
        }
        let distance = self.distance(i, source, self.distances[i]);
        if distance < self.distances[i] {
            (self.copied[i], self.distances[i]) = (source, distance);
        }
    }

    fn distance(&self, i: usize, source: usize, limit: f32) -> f32 {
        distance(&self.data, self.size[1], self.channels, i, source, limit)
    }

    /// Sets every pixel of the hole to the weighted mean of what the patches that cover it copy;
    /// patches that fit well count more.
    pub fn average(&mut self) {
        let mut sorted: Vec<f32> =
            self.centres.iter().map(|&i| self.distances[i]).filter(|d| d.is_finite()).collect();
        sorted.sort_by(f32::total_cmp);
        let usual = sorted.get(sorted.len() * 3 / 4).copied().unwrap_or(0.0).max(1e-12);
        let mut sums = vec![0.0f32; self.data.len()];
        let mut total = vec![0.0f32; self.hidden.len()];
        let width = self.size[1];
        for &i in &self.centres {
            // Before the first matching all patches count the same.
            let d = if self.distances[i].is_finite() { self.distances[i] } else { 0.0 };
            let weight = (-2.0 * d / usual).exp().max(1e-6);
            for row in 0..SIDE {
                for column in 0..SIDE {
                    let shift = row * width + column;
                    let to = i - RADIUS * width - RADIUS + shift;
                    if !self.target[to] {
                        continue;
                    }
                    let from = self.copied[i] - RADIUS * width - RADIUS + shift;
                    total[to] += weight;
                    for c in 0..self.channels {
                        sums[to * self.channels + c] +=
                            weight * self.data[from * self.channels + c];
                    }
                }
            }
        }
        for i in (0..total.len()).filter(|&i| total[i] > 0.0) {
            for c in 0..self.channels {
                self.data[i * self.channels + c] = sums[i * self.channels + c] / total[i];
            }
        }
    }

    /// The colours of the pixels of a hole at full resolution.
    pub fn colours(&self, hole: &Hole) -> Vec<(usize, Vec<f32>)> {
        // The pixels of the hole are in ascending order of the window too, but not of the list.
        let mut pixels = hole.pixels.clone();
        pixels.sort_unstable();
        let targets = (0..self.target.len()).filter(|&k| self.target[k]);
        pixels
            .into_iter()
            .zip(targets)
            .map(|(i, k)| (i, self.data[k * self.channels..][..self.channels].to_vec()))
            .collect()
    }
}
