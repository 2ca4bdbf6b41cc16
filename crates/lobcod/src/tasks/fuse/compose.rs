//! Pixels of the chosen frames, blended along the edges of the decision.

use super::guided::Guided;
use crate::error::Result;
use crate::extent::Extent;
use crate::signal::Signal;

/// Box of the guided filter that shapes the weights, and the square of the step in lightness that holds them.
const WINDOW: usize = 9;
const EPS: f32 = 10.0;
/// Weights are stretched so that those below this, and those above 1 less this, become 0 and 1: no frame shines through far
/// from its own part.
const STRETCH: f32 = 0.1;

/// The weighted sum of frames.
pub(super) struct Blend<'a> {
    filter: Guided<'a>,
    frame: &'a [u16],
    picture: Signal<f32>,
    depth: Vec<f32>,
    total: Vec<f32>,
}

impl<'a> Blend<'a> {
    pub(super) fn new(frame: &'a [u16], guide: &'a [f32], extent: Extent, channels: usize, threads: usize) -> Self {
        let [_, height, width] = extent.padded();
        Self {
            filter: Guided::new(guide, [height, width], WINDOW, EPS, threads),
            frame,
            picture: Signal::zeros(extent, channels),
            depth: vec![0.0; frame.len()],
            total: vec![0.0; frame.len()],
        }
    }

    /// Whether any pixel is taken from this frame.
    pub(super) fn wants(&self, number: usize) -> bool {
        self.frame.iter().any(|&k| k as usize == number)
    }

    /// Adds a frame with its weights; `usable` tells which pixels it shows.
    pub(super) fn add(&mut self, number: usize, picture: &Signal<f32>, usable: impl Fn(usize) -> bool) {
        let mut weight: Vec<f32> = self.frame.iter().map(|&k| if k as usize == number { 1.0 } else { 0.0 }).collect();
        self.filter.apply(&mut weight);
        for (i, w) in weight.iter_mut().enumerate() {
            *w = if usable(i) { ((*w - STRETCH) / (1.0 - 2.0 * STRETCH)).clamp(0.0, 1.0) } else { 0.0 };
            // The chosen frame keeps a say, so that there is always something to divide by.
            if self.frame[i] as usize == number {
                *w = w.max(1e-3);
            }
            self.total[i] += *w;
            self.depth[i] += *w * number as f32;
        }
        let volume = weight.len();
        for c in 0..picture.channels() {
            let sums = &mut self.picture.data_mut()[c * volume..(c + 1) * volume];
            sums.iter_mut().zip(picture.channel(c)).zip(&weight).for_each(|((sum, x), w)| *sum += w * x);
        }
    }

    /// The picture and the depth.
    pub(super) fn finish(mut self) -> Result<(Signal<f32>, Signal<f32>)> {
        for plane in self.picture.data_mut().chunks_exact_mut(self.total.len()) {
            plane.iter_mut().zip(&self.total).for_each(|(x, w)| *x /= w);
        }
        self.depth.iter_mut().zip(&self.total).for_each(|(x, w)| *x /= w);
        let depth = Signal::from_planar(self.picture.extent(), 1, self.depth)?;
        Ok((self.picture, depth))
    }
}
