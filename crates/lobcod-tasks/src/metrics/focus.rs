//! Sharpness metrics.

use super::fusion::check_grey;
use lobcod::{Result, Signal};

/// Spatial frequency: root of the sum of the mean squared differences along rows and columns.
pub fn spatial_frequency(image: &Signal<f32>) -> Result<f64> {
    check_grey(image)?;
    let [_, height, width] = image.extent().padded();
    let square = |i: usize, next: usize| {
        (f64::from(image.data()[next]) - f64::from(image.data()[i])).powi(2)
    };
    let rows: f64 =
        (0..height * width).filter(|i| i % width + 1 < width).map(|i| square(i, i + 1)).sum();
    let columns: f64 = (0..(height - 1) * width).map(|i| square(i, i + width)).sum();
    let mean = |sum: f64, count: usize| sum / count.max(1) as f64;
    Ok((mean(rows, height * (width - 1)) + mean(columns, (height - 1) * width)).sqrt())
}

/// Average gradient: mean of `sqrt((dx^2 + dy^2) / 2)`.
pub fn average_gradient(image: &Signal<f32>) -> Result<f64> {
    check_grey(image)?;
    let [_, height, width] = image.extent().padded();
    let at = |y: usize, x: usize| f64::from(image.data()[y * width + x]);
    let inside = (0..height - 1).flat_map(|y| (0..width - 1).map(move |x| (y, x)));
    let sum: f64 = inside
        .map(|(y, x)| ((at(y, x + 1) - at(y, x)).hypot(at(y + 1, x) - at(y, x))) / 2f64.sqrt())
        .sum();
    Ok(sum / ((height - 1) * (width - 1)).max(1) as f64)
}

/// Energy of Laplacian: mean square of the five-point Laplacian over the inner samples.
pub fn laplacian_energy(image: &Signal<f32>) -> Result<f64> {
    check_grey(image)?;
    let [_, height, width] = image.extent().padded();
    let at = |y: usize, x: usize| f64::from(image.data()[y * width + x]);
    let inside = (1..height.max(2) - 1).flat_map(|y| (1..width.max(2) - 1).map(move |x| (y, x)));
    let energy = |(y, x): (usize, usize)| {
        (at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1) - 4.0 * at(y, x)).powi(2)
    };
    Ok(inside.map(energy).sum::<f64>()
        / (height.max(3) - 2).saturating_mul(width.max(3) - 2) as f64)
}

/// Entropy in bits of the samples, rounded and clipped to 0..255.
pub fn entropy(image: &Signal<f32>) -> Result<f64> {
    super::mutual_information(image, image)
}
