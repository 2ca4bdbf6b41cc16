//! The noise level of a picture, from the picture itself.

use super::anscombe::Anscombe;
use super::linear::eigenvalues;
use crate::error::{Error, Result};
use crate::signal::Signal;

/// Side of the patches, and most of them that are looked at.
const SIDE: usize = 7;
const MOST: usize = 200_000;
/// Times a gain is made better.
const TURNS: usize = 4;

/// Standard deviation of gaussian noise, estimated; of several channels, the root mean square.
///
/// Patches of natural pictures vary in few directions, noise in all: the smallest eigenvalues of the covariance of patches are
/// the noise's. As many of the largest are left out as it takes for the rest to lie evenly around their mean (Chen, Zhu and Heng,
/// 2015). Cost: 1200 operations a patch.
pub fn noise_level(picture: &Signal<f32>) -> Result<f64> {
    let [_, height, width] = picture.extent().padded();
    if height < 2 * SIDE || width < 2 * SIDE {
        return Err(Error::Shape(format!(
            "the noise level cannot be estimated from a picture of {}; give it, or at least {} samples a side",
            picture.extent(),
            2 * SIDE
        )));
    }
    let squares: f64 = (0..picture.channels()).map(|c| level_of(picture.channel(c), [height, width]).powi(2)).sum();
    Ok((squares / picture.channels() as f64).sqrt())
}

/// Gain of counts with Poisson noise, estimated: the one that stabilises their noise to a level of 1.
///
/// After the Anscombe transform with gain `g` the level is about `sqrt(gain / g)`, so `g` times its square is a better gain.
pub fn gain_of_counts(picture: &Signal<f32>) -> Result<f64> {
    let mean = picture.data().iter().map(|&x| f64::from(x)).sum::<f64>() / picture.data().len() as f64;
    if mean.is_nan() || mean <= 0.0 {
        return Err(Error::Data(format!(
            "the samples are {mean} on average, which counts cannot be; give the gain, or gaussian noise"
        )));
    }
    // A gain of the size of the variance over the mean, so that most samples are many counts.
    let mut gain = (noise_level(picture)?.powi(2) / mean).max(f64::MIN_POSITIVE);
    for _ in 0..TURNS {
        gain *= noise_level(&Anscombe { gain, sigma: 0.0 }.forward(picture))?.powi(2);
        if gain <= 0.0 {
            return Err(Error::Data("there is no noise in the picture that a gain could be estimated from; give it".into()));
        }
    }
    Ok(gain)
}

fn level_of(samples: &[f32], [height, width]: [usize; 2]) -> f64 {
    const N: usize = SIDE * SIDE;
    let places = (height - SIDE + 1) * (width - SIDE + 1);
    let step = places.div_ceil(MOST);
    let (mut count, mut sum, mut products) = (0.0, [0.0f64; N], vec![0.0f64; N * N]);
    let mut patch = [0.0f64; N];
    for place in (0..places).step_by(step) {
        let corner = place / (width - SIDE + 1) * width + place % (width - SIDE + 1);
        for (i, x) in patch.iter_mut().enumerate() {
            *x = f64::from(samples[corner + i / SIDE * width + i % SIDE]);
        }
        count += 1.0;
        for i in 0..N {
            sum[i] += patch[i];
            for j in 0..=i {
                products[i * N + j] += patch[i] * patch[j];
            }
        }
    }
    for i in 0..N {
        for j in 0..=i {
            products[i * N + j] = products[i * N + j] / count - sum[i] * sum[j] / (count * count);
            products[j * N + i] = products[i * N + j];
        }
    }
    let mut values = eigenvalues(products, N);
    values.sort_by(|a, b| b.total_cmp(a));
    let even = |rest: &[f64]| rest.iter().sum::<f64>() / rest.len() as f64 <= rest[rest.len() / 2];
    let rest = (0..N).map(|i| &values[i..]).find(|rest| even(rest)).unwrap_or(&values[N - 1..]);
    (rest.iter().sum::<f64>() / rest.len() as f64).max(0.0).sqrt()
}
