//! Built-in synthetic examples, generated on demand, so nothing is stored or downloaded.

use anyhow::Result;
use lobcod::{Extent, Mask, Signal};
use lobcod_io::{Axes, Depth, WriteOptions, write_image};
use lobcod_tasks::synthetic::{focus_pair, still_life};
use std::f64::consts::TAU;
use std::path::Path;

/// Side length of the images in pixels.
const SIZE: usize = 320;
/// Peak value of the images.
pub const PEAK: f64 = 255.0;
/// Fraction of missing pixels in the damaged image.
const MISSING: f64 = 0.5;
/// Standard deviation of the noise.
const NOISE: f64 = 25.0;
/// Exposure factors of the dark and the bright image.
const EXPOSURES: [(&str, f64); 2] = [("dark", 0.4), ("bright", 2.5)];
/// Sample rate, and the notes of the melody as (semitones above A, eighths of a second).
const RATE: u32 = 8000;
const MELODY: [(f64, usize); 8] =
    [(0.0, 1), (4.0, 1), (7.0, 1), (12.0, 2), (7.0, 1), (9.0, 1), (5.0, 1), (0.0, 3)];
/// Slices, rows and columns of the volume.
const STACK: [usize; 3] = [12, 64, 64];

/// Input of the demo.
pub struct Examples {
    /// The still life.
    pub original: Signal<f32>,
    /// The still life with missing pixels set to black.
    pub damaged: Signal<f32>,
    /// Mask of its known pixels.
    pub known: Mask<f32>,
    /// The still life focused on the foreground, and on the background.
    pub pair: [Signal<f32>; 2],
}

impl Examples {
    /// Generates the images.
    pub fn make() -> Result<Self> {
        let original = still_life(SIZE)?;
        let extent = original.extent();
        let mut chance = Chance(1);
        let known: Vec<bool> = (0..extent.volume()).map(|_| chance.draw() >= MISSING).collect();
        let mut damaged = original.clone();
        damaged
            .data_mut()
            .iter_mut()
            .enumerate()
            .filter(|(i, _)| !known[i % extent.volume()])
            .for_each(|(_, x)| *x = 0.0);
        Ok(Self {
            damaged,
            known: Mask::from_known(extent, &known)?,
            pair: focus_pair(SIZE)?,
            original,
        })
    }

    /// Writes these and the other examples to a folder.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let mut holes = self.known.weights().clone();
        holes.data_mut().iter_mut().for_each(|x| *x = PEAK as f32 * (1.0 - *x));
        let [near, far] = &self.pair;
        let images = [
            ("original", &self.original),
            ("damaged", &self.damaged),
            ("holes", &holes),
            ("near", near),
            ("far", far),
        ];
        for (name, image) in images {
            png(folder, name, image)?;
        }
        let mut chance = Chance(2);
        png(folder, "noisy", &changed(&self.original, |x| x + NOISE * chance.normal()))?;
        for (name, gain) in EXPOSURES {
            let light = |x: f64| PEAK * (gain * (x / PEAK).powf(2.2)).powf(1.0 / 2.2);
            png(folder, name, &changed(&self.original, light))?;
        }
        let sound = WriteOptions {
            axes: Axes::T,
            depth: Depth::I16,
            sample_rate: Some(RATE),
            ..WriteOptions::default()
        };
        write_image(&folder.join("melody.wav"), &melody()?, &sound)?;
        let stack_options = WriteOptions { axes: Axes::Dhw, ..WriteOptions::default() };
        Ok(write_image(&folder.join("stack.tif"), &stack()?, &stack_options)?)
    }
}

/// Writes an image as `NAME.png`.
pub fn png(folder: &Path, name: &str, image: &Signal<f32>) -> Result<()> {
    Ok(write_image(&folder.join(format!("{name}.png")), image, &WriteOptions::default())?)
}

fn changed(image: &Signal<f32>, mut change: impl FnMut(f64) -> f64) -> Signal<f32> {
    let mut image = image.clone();
    image.data_mut().iter_mut().for_each(|x| *x = change(f64::from(*x)).clamp(0.0, PEAK) as f32);
    image
}

/// Plucked notes, each with a few overtones that decay at different rates.
fn melody() -> Result<Signal<f32>> {
    let mut samples = Vec::new();
    for (semitones, eighths) in MELODY {
        let pitch = 220.0 * f64::powf(2.0, semitones / 12.0);
        let note = (0..eighths * RATE as usize / 8).map(|i| {
            let t = i as f64 / f64::from(RATE);
            let overtone = |k: f64| (TAU * k * pitch * t).sin() * (-(2.0 + k) * t).exp() / k;
            let attack = (t * 200.0).min(1.0);
            (90.0 * attack * (1..=5).map(|k| overtone(f64::from(k))).sum::<f64>()) as f32
        });
        samples.extend(note);
    }
    Ok(Signal::from_planar(Extent::new(&[samples.len()])?, 1, samples)?)
}

/// Winding tubes with beads, as in a microscopy volume.
fn stack() -> Result<Signal<f32>> {
    let extent = Extent::new(&STACK)?;
    let [slices, rows, columns] = STACK.map(|n| n as f64);
    let sample = |i: usize| {
        let place =
            [i / (STACK[1] * STACK[2]), i / STACK[2] % STACK[1], i % STACK[2]].map(|x| x as f64);
        let tube = |k: f64| {
            let along = place[2] / columns;
            let centre = [
                slices * (0.5 + 0.4 * (TAU * (along + 0.31 * k)).sin()),
                rows * (0.14 + 0.18 * k + 0.09 * (TAU * (1.3 * along + 0.2 * k)).cos()),
            ];
            let distance = (1.5 * (place[0] - centre[0])).powi(2) + (place[1] - centre[1]).powi(2);
            let beads = 0.65 + 0.35 * (TAU * (5.0 + k) * along).cos();
            beads * (-distance / 9.0).exp()
        };
        (12.0 + 225.0 * (0..5).map(|k| tube(f64::from(k))).sum::<f64>().min(1.0)).round() as f32
    };
    Ok(Signal::from_planar(extent, 1, (0..extent.volume()).map(sample).collect())?)
}

/// A deterministic random number generator (splitmix64).
struct Chance(u64);

impl Chance {
    /// Uniform in 0..1.
    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal (Box-Muller).
    fn normal(&mut self) -> f64 {
        let (radius, turn) = ((-2.0 * (1.0 - self.draw()).ln()).sqrt(), TAU * self.draw());
        radius * turn.cos()
    }
}
