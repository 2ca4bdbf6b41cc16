//! Activity maps: where a frame has detail.

use super::params::Activity;
use crate::base::box_mean;
use crate::dictionary::Dictionary;
use crate::needles::{Code, Needles};

/// Power of an atom's roughness that its codes are weighted by. Blur by a Gaussian takes off the more of an atom the rougher it
/// is, so a high power tells sharp from blurred; `docs/fusion.md` says what it was tuned on.
const POWER: f64 = 6.0;

/// How much a code of every atom counts, 1 on average.
pub(super) fn atom_weights(dictionary: &Dictionary<f32>, activity: Activity) -> Vec<f32> {
    let [_, height, width] = dictionary.extent().padded();
    let roughness = |k: usize| -> f64 {
        let atom = dictionary.atom(k);
        let step = |a: usize, b: usize| f64::from(atom[a] - atom[b]).powi(2);
        let across = (0..height * width).filter(|i| i % width + 1 < width).map(|i| step(i + 1, i));
        let down = (0..(height - 1) * width).map(|i| step(i + width, i));
        (across.sum::<f64>() + down.sum::<f64>()).sqrt().powf(POWER)
    };
    let weights: Vec<f64> = match activity {
        Activity::Plain => vec![1.0; dictionary.len()],
        Activity::Rough => (0..dictionary.len()).map(roughness).collect(),
    };
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    weights.iter().map(|w| (w / mean) as f32).collect()
}

/// The pixel that a needle belongs to: the centre of its patch, moved into the picture.
pub(super) fn centre(code: &Code<f32>, atom: [usize; 3], size: [usize; 2]) -> usize {
    let at = |axis: usize, length: usize| (code.position[axis] + (atom[axis] / 2) as i32).clamp(0, length as i32 - 1) as usize;
    at(1, size[0]) * size[1] + at(2, size[1])
}

/// The activity of every pixel (eq. 22), averaged over a box of `window` samples (eq. 23).
pub(super) fn activity(
    needles: &Needles<f32>,
    dictionary: &Dictionary<f32>,
    weights: &[f32],
    window: usize,
    threads: usize,
) -> Vec<f32> {
    let [_, height, width] = needles.extent().padded();
    let atom = dictionary.extent().padded();
    let mut map = vec![0.0; height * width];
    for code in needles.codes() {
        map[centre(code, atom, [height, width])] += weights[code.atom as usize] * code.value.abs();
    }
    box_mean(&mut map, [height, width], window, threads);
    map
}
