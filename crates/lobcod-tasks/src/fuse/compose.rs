//! Blends pixels of the chosen frames along the edges of the decision.

use super::guided::Guided;
use lobcod::{Extent, Result, Signal};

/// Box and regularisation of the guided filter of the weights.
const WINDOW: usize = 9;
const EPS: f32 = 10.0;
/// Weights below this become 0, and those above 1 minus this become 1: no frame contributes far
/// from its own region.
const STRETCH: f32 = 0.1;

/// The weighted sum of frames.
pub struct Blend<'a> {
    filter: Guided<'a>,
    frame: &'a [u16],
    image: Signal<f32>,
    depth: Vec<f32>,
    total: Vec<f32>,
}

impl<'a> Blend<'a> {
    pub fn new(
        frame: &'a [u16],
        guide: &'a [f32],
        extent: Extent,
        channels: usize,
        threads: usize,
    ) -> Self {
        let [_, height, width] = extent.padded();
        Self {
            filter: Guided::new(guide, [height, width], WINDOW, EPS, threads),
            frame,
            image: Signal::zeros(extent, channels),
            depth: vec![0.0; frame.len()],
            total: vec![0.0; frame.len()],
        }
    }

    /// Whether any pixel comes from this frame.
    pub fn wants(&self, number: usize) -> bool {
        self.frame.iter().any(|&k| k as usize == number)
    }

    /// Adds a frame with its weights; `usable` returns whether it covers a pixel.
    pub fn add(&mut self, number: usize, image: &Signal<f32>, usable: impl Fn(usize) -> bool) {
        let mut weight: Vec<f32> =
            self.frame.iter().map(|&k| if k as usize == number { 1.0 } else { 0.0 }).collect();
        self.filter.apply(&mut weight);
        for (i, w) in weight.iter_mut().enumerate() {
            *w = if usable(i) {
                ((*w - STRETCH) / (1.0 - 2.0 * STRETCH)).clamp(0.0, 1.0)
            } else {
                0.0
            };
            // The chosen frame always has a weight, so that the divisor is not zero.
            if self.frame[i] as usize == number {
                *w = w.max(1e-3);
            }
            self.total[i] += *w;
            self.depth[i] += *w * number as f32;
        }
        let volume = weight.len();
        for c in 0..image.channels() {
            let sums = &mut self.image.data_mut()[c * volume..(c + 1) * volume];
            sums.iter_mut()
                .zip(image.channel(c))
                .zip(&weight)
                .for_each(|((sum, x), w)| *sum += w * x);
        }
    }

    /// The image and the depth.
    pub fn finish(mut self) -> Result<(Signal<f32>, Signal<f32>)> {
        for plane in self.image.data_mut().chunks_exact_mut(self.total.len()) {
            plane.iter_mut().zip(&self.total).for_each(|(x, w)| *x /= w);
        }
        self.depth.iter_mut().zip(&self.total).for_each(|(x, w)| *x /= w);
        let depth = Signal::from_planar(self.image.extent(), 1, self.depth)?;
        Ok((self.image, depth))
    }
}
