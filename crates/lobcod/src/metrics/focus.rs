//! How sharp a picture is.

use super::fusion::check_grey;
use crate::error::Result;
use crate::signal::Signal;

/// Spatial frequency: root of the mean squares of the differences of neighbours along rows and along columns, added.
pub fn spatial_frequency(picture: &Signal<f32>) -> Result<f64> {
    let [rows, columns] = differences(picture)?;
    let mean = |d: &[f64]| if d.is_empty() { 0.0 } else { d.iter().map(|x| x * x).sum::<f64>() / d.len() as f64 };
    Ok((mean(&rows) + mean(&columns)).sqrt())
}

/// Average gradient: mean of `sqrt((dx^2 + dy^2) / 2)` over the samples that have a neighbour to the right and below.
pub fn average_gradient(picture: &Signal<f32>) -> Result<f64> {
    check_grey(picture)?;
    let [_, height, width] = picture.extent().padded();
    let at = |y: usize, x: usize| f64::from(picture.data()[y * width + x]);
    let inside = (0..height - 1).flat_map(|y| (0..width - 1).map(move |x| (y, x)));
    let sum: f64 = inside.map(|(y, x)| ((at(y, x + 1) - at(y, x)).hypot(at(y + 1, x) - at(y, x))) / 2f64.sqrt()).sum();
    Ok(sum / ((height - 1) * (width - 1)).max(1) as f64)
}

/// Energy of Laplacian: mean square of the five-point Laplacian over the samples inside.
pub fn laplacian_energy(picture: &Signal<f32>) -> Result<f64> {
    check_grey(picture)?;
    let [_, height, width] = picture.extent().padded();
    let at = |y: usize, x: usize| f64::from(picture.data()[y * width + x]);
    let inside = (1..height.max(2) - 1).flat_map(|y| (1..width.max(2) - 1).map(move |x| (y, x)));
    let energy = |(y, x): (usize, usize)| (at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1) - 4.0 * at(y, x)).powi(2);
    Ok(inside.map(energy).sum::<f64>() / (height.max(3) - 2).saturating_mul(width.max(3) - 2) as f64)
}

/// Entropy in bits, of the shades 0 to 255 that samples are rounded and clipped to.
pub fn entropy(picture: &Signal<f32>) -> Result<f64> {
    super::mutual_information(picture, picture)
}

/// Differences of neighbours along rows, and along columns.
fn differences(picture: &Signal<f32>) -> Result<[Vec<f64>; 2]> {
    check_grey(picture)?;
    let [_, height, width] = picture.extent().padded();
    let at = |i: usize| f64::from(picture.data()[i]);
    let rows = (0..height * width).filter(|i| i % width + 1 < width).map(|i| at(i + 1) - at(i)).collect();
    let columns = (0..(height - 1) * width).map(|i| at(i + width) - at(i)).collect();
    Ok([rows, columns])
}
