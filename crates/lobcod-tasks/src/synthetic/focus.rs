//! The still life through a lens focused at one distance.
//!
//! The orange and everything else are blurred separately and composed. A pixel is the mean over a
//! disc that grows with its distance from the focus.

use super::{
    Colour, Leaf, Point, averaged, colour_behind, foliage, is_cloth, orange, whole_numbers,
};
use lobcod::{Extent, Result, Signal};

/// Radius of the disc, in widths of the image, per unit of distance from the sharp range.
const BLUR: f64 = 0.04;
/// Distances that are in focus, and the sharp range around them; the lower edge of the cloth is at
/// 0, the wall at 1.
const NEAR: f64 = 0.28;
const FAR: f64 = 0.88;
const SHARP: f64 = 0.3;
/// Distance of the orange.
const ORANGE: f64 = 0.25;

/// The still life twice, `size` x `size` pixels in three channels: in focus near by, and far away.
///
/// ```
/// let [near, far] = lobcod_tasks::synthetic::focus_pair(32)?;
/// assert_eq!((near.extent(), near.channels()), (far.extent(), 3));
/// # Ok::<(), lobcod::Error>(())
/// ```
pub fn focus_pair(size: usize) -> Result<[Signal<f32>; 2]> {
    let leaves = foliage();
    let behind = layer(size, |at| Some(colour_behind(at, &leaves)));
    let front = layer(size, orange);
    let distance: Vec<f64> = (0..size * size)
        .map(|i| {
            distance_behind(
                [(i % size) as f64 + 0.5, (i / size) as f64 + 0.5].map(|x| x / size as f64),
                &leaves,
            )
        })
        .collect();
    let frame = |focus: f64| {
        let radius = |away: f64| BLUR * size as f64 * ((away - focus).abs() - SHARP).max(0.0);
        let colours = (0..size * size).map(|i| {
            let [r, g, b, _] = disc(&behind, size, i, radius(distance[i]));
            let [fr, fg, fb, covered] = disc(&front, size, i, radius(ORANGE));
            [(r, fr), (g, fg), (b, fb)].map(|(back, front)| front + (1.0 - covered) * back)
        });
        Signal::from_interleaved(Extent::new(&[size, size])?, 3, &whole_numbers(colours))
    };
    Ok([frame(NEAR)?, frame(FAR)?])
}

/// Distance of the scene behind the orange.
fn distance_behind([x, y]: Point, leaves: &[Leaf]) -> f64 {
    let plant =
        super::pot([x, y]).is_some() || leaves.iter().any(|leaf| leaf.colour([x, y]).is_some());
    // The cloth recedes from the lower edge of the image to its hem.
    if plant {
        0.85
    } else if is_cloth([x, y]) {
        ((1.0 - y) / 0.36).min(1.0)
    } else {
        1.0
    }
}

/// Colours times their coverage of a pixel, and that coverage.
fn layer(size: usize, colour: impl Fn(Point) -> Option<Colour>) -> Vec<[f64; 4]> {
    (0..size * size)
        .map(|i| averaged(size, i, |at| colour(at).map_or([0.0; 4], |[r, g, b]| [r, g, b, 1.0])))
        .collect()
}

/// Mean over a disc around a pixel, clipped to the image.
fn disc(layer: &[[f64; 4]], size: usize, i: usize, radius: f64) -> [f64; 4] {
    let x = (i % size) as i64;
    let y = (i / size) as i64;
    let extent = radius.ceil() as i64;
    let mut sum = ([0.0; 4], 0.0);
    for (dx, dy) in (-extent..=extent).flat_map(|dy| (-extent..=extent).map(move |dx| (dx, dy))) {
        // Pixels on the rim count partially, so that the blur varies smoothly.
        let weight = (radius + 0.5 - ((dx * dx + dy * dy) as f64).sqrt()).clamp(0.0, 1.0);
        let inside = (0..size as i64).contains(&(x + dx)) && (0..size as i64).contains(&(y + dy));
        if inside && weight > 0.0 {
            let pixel = layer[((y + dy) * size as i64 + x + dx) as usize];
            sum.0.iter_mut().zip(pixel).for_each(|(sum, part)| *sum += weight * part);
            sum.1 += weight;
        }
    }
    sum.0.map(|part| part / sum.1)
}
