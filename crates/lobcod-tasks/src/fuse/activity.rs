//! Activity maps: the amount of detail in a frame.

use super::params::Activity;
use lobcod::base::box_mean;
use lobcod::{Code, Dictionary, Needles};

/// Power of an atom's roughness that weights its codes. Blur removes rough atoms first, so a high
/// power separates sharp from blurred; tuned in `docs/explanation/fusion.md`.
const POWER: f64 = 6.0;

/// Weight of the codes of every atom, 1 on average.
pub fn atom_weights(dictionary: &Dictionary<f32>, activity: Activity) -> Vec<f32> {
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

/// The pixel a needle belongs to: the centre of its patch, clamped to the image.
pub fn centre(code: &Code<f32>, atom: [usize; 3], size: [usize; 2]) -> usize {
    let at = |axis: usize, length: usize| {
        (code.position[axis] + (atom[axis] / 2) as i32).clamp(0, length as i32 - 1) as usize
    };
    at(1, size[0]) * size[1] + at(2, size[1])
}

/// The activity of every pixel (eq. 22), averaged over a box of `window` samples (eq. 23).
pub fn activity(
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
