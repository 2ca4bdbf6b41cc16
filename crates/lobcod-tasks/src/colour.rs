//! Colour conversion between sRGB and CIE Lab (white D65).
//!
//! Samples are in 0..`scale`, `L` in 0..100. Nothing is clipped: the sRGB curve is extended as an
//! odd function, so the round trip is lossless.

use lobcod::Signal;
use lobcod::error::check_positive;
use lobcod::parallel;
use lobcod::{Error, Result};

/// Linear sRGB to XYZ under D65, each row divided by the white point.
const TO_XYZ: [[f32; 3]; 3] = [
    [0.412_456_4 / WHITE[0], 0.357_576_1 / WHITE[0], 0.180_437_5 / WHITE[0]],
    [0.212_672_9, 0.715_152_2, 0.072_175_0],
    [0.019_333_9 / WHITE[2], 0.119_192 / WHITE[2], 0.950_304_1 / WHITE[2]],
];
const FROM_XYZ: [[f32; 3]; 3] = [
    [3.240_454_2 * WHITE[0], -1.537_138_5, -0.498_531_4 * WHITE[2]],
    [-0.969_266 * WHITE[0], 1.876_010_8, 0.041_556_0 * WHITE[2]],
    [0.055_643_4 * WHITE[0], -0.204_025_9, 1.057_225_2 * WHITE[2]],
];
const WHITE: [f32; 3] = [0.950_47, 1.0, 1.088_83];
/// Where the cube root of Lab becomes linear.
const KNEE: f32 = 6.0 / 29.0;
/// Samples per work item of a thread.
const RUN: usize = 1 << 14;

/// The lightness of an image, 0 to 100: `L` of Lab for three channels, the scaled samples for one.
pub fn lightness(image: &Signal<f32>, scale: f64, threads: usize) -> Result<Signal<f32>> {
    check(image, scale)?;
    let mut light = Signal::zeros(image.extent(), 1);
    let gain = (1.0 / scale) as f32;
    parallel::chunks(
        light.data_mut(),
        RUN,
        threads,
        || (),
        |i, run, ()| {
            for (j, l) in run.iter_mut().enumerate() {
                let at = i * RUN + j;
                *l = if image.channels() == 1 {
                    100.0 * gain * image.data()[at]
                } else {
                    let linear = [0, 1, 2].map(|c| expand(gain * image.channel(c)[at]));
                    116.0 * root(row(&TO_XYZ[1], linear)) - 16.0
                };
            }
        },
    );
    Ok(light)
}

/// Lab from sRGB: `L`, `a` and `b` as three channels.
///
/// ```
/// use lobcod::{Extent, Signal};
/// use lobcod_tasks::colour;
/// let white = Signal::from_planar(Extent::new(&[1, 1])?, 3, vec![255.0f32; 3])?;
/// let lab = colour::to_lab(&white, 255.0)?;
/// assert!(
///     (lab.data()[0] - 100.0).abs() < 1e-3
///         && lab.data()[1].abs() < 0.01
///         && lab.data()[2].abs() < 0.02
/// );
/// # Ok::<(), lobcod::Error>(())
/// ```
pub fn to_lab(rgb: &Signal<f32>, scale: f64) -> Result<Signal<f32>> {
    let gain = (1.0 / scale) as f32;
    pixels(rgb, scale, |rgb| {
        let linear = rgb.map(|x| expand(gain * x));
        let [x, y, z] = [0, 1, 2].map(|i| root(row(&TO_XYZ[i], linear)));
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    })
}

/// sRGB from Lab.
pub fn from_lab(lab: &Signal<f32>, scale: f64) -> Result<Signal<f32>> {
    let gain = scale as f32;
    pixels(lab, scale, |[l, a, b]| {
        let y = (l + 16.0) / 116.0;
        let xyz = [cube(y + a / 500.0), cube(y), cube(y - b / 200.0)];
        [0, 1, 2].map(|i| gain * compress(row(&FROM_XYZ[i], xyz)))
    })
}

fn pixels(
    image: &Signal<f32>,
    scale: f64,
    f: impl Fn([f32; 3]) -> [f32; 3],
) -> Result<Signal<f32>> {
    check(image, scale)?;
    if image.channels() != 3 {
        return Err(Error::Shape(format!(
            "conversion to or from Lab needs 3 channels, not {}",
            image.channels()
        )));
    }
    let mut out = image.clone();
    let volume = image.extent().volume();
    let [first, second, third] = [0, 1, 2].map(|c| image.channel(c));
    for i in 0..volume {
        let pixel = f([first[i], second[i], third[i]]);
        (0..3).for_each(|c| out.data_mut()[c * volume + i] = pixel[c]);
    }
    Ok(out)
}

fn check(image: &Signal<f32>, scale: f64) -> Result<()> {
    check_positive("the scale", scale)?;
    match image.channels() {
        1 | 3 => Ok(()),
        n => Err(Error::Shape(format!(
            "lightness needs an image with 1 (grey) or 3 (colour) channels, not {n}"
        ))),
    }
}

fn row(row: &[f32; 3], v: [f32; 3]) -> f32 {
    row[0] * v[0] + row[1] * v[1] + row[2] * v[2]
}

/// Decodes the sRGB curve.
fn expand(x: f32) -> f32 {
    let size = x.abs();
    let linear = if size <= 0.040_45 { size / 12.92 } else { ((size + 0.055) / 1.055).powf(2.4) };
    linear.copysign(x)
}

/// Encodes the sRGB curve.
fn compress(x: f32) -> f32 {
    let size = x.abs();
    let curved =
        if size <= 0.003_130_8 { 12.92 * size } else { 1.055 * size.powf(1.0 / 2.4) - 0.055 };
    curved.copysign(x)
}

fn root(t: f32) -> f32 {
    if t > KNEE.powi(3) { t.cbrt() } else { t / (3.0 * KNEE * KNEE) + 4.0 / 29.0 }
}

fn cube(t: f32) -> f32 {
    if t > KNEE { t * t * t } else { 3.0 * KNEE * KNEE * (t - 4.0 / 29.0) }
}
