//! Exposure fusion: smooth layers weighted by exposure, texture by activity.

use crate::colour;
use crate::separate::Layers;
use lobcod::base::smooth_on;
use lobcod::{Extent, Result, Signal};

/// Best exposed lightness, and the distance at which the weight falls to 0.6.
const BEST: f32 = 50.0;
const SPREAD: f32 = 20.0;
/// Smoothness of the weights: over tens of pixels, to avoid halos at edges.
const SMOOTHNESS: f64 = 400.0;
/// Minimum weight of a frame.
const LEAST: f32 = 1e-3;
/// Power of the activity that weights texture: nearly a maximum, without seams.
const POWER: i32 = 3;

/// Sums over the frames so far.
pub struct Exposures {
    base: Vec<f32>,
    chroma: Vec<f32>,
    weight: Vec<f32>,
    texture: Vec<f32>,
    activity: Vec<f32>,
    depth: Vec<f32>,
    best: Vec<f32>,
    frame: Vec<f32>,
    extent: Extent,
    channels: usize,
    threads: usize,
}

impl Exposures {
    pub fn new(like: &Signal<f32>, threads: usize) -> Self {
        let (extent, channels) = (like.extent(), like.channels());
        let zeros = || vec![0.0; extent.volume()];
        let chroma = if channels == 3 { vec![0.0; 2 * extent.volume()] } else { Vec::new() };
        let [base, weight, texture, activity, depth, best, frame] =
            std::array::from_fn(|_| zeros());
        Self {
            base,
            chroma,
            weight,
            texture,
            activity,
            depth,
            best,
            frame,
            extent,
            channels,
            threads,
        }
    }

    /// Adds a frame, with chroma if it has colours.
    pub fn add(
        &mut self,
        number: usize,
        layers: &Layers<f32>,
        light: &Signal<f32>,
        activity: &[f32],
        lab: Option<&Signal<f32>>,
        usable: impl Fn(usize) -> bool,
    ) -> Result<()> {
        let bell = |b: &f32| (-0.5 * ((b - BEST) / SPREAD).powi(2)).exp();
        let well =
            Signal::from_planar(self.extent, 1, layers.base.data().iter().map(bell).collect())?;
        let well = smooth_on(&well, None, SMOOTHNESS, self.threads)?;
        let volume = self.extent.volume();
        for i in (0..volume).filter(|&i| usable(i)) {
            let (w, b) = (well.data()[i].max(LEAST), layers.base.data()[i]);
            self.base[i] += w * b;
            self.weight[i] += w;
            self.depth[i] += w * number as f32;
            if w > self.best[i] {
                (self.best[i], self.frame[i]) = (w, number as f32);
            }
            if let Some(lab) = lab {
                self.chroma[i] += w * lab.data()[volume + i];
                self.chroma[volume + i] += w * lab.data()[2 * volume + i];
            }
            let a = activity[i].powi(POWER) + LEAST;
            self.texture[i] += a * (light.data()[i] - b);
            self.activity[i] += a;
        }
        Ok(())
    }

    /// Image, decision and depth.
    pub fn finish(self, scale: f64) -> Result<[Signal<f32>; 3]> {
        let over = |x: &[f32], w: &[f32]| -> Vec<f32> {
            x.iter().zip(w).map(|(x, w)| if *w > 0.0 { x / w } else { 0.0 }).collect()
        };
        let (base, texture) = (over(&self.base, &self.weight), over(&self.texture, &self.activity));
        let mut data: Vec<f32> = base.iter().zip(texture).map(|(b, t)| b + t).collect();
        let image = if self.channels == 3 {
            self.chroma
                .chunks_exact(self.weight.len())
                .for_each(|chroma| data.extend(over(chroma, &self.weight)));
            colour::from_lab(&Signal::from_planar(self.extent, 3, data)?, scale)?
        } else {
            data.iter_mut().for_each(|x| *x *= (scale / 100.0) as f32);
            Signal::from_planar(self.extent, 1, data)?
        };
        let depth = over(&self.depth, &self.weight);
        Ok([
            image,
            Signal::from_planar(self.extent, 1, self.frame)?,
            Signal::from_planar(self.extent, 1, depth)?,
        ])
    }
}
